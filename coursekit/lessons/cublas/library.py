"""The calls on a GPU, through CuPy's bindings of cuBLAS.

Operands are copied to the device for a call, and what it changes is copied back.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.lessons.cublas.views import memory
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import to_device, to_host

if TYPE_CHECKING:
    from coursekit.lessons.cublas.operands import Factor, Product

OPERATION = {"N": 0, "T": 1, "C": 2}
# Values of cudaDataType.
CODES = {
    "R_64F": 1,
    "R_32F": 0,
    "R_16F": 2,
    "R_16BF": 14,
    "R_8F_E4M3": 28,
    "R_8F_E5M2": 29,
    "R_8I": 3,
    "R_32I": 10,
}
DEFAULT_ALGORITHM = -1


def is_here() -> bool:
    """Say whether launches go to a GPU, and so calls to the library."""
    return backends.current().space == "gpu"


def _bindings() -> tuple[Any, int]:
    """Return CuPy's module of cuBLAS and the handle of this device."""
    import cupy

    cublas = importlib.import_module("cupy_backends.cuda.libs.cublas")
    return cublas, cupy.cuda.get_cublas_handle()


def _run(call: Callable, changed: np.ndarray, *others: np.ndarray) -> None:
    """Call with the addresses of copies, then copy back what the call changes."""
    flat = memory(changed, "the result")
    copies = [to_device(memory(other, "an operand")) for other in others]
    result = to_device(flat)
    call(*[copy.address for copy in copies], result.address)
    flat[...] = to_host(result)


def axpy(kind, n, alpha, x, incx, y, incy) -> None:
    """Call cublasSaxpy or cublasDaxpy."""
    cublas, handle = _bindings()
    factor = np.array(alpha, y.dtype)
    function = getattr(cublas, f"{kind.lower()}axpy")
    _run(
        lambda x_at, y_at: function(
            handle, n, factor.ctypes.data, x_at, incx, y_at, incy
        ),
        y,
        x,
    )


def dot(kind, n, x, incx, y, incy, result) -> None:
    """Call cublasSdot or cublasDdot; the result is written to the host."""
    cublas, handle = _bindings()
    function = getattr(cublas, f"{kind.lower()}dot")
    left, right = to_device(memory(x, "x")), to_device(memory(y, "y"))
    out = memory(result, "the result").ctypes.data
    function(handle, n, left.address, incx, right.address, incy, out)


def nrm2(kind, n, x, incx, result) -> None:
    """Call cublasSnrm2 or cublasDnrm2; the result is written to the host."""
    cublas, handle = _bindings()
    function = getattr(cublas, f"{kind.lower()}nrm2")
    out = memory(result, "the result").ctypes.data
    function(handle, n, to_device(memory(x, "x")).address, incx, out)


def gemv(kind, shape, scales, operands) -> None:
    """Call cublasSgemv or cublasDgemv."""
    cublas, handle = _bindings()
    trans, m, n = shape
    A, lda, x, incx, y, incy = operands
    alpha, beta = (np.array(scale, y.dtype) for scale in scales)
    function = getattr(cublas, f"{kind.lower()}gemv")
    _run(
        lambda a, v, out: function(
            handle, OPERATION[trans], m, n, alpha.ctypes.data, a, lda, v, incx,
            beta.ctypes.data, out, incy,
        ),
        y, A, x,
    )  # fmt: skip


def gemm_strided_batched_ex(product: Product, factors: list[Factor]) -> None:
    """Call cublasGemmStridedBatchedEx; one product is a batch of one."""
    cublas, handle = _bindings()
    a, b, c = factors
    held = product.rule.sum_type
    alpha, beta = (np.array(s, held) for s in (product.alpha, product.beta))

    def call(a_at: int, b_at: int, c_at: int) -> None:
        cublas.gemmStridedBatchedEx(
            handle, OPERATION[product.transa], OPERATION[product.transb],
            product.m, product.n, product.k, alpha.ctypes.data,
            a_at, CODES[a.element_type], a.ld, a.stride,
            b_at, CODES[b.element_type], b.ld, b.stride,
            beta.ctypes.data, c_at, CODES[c.element_type], c.ld, c.stride,
            product.batch, product.rule.code, DEFAULT_ALGORITHM,
        )  # fmt: skip

    _run(call, c.array, a.array, b.array)
