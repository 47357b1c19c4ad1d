"""Nested tuples of whole numbers, which shapes, strides and coordinates are."""

from __future__ import annotations

import math
from typing import TypeAlias

from coursekit.errors import ArgumentError

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"


def checked(value: object, name: str, least: int) -> IntTuple:
    """Return nested tuples of whole numbers, each at least `least`.

    Raises
    ------
    ArgumentError
        If there is anything else inside.

    Examples
    --------
    >>> checked([2, [2, 4]], "shape", 1)
    (2, (2, 4))
    """
    if isinstance(value, (tuple, list)) and value:
        return tuple(checked(part, name, least) for part in value)
    number = whole(value)
    if number is None or number < least:
        raise ArgumentError.explained(
            f"The {name} of a layout got {value!r}.",
            f"A {name} is a whole number of at least {least}, or a tuple of these.",
            'Write for example ck.layout((4, 8), (8, 1)) or ck.layout("(4,8):(8,1)").',
        )
    return number


def whole(value: object) -> int | None:
    """Return a whole number as an int, None for anything else."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return value.__index__()


def flat(value: IntTuple) -> tuple[int, ...]:
    """Return the numbers of nested tuples from left to right.

    Examples
    --------
    >>> flat((2, (2, 4)))
    (2, 2, 4)
    """
    if isinstance(value, int):
        return (value,)
    return tuple(number for part in value for number in flat(part))


def product(value: IntTuple) -> int:
    """Multiply all numbers of nested tuples."""
    return math.prod(flat(value))


def parts(value: IntTuple) -> tuple[IntTuple, ...]:
    """Return the modes of a shape or stride; a number is one mode."""
    return (value,) if isinstance(value, int) else value


def congruent(left: IntTuple, right: IntTuple) -> bool:
    """Tell whether two nested tuples have the same brackets.

    Examples
    --------
    >>> congruent((2, (2, 4)), (1, (8, 2))), congruent((2, (2, 4)), (1, 8))
    (True, False)
    """
    if isinstance(left, int) or isinstance(right, int):
        return isinstance(left, int) and isinstance(right, int)
    return len(left) == len(right) and all(map(congruent, left, right))


def compact(shape: IntTuple, first: int = 1) -> tuple[IntTuple, int]:
    """Return the strides that number a shape's places without gaps, first mode first.

    Returns the number of places too, times `first`.

    Examples
    --------
    >>> compact((2, (2, 4)))
    ((1, (2, 4)), 16)
    """
    if isinstance(shape, int):
        return first, first * shape
    strides = []
    for part in shape:
        stride, first = compact(part, first)
        strides.append(stride)
    return tuple(strides), first


def reversed_compact(shape: IntTuple, first: int = 1) -> tuple[IntTuple, int]:
    """Return the strides that number a shape's places with the last mode first.

    Examples
    --------
    >>> reversed_compact((4, 8))
    ((8, 1), 32)
    """
    if isinstance(shape, int):
        return first, first * shape
    strides: list[IntTuple] = []
    for part in reversed(shape):
        stride, first = reversed_compact(part, first)
        strides.insert(0, stride)
    return tuple(strides), first


def text(value: IntTuple) -> str:
    """Write nested tuples as CuTe does, without spaces.

    Examples
    --------
    >>> text((2, (2, 4)))
    '(2,(2,4))'
    """
    if isinstance(value, int):
        return str(value)
    return f"({','.join(map(text, value))})"
