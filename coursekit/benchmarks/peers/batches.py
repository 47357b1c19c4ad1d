"""cuBLAS's product of a batch of matrices at equal distances, as a case."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable

from coursekit.benchmarks.peers.cublas import (
    LIBRARIES,
    NOT_TRANSPOSED,
    check,
    current_stream,
    load,
)

_ONE, _ZERO = ctypes.c_float(1), ctypes.c_float(0)


def case() -> Callable | None:
    """Return a case ``(A, B, C, batch)`` of square arrays, None without cuBLAS."""
    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401 (brings its cuBLAS into the process)
    blas = load(LIBRARIES[0])
    if blas is None:
        return None
    handle = ctypes.c_void_p()
    check(blas.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate")

    def batched(A, B, C, batch: int) -> None:
        """Row-major C = A B is, by columns, C' = B' A'."""
        size = A.shape[1]
        stride = ctypes.c_longlong(size * size)
        stream = ctypes.c_void_p(current_stream())
        check(blas.cublasSetStream_v2(handle, stream), "cublasSetStream")
        status = blas.cublasSgemmStridedBatched(
            handle, NOT_TRANSPOSED, NOT_TRANSPOSED, size, size, size,
            ctypes.byref(_ONE), ctypes.c_void_p(B.address), size, stride,
            ctypes.c_void_p(A.address), size, stride, ctypes.byref(_ZERO),
            ctypes.c_void_p(C.address), size, stride, batch,
        )  # fmt: skip
        check(status, "cublasSgemmStridedBatched")

    return batched
