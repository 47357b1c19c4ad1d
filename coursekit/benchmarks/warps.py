"""Benchmarks of warps: branches, the Mandelbrot set, sums, and strides."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition

ROUNDING = 2.0**-24  # relative, of one float32 operation
TURNS = 256  # of the loop behind a branch
COLUMNS = 1024
STRIDED_N = 2**22
MOST, LEFT, TOP, WIDE = 256, -2.0, 1.25, 2.5  # of the picture of the set
ASTRAY = 0.01  # share of pixels where float32 may leave the set at another turn


def _cover(n: int, block: int) -> int:
    return -(-n // block)


# ---------------------------------------------------------------- branches


def branch_cases() -> dict[str, Callable]:
    """Return a branch that diverges within warps, and one that does not."""
    lane = ck.compile("warps/branch_by_lane.cu").branch_by_lane
    warp = ck.compile("warps/branch_by_warp.cu").branch_by_warp
    return {
        "by lane": lambda x, a, b, n: lane[_cover(n, 64), 64](x, a, n, TURNS),
        "by warp": lambda x, a, b, n: warp[_cover(n, 64), 64](x, b, n, TURNS),
    }


def branch_arrays(n: int) -> tuple:
    """Draw whole numbers, and allocate an array of results for each case."""
    x = np.random.default_rng().integers(0, 2**32, n, dtype=np.uint32)
    return ck.to_device(x), ck.empty(n, np.uint32), ck.empty(n, np.uint32), n


def follows_rules(x, by_lane, by_warp, n: int) -> None:
    """Compare the results of either case with NumPy's."""
    odd, even = ck.to_host(x), ck.to_host(x)
    for _ in range(TURNS):
        odd = (odd ^ (odd >> 2)) + np.uint32(3)
        even = (even ^ (even >> 1)) + np.uint32(5)
    place = np.arange(n)
    lanes = np.where(place % 2 == 1, odd, even)
    warps = np.where(place // 32 % 2 == 1, odd, even)
    pairs = ((lanes, by_lane), (warps, by_warp))
    right = any(np.array_equal(expected, ck.to_host(got)) for expected, got in pairs)
    if not right:
        raise AssertionError("an element followed the other rule")


# ---------------------------------------------------------------- Mandelbrot


def mandelbrot_cases() -> dict[str, Callable]:
    """Return the picture by blocks of three shapes, all of 128 threads."""
    kernel = ck.compile("warps/mandelbrot.cu").mandelbrot

    def shaped(across: int) -> Callable:
        down = 128 // across

        def draw(turns, n):
            grid = (_cover(n, across), _cover(n, down))
            step = WIDE / n
            kernel[grid, (across, down)](turns, n, n, LEFT, TOP, step, MOST)

        return draw

    return {f"{w} x {128 // w}": shaped(w) for w in (32, 8, 4)}


def mandelbrot_arrays(n: int) -> tuple:
    """Make room for a picture of n rows of n pixels; it shows the whole set."""
    return ck.empty((n, n), np.int32), n


def is_the_set(turns, n: int) -> None:
    """Compare with float64, in which some points escape at another iteration."""
    off = (ck.to_host(turns) != escape_turns(n)).mean()
    if not off <= ASTRAY:
        raise AssertionError(f"{off:.1%} of the pixels took another number of turns")


@functools.cache
def escape_turns(n: int) -> np.ndarray:
    """Return the iterations of every pixel until it escapes, in float64."""
    across = LEFT + WIDE / n * np.arange(n)
    c = (across + 1j * (TOP - WIDE / n * np.arange(n)[:, None])).reshape(-1)
    z, left, turns = np.zeros_like(c), np.arange(n * n), np.zeros(n * n, np.int32)
    for _ in range(MOST):
        inside = z.real**2 + z.imag**2 <= 4
        z, c, left = z[inside], c[inside], left[inside]
        turns[left] += 1
        z = z * z + c
    return turns.reshape(n, n)


# ---------------------------------------------------------------- sums


def sum_cases() -> dict[str, Callable]:
    """Return the sum of every warp: through shared memory, then by shuffles."""
    shared = ck.compile("warps/warp_sum_shared.cu").warp_sum_shared
    shuffle = ck.compile("warps/warp_sum_shuffle.cu").warp_sum_shuffle
    return {
        "shared memory": lambda x, sums, n: shared[_cover(n, 128), 128](x, sums, n),
        "shuffles": lambda x, sums, n: shuffle[_cover(n, 128), 128](x, sums, n),
    }


def sum_arrays(n: int) -> tuple:
    """Draw n numbers from 0 to 1, and make room for a sum of every 32."""
    x = np.random.default_rng().random(n, dtype=np.float32)
    return ck.to_device(x), ck.empty(_cover(n, 32)), n


def are_sums_of_32(x, sums, n: int) -> None:
    """Compare with NumPy's sums, in float64; five additions on the way of each."""
    padded = np.zeros(_cover(n, 32) * 32)
    padded[:n] = ck.to_host(x)
    expected = padded.reshape(-1, 32).sum(axis=1)
    rtol = 5 * ROUNDING
    np.testing.assert_allclose(ck.to_host(sums), expected, rtol=rtol, equal_nan=False)


def row_cases() -> dict[str, Callable]:
    """Return the sums of rows: a thread walks along each, then a warp."""
    thread = ck.compile("warps/row_sum_by_thread.cu").row_sum_by_thread
    warp = ck.compile("warps/row_sum_by_warp.cu").row_sum_by_warp

    def by_thread(table, sums, rows):
        thread[_cover(rows, 128), 128](table, sums, rows, COLUMNS)

    def by_warp(table, sums, rows):
        warp[_cover(32 * rows, 128), 128](table, sums, rows, COLUMNS)

    return {"a thread a row": by_thread, "a warp a row": by_warp}


def row_arrays(rows: int) -> tuple:
    """Draw a table of numbers from 0 to 1."""
    table = np.random.default_rng().random((rows, COLUMNS), dtype=np.float32)
    return ck.to_device(table), ck.empty(rows), rows


def are_sums_of_rows(table, sums, rows: int) -> None:
    """Compare with NumPy's sums in float64; an addition for each column at most."""
    expected = ck.to_host(table).sum(axis=1, dtype=np.float64)
    rtol = COLUMNS * ROUNDING
    np.testing.assert_allclose(ck.to_host(sums), expected, rtol=rtol, equal_nan=False)


# ---------------------------------------------------------------- strides


def stride_cases() -> dict[str, Callable]:
    """Return the copy that reads with a stride."""
    kernel = ck.compile("start/read_strided.cu").read_strided

    def pick(x, y, n, stride):
        kernel[_cover(n, 256), 256](x, y, n, stride)

    return {"read with a stride": pick}


def stride_arrays(stride: int) -> tuple:
    """Draw the numbers to read from; the simulator copies far fewer."""
    y = ck.empty(1)
    n = STRIDED_N if y.space == "gpu" else 2**10
    x = np.random.default_rng().random(n * stride, dtype=np.float32)
    return ck.to_device(x), ck.empty(n), n, stride


def are_picked(x, y, n: int, stride: int) -> None:
    """Compare with NumPy's slice."""
    if not np.array_equal(ck.to_host(x)[::stride], ck.to_host(y)):
        raise AssertionError("others were picked")


DEFINITIONS = (
    Definition(
        key="warps/branches",
        cases=branch_cases,
        sizes=(2**20,),
        setup=branch_arrays,
        verify=follows_rules,
        bytes_moved=lambda n: 2 * 4 * n,
        count_size=2**10,
    ),
    Definition(
        key="warps/mandelbrot",
        cases=mandelbrot_cases,
        sizes=(2**10,),
        setup=mandelbrot_arrays,
        verify=is_the_set,
        bytes_moved=lambda n: 4 * n * n,
        count_size=2**4,
    ),
    Definition(
        key="warps/sums",
        cases=sum_cases,
        sizes=(2**20, 2**25),
        setup=sum_arrays,
        verify=are_sums_of_32,
        bytes_moved=lambda n: 4 * n + 4 * _cover(n, 32),
        count_size=2**10,
    ),
    Definition(
        key="warps/row_sums",
        cases=row_cases,
        sizes=(2**14,),
        setup=row_arrays,
        verify=are_sums_of_rows,
        bytes_moved=lambda rows: 4 * rows * (COLUMNS + 1),
        count_size=2**6,
    ),
    Definition(
        key="warps/strides",
        cases=stride_cases,
        sizes=(1, 2, 4, 8, 16, 32),
        setup=stride_arrays,
        verify=are_picked,
        bytes_moved=lambda stride: 2 * 4 * STRIDED_N,
        count_size=4,
    ),
)
