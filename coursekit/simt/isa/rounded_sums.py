"""Sums of products of short numbers, each sum rounded to float32, vectorised.

A chain of `fma32` gives the same with more calls of NumPy. Here each sum is made in
float64 and rounded from there. That rounds once, unless the float64 is not exact and
halfway between two numbers of float32. A product of numbers of 11 digits has 22, and
what it is added to 24: a sum of more than 53 has summands of which one is 2**-29 of
the other or less, hence lies too close to a number of float32 to be halfway. Only
below the normal numbers of float32, which have fewer digits, may it be.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.isa.floating import fma32
from coursekit.simt.isa.rounding import quiet

_SMALLEST_NORMAL = 2.0**-126


def dot(a, b, d) -> np.ndarray:
    """Add products one by one to each element of a matrix, each sum rounded.

    Parameters
    ----------
    a, b : ndarray of float32, (rows, depth) and (columns, depth)
        Numbers of 11 digits at most, as those of TF32.
    d : ndarray of float32, (rows, columns)

    Returns
    -------
    ndarray of float32, (rows, columns)
        d + a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + ..., from left to right.
    """
    left, right = a.T.astype(np.float64), b.T.astype(np.float64)
    sums, found = left[:, :, None] * right[:, None, :], d
    for one in sums:
        one += found
        found = one.astype(np.float32)
    small = np.abs(sums) < _SMALLEST_NORMAL
    if np.count_nonzero(small) and np.count_nonzero(sums[small]):
        return _slowly(a, b, d)
    return quiet(found.ravel()).reshape(d.shape)


def _slowly(a, b, d) -> np.ndarray:
    rows, columns = d.shape
    found = d.ravel()
    for k in range(a.shape[1]):
        found = fma32(a[:, k].repeat(columns), np.tile(b[:, k], rows), found)
    return found.reshape(rows, columns)
