"""Matrix descriptors: where a matrix lies in shared memory, for `wgmma`.

A descriptor has 64 bits and counts in units of 16 bytes: a start (bits 0 to 13), a
leading distance l (16 to 29) and a stride s (32 to 45). Bits 62 and 63 say whether
words of 16 bytes change places: 0 no; 1, 2 and 3 within 8, 4 and 2 words. A row of A,
or a column of B, has 32 bytes along k, which are two words, c = 0 and 1. A word lies,
from the start,

    c * l + row / 8 * s + row % 8 * 16         bytes further without a swizzle,
    c * 16 + row / 8 * s + row % 8 * 16 * w    with one of w words.

Of a transposed matrix of 16-bit elements, a word has 8 rows m = row / 8 at one k:

    m * s + k / 8 * l + k % 8 * 16                          without a swizzle,
    m % w * 16 + m / w * l + k / 8 * s + k % 8 * 16 * w     with one of w words.

A swizzle then exchanges words as that of a tensor map does: number n of w words is
where n xor (address / 128 % w) would be.

Source: PTX ISA, "Matrix Descriptor Format" of wgmma.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

WORD = 16  # bytes that stay together whatever the swizzle
EIGHT = 8  # rows of 16 bytes, or elements of 16 bits
# By the two highest bits of a descriptor: words that change places with each other.
_SWIZZLES = (0, 8, 4, 2)


class Place(NamedTuple):
    """The fields of a descriptor.

    Attributes
    ----------
    start, leading, stride : int
        Bytes.
    words : int
        Words of 16 bytes that change places with each other, 0 for no swizzle.
    base : int
        Where the pattern of a swizzle begins, if not at a multiple of its length.
    """

    start: int
    leading: int
    stride: int
    words: int
    base: int

    @classmethod
    def read(cls, bits: int) -> Place:
        """Decode a descriptor."""
        start, leading, stride = (
            (bits >> shift & 0x3FFF) * WORD for shift in (0, 16, 32)
        )
        return cls(start, leading, stride, _SWIZZLES[bits >> 62], bits >> 49 & 7)

    def addresses(self, first: int, rows: int) -> np.ndarray:
        """Return the shared addresses of the two words of each row, row by row."""
        return self._swizzled(_distances(self[1:4], first, rows))

    def transposed_addresses(self, first: int, rows: int, depth: int) -> np.ndarray:
        """Return the shared addresses of words of 8 rows each, k by k."""
        return self._swizzled(_transposed_distances(self[1:4], first, rows, depth))

    def _swizzled(self, distances: np.ndarray) -> np.ndarray:
        found = self.start + distances
        if self.words:
            found ^= (found >> 7 & self.words - 1) << 4
        return found


@functools.lru_cache(256)
def _distances(shape: tuple, first: int, rows: int) -> np.ndarray:
    """Return the bytes from a matrix's start to the two words of each row."""
    leading, stride, words = shape
    row = np.arange(first, first + rows, dtype=np.int64)[:, None]
    half = np.arange(2) * (WORD if words else leading)
    return (half + row // 8 * stride + row % 8 * WORD * (words or 1)).ravel()


@functools.lru_cache(256)
def _transposed_distances(
    shape: tuple, first: int, rows: int, depth: int
) -> np.ndarray:
    """Return the bytes from a transposed matrix's start to its words, k by k."""
    leading, stride, words = shape
    eighth = np.arange(first // EIGHT, (first + rows) // EIGHT, dtype=np.int64)
    k = np.arange(depth, dtype=np.int64)[:, None]
    if not words:
        found = eighth * stride + k // EIGHT * leading + k % EIGHT * WORD
    else:
        along = eighth % words * WORD + eighth // words * leading
        found = along + k // EIGHT * stride + k % EIGHT * WORD * words
    return found.ravel()
