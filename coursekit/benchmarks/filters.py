"""Benchmark of filters on a picture: directly, and by Fourier transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import cufft

EXTENT = 2048  # rows and columns of the picture
SIDES = (3, 7, 15, 31, 63, 128)
COUNTED, SMALL = 5, 48  # side of the filter and extent of the picture that are counted
STRIP = 32  # columns of a filter that one launch of step 2 takes
EACH = 8  # results of a thread there
COLUMNS = 4  # of a block that transforms columns of up to 4096 values
ROUNDING = 2.0**-24


def extent_of(side: int) -> int:
    """Return the extent of the picture for a filter: small where it is counted."""
    return EXTENT if side != COUNTED else SMALL


def skipped(side: int) -> int:
    """Return how many rows of the full convolution lie above the picture's."""
    return (side - 1) // 2


@functools.cache
def weights_of(side: int) -> np.ndarray:
    """Return a filter without symmetry, the same in each run."""
    return np.random.default_rng(side).standard_normal((side, side), np.float32)


def picture(side: int) -> tuple:
    """Draw a picture; the filter, and room for the result."""
    extent, weights = extent_of(side), weights_of(side)
    x, y = drawn.normal(extent, extent), ck.empty((extent, extent))
    return x, ck.to_device(weights), y, side


def strips(weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Cut a filter into parts of equal width, the last one filled with zeros."""
    wide = min(STRIP, len(weights))
    filled = np.pad(weights, ((0, 0), (0, -len(weights) % wide)))
    return tuple(np.split(filled, filled.shape[1] // wide, axis=1))


@functools.cache
def parameters_of(side: int) -> tuple[bytes, ...]:
    """Return the parts of a filter as a kernel takes them by value."""
    return tuple(part.tobytes() for part in strips(weights_of(side)))


def direct(x, weights, y, side):
    """Launch step 1: a thread per pixel."""
    n = extent_of(side)
    kernel = _compiled("01_direct", SIDE=side).filter_direct
    grid = cover(n, 32), cover(n, 8)
    kernel[grid, (32, 8)](x, weights, y, n, n, n, n, skipped(side))


def tiled(x, weights, y, side):
    """Launch step 2 for each part of the filter; the sums add up."""
    n, wide = extent_of(side), min(STRIP, side)
    kernel = _compiled("02_tiled", TALL=side, WIDE=wide).filter_tiled
    room = (8 * EACH + side - 1) * (32 + wide - 1) * 4
    grid, top = (cover(n, 32), cover(n, 8 * EACH)), skipped(side)
    for i, part in enumerate(parameters_of(side)):
        left, add = top - i * wide, int(i > 0)
        kernel[grid, (32, 8), room](x, part, y, n, n, n, n, top, left, add)


def by_transforms() -> Callable:
    """Return steps 6 and 9 of kernels/fft/ with step 5 between them."""
    scratch = drawn.zeros()

    def case(x, weights, y, side):
        n = extent_of(side)
        P = _padded(side)
        a, b, c = (scratch(f"{name} {P}", (P, 2 * P)) for name in "abc")
        step, total = _compiled("05_product"), P * P
        for given, m, spectrum in (x, n, b), (weights, side, c):
            step.padded[cover(total, 256), 256](given, a, m, m, total, P)
            _transform(a, spectrum, a, P, -1)
        step.product[cover(total, 256), 256](b, c, a, total, total, np.float32(1))
        _transform(a, b, c, P, 1)
        step.cut[cover(n * n, 256), 256](b, y, n * n, n, P, skipped(side))

    return case


def _transform(x, X, between, P: int, sign: int) -> None:
    """Transform rows in place, then columns from there into X."""
    share = max(1, 2048 // P)
    rows = _stage("06_conflict_free", LENGTH=P, SIGN=sign, ROWS=share)
    rows[cover(P, share), (P // 16, share), share * P // 16 * 17 * 8](x, between, P)
    columns = _stage("09_columns", LENGTH=P, SIGN=sign, COLUMNS=COLUMNS)
    room = COLUMNS * P // 16 * 17 * 8
    columns[(cover(P, COLUMNS), 1), (COLUMNS, P // 16), room](between, X, P)


@functools.cache
def _compiled(step: str, **defines: int):
    return ck.compile(f"filters/step_{step}.cu", defines=defines)


@functools.cache
def _stage(step: str, **defines: int):
    module = ck.compile(f"fft/step_{step}.cu", defines=defines)
    return module[module.kernels[0]]


def _compile_all() -> None:
    """Compile for every side: a case that compiles in its call is refused."""
    _compiled("05_product")
    for side in (COUNTED, *SIDES):
        _compiled("01_direct", SIDE=side)
        _compiled("02_tiled", TALL=side, WIDE=min(STRIP, side))
        P = _padded(side)
        for sign in -1, 1:
            _stage("06_conflict_free", LENGTH=P, SIGN=sign, ROWS=max(1, 2048 // P))
            _stage("09_columns", LENGTH=P, SIGN=sign, COLUMNS=COLUMNS)


def _padded(side: int) -> int:
    """Return the extent of the spectra: a power of 2, so that no sum wraps around."""
    return 1 << (extent_of(side) + side - 2).bit_length()


def cases() -> dict[str, Callable]:
    """Return the ways to filter a picture."""
    _compile_all()
    return {"direct": direct, "tiled": tiled, "FFT": by_transforms()}


def is_filtered(x, weights, y, side: int) -> bool:
    """Compare with a product of spectra in complex128.

    A result is a sum of side^2 products of normal numbers; roundings of the sum and of
    the transforms are of its own typical size, side.
    """
    xp, x, weights, y = drawn.viewed(x, weights, y)
    n, skip = len(x), skipped(side)
    shape = (n + side - 1,) * 2
    spectrum = xp.fft.rfft2(x.astype(xp.float64), shape)
    spectrum *= xp.fft.rfft2(weights.astype(xp.float64), shape)
    full = xp.fft.irfft2(spectrum, shape)
    wanted = full[skip : skip + n, skip : skip + n]
    return bool((abs(y - wanted) <= (64 + side) * side * ROUNDING * 4).all())


DEFINITIONS = (
    Definition(
        key="filters/crossover",
        cases=cases,
        sizes=SIDES,
        setup=picture,
        verify=is_filtered,
        bytes_moved=lambda side: 8 * extent_of(side) ** 2,
        count_size=COUNTED,
        peers={"cuFFT": cufft.filter_case},
    ),
)
