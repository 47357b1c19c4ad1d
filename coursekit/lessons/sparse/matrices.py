"""A random sparse matrix in CSR: regular, or with row lengths by a power law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError

EXPONENT, MEAN, LONGEST = 2.1, 16, 2**16
POWER_LAW = "power law"


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix in compressed sparse rows (CSR).

    Attributes
    ----------
    starts : ndarray of int32, shape (rows + 1,)
        Row r has the non-zeros ``starts[r]`` to ``starts[r + 1]``.
    columns : ndarray of int32, shape (nonzeros,)
        In each row they rise; a column that comes twice adds up.
    values : ndarray of float32, shape (nonzeros,)
    shape : tuple of int
        Rows and columns.
    """

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    @property
    def nonzeros(self) -> int:
        """How many entries are stored."""
        return int(self.starts[-1])

    @property
    def lengths(self) -> np.ndarray:
        """The number of non-zeros of each row."""
        return np.diff(self.starts)

    @property
    def padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Starts, columns and values, with room in these two for whole quads."""
        room = (0, -self.nonzeros % 4)
        return self.starts, np.pad(self.columns, room), np.pad(self.values, room)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """Return the product with a vector, or a matrix of columns, in float64."""
        x = np.asarray(x, np.float64)
        weights = self.values.astype(np.float64)
        products = weights.reshape(-1, *[1] * (x.ndim - 1)) * x[self.columns]
        result = np.zeros((self.shape[0], *x.shape[1:]))
        np.add.at(result, np.repeat(np.arange(self.shape[0]), self.lengths), products)
        return result

    def __repr__(self) -> str:
        longest = max(self.lengths, default=0)
        return (
            f"SparseMatrix({self.shape[0]:,} x {self.shape[1]:,}, {self.nonzeros:,} "
            f"non-zeros, rows of {min(self.lengths, default=0):,} to {longest:,})"
        )


def random_matrix(
    rows: int, lengths: int | str | np.ndarray = 32, *, seed: int = 0
) -> SparseMatrix:
    """Draw a square sparse matrix with random columns and normal values.

    Parameters
    ----------
    rows : int
        At least 1; as many columns.
    lengths : int, "power law", or array of int
        Non-zeros of every row; or of each. By the power law, the share of rows with n
        non-zeros falls as n^-2.1, with a mean of 16 and at most 2^16 (or `rows`).
    seed : int

    Returns
    -------
    SparseMatrix

    Raises
    ------
    ArgumentError
        There are no rows, or the lengths fit no matrix of so many rows.

    Examples
    --------
    >>> random_matrix(1000, 5)
    SparseMatrix(1,000 x 1,000, 5,000 non-zeros, rows of 5 to 5)
    """
    if rows < 1:
        raise ArgumentError.explained(
            f"random_matrix got {rows} rows.",
            "A matrix has at least one row.",
            "Write for example ck.sparse.random_matrix(1000).",
        )
    rng = np.random.default_rng(seed)
    drawn = _lengths(rows, lengths, rng)
    starts = np.concatenate([[0], np.cumsum(drawn)])
    columns = rng.integers(0, rows, starts[-1])
    columns += np.repeat(np.arange(rows) * rows, drawn)
    columns.sort()  # within each row
    columns %= rows
    values = rng.standard_normal(len(columns), dtype=np.float32)
    parts = starts.astype(np.int32), columns.astype(np.int32), values
    return SparseMatrix(*parts, shape=(rows, rows))


def _lengths(rows: int, lengths, rng) -> np.ndarray:
    if isinstance(lengths, str) and lengths == POWER_LAW:
        return rng.permutation(power_law(rows))
    known = not isinstance(lengths, str)
    drawn = (
        np.broadcast_to(lengths, rows)
        if known and np.size(lengths) in (1, rows)
        else None
    )
    if drawn is None or drawn.dtype.kind not in "iu" or drawn.min() < 0:
        raise ArgumentError.explained(
            f"random_matrix got lengths={lengths!r} for {rows:,} rows.",
            "A row has zero or more non-zeros, and each row needs its number.",
            'Write a number, an array of one number per row, or "power law".',
        )
    return drawn


def power_law(rows: int) -> np.ndarray:
    """Return row lengths, ascending: the quantiles of a power law with mean 16.

    A continuous density proportional to t^-2.1 from `least` to the longest has the
    quantile function below; `least` is found by bisection, and lengths are
    rounded down.
    """
    longest, tail = min(LONGEST, rows), 1 - EXPONENT
    at = (np.arange(rows) + 0.5) / rows

    def quantiles(least: float) -> np.ndarray:
        ends = least**tail, longest**tail
        return (ends[0] + at * (ends[1] - ends[0])) ** (1 / tail)

    low, high = 1e-3, float(min(MEAN, longest))
    for _ in range(60):
        middle = (low + high) / 2
        enough = np.floor(quantiles(middle)).mean() >= MEAN
        low, high = (low, middle) if enough else (middle, high)
    return np.floor(quantiles(high)).astype(np.int64)
