"""Benchmarks of bandwidth: by footprint, from shared memory, and by stride."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.memory.footprints import footprints

BLOCK, BLOCKS, LOADS = 256, 8 * 132, 1024  # 8 blocks for each SM of an H100 or H200
PIECE = 2**14  # bytes that a block reads in four loads of each thread


# ---------------------------------------------------------------- bandwidth


def bandwidth_cases() -> dict[str, Callable]:
    """Return the loop that reads a footprint again and again."""
    kernel = ck.compile("memory/read_footprint.cu").read_footprint

    def read(x, sums, footprint, blocks, loads):
        kernel[blocks, BLOCK](x, sums, footprint // 16, loads)

    return {"read": read}


def footprint_arrays(footprint: int) -> tuple:
    """Draw whole numbers, so that no sum is rounded; the simulator reads few."""
    x = drawn.whole(footprint // 4)
    blocks, loads = (BLOCKS, LOADS) if x.space == "gpu" else (3, 8)
    return x, ck.empty(blocks * BLOCK), footprint, blocks, loads


def are_sums_of_footprint(x, sums, footprint: int, blocks: int, loads: int) -> None:
    """Compare every thread's sum with one made of sums over rows of 256 float4."""
    xp, x, sums = drawn.viewed(x, sums)
    rows = x.reshape(-1, BLOCK, 4).sum(axis=2, dtype=np.float64)
    before = xp.concatenate([xp.zeros((1, BLOCK)), rows.cumsum(axis=0)])
    count, first = len(rows), xp.arange(blocks) * (footprint // PIECE) // blocks * 4
    whole, rest = divmod(loads, count)
    last = first + rest
    expected = whole * before[-1] + before[last % count] - before[first]
    expected += xp.where((last >= count)[:, None], before[-1], 0.0)
    if not xp.array_equal(sums.reshape(blocks, BLOCK), expected):
        raise AssertionError("other data was read")


def shared_cases() -> dict[str, Callable]:
    """Return the same loop with a tile of shared memory."""
    kernel = ck.compile("memory/read_shared.cu").read_shared

    def read(x, sums, tile, blocks, loads):
        kernel[blocks, BLOCK](x, sums, loads, BLOCK)

    return {"read": read}


def tiles(tile: int) -> tuple:
    """Draw a tile of 16 KiB for each block."""
    blocks, loads = BLOCKS, LOADS
    if ck.empty(1).space != "gpu":
        blocks, loads = 2, 8
    x = drawn.whole(blocks * tile // 4)
    return x, ck.empty(blocks * BLOCK), tile, blocks, loads


def are_sums_of_tiles(x, sums, tile: int, blocks: int, loads: int) -> None:
    """Compare every thread's sum with that of its four places in the tile."""
    xp, x, sums = drawn.viewed(x, sums)
    own = x.reshape(blocks, 4, BLOCK, 4).sum(axis=(1, 3), dtype=np.float64)
    if not xp.array_equal(sums.reshape(blocks, BLOCK), loads // 4 * own):
        raise AssertionError("other data was read")


# ---------------------------------------------------------------- strided copy

COPIED = 2**26  # float32, 256 MiB: several times as large as L2


def copy_cases() -> dict[str, Callable]:
    """Return the copy whose neighbouring threads are a stride apart."""
    kernel = ck.compile("memory/strided_copy.cu").strided_copy

    def copy(x, y, n, stride):
        kernel[cover(n, BLOCK), BLOCK](x, y, n, stride)

    return {"copy": copy}


def copy_arrays(stride: int) -> tuple:
    """Draw the numbers to copy; the simulator copies far fewer."""
    y = ck.empty(1)
    n = COPIED if y.space == "gpu" else 2**12
    return drawn.uniform(n), ck.empty(n), n, stride


def is_copied(x, y, n: int, stride: int) -> bool:
    """Tell whether the two arrays are equal."""
    xp, x, y = drawn.viewed(x, y)
    return bool(xp.array_equal(x, y))


DEFINITIONS = (
    Definition(
        key="memory/bandwidth",
        cases=bandwidth_cases,
        sizes=footprints(2**15, 2**30),
        setup=footprint_arrays,
        verify=are_sums_of_footprint,
        count_size=2**15,
    ),
    Definition(
        key="memory/shared",
        cases=shared_cases,
        sizes=(PIECE,),
        setup=tiles,
        verify=are_sums_of_tiles,
        count_size=PIECE,
    ),
    Definition(
        key="memory/strided_copy",
        cases=copy_cases,
        sizes=tuple(2**k for k in range(13)),
        setup=copy_arrays,
        verify=is_copied,
        bytes_moved=lambda stride: 2 * 4 * COPIED,
        count_size=8,
    ),
)
