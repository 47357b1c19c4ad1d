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
    """

    kernel: str
    grid: Any
    block: Any
    arguments: tuple = ()
    results: dict[int, np.ndarray] = field(default_factory=dict)
    rtol: float = 0.0
    prints: tuple[str, ...] = ()
    shared_bytes: int = 0


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
