"""How the tests launch the kernels of kernels/sparse/: one function a file."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from kernel_launches import ROUNDING, Launch, blank, blocks, launches, picture

from coursekit.lessons.sparse import (
    SparseMatrix,
    bins,
    preparing,
    random_matrix,
    sorted_blocks,
    tiles,
)
from coursekit.lessons.sparse.matrices import power_law

REGULAR, UNEVEN, SHORT = range(3)  # kinds
KINDS = [
    {"rows": 1, "kind": REGULAR},
    {"rows": 256, "kind": REGULAR},
    {"rows": 33, "kind": UNEVEN},
    {"rows": 300, "kind": UNEVEN},
    {"rows": 65, "kind": SHORT},
]
LONG = 3000  # non-zeros of a row that passes through a whole tile


@functools.cache
def matrix(rows: int, kind: int) -> SparseMatrix:
    """Return rows of 32; a power law with empty rows and a long one; rows of 0 or 1."""
    rng = np.random.default_rng(0)
    if kind == REGULAR:
        lengths = np.full(rows, 32)
    elif kind == SHORT:
        lengths = np.arange(rows) % 3 // 2
    else:
        lengths = rng.permutation(power_law(rows))
        lengths[::7] = 0
        lengths[rows // 2] = LONG
    drawn = random_matrix(rows, lengths)
    values = picture(1, drawn.nonzeros)[0] + 0.5  # none is negative: no cancellation
    values[::3] = 0  # stored zeros: a product of 0 is no end of a row
    return SparseMatrix(drawn.starts, drawn.columns, values, drawn.shape)


def rounding(A: SparseMatrix) -> float:
    return (int(A.lengths.max()) + 2) * ROUNDING


def product(kernel: str, A: SparseMatrix, grid: int, *more: object) -> Launch:
    rows = A.shape[0]
    x = picture(1, rows)[0] + 0.25
    arguments = (*A.padded, x, blank(rows), *more)
    return Launch(kernel, grid, 256, arguments, {4: A @ x}, rounding(A))


@launches("sparse/step_01_scalar.cu", KINDS)
def spmv_scalar(rows: int, kind: int) -> Launch:
    return product("spmv_scalar", matrix(rows, kind), blocks(rows, 256), rows)


@launches("sparse/step_02_warp.cu", KINDS)
def spmv_warp(rows: int, kind: int) -> Launch:
    return product("spmv_warp", matrix(rows, kind), blocks(rows, 8), rows)


@launches("sparse/step_03_groups.cu", [k | {"lanes": n} for k in KINDS for n in (1, 8)])
def spmv_groups(rows: int, kind: int, lanes: int) -> Launch:
    grid = blocks(rows * lanes, 256)
    launch = product("spmv_groups", matrix(rows, kind), grid, rows)
    return dataclasses.replace(launch, defines={"LANES": lanes})


@launches("sparse/step_04_binned.cu", KINDS)
def spmv_binned(rows: int, kind: int) -> Launch:
    A = matrix(rows, kind)
    found = bins(A)
    return product("spmv_binned", A, found.grid, found.order, found.in_bin)


MERGED = [k | {"part": p} for k in KINDS for p in range(3)]


@launches("sparse/step_05_merge.cu", MERGED)
def spmv_merge(rows: int, kind: int, part: int) -> Launch:
    A = matrix(rows, kind)
    cuts, count = tiles(A), len(tiles(A)) - 1
    if part == 0:
        found = np.full(count + 1, -1, np.int32)
        arguments = A.starts, found, rows, count
        grid = blocks(count + 1, 256)
        return Launch("find_tiles", grid, 256, arguments, {1: cuts.astype(float)})
    x = picture(1, rows)[0] + 0.25
    finished, carries = merged(A, x, cuts)
    if part == 1:
        sums = blank(count), np.full(count, -1, np.int32)
        arguments = (*A.padded, x, blank(rows), cuts, sums[1], sums[0], rows)
        wanted = {4: finished, 6: cuts[1:].astype(float), 7: carries}
        return Launch("spmv_merge", count, 256, arguments, wanted, rounding(A))
    held = finished.astype(np.float32), carries.astype(np.float32)
    arguments = cuts[1:].copy(), held[1], held[0], rows, count
    grid = blocks(count, 256)
    return Launch("add_carries", grid, 256, arguments, {2: A @ x}, rounding(A))


def merged(A: SparseMatrix, x: np.ndarray, cuts: np.ndarray) -> tuple:
    """Return the sums that the tiles of rows' ends have, and what each tile carries."""
    upto = np.append(0, np.cumsum(A.values.astype(float) * x[A.columns]))
    steps = np.arange(len(cuts)) * preparing.TILE
    steps[-1] = A.shape[0] + A.nonzeros
    first = steps - cuts  # the non-zero that each tile begins with
    rows = np.arange(A.shape[0])
    tile = np.searchsorted(cuts, rows, side="right") - 1
    begin = np.maximum(A.starts[:-1], first[np.minimum(tile, len(cuts) - 2)])
    ends = np.append(A.starts, A.nonzeros)
    last = np.maximum(ends[cuts[1:]], first[:-1])
    return upto[A.starts[1:]] - upto[begin], upto[first[1:]] - upto[last]


@launches(
    "sparse/step_06_sorted.cu", [*KINDS, {"rows": 4200, "kind": SHORT}, {"n": 300}]
)
def spmv_sorted(rows: int = 0, kind: int = 0, n: int = 0) -> Launch:
    if n:
        y = np.append(np.ones(n, np.float32), np.float32(7))
        return Launch(
            "clear", blocks(n, 256), 256, (y, n), {0: np.append(np.zeros(n), 7)}
        )
    A = matrix(rows, kind)
    made, x = sorted_blocks(A), picture(1, rows)[0] + 0.25
    arguments = (
        made.block_starts, made.keys, made.values(A.values), made.row_of, x,
        np.zeros(rows, np.float32),
    )  # fmt: skip
    return Launch("spmv_sorted", made.blocks, 1024, arguments, {5: A @ x}, rounding(A))


@launches("sparse/spmm.cu", [k | {"width": w} for k in KINDS for w in (1, 40)])
def spmm_warp(rows: int, kind: int, width: int) -> Launch:
    A, X = matrix(rows, kind), picture(rows, width) + 0.25
    found = np.full((rows, width), np.nan, np.float32)
    grid = blocks(rows, 8), blocks(width, 32)
    arguments = (*A.padded, X, found, rows, width)
    return Launch("spmm_warp", grid, 256, arguments, {4: A @ X}, rounding(A))
