"""How the tests launch the kernels of kernels/warps/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import (
    RAGGED,
    ROUNDING,
    Launch,
    blank,
    blocks,
    launches,
    picture,
    ramp,
)


@launches(
    "warps/lanes.cu",
    [
        {"x": 32, "y": 4, "z": 1},
        {"x": 40, "y": 1, "z": 1},
        {"x": 7, "y": 3, "z": 5},
    ],
)
def lanes(x: int, y: int, z: int) -> Launch:
    threads = np.arange(x * y * z, dtype=np.float64)
    warp, lane = np.full((2, x * y * z), -1, dtype=np.int32)
    wanted = {0: threads // 32, 1: threads % 32}
    return Launch("lanes", 1, (x, y, z), (warp, lane), wanted)


def two_rules(kernel: str, n: int, odd: np.ndarray) -> Launch:
    """Apply one rule to the elements where `odd` holds, the other to the rest."""
    turns = 9
    x = np.random.default_rng(0).permutation(n).astype(np.uint32) * 40503
    quartered, halved = x.copy(), x.copy()
    for _ in range(turns):
        quartered = (quartered ^ (quartered >> 2)) + 3
        halved = (halved ^ (halved >> 1)) + 5
    wanted = np.where(odd, quartered, halved).astype(np.float64)
    arguments = (x, np.zeros(n, dtype=np.uint32), n, turns)
    return Launch(kernel, blocks(n, 64), 64, arguments, {1: wanted})


@launches("warps/branch_by_lane.cu")
def branch_by_lane(n: int) -> Launch:
    return two_rules("branch_by_lane", n, np.arange(n) % 2 == 1)


@launches("warps/branch_by_warp.cu")
def branch_by_warp(n: int) -> Launch:
    return two_rules("branch_by_warp", n, np.arange(n) // 32 % 2 == 1)


@launches(
    "warps/mandelbrot.cu",
    [
        size | shape
        for size in ({"rows": 64, "cols": 64}, {"rows": 17, "cols": 33})
        for shape in ({"across": 32, "down": 4}, {"across": 8, "down": 16})
    ],
)
def mandelbrot(rows: int, cols: int, across: int, down: int) -> Launch:
    # All steps are multiples of 1/64 for as long as 3 turns last, so that float32
    # and float64 agree on who has left, and no rounding is left to chance.
    left, top, step, most = -2.0, 1.0, 2.0**-4, 3
    c = left + step * np.arange(cols) + 1j * (top - step * np.arange(rows)[:, None])
    z, wanted = np.zeros_like(c), np.zeros(c.shape)
    inside = np.ones(c.shape, dtype=bool)
    for _ in range(most):
        inside &= z.real**2 + z.imag**2 <= 4
        wanted += inside
        z = np.where(inside, z * z + c, z)
    grid = (blocks(cols, across), blocks(rows, down))
    turns = np.full((rows, cols), -1, dtype=np.int32)
    arguments = (turns, rows, cols, left, top, step, most)
    return Launch("mandelbrot", grid, (across, down), arguments, {0: wanted})


def by_warps(x: np.ndarray) -> np.ndarray:
    """Return x in float64 with a row for each warp, filled up with zeros."""
    padded = np.zeros(blocks(x.size, 32) * 32)
    padded[: x.size] = x
    return padded.reshape(-1, 32)


@launches("warps/count_positive.cu")
def count_positive(n: int) -> Launch:
    x = ramp(n)
    wanted = (by_warps(x) > 0).sum(axis=1).astype(np.float64)
    counts = np.full(wanted.size, -1, dtype=np.int32)
    return Launch("count_positive", blocks(n, 256), 256, (x, counts, n), {1: wanted})


@launches("warps/shuffles.cu", [{"by": by} for by in (0, 1, 5, 16, 31)])
def shuffles(by: int) -> Launch:
    lane = np.arange(32)
    x = (7 * lane + 100).astype(np.int32)
    sources = (
        np.where(lane + by < 32, lane + by, lane),
        np.where(lane - by >= 0, lane - by, lane),
        lane ^ by,
        np.full(32, by),
    )
    wanted = {place: x[s].astype(np.float64) for place, s in enumerate(sources, 1)}
    results = (np.full(32, -1, dtype=np.int32) for _ in sources)
    return Launch("shuffles", 1, 32, (x, *results, by), wanted)


def sums_of_warps(kernel: str, n: int) -> Launch:
    x = ramp(n) - ramp(n).min() + 1  # all positive: nothing cancels
    wanted = by_warps(x).sum(axis=1)
    # Five additions on the way of each summand.
    arguments = (x, blank(wanted.size), n)
    return Launch(kernel, blocks(n, 128), 128, arguments, {1: wanted}, 5 * ROUNDING)


@launches("warps/warp_sum_shared.cu")
def warp_sum_shared(n: int) -> Launch:
    return sums_of_warps("warp_sum_shared", n)


@launches("warps/warp_sum_shuffle.cu")
def warp_sum_shuffle(n: int) -> Launch:
    return sums_of_warps("warp_sum_shuffle", n)


@launches("warps/warp_sum_butterfly.cu")
def warp_sum_butterfly(n: int) -> Launch:
    x = ramp(n) - ramp(n).min() + 1
    sums = by_warps(x).sum(axis=1, keepdims=True)
    wanted = (by_warps(x) / sums).reshape(-1)[:n]
    # Five additions and a division.
    return Launch(
        "warp_sum_butterfly",
        blocks(n, 128),
        128,
        (x, blank(n), n),
        {1: wanted},
        6.01 * ROUNDING,
    )


@launches(
    "warps/handover.cu",
    [{"lanes": 8, "start": 5}, {"lanes": 32, "start": 1}, {"lanes": 1, "start": 3}],
)
def handover(lanes: int, start: int) -> Launch:
    wanted = start + np.arange(lanes, dtype=np.float64)
    got = np.zeros(lanes, dtype=np.int32)
    return Launch("handover", 1, lanes, (got, start), {0: wanted})


@launches(
    "warps/read_shifted.cu", [{"n": n, "shift": s} for n in RAGGED for s in (0, 1, 8)]
)
def read_shifted(n: int, shift: int) -> Launch:
    x = ramp(n + shift)
    wanted = x[shift:].astype(np.float64)
    arguments = (x, blank(n), n, shift)
    return Launch("read_shifted", blocks(n, 256), 256, arguments, {1: wanted})


def squared_distances(kernel: str, n: int, axis: int) -> Launch:
    points = ramp(3 * n).reshape((3, n) if axis == 0 else (n, 3))
    wanted = (points.astype(np.float64) ** 2).sum(axis=axis)
    arguments = (points, blank(n), n)
    # Three squares and two sums of them, none negative.
    return Launch(kernel, blocks(n, 256), 256, arguments, {1: wanted}, 3.01 * ROUNDING)


@launches("warps/points_together.cu")
def points_together(n: int) -> Launch:
    return squared_distances("points_together", n, axis=1)


@launches("warps/points_apart.cu")
def points_apart(n: int) -> Launch:
    return squared_distances("points_apart", n, axis=0)


TABLES = [
    {"rows": rows, "cols": cols}
    for rows, cols in ((1, 1), (3, 31), (5, 32), (33, 65), (64, 256))
]


def sums_of_rows(kernel: str, threads: int, rows: int, cols: int) -> Launch:
    A = picture(rows, cols)
    wanted = A.sum(axis=1, dtype=np.float64)
    # No value is negative: at most `cols` additions on the way of each summand.
    return Launch(
        kernel,
        blocks(threads, 128),
        128,
        (A, blank(rows), rows, cols),
        {1: wanted},
        cols * ROUNDING,
    )


@launches("warps/row_sum_by_thread.cu", TABLES)
def row_sum_by_thread(rows: int, cols: int) -> Launch:
    return sums_of_rows("row_sum_by_thread", rows, rows, cols)


@launches("warps/row_sum_by_warp.cu", TABLES)
def row_sum_by_warp(rows: int, cols: int) -> Launch:
    return sums_of_rows("row_sum_by_warp", 32 * rows, rows, cols)
