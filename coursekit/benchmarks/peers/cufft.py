"""cuFFT's own plans, through CuPy, as cases beside the ladder of Fourier transforms."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable

from coursekit.runtime import backend as backends


def complex_case() -> Callable | None:
    """Return a case ``(x, X, copied, rows, n)`` of complex rows, None without cuFFT."""
    if not _present():
        return None

    def case(x, X, copied, rows: int, n: int) -> None:
        cupy, plan = _plan("CUFFT_C2C", rows, n)
        given, found = (cupy.asarray(a).view(cupy.complex64) for a in (x, X))
        plan.fft(given, found, cupy.cuda.cufft.CUFFT_FORWARD)

    return case


def real_case() -> Callable | None:
    """Return a case ``(x, X, copied, rows, n)`` of real rows, None without cuFFT."""
    if not _present():
        return None

    def case(x, X, copied, rows: int, n: int) -> None:
        cupy, plan = _plan("CUFFT_R2C", rows, n)
        found = cupy.asarray(X).view(cupy.complex64)
        plan.fft(cupy.asarray(x), found, cupy.cuda.cufft.CUFFT_FORWARD)

    return case


def convolution_case() -> Callable | None:
    """Return a case ``(x, W, y, copied, rows, n)``: there, times W, and back."""
    if not _present():
        return None

    def case(x, W, y, copied, rows: int, n: int) -> None:
        cupy, plan = _plan("CUFFT_C2C", rows, n)
        given, spectrum, found = (
            cupy.asarray(a).view(cupy.complex64).ravel() for a in (x, W, y)
        )
        plan.fft(given, found, cupy.cuda.cufft.CUFFT_FORWARD)
        _product()(found, spectrum, 1 / n, n - 1, found)
        plan.fft(found, found, cupy.cuda.cufft.CUFFT_INVERSE)

    return case


def filter_case() -> Callable | None:
    """Return a case ``(x, weights, y, side)``: real, with few zeros."""
    if not _present():
        return None

    def case(x, weights, y, side: int) -> None:
        import cupy

        n, skip = x.shape[0], (side - 1) // 2
        padded, spectra, there, back = _room(n + side - 1)
        for given, spectrum in zip((x, weights), spectra, strict=True):
            rows, cols = given.shape
            padded.fill(0)
            padded[:rows, :cols] = cupy.asarray(given)
            there.fft(padded, spectrum, cupy.cuda.cufft.CUFFT_FORWARD)
        cupy.multiply(*spectra, out=spectra[0])
        back.fft(spectra[0], padded, cupy.cuda.cufft.CUFFT_INVERSE)
        middle = padded[skip : skip + n, skip : skip + n]
        cupy.multiply(middle, cupy.float32(1 / padded.size), out=cupy.asarray(y))

    return case


@functools.cache
def _room(n: int):
    """Return arrays and plans for at least n rows and columns of real values."""
    import cupy
    from cupyx.scipy.fft import get_fft_plan, next_fast_len

    extent = next_fast_len(n, real=True)
    padded = cupy.zeros((extent, extent), cupy.float32)
    spectra = cupy.zeros((2, extent, extent // 2 + 1), cupy.complex64)
    there = get_fft_plan(padded, value_type="R2C")
    back = get_fft_plan(spectra[0], shape=padded.shape, value_type="C2R")
    return padded, spectra, there, back


@functools.cache
def _product():
    """Return a kernel that multiplies rows by one row of a power of two values."""
    import cupy

    return cupy.ElementwiseKernel(
        "complex64 a, raw complex64 w, float32 by, int64 mask",
        "complex64 c",
        "c = a * w[i & mask] * by",
        "product_of_rows",
    )


def _present() -> bool:
    on_gpu = backends.current().space == "gpu"
    return on_gpu and importlib.util.find_spec("cupy") is not None


@functools.cache
def _plan(kind: str, rows: int, n: int):
    """Return CuPy, and a plan, made once for a shape."""
    import cupy

    return cupy, cupy.cuda.cufft.Plan1d(n, getattr(cupy.cuda.cufft, kind), rows)
