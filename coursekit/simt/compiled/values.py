"""Values of registers and operands during code generation."""

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
        """Return the value of this name with a pattern."""
        return cls(name, pattern.offsets, pattern.groups)

    @property
    def divergent(self) -> bool:
        """Whether the value is a vector of arbitrary lanes."""
        return self.offsets is None

    @property
    def uniform(self) -> bool:
        """Whether the value is a scalar that all lanes share."""
        return self.groups == 1 and self.offsets == SAME


def uniform(name: str) -> Value:
    """Return the value of a scalar that all lanes share."""
    return Value(name, SAME)
