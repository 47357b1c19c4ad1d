"""Benchmarks of sparse matrix times vector: a ladder beside cuSPARSE, two matrices."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import cusparse
from coursekit.lessons import sparse

ROWS, BLOCK = 2**20, 256
REGULAR, POWER_LAW = 32, "power law"


class Problem(NamedTuple):
    """Arguments of every case: the matrix, vectors, and what is prepared once.

    Attributes
    ----------
    starts, columns, values
        CSR; columns and values end in room for four.
    x, y
        y = A x.
    order, in_bin, binned_grid
        As `sparse.bins` returns them.
    tile_rows
        As `sparse.tiles` returns them.
    block_starts, keys, sorted_values, row_of
        As `sparse.sorted_blocks` returns them.
    """

    starts: Any
    columns: Any
    values: Any
    x: Any
    y: Any
    order: Any
    in_bin: Any
    binned_grid: int
    tile_rows: Any
    block_starts: Any
    keys: Any
    sorted_values: Any
    row_of: Any


@functools.cache
def _matrix(rows: int, lengths: int | str) -> sparse.SparseMatrix:
    return sparse.random_matrix(rows, lengths)


@functools.cache
def _prepared(rows: int, lengths: int | str) -> tuple:
    matrix = _matrix(rows, lengths)
    return sparse.bins(matrix), sparse.tiles(matrix), sparse.sorted_blocks(matrix)


_rng = np.random.default_rng(1)


def problem(lengths: int | str, rows: int) -> Problem:
    """Draw values for a matrix whose non-zeros stay in their places, and x."""
    matrix = _matrix(rows, lengths)
    rows_in_bins, tile_rows, by_columns = _prepared(rows, lengths)
    values = _rng.standard_normal(matrix.nonzeros, dtype=np.float32)
    drawn_anew = dataclasses.replace(matrix, values=values)
    starts, columns, padded = map(ck.to_device, drawn_anew.padded)
    x = ck.to_device(_rng.standard_normal(rows, dtype=np.float32))
    return Problem(
        starts, columns, padded, x, ck.empty(rows),
        order=ck.to_device(rows_in_bins.order),
        in_bin=ck.to_device(rows_in_bins.in_bin),
        binned_grid=rows_in_bins.grid,
        tile_rows=ck.to_device(tile_rows),
        block_starts=ck.to_device(by_columns.block_starts),
        keys=ck.to_device(by_columns.keys),
        sorted_values=ck.to_device(by_columns.values(values)),
        row_of=ck.to_device(by_columns.row_of),
    )  # fmt: skip


def is_product(*arguments) -> None:
    """Compare with the product in float64.

    A sum of n products in float32 is off by some sqrt(n) roundings of the sum of their
    sizes; up to twice as many, and four, are allowed.

    Raises
    ------
    AssertionError
        A result is further off, or no number.
    """
    held = Problem(*arguments)
    xp, starts, columns, values, x, y = drawn.viewed(*held[:5])
    products = values.astype(xp.float64) * x[columns]
    wanted, sizes = (_row_sums(xp, p, starts) for p in (products, abs(products)))
    allowed = sizes * (2 * xp.sqrt(xp.diff(starts)) + 4) * 2.0**-24 + 1e-12
    excess = float(xp.where(abs(y - wanted) <= allowed, 0, 1).sum())
    if excess:
        raise AssertionError(f"{excess:,.0f} of {len(y):,} results are too far off.")


def _row_sums(xp, products, starts):
    upto = xp.concatenate([xp.zeros(1), xp.cumsum(products)])
    return upto[starts[1:]] - upto[starts[:-1]]


# ---------------------------------------------------------------- cases


def regular_cases() -> dict[str, Callable]:
    """Return the ladder; a row of 32 non-zeros gets 8 lanes in step 3."""
    return _cases(8)


def power_law_cases() -> dict[str, Callable]:
    """Return the ladder; a row of 16 non-zeros in the mean gets 4 lanes in step 3."""
    return _cases(4)


def _cases(lanes: int) -> dict[str, Callable]:
    return {
        "scalar": _by_rows("01_scalar", "spmv_scalar", 1),
        "warp": _by_rows("02_warp", "spmv_warp", 32),
        "groups": _by_rows("03_groups", "spmv_groups", lanes),
        "binned": _binned(),
        "merge": _merge(),
        "sorted": _sorted(),
    }


def _by_rows(step: str, name: str, lanes: int) -> Callable:
    kernel = ck.compile(f"sparse/step_{step}.cu", defines={"LANES": lanes})[name]

    def by_rows(*arguments):
        held = Problem(*arguments)
        rows = len(held.y)
        kernel[cover(rows * lanes, BLOCK), BLOCK](*held[:5], rows)

    return by_rows


def _binned() -> Callable:
    kernel = ck.compile("sparse/step_04_binned.cu").spmv_binned

    def binned(*arguments):
        held = Problem(*arguments)
        kernel[held.binned_grid, BLOCK](*held[:5], held.order, held.in_bin)

    return binned


def _merge() -> Callable:
    module = ck.compile("sparse/step_05_merge.cu")
    scratch = drawn.zeros()

    def merge(*arguments):
        held = Problem(*arguments)
        rows, tiles = len(held.y), len(held.tile_rows) - 1
        carry_rows = scratch("rows", tiles, np.int32)
        carry_sums = scratch("sums", tiles)
        module.spmv_merge[tiles, BLOCK](
            *held[:5], held.tile_rows, carry_rows, carry_sums, rows
        )
        module.add_carries[cover(tiles, BLOCK), BLOCK](
            carry_rows, carry_sums, held.y, rows, tiles
        )

    return merge


def _sorted() -> Callable:
    module = ck.compile("sparse/step_06_sorted.cu")

    def by_columns(*arguments):
        held = Problem(*arguments)
        rows = len(held.y)
        module.clear[cover(rows, BLOCK), BLOCK](held.y, rows)
        module.spmv_sorted[len(held.block_starts) - 1, 1024](
            held.block_starts, held.keys, held.sorted_values, held.row_of, held.x,
            held.y,
        )  # fmt: skip

    return by_columns


# ---------------------------------------------------------------- definitions


def _definition(key: str, cases: Callable, lengths: int | str, mean: int) -> Definition:
    return Definition(
        key=key,
        cases=cases,
        sizes=(ROWS,),
        setup=functools.partial(problem, lengths),
        verify=is_product,
        bytes_moved=lambda rows: rows * (8 * mean + 3 * 4),
        flops=lambda rows: 2 * mean * rows,
        count_size=2**11,
        peers={"cuSPARSE": cusparse.case},
        reference="cuSPARSE",
    )


DEFINITIONS = (
    _definition("sparse/regular", regular_cases, REGULAR, 32),
    _definition("sparse/power_law", power_law_cases, POWER_LAW, 16),
)
