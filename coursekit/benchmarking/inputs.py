"""The arguments that the cases are called with, and the arrays among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coursekit.benchmarking import refusals
from coursekit.runtime.arguments import operands
from coursekit.runtime.arguments.operands import Operand

POISON = 0xCB


@dataclass(frozen=True)
class Inputs:
    """The arguments that `setup` returned for one size.

    Attributes
    ----------
    values : tuple
        The arguments of each case.
    arrays : tuple of Operand
        The distinct arrays among them, in order.
    """

    values: tuple
    arrays: tuple[Operand, ...]

    @classmethod
    def of(cls, setup: Callable[[int], Any], size: int) -> Inputs:
        """Call `setup` for a size and collect the arrays that it returns.

        Raises
        ------
        ArgumentError
            It returns no tuple, no array, or a part of one that is not contiguous.
        """
        values = setup(size)
        if not isinstance(values, tuple):
            raise refusals.bad_setup(size, f"returns {type(values).__name__}, no tuple")
        arrays: dict[tuple[str, int], Operand] = {}
        for value in values:
            operand = operands.describe(value)
            if operand is None or not operand.nbytes:
                continue
            if not operand.contiguous:
                raise refusals.bad_setup(size, "returns an array with gaps")
            arrays.setdefault((operand.space, operand.address), operand)
        if not arrays:
            raise refusals.bad_setup(size, "returns no array")
        return cls(values, tuple(arrays.values()))

    def fits(self, other: Inputs) -> bool:
        """Tell whether the arrays of another draw can be copied into these."""
        mine, theirs = (
            [(each.space, each.shape, each.dtype) for each in inputs.arrays]
            for inputs in (self, other)
        )
        return mine == theirs

    def shares_memory(self, other: Inputs) -> bool:
        """Tell whether an array belongs to both draws."""
        mine, theirs = (
            {(each.space, each.address) for each in inputs.arrays}
            for inputs in (self, other)
        )
        return bool(mine & theirs)
