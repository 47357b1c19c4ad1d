"""cuBLAS's calls under its own names, in its order of arguments, on any machine.

Where CuPy finds a GPU, the library computes. Elsewhere NumPy does, as a named oracle:
it reads the same memory by the same layouts, rounds inputs, sums and results as the
compute type says, and raises what the library would refuse, with the name of its
status. Only the order of additions, and so the last digits, may differ.
"""

from coursekit.lessons.cublas.call import Call
from coursekit.lessons.cublas.levels import axpy, dot, gemv, nrm2
from coursekit.lessons.cublas.lt import Layout, MatmulDesc, lt_matmul
from coursekit.lessons.cublas.numeric_types import load, store
from coursekit.lessons.cublas.products import gemm, gemm_ex, gemm_strided_batched_ex

__all__ = [
    "Call",
    "Layout",
    "MatmulDesc",
    "axpy",
    "dot",
    "gemm",
    "gemm_ex",
    "gemm_strided_batched_ex",
    "gemv",
    "load",
    "lt_matmul",
    "nrm2",
    "store",
]
