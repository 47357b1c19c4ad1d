"""What kernels want to know of a sparse matrix before they multiply, by NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.lessons.sparse.matrices import SparseMatrix

LONGER_THAN = (1024, 32, 8)  # non-zeros: a block, 32 lanes, 8 lanes; the rest 2 lanes
ROWS_PER_BLOCK = (1, 8, 32, 128)
TILE = 2304  # steps of the merge path in a block: step_05_merge.cu
SLOTS, CHUNK, PIECE = 4096, 128, 512  # step_06_sorted.cu
NO_ROW = -(2**31)


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows in bins by length, the longest first.

    Attributes
    ----------
    order : ndarray of int32, shape (rows,)
        Rows of the first bin, then those of the next.
    in_bin : ndarray of int32, shape (4,)
        How many rows each bin has.
    grid : int
        Blocks that step_04_binned.cu needs.
    """

    order: np.ndarray
    in_bin: np.ndarray
    grid: int


def bins(matrix: SparseMatrix) -> Bins:
    """Put the rows of a matrix into the four bins of step_04_binned.cu."""
    bin_of = sum(matrix.lengths <= least for least in LONGER_THAN)
    order = np.argsort(bin_of, kind="stable").astype(np.int32)
    in_bin = np.bincount(bin_of, minlength=4).astype(np.int32)
    blocks = -(-in_bin // ROWS_PER_BLOCK)
    return Bins(order, in_bin, int(blocks.sum()))


def tiles(matrix: SparseMatrix) -> np.ndarray:
    """Return the row in which each tile of the merge path begins, and the last ends.

    A row has been passed before a diagonal d when its end, and one step for each row
    up to it, come to d at most.
    """
    passed = matrix.starts[1:].astype(np.int64) + np.arange(1, matrix.shape[0] + 1)
    steps = matrix.shape[0] + matrix.nonzeros
    cuts = np.append(np.arange(0, steps, TILE), steps)
    return np.searchsorted(passed, cuts, side="right").astype(np.int32)


@dataclass(frozen=True, eq=False)
class Sorted:
    """A matrix in the format of step_06_sorted.cu.

    Attributes
    ----------
    block_starts : ndarray of int32
        Where each block's non-zeros begin, and the last ends.
    keys : ndarray of uint32
        ``column * 4096 + slot``, in each block in rising order.
    source : ndarray of int64
        The place of each in the matrix; the number of non-zeros where it is padding.
    row_of : ndarray of int32
        The row of each slot, ``~row`` where the row has more slots, or `NO_ROW`.
    """

    block_starts: np.ndarray
    keys: np.ndarray
    source: np.ndarray
    row_of: np.ndarray

    @property
    def blocks(self) -> int:
        """How many blocks of threads multiply."""
        return len(self.block_starts) - 1

    def values(self, values: np.ndarray) -> np.ndarray:
        """Return the values of a matrix in the order of the keys, 0 where padded."""
        return np.append(values, np.float32(0))[self.source]


def sorted_blocks(matrix: SparseMatrix) -> Sorted:
    """Cut a matrix of at most 2^20 columns into blocks, and sort each by columns."""
    pieces = np.maximum(-(-matrix.lengths // PIECE), 1)
    place, row_of = _slots(pieces)
    row = np.repeat(np.arange(matrix.shape[0]), matrix.lengths)
    number = np.arange(matrix.nonzeros) - matrix.starts[row]
    first = np.cumsum(pieces) - pieces
    slot = place[first[row] + number % pieces[row]]
    block, slot = slot // SLOTS, slot % SLOTS
    keys = (block << 32) | (matrix.columns.astype(np.int64) << 12) | slot
    order = np.argsort(keys)
    counts = np.bincount(block, minlength=len(row_of) // SLOTS)
    padded = -(-counts // CHUNK) * CHUNK
    starts = np.concatenate([[0], np.cumsum(padded)])
    ends = np.cumsum(counts)
    shift = np.repeat(starts[:-1] - (ends - counts), counts)
    target = np.arange(matrix.nonzeros) + shift
    kept = np.zeros(starts[-1], np.uint32)
    kept[target] = keys[order] & 0xFFFFFFFF
    source = np.full(starts[-1], matrix.nonzeros, np.int64)
    source[target] = order
    return Sorted(starts.astype(np.int32), kept, source, row_of)


def _slots(pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slot of each piece of a row, and what row each slot has.

    Pieces of long rows are dealt to all blocks in turn, so that none gets many; rows
    of one piece fill what is left, in their order.
    """
    row = np.repeat(np.arange(len(pieces)), pieces)
    split = pieces[row] > 1
    blocks = -(-len(row) // SLOTS)
    dealt = np.arange(int(split.sum()))
    place = np.empty(len(row), np.int64)
    place[split] = dealt % blocks * SLOTS + dealt // blocks
    free = np.ones(blocks * SLOTS, bool)
    free[place[split]] = False
    place[~split] = np.flatnonzero(free)[: int((~split).sum())]
    row_of = np.full(blocks * SLOTS, NO_ROW, np.int32)
    row_of[place] = np.where(split, ~row, row)
    return place, row_of
