"""Benchmarks of the histogram ladder, beside CUB."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers

THREADS_AN_SM = 2048


def histogram_cases() -> dict[str, Callable]:
    """Return all steps; the first is for small sizes."""
    return {"global": _histogram("01_global", 256), **fast_histogram_cases()}


def fast_histogram_cases() -> dict[str, Callable]:
    """Return the steps that count in shared memory."""
    steps = {"02_shared": 256, "03_warps": 256, "04_lanes": 1024, "05_vectorised": 1024}
    return {step[3:]: _histogram(step, block) for step, block in steps.items()}


def _histogram(step: str, block: int) -> Callable:
    kernel = ck.compile(f"histogram/step_{step}.cu")[f"histogram_{step[3:]}"]

    def count(x, counts, n):
        grid = THREADS_AN_SM // block * ck.device().sm_count
        kernel[min(grid, cover(n, block)), block](x, counts, n)

    return count


def octets(n: int) -> tuple:
    """Draw uniform bytes, and allocate counters of 0."""
    return drawn.octets(n), ck.to_device(np.zeros(256, np.uint32)), n


def is_histogram(x, counts, n: int) -> bool:
    """Compare with a count of each of the 256 values."""
    xp, x, counts = drawn.viewed(x, counts)
    expected = [int(xp.count_nonzero(x == value)) for value in range(256)]
    return counts.tolist() == expected


HISTOGRAM_PEERS = {"CUB": lambda: peers.cub("histogram")}

_histogram_of_bytes = functools.partial(
    Definition,
    setup=octets,
    verify=is_histogram,
    bytes_moved=lambda n: n,
    count_size=2**14,
    peers=HISTOGRAM_PEERS,
    reference="CUB",
)
DEFINITIONS = (
    _histogram_of_bytes(key="histogram/ladder", cases=histogram_cases, sizes=(2**27,)),
    _histogram_of_bytes(
        key="histogram/bytes", cases=fast_histogram_cases, sizes=(2**30,)
    ),
)
