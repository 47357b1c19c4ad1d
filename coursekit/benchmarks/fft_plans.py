"""How step 20 of the Fourier transforms takes a length with small factors."""

from __future__ import annotations

import math
from typing import NamedTuple

from coursekit.errors import ArgumentError

RADICES = range(2, 17)  # those of kernels/fft/mixed.cuh
BLOCK_THREADS = 448  # of several rows, at most; larger blocks were slower on an H100
BLOCK_VALUES = 5000  # as many, with gaps, fit 48 KiB


class Plan(NamedTuple):
    """The constants that step 20 is compiled with for a length.

    Attributes
    ----------
    radices : tuple of int
        Radices of the stages, in order.
    threads : int
        Threads of a row.
    share : int
        Rows of a block.
    """

    radices: tuple[int, ...]
    threads: int
    share: int


def plan_of(n: int) -> Plan:
    """Plan the transform of a length.

    The plan has the fewest stages. Of several such plans it is the one whose threads
    keep the fewest registers for values.

    Parameters
    ----------
    n : int
        A product of numbers from 2 to 16; the tests know plans to 4096.

    Raises
    ------
    ArgumentError
        The length has a prime factor above 13, or is 1.

    Examples
    --------
    >>> plan_of(1000)
    Plan(radices=(10, 10, 10), threads=100, share=4)
    """
    for stages in range(1, n.bit_length()):
        plans = [(r, n // last) for r in _products(n, stages) for last in r]
        if plans:
            radices, threads = min(plans, key=lambda plan: (_registers(n, *plan), plan))
            return Plan(radices, threads, _rows_of_a_block(n, threads))
    raise ArgumentError.explained(
        f"Step 20 has no plan for rows of {n} values: {n} is no product of numbers "
        "from 2 to 16.",
        "A stage of step 20 has a radix up to 16, so no prime factor may be above 13.",
        "Use step 13, or 22 above 4096 values: they take any length.",
    )


def _products(n: int, count: int, least: int = RADICES.start) -> list[tuple[int, ...]]:
    """List the ascending radices whose product is a length."""
    if count == 0:
        return [()] if n == 1 else []
    return [
        (radix, *rest)
        for radix in RADICES
        if radix >= least and n % radix == 0
        for rest in _products(n // radix, count - 1, radix)
    ]


def _registers(n: int, radices: tuple[int, ...], threads: int) -> int:
    """Count the values that all threads of a row together have registers for."""
    return threads * max(math.ceil(n / r / threads) * r for r in radices)


def _rows_of_a_block(n: int, threads: int) -> int:
    """Return how many rows leave the fewest lanes of a block's warps idle."""
    most = max(1, min(BLOCK_THREADS // threads, BLOCK_VALUES // n))
    return min(range(1, most + 1), key=lambda rows: -rows * threads % 32 / rows)
