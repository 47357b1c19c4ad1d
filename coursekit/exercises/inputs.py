"""Building blocks of specs: arrays of distinct values, grids that cover a size."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Size = int | tuple[int, ...]

STEP = 0.25  # exact in every float type, so that sums stay exact too
SMALL_INTEGERS = 251  # a prime: 8-bit values repeat with no power of two


def blank(shape: Size, dtype=np.float32) -> np.ndarray:
    """Return an array for an output; the check fills it before each launch."""
    return np.zeros(shape, dtype)


def ramp(shape: Size, dtype=np.float32) -> np.ndarray:
    """Return 0.25, 0.5, 0.75, ... (1, 2, 3, ... for integers) in ascending order."""
    return _values(np.arange(1, math.prod(_extents(shape)) + 1), shape, dtype)


def shuffled(shape: Size, generator: np.random.Generator, dtype=np.float32):
    """Return the values of `ramp` in a random order, so that a wrong index shows."""
    count = math.prod(_extents(shape))
    return _values(generator.permutation(count) + 1, shape, dtype)


def _values(numbers: np.ndarray, shape: Size, dtype) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        numbers = numbers * STEP
    elif dtype.itemsize == 1:
        numbers = (numbers - 1) % SMALL_INTEGERS + 1
    return numbers.astype(dtype).reshape(shape)


def _extents(size: Size) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def blocks(n: int, per_block: int) -> int:
    """Return how many blocks cover n elements, 1 for none.

    >>> [blocks(n, 256) for n in (0, 1, 256, 257)]
    [1, 1, 1, 2]
    """
    return max(1, -(-n // per_block))


def covering(block: Size) -> Callable[[Size], tuple]:
    """Return a launch shape with a thread for each element of a size.

    x of the block lies over the last axis of the size, y over the one before.

    >>> covering(64)(1025)
    (17, 64)
    >>> covering((16, 8))((20, 33))  # 20 rows, 33 columns
    ((3, 3), (16, 8))
    """

    def launch(size: Size) -> tuple:
        if isinstance(block, int):
            return blocks(math.prod(_extents(size)), block), block
        extents = _extents(size)[::-1]
        grid = tuple(blocks(n, b) for n, b in zip(extents, block, strict=True))
        return grid, block

    return launch
