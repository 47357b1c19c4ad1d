"""Products of a warp of integers of 8 bits, `mma.sync`, with sums of 32 bits.

Operands lie as `interpreter/products.py` says, with four elements in a word. Sums are
exact, and then cut to 32 bits; with `.satfinite` the nearest number of 32 bits counts.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 and mma.m16n8k32" with integers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

_NAME = re.compile(
    r"sync\.aligned\.m16n8k(16|32)\.row\.col(\.satfinite)?\.s32\.([su]8)\.([su]8)\.s32"
)
_DTYPES = {"s8": np.int8, "u8": np.uint8}
_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class IntegerForm:
    """The shape of a product: types of A's and B's elements, and A's columns."""

    left: str
    right: str
    depth: int
    saturates: bool

    @property
    def result(self) -> str:
        """The type of D."""
        return "s32"

    @property
    def kind(self) -> str:
        """A name for the form, but for its depth."""
        return f"{self.left}_{self.right}{'_saturated' * self.saturates}"

    @property
    def words(self) -> tuple[int, int]:
        """The number of words of A and of B that a lane holds."""
        return self.depth // 8, self.depth // 16

    def product(self, a, b, c) -> np.ndarray:
        """Return D, (4, 32): s32 of all lanes, from their words of A, B and C."""
        steps, lanes = len(b), (8, 4)  # g, t
        top = np.array(a).view(_DTYPES[self.left]).reshape(steps, 2, *lanes, 4)
        side = np.array(b).view(_DTYPES[self.right]).reshape(steps, *lanes, 4)
        rows = top.transpose(1, 2, 0, 3, 4).reshape(16, -1).astype(np.int64)
        columns = side.transpose(1, 0, 2, 3).reshape(8, -1).astype(np.int64)
        start = np.array(c).view(np.int32).reshape(2, 2, *lanes).astype(np.int64)
        d = rows @ columns.T + start.transpose(0, 2, 3, 1).reshape(16, 8)
        if self.saturates:
            d = d.clip(_LOWEST, _HIGHEST)
        found = d.astype(np.int32).reshape(2, *lanes, 2).transpose(0, 3, 1, 2)
        return found.reshape(4, 32)


def form_of(instruction) -> IntegerForm | None:
    """Return the shape of a product of integers, None for another instruction."""
    found = _NAME.fullmatch(".".join(instruction.modifiers))
    if found is None:
        return None
    return IntegerForm(found[3], found[4], int(found[1]), bool(found[2]))
