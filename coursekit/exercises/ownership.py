"""The thread that should have written an element of an output."""

from __future__ import annotations

import math

Extent = tuple[int, int, int]


def owner(
    index: tuple[int, ...], shape: tuple[int, ...], grid: Extent, block: Extent
) -> tuple[Extent, Extent] | None:
    """Return (block, thread) for one thread an element, the usual assignment.

    x runs over the last axis, y over the one before, z over the first; threads that
    are fewer than the elements of an axis stride over it. A launch in one dimension
    counts the elements of any array in row-major order.

    >>> owner((300,), (500,), (2, 1, 1), (256, 1, 1))
    ((1, 0, 0), (44, 0, 0))
    >>> owner((20, 33), (21, 34), (3, 2, 1), (16, 16, 1))  # row 20, column 33
    ((2, 1, 0), (1, 4, 0))

    Returns
    -------
    tuple of tuple, or None
        None where the launch has more dimensions than the array.
    """
    threads = [g * b for g, b in zip(grid, block, strict=True)]
    if math.prod(threads[1:]) == 1:
        index = (_row_major(index, shape),)
    places = [*reversed(index), 0, 0, 0]
    if any(threads[axis] > 1 for axis in range(len(index), 3)):
        return None
    axes = [divmod(places[axis] % threads[axis], block[axis]) for axis in range(3)]
    return tuple(b for b, _ in axes), tuple(t for _, t in axes)


def _row_major(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    place = 0
    for position, extent in zip(index, shape, strict=True):
        place = place * extent + position
    return place
