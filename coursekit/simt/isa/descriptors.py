"""Matrix descriptors: where a matrix lies in shared memory, for `wgmma` in TF32.

A descriptor has 64 bits and counts in units of 16 bytes: a start (bits 0 to 13), a
leading distance l (16 to 29) and a stride s (32 to 45). Bits 62 and 63 say whether
words of 16 bytes change places: 0 no; 1, 2 and 3 within 8, 4 and 2 words. Of a row of
A, or a column of B, the values of k = 4 c to 4 c + 3 are one word. It lies, from the
start,

    c * l + row / 8 * s + row % 8 * 16         bytes further without a swizzle,
    c * 16 + row / 8 * s + row % 8 * 16 * w    with one of w words,

and a swizzle then exchanges words as that of a tensor map does: number n of w words is
where n xor (address / 128 % w) would be.

Source: PTX ISA, "Matrix Descriptor Format" of wgmma.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

WORD = 16  # bytes that stay together whatever the swizzle: four values of k
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
        found = self.start + _distances(self[1:4], first, rows)
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
