"""Benchmarks of the scan ladder: by three kernels, and by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers


def scan_cases() -> dict[str, Callable]:
    """Return scans by three kernels with each of the block scans, and by one pass."""
    kernel = ck.compile("scan/step_05_look_back.cu")
    scratch = drawn.zeros()

    def look_back(x, y, n):
        tiles = cover(n, 4096)
        states = scratch("states", tiles, np.uint64)
        tickets = scratch("tickets", 1, np.uint32)
        kernel.forget[cover(tiles, 256), 256](states, tickets, tiles)
        kernel.scan_look_back[tiles, 256](x, y, states, tickets, n)

    return {
        "rounds": _three_kernels("01_rounds", 1024, 1024),
        "sweeps": _three_kernels("02_sweeps", 512, 1024),
        "registers": _three_kernels("03_registers", 256, 4096),
        "look-back": look_back,
        "ahead": _ahead(),
    }


AHEAD_BLOCK, AHEAD_TILE = 512, 4 * 8 * 512  # threads; elements of a block's turn


def _ahead() -> Callable:
    """Return the scan by persistent blocks, with three tiles each in shared memory."""
    kernel, held = ck.compile("scan/step_06_ahead.cu").scan_ahead, 3 * 4 * AHEAD_TILE
    per_sm = ck.occupancy(kernel, AHEAD_BLOCK, held).blocks
    most = min(per_sm * ck.device().sm_count, AHEAD_BLOCK)
    scratch = drawn.zeros()

    def ahead(x, y, n):
        grid = min(most, cover(n, AHEAD_TILE))
        sums = scratch("sums", 4 * grid, np.uint64)
        arrived = scratch("arrived", 1, np.uint32)
        kernel.launch(
            grid, AHEAD_BLOCK, x, y, sums, arrived, n,
            shared_bytes=held, cooperative=True,
        )  # fmt: skip

    return ahead


def _three_kernels(step: str, block: int, segment: int) -> Callable:
    kernel = ck.compile(f"scan/step_{step}.cu")[f"scan_{step[3:]}"]
    add = ck.compile("scan/step_04_three_kernels.cu").add_totals
    scratch = drawn.zeros()

    def scan(x, y, n):
        segments = cover(n, segment)
        room = 4 * cover(segments, 4)  # step 3 takes multiples of 4
        totals = scratch(f"totals {n}", room, np.int32)
        kernel[segments, block](x, y, totals, n)
        if segments > 1:
            offsets = scratch(f"offsets {n}", room, np.int32)
            scan(totals, offsets, room)
            add[cover(n, 256), 256](y, offsets, segment, n)

    return scan


def integers(n: int) -> tuple:
    """Draw int32, and room for their scan."""
    return drawn.whole(n, np.int32), ck.empty(n, np.int32), n


def is_scan(x, y, n: int) -> bool:
    """Compare with the running sum; it stays below 2^31."""
    xp, x, y = drawn.viewed(x, y)
    return bool(xp.array_equal(y, xp.cumsum(x, dtype=xp.int64)))


def _torch_scan(torch, x, y, n):
    torch.cumsum(x, 0, dtype=torch.int32, out=y)


DEFINITIONS = (
    Definition(
        key="scan/ladder",
        cases=scan_cases,
        sizes=(2**28,),
        setup=integers,
        verify=is_scan,
        bytes_moved=lambda n: 2 * 4 * n,
        count_size=2**14,
        peers={
            "CUB": lambda: peers.cub("scan"),
            "torch": lambda: peers.torch(_torch_scan),
        },
        reference="CUB",
    ),
)
