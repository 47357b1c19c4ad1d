"""The sizes of data that the benchmarks of memory go through."""

from __future__ import annotations


def footprints(least: int, most: int) -> tuple[int, ...]:
    """Return the powers of two between two sizes, and 1.5 times each of them.

    Examples
    --------
    >>> footprints(4, 16)
    (4, 6, 8, 12, 16)
    """
    powers = range(least.bit_length() - 1, most.bit_length())
    sizes = (size for k in powers for size in (2**k, 3 * 2**k // 2))
    return tuple(size for size in sizes if size <= most)
