"""Grids that cover a problem: how many blocks a case launches."""

from __future__ import annotations

COPIED = 4 * 256  # values that a block of transpose/step_00_copy.cu moves


def cover(n: int, part: int) -> int:
    """Return how many blocks cover n elements, where each has `part` of them."""
    return -(-n // part)
