"""A layout: a shape, a stride, and the offset of each coordinate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.layouts import algebra, tuples
from coursekit.lessons.layouts.swizzle import SwizzledLayout
from coursekit.lessons.layouts.tuples import IntTuple

Tiler: TypeAlias = "Layout | int | tuple[Tiler, ...]"
_WRITTEN = re.compile(r"[\d(), ]+(?::[\d(), ]+)?")


def layout(shape: IntTuple | str, stride: IntTuple | str | None = None) -> Layout:
    """Make a layout of CuTe: a function from coordinates to offsets.

    Parameters
    ----------
    shape : int, tuple or str
        Extents, at least 1. A tuple may hold tuples: ``(2, (2, 4))``. A text holds
        shape and stride as CuTe prints them, ``"(4,8):(8,1)"``.
    stride : int or tuple, or "column" or "row", optional
        Distance in elements between neighbours of each mode, with the brackets of
        `shape`. "column", the default, lets the first mode vary fastest, as CuTe's
        LayoutLeft does; "row" lets the last one, as LayoutRight.

    Returns
    -------
    Layout

    Raises
    ------
    ArgumentError
        If a number is no whole number, or stride and shape differ in their brackets.

    Examples
    --------
    >>> row_major = layout((4, 8), (8, 1))
    >>> row_major(1, 2)
    10
    >>> layout("(4,(2,4)):(8,(1,2))")(1, 2)
    10
    """
    given: tuple[object, object] = (shape, stride)
    if isinstance(shape, str):
        given = _read(shape, stride)
    extents = tuples.checked(given[0], "shape", 1)
    if given[1] is None or given[1] == "column":
        return Layout(extents, tuples.compact(extents)[0])
    if given[1] == "row":
        return Layout(extents, tuples.reversed_compact(extents)[0])
    return Layout(extents, tuples.checked(given[1], "stride", 0))


def _read(text: str, stride: object) -> tuple[object, object]:
    """Return shape and stride of a text such as "(4,8):(8,1)"."""
    shape, *written = text.split(":")
    try:
        if not _WRITTEN.fullmatch(text) or (written and stride is not None):
            raise ValueError
        return ast.literal_eval(shape), (
            ast.literal_eval(written[0]) if written else stride
        )
    except (SyntaxError, ValueError):
        raise ArgumentError.explained(
            f"{text!r} is no layout.",
            "As text a layout is shape:stride, each a number or numbers in brackets.",
            'Write for example ck.layout("(4,8):(8,1)").',
        ) from None


@dataclass(frozen=True)
class Layout:
    """A function from coordinates to offsets, written shape:stride.

    Attributes
    ----------
    shape, stride : int or tuple
        Nested alike. Offsets count elements, not bytes.

    Examples
    --------
    >>> Layout((4, 8), (8, 1))
    (4,8):(8,1)
    """

    shape: IntTuple
    stride: IntTuple

    def __post_init__(self) -> None:
        if not tuples.congruent(self.shape, self.stride):
            raise ArgumentError.explained(
                f"Shape {tuples.text(self.shape)} and stride "
                f"{tuples.text(self.stride)} differ in their brackets.",
                "Each number of the shape needs its own stride.",
                "Give the stride the same brackets as the shape.",
            )

    def __repr__(self) -> str:
        return f"{tuples.text(self.shape)}:{tuples.text(self.stride)}"

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return tuples.product(self.shape)

    @property
    def cosize(self) -> int:
        """Number of elements that memory needs: the largest offset plus 1."""
        pairs = zip(tuples.flat(self.shape), tuples.flat(self.stride), strict=True)
        return 1 + sum((extent - 1) * stride for extent, stride in pairs)

    @property
    def modes(self) -> tuple[Layout, ...]:
        """The layouts of the modes: (4,8):(8,1) has 4:8 and 8:1."""
        pairs = zip(tuples.parts(self.shape), tuples.parts(self.stride), strict=True)
        return tuple(Layout(shape, stride) for shape, stride in pairs)

    @property
    def rank(self) -> int:
        """Number of modes."""
        return len(tuples.parts(self.shape))

    def __call__(self, *coordinate: IntTuple) -> int:
        """Return the offset of a coordinate.

        One number counts through the whole shape, first mode first, and so does a
        number for a mode that is a tuple.

        Raises
        ------
        ArgumentError
            If the coordinate lies outside of the shape or has other brackets.

        Examples
        --------
        >>> tile = Layout((4, (2, 4)), (2, (1, 8)))
        >>> tile(1, (0, 2)), tile(1, 4), tile(17)
        (18, 18, 18)
        """
        given = coordinate[0] if len(coordinate) == 1 else coordinate
        return sum(
            position * stride
            for position, stride in zip(
                _positions(given, self.shape, self),
                tuples.flat(self.stride),
                strict=True,
            )
        )

    def offsets(self) -> list[int]:
        """Return the offset of each coordinate, first mode first."""
        return algebra.offsets(algebra.pairs(self), self.size)

    def table(self) -> np.ndarray:
        """Return the offsets as an array: a row per coordinate of mode 0.

        A layout of one mode is a single row. All modes but the first count columns.
        """
        first = self.modes[0].size if self.rank > 1 else 1
        return np.array(self.offsets()).reshape(-1, first).T

    def coalesce(self) -> Layout:
        """Return the shortest layout with the same offsets for a single number.

        Examples
        --------
        >>> Layout((2, (1, 6)), (1, (7, 2))).coalesce()
        12:1
        """
        return _of_pairs(algebra.coalesced(algebra.pairs(self)))

    def composition(self, other: Tiler) -> Layout:
        """Return the layout R with R(c) = self(other(c)).

        Parameters
        ----------
        other : Layout, int or tuple of these
            A tuple is applied mode by mode.

        Raises
        ------
        ArgumentError
            If no layout has these offsets.

        Examples
        --------
        >>> Layout((4, 8), (8, 1)).composition(Layout(8, 4))  # every fourth
        8:1
        """
        if isinstance(other, tuple):
            return _joined(
                mode.composition(tiler)
                for mode, tiler in _by_mode(self, other, "composition")
            )
        other = _as_layout(other)
        shape, stride = algebra.composed(self, other.shape, other.stride)
        return Layout(shape, stride)

    def complement(self, size: int) -> Layout:
        """Return the layout of what this one leaves out of `size` elements.

        Examples
        --------
        >>> Layout(4, 2).complement(24)
        (2,3):(1,8)
        """
        return _of_pairs(algebra.complement(self, _a_size(size)))

    def logical_divide(self, tiler: Tiler) -> Layout:
        """Return ``(tile, rest)``: what a tile holds, then which tile.

        Parameters
        ----------
        tiler : Layout, int or tuple of these
            The elements of one tile. A tuple divides mode by mode.

        Raises
        ------
        ArgumentError
            If the tiles do not divide the layout.

        Examples
        --------
        >>> Layout(24, 1).logical_divide(4)
        (4,6):(1,4)
        """
        if isinstance(tiler, tuple):
            return _joined(
                mode.logical_divide(part)
                for mode, part in _by_mode(self, tiler, "logical_divide")
            )
        tile = _as_layout(tiler)
        if self.size % tile.size:
            raise ArgumentError.explained(
                f"Tiles of {tile.size} elements do not divide {self}, which has "
                f"{self.size}.",
                "CuTe rounds the number of tiles up and leaves the guard to you.",
                "Give a tile that divides the size, or make the layout larger.",
            )
        rest = tile.complement(self.size)
        return self.composition(_joined((tile, rest)))

    def zipped_divide(self, tiler: tuple[Tiler, ...]) -> Layout:
        """Return ``((tiles of all modes), (rests of all modes))``.

        Examples
        --------
        >>> Layout((4, 8), (8, 1)).zipped_divide((2, 4))
        ((2,4),(2,2)):((8,1),(16,4))
        """
        divided = self.logical_divide(tuple(tiler)).modes
        return _joined(_joined(mode.modes[i] for mode in divided) for i in (0, 1))

    def logical_product(self, other: Tiler) -> Layout:
        """Return ``(self, copies)``: this layout, repeated as `other` says.

        Examples
        --------
        >>> Layout((2, 2), (1, 2)).logical_product(Layout(6, 1))
        ((2,2),6):((1,2),4)
        """
        other = _as_layout(other)
        room = self.complement(self.size * other.cosize)
        return _joined((self, room.composition(other)))

    def blocked_product(self, other: Layout) -> Layout:
        """Repeat this layout in each direction, as the tiles of a matrix.

        Examples
        --------
        >>> Layout((2, 2), (1, 2)).blocked_product(Layout((2, 3), (3, 1)))
        ((2,2),(2,3)):((1,12),(2,4))
        """
        tile, copies = self.logical_product(other).modes
        _by_mode(self, tuples.parts(other.shape), "blocked_product")
        return _joined(map(lambda *pair: _joined(pair), tile.modes, copies.modes))

    def swizzle(self, bits: int, base: int, shift: int) -> SwizzledLayout:
        """Return this layout with CuTe's ``Swizzle<bits, base, shift>`` applied.

        See Also
        --------
        SwizzledLayout : what the three numbers say.
        """
        return SwizzledLayout(self, bits, base, shift)


def _positions(given: object, shape: IntTuple, whole: Layout) -> Iterator[int]:
    """Yield the position in each number of the shape."""
    if not isinstance(given, tuple):
        yield from _split(given, shape, whole)
        return
    if isinstance(shape, int) or len(given) != len(shape):
        raise ArgumentError.explained(
            f"The coordinate {given!r} does not fit the shape "
            f"{tuples.text(shape)} of {whole}.",
            "A coordinate has a number or a tuple for each mode.",
            f"Give {len(tuples.parts(shape))} of them, or one number for all.",
        )
    for part, extent in zip(given, shape, strict=True):
        yield from _positions(part, extent, whole)


def _split(given: object, shape: IntTuple, whole: Layout) -> Iterator[int]:
    """Yield the positions of a number that counts through a shape, first mode first."""
    number, size = tuples.whole(given), tuples.product(shape)
    if number is None or not 0 <= number < size:
        raise ArgumentError.explained(
            f"The coordinate {given!r} lies outside of the shape "
            f"{tuples.text(shape)} of {whole}.",
            cure=f"Give a whole number from 0 to {size - 1}.",
        )
    for extent in tuples.flat(shape):
        number, position = divmod(number, extent)
        yield position


def _as_layout(value: Tiler) -> Layout:
    if isinstance(value, Layout):
        return value
    return layout(tuples.checked(value, "tiler", 1))


def _a_size(value: object) -> int:
    size = tuples.whole(value)
    if size is None or size < 1:
        raise ArgumentError.explained(
            f"complement got the size {value!r}.",
            cure="Give the number of elements, a whole number of at least 1.",
        )
    return size


def _by_mode(whole: Layout, tilers: tuple, name: str) -> list[tuple[Layout, Tiler]]:
    """Pair the modes of a layout with their tilers."""
    if len(tilers) != whole.rank:
        raise ArgumentError.explained(
            f"{name} got {len(tilers)} modes for {whole}, which has {whole.rank}.",
            cure=f"Give {whole.rank}: one for each mode.",
        )
    return list(zip(whole.modes, tilers, strict=True))


def _joined(modes: Iterator[Layout] | tuple[Layout, ...]) -> Layout:
    """Return the layout that has these modes."""
    modes = tuple(modes)
    return Layout(
        tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes)
    )


def _of_pairs(found: list[tuple[int, int]]) -> Layout:
    """Return the layout of extents and strides; a single pair has no brackets."""
    if len(found) == 1:
        return Layout(*found[0])
    shape, stride = zip(*found, strict=True)
    return Layout(shape, stride)
