"""Values of registers and operands while code is generated."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.simt.compiled.affine import SAME, LanePattern


@dataclass(frozen=True, slots=True)
class Value:
    """A value of all lanes: uniform, affine or divergent.

    Attributes
    ----------
    name : str
        What LLVM calls it: a scalar, to which each lane adds its offset; or the vector
        of a divergent value; or, with several groups, the vector of their bases.
    offsets : tuple of int, or None
        What each lane adds; None for a divergent value.
    groups : int
        How many groups of lanes have a base of their own.
    """

    name: str
    offsets: tuple[int, ...] | None = None
    groups: int = 1

    @classmethod
    def following(cls, name: str, pattern: LanePattern) -> Value:
        """The value of this name that follows a pattern."""
        return cls(name, pattern.offsets, pattern.groups)

    @property
    def divergent(self) -> bool:
        """Whether it is a vector, of which each lane may be anything."""
        return self.offsets is None

    @property
    def uniform(self) -> bool:
        """Whether all lanes have the same value, which is a scalar."""
        return self.groups == 1 and self.offsets == SAME


def uniform(name: str) -> Value:
    """A scalar that all lanes have."""
    return Value(name, SAME)
