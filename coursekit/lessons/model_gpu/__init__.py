"""A deterministic model of a GPU, for practising how to time kernels."""

from coursekit.lessons.model_gpu.gpu import ModelGpu
from coursekit.lessons.model_gpu.kernel import ModelKernel
from coursekit.lessons.model_gpu.trial import benchmark

__all__ = ["ModelGpu", "ModelKernel", "benchmark"]
