"""Sobol's sequence in the order of Antonov and Saleev, as cuRAND computes it."""

from __future__ import annotations

import numpy as np

BITS = 32
# Per dimension after the first: a primitive polynomial's inner coefficients, as bits,
# and the first direction numbers, one per degree. Joe and Kuo (2008), new-joe-kuo-6.
POLYNOMIALS = (
    (0, (1,)),
    (1, (1, 3)),
    (1, (1, 3, 1)),
    (2, (1, 1, 1)),
    (1, (1, 1, 3, 3)),
    (4, (1, 3, 5, 13)),
    (2, (1, 1, 5, 5, 17)),
)
DIMENSIONS = 1 + len(POLYNOMIALS)


def directions(dimension: int) -> np.ndarray:
    """Return the 32 direction numbers of a dimension, counted from 0.

    Bit k of a point's Gray code decides whether number k is added without carry.
    """
    if dimension == 0:
        return np.array([1 << (BITS - 1 - k) for k in range(BITS)], np.uint32)
    inner, first = POLYNOMIALS[dimension - 1]
    degree = len(first)
    numbers = [m << (BITS - 1 - k) for k, m in enumerate(first)]
    for k in range(degree, BITS):
        number = numbers[k - degree] ^ (numbers[k - degree] >> degree)
        for j in range(1, degree):
            if inner >> (degree - 1 - j) & 1:
                number ^= numbers[k - j]
        numbers.append(number)
    return np.array(numbers, np.uint32)


def words_from(point: int, points: int, dimension: int) -> np.ndarray:
    """Return one coordinate of consecutive points, as words of 32 bits."""
    places = np.arange(point, point + points, dtype=np.uint64)
    gray = places ^ (places >> np.uint64(1))
    words = np.zeros(points, np.uint32)
    for bit, number in enumerate(directions(dimension)):
        chosen = (gray >> np.uint64(bit) & np.uint64(1)).astype(bool)
        words[chosen] ^= number
    return words
