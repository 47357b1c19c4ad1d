"""Tensor maps of the simulator: the box that a TMA copy moves, in 128 bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

NBYTES = 128
MAGIC = b"simt map"
_HEAD = struct.Struct("<8sQHHI5I5I")
# Bits of the address that change the place of 16 bytes, by the bytes of the pattern.
PATTERNS = {0: 0, 32: 1, 64: 3, 128: 7}


@dataclass(frozen=True)
class TensorMap:
    """An array in global memory, and the box that one copy moves.

    Attributes
    ----------
    address : int
        First byte of the array, whose elements lie side by side.
    itemsize : int
    extents, box : tuple of int
        Elements along each axis, the fastest axis first.
    swizzle : int
        0, or the bytes after which the order of 16-byte words repeats.
    """

    address: int
    itemsize: int
    extents: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 0

    def __bytes__(self) -> bytes:
        rank = len(self.extents)
        filled = (*self.extents, *(0,) * (5 - rank), *self.box, *(0,) * (5 - rank))
        head = _HEAD.pack(
            MAGIC, self.address, self.itemsize, rank, self.swizzle, *filled
        )
        return head.ljust(NBYTES, b"\0")

    @classmethod
    def read(cls, data: bytes) -> TensorMap | None:
        """Decode a map; None where the bytes are none."""
        magic, address, itemsize, rank, swizzle, *both = _HEAD.unpack_from(data)
        if magic != MAGIC:
            return None
        return cls(
            address, itemsize, tuple(both[:rank]), tuple(both[5:][:rank]), swizzle
        )

    @property
    def box_bytes(self) -> int:
        """The bytes that a copy writes, including zeros outside the array."""
        return self.itemsize * int(np.prod(self.box))

    def rows(self, start) -> tuple[np.ndarray, np.ndarray, int]:
        """Find the part of the array that the box at `start` covers, row by row.

        Returns
        -------
        ndarray, ndarray, int
            Bytes from the first byte of the array to each row, from the first byte
            of the box to its place there, and bytes of a row; 0 where the box lies
            outside.
        """
        first = np.maximum(start, 0)
        last = np.minimum(np.add(start, self.box), self.extents)
        if (first >= last).any():
            return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
        inner = first[0] * self.itemsize, (first[0] - start[0]) * self.itemsize
        source, target = np.array([inner[0]]), np.array([inner[1]])
        stride, step = self.itemsize * self.extents[0], self.itemsize * self.box[0]
        for axis in range(1, len(self.box)):
            place = np.arange(first[axis], last[axis], dtype=np.int64)[:, None]
            source = (place * stride + source).ravel()
            target = ((place - start[axis]) * step + target).ravel()
            stride, step = stride * self.extents[axis], step * self.box[axis]
        return source, target, int(last[0] - first[0]) * self.itemsize

    def order(self, address: int) -> np.ndarray:
        """Return the shared offsets of the box's 16-byte words, from `address` on."""
        places = address + 16 * np.arange(-(-self.box_bytes // 16))
        return places ^ ((places >> 7 & PATTERNS[self.swizzle]) << 4)
