"""How the tests launch the kernels of kernels/first/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import (
    PICTURES,
    RAGGED,
    ROUNDING,
    Launch,
    blank,
    blocks,
    launches,
    matrices,
    picture,
    ramp,
)


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
