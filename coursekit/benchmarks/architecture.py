"""Benchmark of a copy by few warps per SM and by many: bytes in flight decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition

COPIED = 2**26  # floats, 256 MiB: more than any L2 cache holds
WARPS_PER_BLOCK = 8


def copy_cases() -> dict[str, Callable]:
    """Return a copy with 4 bytes in flight per thread, and one with 16."""
    single = ck.compile("architecture/stream_copy.cu").stream_copy
    quads = ck.compile("architecture/stream_copy_quads.cu").stream_copy_quads
    return {
        "4 bytes per load": lambda x, y, n, warps: single[resident(warps)](x, y, n),
        "16 bytes per load": lambda x, y, n, warps: quads[resident(warps)](x, y, n),
    }


def resident(warps: int) -> tuple[int, int]:
    """Return grid and block with which each SM holds this number of warps."""
    per_block = min(warps, WARPS_PER_BLOCK)
    return ck.device().sm_count * (warps // per_block), 32 * per_block


def floats(warps: int) -> tuple:
    """Draw what is copied; fewer where the copy is only counted."""
    n = 2**16 if warps == COUNTED else COPIED
    x = np.random.default_rng().random(n, dtype=np.float32)
    return ck.to_device(x), ck.empty(n, np.float32), n, warps


def is_copied(x, y, n: int, warps: int) -> None:
    """Compare with the source, bit by bit."""
    np.testing.assert_array_equal(ck.to_host(y), ck.to_host(x))


COUNTED = 3  # a number of warps that nobody times
DEFINITIONS = (
    Definition(
        key="architecture/in_flight",
        cases=copy_cases,
        sizes=(1, 2, 4, 8, 16, 32, 64),
        setup=floats,
        verify=is_copied,
        bytes_moved=lambda warps: 2 * 4 * COPIED,
        count_size=COUNTED,
    ),
)
