"""A model of a GPU to practise timing on, without a GPU and its chances."""

from coursekit.lessons.model_gpu.gpu import ModelGpu
from coursekit.lessons.model_gpu.kernel import ModelKernel
from coursekit.lessons.model_gpu.trial import benchmark

__all__ = ["ModelGpu", "ModelKernel", "benchmark"]
