"""A model of a GPU to practise timing on, without a GPU and its chances."""

from coursekit.modelled.gpu import ModelGpu
from coursekit.modelled.kernel import ModelKernel
from coursekit.modelled.trial import benchmark

__all__ = ["ModelGpu", "ModelKernel", "benchmark"]
