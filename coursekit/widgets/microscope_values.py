"""Compact JSON for the values that 32 lanes hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# The largest state of one microscope, in bytes of JSON.
MOST_BYTES = 200_000
_DIGITS = 5
_EXACT = 1 << 53
_NEAR = 1 << 35


def packed(values: Sequence[Any], mask: int) -> Any:
    """Write the values of the lanes in `mask`, one after another.

    Returns
    -------
    number or str
        All lanes hold it.
    list ["step", first, stride]
        Lane n holds ``first + n * stride``.
    list
        One entry for each lane in `mask`, in ascending order.

    Examples
    --------
    >>> packed([7] * 32, 0b1111)
    7
    >>> packed(range(0, 128, 4), 0b1110)
    ['step', 0, 4]
    >>> packed([3, 1, 4, 1], 0b1101)
    [3, 4, 1]
    """
    lanes = [lane for lane in range(len(values)) if mask >> lane & 1]
    held = [plain(values[lane]) for lane in lanes]
    if not held:
        return []
    if all(value == held[0] for value in held):
        return held[0]
    if len(held) > 2 and all(isinstance(value, int) for value in held):
        stride, rest = divmod(held[1] - held[0], lanes[1] - lanes[0])
        first = held[0] - stride * lanes[0]
        if not rest and all(
            value == first + stride * lane
            for value, lane in zip(held, lanes, strict=True)
        ):
            return ["step", first, stride]
    return held


def plain(value: Any) -> int | float | str:
    """Return a value as a number that JSON and JavaScript can represent."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if not math.isfinite(value):
        return str(value)
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def register(values: Sequence[Any], mask: int, arrays: Mapping[int, str]) -> Any:
    """Return the packed values of a register; addresses become offsets in an array.

    An address is written ``["at", name, packed offsets]``.
    """
    held = [value for value in values if value is not None]
    if held and all(isinstance(v, int) and v >= 1 << 40 for v in held):
        for base, name in arrays.items():
            if all(abs(value - base) < _NEAR for value in held):
                offsets = [None if v is None else v - base for v in values]
                return ["at", name, packed(offsets, mask)]
    return packed(values, mask)
