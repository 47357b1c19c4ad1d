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


def _present() -> bool:
    on_gpu = backends.current().space == "gpu"
    return on_gpu and importlib.util.find_spec("cupy") is not None


@functools.cache
def _plan(kind: str, rows: int, n: int):
    """Return CuPy, and a plan, made once for a shape."""
    import cupy

    return cupy, cupy.cuda.cufft.Plan1d(n, getattr(cupy.cuda.cufft, kind), rows)
