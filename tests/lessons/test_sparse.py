"""Random sparse matrices are what they say, and so is what kernels prepare of them."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons.sparse.matrices import power_law
from coursekit.lessons.sparse.preparing import CHUNK, NO_ROW, PIECE, SLOTS, TILE

UNEVEN = np.array([0, 3, 0, 1500, 1, 7, 40, 0])


def uneven() -> ck.sparse.SparseMatrix:
    return ck.sparse.random_matrix(8, UNEVEN)


def dense(matrix) -> np.ndarray:
    """Return all elements; entries of one place add up."""
    full = np.zeros(matrix.shape)
    rows = np.repeat(np.arange(matrix.shape[0]), matrix.lengths)
    np.add.at(full, (rows, matrix.columns), matrix.values.astype(np.float64))
    return full


def test_rows_have_the_lengths_that_were_asked_for():
    assert uneven().lengths.tolist() == UNEVEN.tolist()


def test_columns_rise_in_each_row():
    matrix = uneven()
    parts = np.split(matrix.columns, matrix.starts[1:-1])
    assert all((np.diff(part) >= 0).all() for part in parts)


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_product_is_that_of_all_elements(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(uneven() @ x, dense(uneven()) @ x, rtol=0, atol=1e-9)


def test_seeds_give_other_matrices():
    first, same, other = (ck.sparse.random_matrix(50, 4, seed=s) for s in (1, 1, 2))
    assert (first.columns == same.columns).all()
    assert (first.columns != other.columns).any()


def test_power_law_has_its_mean_and_its_exponent():
    lengths = power_law(2**16)
    assert abs(lengths.mean() - 16) < 0.01
    shares = [(lengths >= least).mean() for least in (100, 1000)]
    # Of a density t^-2.1 the tail falls as t^-1.1, a little faster near its end.
    assert 10**1.1 < shares[0] / shares[1] < 10**1.2


def test_padded_arrays_have_whole_quads():
    starts, columns, values = ck.sparse.random_matrix(3, [1, 2, 2]).padded
    assert (starts[-1], len(columns), len(values)) == (5, 8, 8)


@pytest.mark.parametrize("lengths", ["normal", -1, 1.5, [1, 2]])
def test_lengths_that_fit_no_matrix_are_refused(lengths):
    with pytest.raises(ck.ArgumentError, match="random_matrix got lengths"):
        ck.sparse.random_matrix(3, lengths)


def test_no_rows_are_refused():
    with pytest.raises(ck.ArgumentError, match="0 rows"):
        ck.sparse.random_matrix(0)


# ---------------------------------------------------------------- preparations


def test_bins_have_each_row_once_the_longest_first():
    bins = ck.sparse.bins(uneven())
    assert sorted(bins.order.tolist()) == list(range(8))
    assert bins.in_bin.tolist() == [1, 1, 0, 6]
    assert bins.order[:2].tolist() == [3, 6]
    assert bins.grid == 1 + 1 + 0 + 1


def test_tiles_begin_where_a_walk_along_the_path_comes():
    matrix = ck.sparse.random_matrix(500, "power law")
    row, entry, found = 0, 0, [0]
    for step in range(1, 500 + matrix.nonzeros + 1):
        if entry == matrix.starts[row + 1]:
            row += 1
        else:
            entry += 1
        if step % TILE == 0:
            found.append(row)
    assert ck.sparse.tiles(matrix).tolist() == [*found, 500]


def test_sorted_blocks_have_every_entry_once():
    matrix = uneven()
    made = ck.sparse.sorted_blocks(matrix)
    kept = made.source[made.source < matrix.nonzeros]
    assert sorted(kept.tolist()) == list(range(matrix.nonzeros))


def test_keys_name_the_column_and_a_slot_of_the_row():
    matrix = uneven()
    made = ck.sparse.sorted_blocks(matrix)
    real = made.source < matrix.nonzeros
    rows = np.repeat(np.arange(8), matrix.lengths)[made.source[real]]
    slots = made.row_of[made.keys[real] % SLOTS]
    assert (matrix.columns[made.source[real]] == made.keys[real] // SLOTS).all()
    assert (np.where(slots < 0, ~slots, slots) == rows).all()


def test_long_rows_are_spread_over_slots():
    made = ck.sparse.sorted_blocks(uneven())
    pieces = (made.row_of == ~3).sum()
    assert pieces == -(-1500 // PIECE)
    assert (made.row_of == NO_ROW).sum() == SLOTS - 7 - pieces


def test_blocks_are_whole_chunks_in_rising_order():
    made = ck.sparse.sorted_blocks(ck.sparse.random_matrix(5000, 2))
    assert (made.block_starts % CHUNK == 0).all()
    parts = np.split(made.keys, made.block_starts[1:-1])
    assert len(parts) == made.blocks == 2
    assert all((np.diff(p[p > 0].astype(np.int64)) >= 0).all() for p in parts)
