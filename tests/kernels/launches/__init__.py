"""How the tests launch each file of kernels/: one function a file.

A function takes the sizes that the file's `expect:` and `finds:` lines name, and
returns a `Launch`. To add a kernel, write such a function below and put
`@launches("folder/file.cu")` above it; tests/test_kernels.py does the rest. Values
of inputs are distinct, and outputs start as NaN, so that a wrong index shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RAGGED = (1, 31, 32, 33, 1023, 1025)
ROUNDING = 2.0**-24  # relative, of one float32 operation


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel, and what must come of it.

    Attributes
    ----------
    kernel : str
        Its name, with template arguments where it has any.
    grid, block : int or tuple of int
    arguments : tuple
    results : dict of int to ndarray
        What an argument must hold afterwards, by position, in float64. All other
        arrays must be unchanged.
    rtol : float
        Relative tolerance: roundings on the way, times `ROUNDING`.
    prints : tuple of str
        Lines to be printed, in any order.
    shared_bytes : int
    cooperative : bool
        Whether all blocks must run at once.
    defines : dict of str to int
        Macros that the file is compiled with.
    atol : dict of int to float
        Absolute tolerance of a result, where values cancel.
    """

    kernel: str
    grid: Any
    block: Any
    arguments: tuple = ()
    results: dict[int, np.ndarray] = field(default_factory=dict)
    rtol: float = 0.0
    prints: tuple[str, ...] = ()
    shared_bytes: int = 0
    cooperative: bool = False
    defines: dict[str, int] = field(default_factory=dict)
    atol: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The function that launches a file, and the sizes that its result is tested at."""

    launch: Callable[..., Launch]
    sizes: tuple[dict[str, int], ...]


PLANS: dict[str, Plan] = {}


def launches(path: str, sizes: Sequence[dict[str, int]] | None = None):
    """Register the function below for a file; sizes default to n from `RAGGED`."""
    chosen = tuple({"n": n} for n in RAGGED) if sizes is None else tuple(sizes)

    def register(function):
        PLANS[path] = Plan(function, chosen)
        return function

    return register


def ramp(n: int, seed: int = 0) -> np.ndarray:
    """Return n distinct float32 values, small, of both signs, in no order."""
    shuffled = np.random.default_rng(seed).permutation(n)
    return ((shuffled - n / 3) / 7).astype(np.float32)


def blank(n: int) -> np.ndarray:
    """Return an output that nothing has written yet."""
    return np.full(n, np.nan, dtype=np.float32)


def blocks(n: int, block: int) -> int:
    """Return how many blocks cover n threads."""
    return -(-n // block)


@launches("start/hello.cu", [{"grid": 1, "block": 1}, {"grid": 3, "block": 33}])
def hello(grid: int, block: int) -> Launch:
    lines = (
        f"Hello from thread {thread} of block {number}"
        for number in range(grid)
        for thread in range(block)
    )
    return Launch("hello", grid, block, prints=tuple(lines))


@launches("start/vec_add.cu")
@launches("broken/vec_add_no_guard.cu")
def vec_add(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = a.astype(np.float64) + b
    arguments = (a, b, blank(n), n)
    return Launch("vec_add", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches(
    "start/read_strided.cu", [{"n": n, "stride": s} for n in RAGGED for s in (1, 3, 32)]
)
def read_strided(n: int, stride: int) -> Launch:
    x = ramp((n - 1) * stride + 1)
    wanted = x[::stride].astype(np.float64)
    arguments = (x, blank(n), n, stride)
    return Launch("read_strided", blocks(n, 256), 256, arguments, {1: wanted})


@launches("start/scale.cu")
def scale(n: int) -> Launch:
    x = ramp(n)
    wanted = 3.25 * x.astype(np.float64)
    arguments = (x, 3.25, blank(n), n)
    return Launch("scale", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches("start/add_scale.cu")
def add_scale(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = 3.25 * (a.astype(np.float64) + b)
    arguments = (a, b, 3.25, blank(n), n)
    # Two roundings: the sum, and its product.
    return Launch(
        "add_scale", blocks(n, 256), 256, arguments, {3: wanted}, 2.01 * ROUNDING
    )


@launches("broken/bad_launch.cu")
def bad_launch(n: int) -> Launch:
    x = ramp(n)
    wanted = x.astype(np.float64) ** 2
    return Launch("square", 1, n, (x,), {0: wanted}, ROUNDING)


# ---------------------------------------------------------------- first


@launches("first/index3d.cu", [{"x": 2, "y": 1, "z": 1}, {"x": 3, "y": 2, "z": 2}])
def index3d(x: int, y: int, z: int) -> Launch:
    grid, block = (x, y, z), (y, x, z + 1)
    lines = (
        "block ({},{},{}) thread ({},{},{}) is number {}".format(
            *place, *thread, number * y * x * (z + 1) + index
        )
        for number, place in enumerate(places(grid))
        for index, thread in enumerate(places(block))
    )
    return Launch("index3d", grid, block, prints=tuple(lines))


def places(extent: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Return all (x, y, z) below `extent`, x fastest."""
    columns, rows, layers = extent
    return [
        (x, y, z) for z in range(layers) for y in range(rows) for x in range(columns)
    ]


