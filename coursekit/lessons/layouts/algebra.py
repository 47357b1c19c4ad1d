"""What CuTe computes with layouts, on pairs of extent and stride.

Source: NVIDIA, CUTLASS documentation, "CuTe Layout Algebra".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from coursekit.errors import ArgumentError
from coursekit.lessons.layouts import tuples
from coursekit.lessons.layouts.tuples import IntTuple

Pairs: TypeAlias = "Sequence[tuple[int, int]]"


class Strided(Protocol):
    """What the algebra needs of a layout: its numbers, and its name in messages."""

    @property
    def shape(self) -> IntTuple: ...
    @property
    def stride(self) -> IntTuple: ...


def pairs(layout: Strided) -> list[tuple[int, int]]:
    """Return extent and stride of each number of a layout, brackets left out."""
    flat = tuples.flat(layout.shape), tuples.flat(layout.stride)
    return list(zip(*flat, strict=True))


def offsets(modes: Pairs, size: int) -> list[int]:
    """Return the offsets of the numbers below `size`, first mode first."""
    found = [0]
    for extent, stride in modes:
        found = [at + stride * i for i in range(extent) for at in found]
    return found[:size]


def coalesced(modes: Pairs) -> list[tuple[int, int]]:
    """Join neighbours that continue each other, and leave out extents of 1."""
    found: list[tuple[int, int]] = []
    for extent, stride in modes:
        if extent == 1:
            continue
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = found[-1][0] * extent, found[-1][1]
        else:
            found.append((extent, stride))
    return found or [(1, 0)]


def composed(
    outer: Strided, shape: IntTuple, stride: IntTuple
) -> tuple[IntTuple, IntTuple]:
    """Return shape and stride of the composition with a layout of this shape."""
    if isinstance(shape, int) and isinstance(stride, int):
        modes = coalesced(pairs(outer))
        found = coalesced(_composed_mode(modes, shape, stride, outer))
        if len(found) == 1:
            return found[0]
        return tuple(mode[0] for mode in found), tuple(mode[1] for mode in found)
    parts = zip(tuples.parts(shape), tuples.parts(stride), strict=True)
    both = [composed(outer, *mode) for mode in parts]
    return tuple(mode[0] for mode in both), tuple(mode[1] for mode in both)


def _composed_mode(
    modes: Pairs, extent: int, step: int, outer: Strided
) -> list[tuple[int, int]]:
    """Take every `step`-th element of some modes, `extent` of them."""
    if step == 0:
        return [(extent, 0)]
    found: list[tuple[int, int]] = []
    asked = f"{extent}:{step}"
    for size, stride in modes[:-1]:
        if (extent - 1) * step < size:  # the rest lies within this mode
            return [*found, (extent, step * stride)]
        if step >= size:
            _must_divide(step, size, asked, outer)
            step //= size
            continue
        _must_divide(size, step, asked, outer)
        taken = size // step
        _must_divide(extent, taken, asked, outer)
        found.append((taken, step * stride))
        extent, step = extent // taken, 1
    return [*found, (extent, step * modes[-1][1])]


def _must_divide(whole: int, part: int, asked: str, outer: Strided) -> None:
    if whole % part:
        raise ArgumentError.explained(
            f"{outer} cannot be composed with {asked}: {part} does not divide {whole}.",
            "The distance between elements would change on the way, so no stride "
            "describes it.",
            "Take extents and strides that divide those of the other layout.",
        )


def complement(layout: Strided, size: int) -> list[tuple[int, int]]:
    """Return modes for the elements below `size` that a layout leaves out."""
    found, filled = [], 1
    modes = [mode for mode in coalesced(pairs(layout)) if mode[1] and mode[0] > 1]
    for extent, stride in sorted(modes, key=lambda mode: mode[1]):
        if stride < filled or stride % filled:
            raise ArgumentError.explained(
                f"{layout} has no complement: its mode {extent}:{stride} overlaps "
                f"with the {filled} elements before it.",
                "A complement repeats a layout, and the copies must not overlap.",
                "Take a layout whose offsets all differ.",
            )
        found.append((stride // filled, filled))
        filled = extent * stride
    found.append((-(-size // filled), filled))
    return coalesced(found)
