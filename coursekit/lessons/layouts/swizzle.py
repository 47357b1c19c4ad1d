"""A swizzle: offsets whose low bits are mixed with higher ones, against conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.layouts import tuples


class Offsets(Protocol):
    """What a swizzle needs of the layout before it."""

    def __call__(self, *coordinate: Any) -> int: ...
    def offsets(self) -> list[int]: ...
    def table(self) -> np.ndarray: ...
    @property
    def shape(self) -> Any: ...
    @property
    def size(self) -> int: ...


@dataclass(frozen=True)
class SwizzledLayout:
    """A layout with CuTe's ``Swizzle<bits, base, shift>`` behind it.

    Of each offset, the `bits` bits from bit ``base + shift`` on are added by XOR to
    the `bits` bits from bit `base` on.

    Attributes
    ----------
    layout : Layout
        The layout whose offsets are mixed.
    bits, base, shift : int
        At least 0; `shift` at least `bits`, so that the two groups do not overlap.

    Examples
    --------
    >>> from coursekit.lessons.layouts import layout
    >>> tile = layout((8, 8), "row").swizzle(3, 0, 3)
    >>> tile
    Swizzle<3,0,3> o (8,8):(8,1)
    >>> tile(1, 0), tile(1, 1), tile(2, 0)
    (9, 8, 18)
    """

    layout: Offsets
    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        given = (self.bits, self.base, self.shift)
        numbers = [whole for n in given if (whole := tuples.whole(n)) is not None]
        if len(numbers) < len(given) or min(numbers) < 0 or self.shift < self.bits:
            raise ArgumentError.explained(
                f"A swizzle got bits={self.bits!r}, base={self.base!r}, "
                f"shift={self.shift!r}.",
                "The bits that change and the bits they are mixed with would overlap.",
                "Give whole numbers of at least 0, and shift at least as large as "
                "bits.",
            )

    def __repr__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}> o {self.layout}"

    def mixed(self, offset: int) -> int:
        """Return what the swizzle makes of an offset."""
        mask = (2**self.bits - 1) << self.base
        return offset ^ (offset >> self.shift & mask)

    def __call__(self, *coordinate: Any) -> int:
        """Return the offset of a coordinate, mixed."""
        return self.mixed(self.layout(*coordinate))

    @property
    def shape(self) -> Any:
        """The shape of the layout inside."""
        return self.layout.shape

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.layout.size

    def offsets(self) -> list[int]:
        """Return the mixed offset of each coordinate, first mode first."""
        return [self.mixed(offset) for offset in self.layout.offsets()]

    def table(self) -> np.ndarray:
        """Return the mixed offsets as an array: a row per coordinate of mode 0."""
        return np.vectorize(self.mixed)(self.layout.table())
