"""cuBLAS's product of halves with float32 sums and results, as a case."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable

from coursekit.benchmarks.peers.cublas import (
    COMPUTE_32,
    LIBRARIES,
    NOT_TRANSPOSED,
    REAL_32,
    check,
    load,
)

# Values of cuBLAS's enumerations: CUDA_R_16F, CUBLAS_GEMM_DEFAULT.
REAL_16, ALGORITHM = 2, -1
_ONE, _ZERO = ctypes.c_float(1), ctypes.c_float(0)


def case() -> Callable | None:
    """Return a case ``(A, B, C, n)`` of row-major squares, None without cuBLAS."""
    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401 (brings its cuBLAS into the process)
    blas = load(LIBRARIES[0])
    if blas is None:
        return None
    handle = ctypes.c_void_p()
    check(blas.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate")

    def product(A, B, C, n: int) -> None:
        """Row-major C = A B is, by columns, C' = B' A'."""
        import cupy

        stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
        check(blas.cublasSetStream_v2(handle, stream), "cublasSetStream")
        status = blas.cublasGemmEx(
            handle, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, ctypes.byref(_ONE),
            ctypes.c_void_p(B.address), REAL_16, n,
            ctypes.c_void_p(A.address), REAL_16, n, ctypes.byref(_ZERO),
            ctypes.c_void_p(C.address), REAL_32, n, COMPUTE_32, ALGORITHM,
        )  # fmt: skip
        check(status, "cublasGemmEx")

    return product