def vector_sum(kernel: str, n: int, grid: int, block: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = a.astype(np.float64) + b
    return Launch(kernel, grid, block, (a, b, blank(n), n), {2: wanted}, ROUNDING)


@launches("first/vec_add_one_thread.cu")
def vec_add_one_thread(n: int) -> Launch:
    return vector_sum("vec_add_one_thread", n, 1, 1)


@launches("first/vec_add_one_block.cu")
def vec_add_one_block(n: int) -> Launch:
    return vector_sum("vec_add_one_block", n, 1, 256)


@launches(
    "first/vec_add_stride.cu", [{"n": n, "grid": g} for n in RAGGED for g in (1, 3, 9)]
)
def vec_add_stride(n: int, grid: int) -> Launch:
    return vector_sum("vec_add_stride", n, grid, 256)


PICTURES = [
    {"rows": 1, "cols": 1},
    {"rows": 7, "cols": 33},
    {"rows": 33, "cols": 7},
    {"rows": 31, "cols": 65},
]


def picture(rows: int, cols: int) -> np.ndarray:
    """Return distinct values from 0 to 1 in no order."""
    shuffled = np.random.default_rng(0).permutation(rows * cols)
    return (shuffled / (rows * cols)).astype(np.float32).reshape(rows, cols)


@launches("first/negative.cu", PICTURES)
def negative(rows: int, cols: int) -> Launch:
    x = picture(rows, cols)
    grid, wanted = (blocks(cols, 32), blocks(rows, 8)), 1 - x.astype(np.float64)
    arguments = (x, np.full_like(x, np.nan), rows, cols)
    return Launch("negative", grid, (32, 8), arguments, {1: wanted}, ROUNDING)


@launches("first/negative_by_columns.cu", PICTURES)
def negative_by_columns(rows: int, cols: int) -> Launch:
    x = picture(rows, cols)
    grid, wanted = (blocks(rows, 32), blocks(cols, 8)), 1 - x.astype(np.float64)
    arguments = (x, np.full_like(x, np.nan), rows, cols)
    return Launch(
        "negative_by_columns", grid, (32, 8), arguments, {1: wanted}, ROUNDING
    )


@launches(
    "first/blur.cu", [size | {"radius": r} for size in PICTURES for r in (0, 1, 4)]
)
def blur(rows: int, cols: int, radius: int) -> Launch:
    x = picture(rows, cols)
    wanted = np.empty((rows, cols))
    for row in range(rows):
        for col in range(cols):
            top, left = max(row - radius, 0), max(col - radius, 0)
            part = x[top : row + radius + 1, left : col + radius + 1]
            wanted[row, col] = part.mean(dtype=np.float64)
    grid = (blocks(cols, 32), blocks(rows, 8))
    arguments = (x, np.full_like(x, np.nan), rows, cols, radius)
    # Values are not negative: a sum of p pixels has p roundings at most, all
    # relative to it, and the division one more.
    rtol = ((2 * radius + 1) ** 2 + 1) * ROUNDING
    return Launch("blur", grid, (32, 8), arguments, {1: wanted}, rtol)


MATRICES = [
    {"M": 1, "N": 1, "K": 1},
    {"M": 17, "N": 33, "K": 5},
    {"M": 31, "N": 7, "K": 65},
]


def matrices(batch: int, M: int, N: int, K: int) -> tuple:
    """Return A, B, a blank C, and A @ B in float64; no value is negative."""
    A = picture(batch * M, K).reshape(batch, M, K)
    B = picture(batch * K, N)[::-1].reshape(batch, K, N).copy()
    wanted = A.astype(np.float64) @ B.astype(np.float64)
    return A, B, np.full((batch, M, N), np.nan, dtype=np.float32), wanted


@launches("first/matmul_naive.cu", MATRICES)
def matmul_naive(M: int, N: int, K: int) -> Launch:
    A, B, C, wanted = (array[0] for array in matrices(1, M, N, K))
    grid = (blocks(N, 16), blocks(M, 16))
    # K products of values that are not negative, each fused with its sum.
    return Launch(
        "matmul_naive", grid, (16, 16), (A, B, C, M, N, K), {2: wanted}, K * ROUNDING
    )


@launches(
    "first/batched_matmul.cu", [{"batch": b} | m for b in (1, 3) for m in MATRICES]
)
def batched_matmul(batch: int, M: int, N: int, K: int) -> Launch:
    A, B, C, wanted = matrices(batch, M, N, K)
    grid = (blocks(N, 16), blocks(M, 16), batch)
    return Launch(
        "batched_matmul", grid, (16, 16), (A, B, C, M, N, K), {2: wanted}, K * ROUNDING
    )


@launches(
    "first/reverse_block.cu", [{"n": n} for n in (1, 2, 31, 32, 33, 255, 1000, 1024)]
)
def reverse_block(n: int) -> Launch:
    x = ramp(n)
    wanted = x[::-1].astype(np.float64)
    return Launch("reverse_block", 1, blocks(n, 32) * 32, (x, n), {0: wanted})


# ---------------------------------------------------------------- warps


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


# ---------------------------------------------------------------- synchronisation


@launches("synchronisation/rotate.cu", [{"n": n, "by": n // 3} for n in (1, 31, 1000)])
@launches("broken/rotate_missing_barrier.cu", [{"n": 128, "by": 32}])
def rotate(n: int, by: int) -> Launch:
    x = ramp(n)
    wanted = np.roll(x, -by).astype(np.float64)
    return Launch("rotate", 1, blocks(n, 32) * 32, (x, blank(n), n, by), {1: wanted})


def heat(x: np.ndarray, rounds: int) -> np.ndarray:
    """Return a rod in float64 after some rounds of heat flow."""
    rod = x.astype(np.float64)
    for _ in range(rounds):
        rod[1:-1] = (rod[:-2] + 2 * rod[1:-1] + rod[2:]) / 4
    return rod


RODS = [{"n": n, "rounds": r} for n in (1, 2, 33, 1000) for r in (0, 1, 6)]


def heat_of_a_block(kernel: str, n: int, rounds: int) -> Launch:
    x = picture(1, n)[0]
    # No temperature is negative, and each round rounds twice.
    rtol = 2.01 * rounds * ROUNDING
    arguments, wanted = (x, n, rounds), {0: heat(x, rounds)}
    return Launch(kernel, 1, blocks(n, 32) * 32, arguments, wanted, rtol)


@launches("synchronisation/heat_block.cu", RODS)
@launches("broken/heat_one_barrier.cu", RODS[:1])
def heat_block(n: int, rounds: int) -> Launch:
    return heat_of_a_block("heat_block", n, rounds)


@launches("synchronisation/heat_double_buffer.cu", RODS)
def heat_double_buffer(n: int, rounds: int) -> Launch:
    return heat_of_a_block("heat_double_buffer", n, rounds)


@launches("synchronisation/heat_step.cu")
def heat_step(n: int) -> Launch:
    x = picture(1, n)[0]
    arguments = (x, blank(n), n)
    return Launch(
        "heat_step", blocks(n, 256), 256, arguments, {1: heat(x, 1)}, 2.01 * ROUNDING
    )


@launches(
    "synchronisation/heat_grid.cu",
    [{"n": n, "rounds": r, "grid": g} for n, r in ((1, 2), (1025, 6)) for g in (2, 5)],
)
def heat_grid(n: int, rounds: int, grid: int) -> Launch:
    x = picture(1, n)[0]
    wanted = {0: heat(x, rounds), 1: heat(x, rounds - 1)}
    arguments = (x, blank(n), n, rounds)
    rtol = 2.01 * rounds * ROUNDING
    return Launch("heat_grid", grid, 256, arguments, wanted, rtol, cooperative=True)


@launches("synchronisation/sum_atomic.cu")
def sum_atomic(n: int) -> Launch:
    x = picture(1, n)[0]
    total, wanted = np.ones(1, np.float32), 1 + x.sum(dtype=np.float64, keepdims=True)
    # n additions of values that are not negative, in any order.
    arguments = (x, total, n)
    return Launch(
        "sum_atomic", blocks(n, 256), 256, arguments, {1: wanted}, n * ROUNDING
    )


@launches(
    "synchronisation/scopes.cu",
    [{"n": n, "positive": p} for n in RAGGED for p in (0, n // 2, n)],
)
def scopes(n: int, positive: int) -> Launch:
    x = np.sort(ramp(n)) - np.sort(ramp(n))[n - positive - 1] if positive < n else None
    x = (1 + np.arange(n) if x is None else x).astype(np.float32)
    x = np.random.default_rng(0).permutation(x)
    parts = np.pad(x > 0, (0, -n % 256)).reshape(-1, 256).sum(1).astype(np.float64)
    per_block, all_ = np.zeros(parts.size, np.int32), np.zeros(1, np.int32)
    wanted = {1: parts, 2: np.array([float(positive)])}
    return Launch("scopes", parts.size, 256, (x, per_block, all_, n), wanted)


@launches("synchronisation/message.cu", [{"n": 2}, {"n": 4}])
@launches("broken/message_plain.cu", [{"n": 4}])
def message(n: int) -> Launch:
    squares = np.arange(33.0) ** 2
    data, out = np.zeros(33, np.int32), np.full((n - 1, 33), -1, np.int32)
    arguments = (data, np.zeros(1, np.int32), out)
    wanted = {0: squares, 1: np.ones(1), 2: np.tile(squares, (n - 1, 1))}
    return Launch("message", n, 33, arguments, wanted)


@launches("synchronisation/total_last_block.cu", [{"n": 64}, {"n": 256}, {"n": 960}])
def total_last_block(n: int) -> Launch:
    x = picture(1, n)[0]
    parts = x.astype(np.float64).reshape(-1, 64).sum(1)
    arguments = (x, blank(n // 64), np.zeros(1, np.uint32), blank(1))
    wanted = {1: parts, 2: np.array([n / 64]), 3: parts.sum(keepdims=True)}
    # 64 additions a part, then one for each part; no value is negative.
    return Launch("total", n // 64, 64, arguments, wanted, (64 + n / 64) * ROUNDING)


@launches(
    "synchronisation/lock.cu", [{"grid": 1, "block": 1}, {"grid": 3, "block": 40}]
)
@launches(
    "synchronisation/lock_by_block.cu",
    [{"grid": 1, "block": 1}, {"grid": 5, "block": 100}],
)
def lock(grid: int, block: int) -> Launch:
    arguments = (np.zeros(1, np.int32), np.full(1, 7, np.int32))
    wanted = {0: np.zeros(1), 1: np.array([7.0 + grid * block])}
    return Launch("count_threads", grid, block, arguments, wanted)


@launches("synchronisation/argmax_packed.cu")
def argmax_packed(n: int) -> Launch:
    # Few different values, so that the first of equals has to win. A float64 holds
    # the upper 53 bits of a key, which the lowest place of a value sets apart here.
    x = (np.random.default_rng(0).integers(-5, 0, n)).astype(np.int32)
    place = int(x.argmax())
    key = ((int(x[place]) + 2**31) << 32) | (2**32 - 1 - place)
    arguments = (x, np.zeros(1, np.uint64), n)
    wanted = {1: np.array([key], np.uint64).astype(np.float64)}
    return Launch("argmax_packed", blocks(n, 256), 256, arguments, wanted)


def histogram_of_bytes(kernel: str, n: int, grid: int) -> Launch:
    # A permutation of all bytes over and over, so that 1024 fill every counter.
    x = np.tile(np.random.default_rng(0).permutation(256), n // 256 + 1)
    x = x[:n].astype(np.uint8)
    counts = np.arange(256, dtype=np.uint32)
    wanted = counts + np.bincount(x, minlength=256).astype(np.float64)
    return Launch(kernel, grid, 256, (x, counts, n), {1: wanted})


COUNTED = [{"n": n, "grid": g} for n in RAGGED for g in (1, 3)]


@launches("synchronisation/histogram_global.cu", COUNTED)
def histogram_global(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_global", n, grid)


@launches("synchronisation/histogram_shared.cu", COUNTED)
def histogram_shared(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_shared", n, grid)


@launches("synchronisation/histogram_warp.cu", COUNTED)
def histogram_warp(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_warp", n, grid)


@launches("synchronisation/tiles.cu")
def tiles(n: int) -> Launch:
    x = np.random.default_rng(0).permutation(n).astype(np.int32)
    wanted = np.pad(x, (0, -n % 8)).reshape(-1, 8).sum(1).astype(np.float64)
    sums = np.full(wanted.size, -1, np.int32)
    return Launch("tiles", blocks(n, 256), 256, (x, sums, n), {1: wanted})
