"""Recorded times of the ladders of sums, histograms and scans, each to its limit."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.peers import peers
from coursekit.benchmarks.transposes import cover

# ---------------------------------------------------------------- sum

TREES = ("02_tree", "03_packed", "04_halves", "05_shuffle")
BLOCKS_AN_SM, SUM_BLOCK = 4, 512  # of the persistent sum; threads of a block


def sum_cases() -> dict[str, Callable]:
    """Return all steps; the first is for small sizes."""
    return {"atomic": _added("01_atomic", 256), **fast_sum_cases()}


def fast_sum_cases() -> dict[str, Callable]:
    """Return the steps that use shared memory or registers."""
    cases = {step[3:]: _added(step, 256) for step in TREES}
    cases["vectorised"] = _added("06_vectorised", 4096)
    kernel = ck.compile("reduction/step_07_persistent.cu").sum_persistent
    scratch = drawn.zeros()

    def persistent(x, total, n):
        grid = min(BLOCKS_AN_SM * ck.device().sm_count, cover(n, 16 * SUM_BLOCK))
        parts, tickets = scratch("parts", grid), scratch("tickets", 1, np.uint32)
        kernel[grid, SUM_BLOCK](x, parts, tickets, total, n)

    return {**cases, "persistent": persistent}


def _added(step: str, elements: int) -> Callable:
    """Return a step that adds to the total; a block has so many elements."""
    kernel = ck.compile(f"reduction/step_{step}.cu")[f"sum_{step[3:]}"]
    return lambda x, total, n: kernel[cover(n, elements), 256](x, total, n)


def summands(n: int) -> tuple:
    """Draw whole numbers whose sums float32 has exactly, and a total of 0."""
    return drawn.whole(n), ck.to_device(np.zeros(1, np.float32)), n


def is_sum(x, total, n: int) -> bool:
    """Compare with the sum in float64: every order of additions is exact."""
    xp, x, total = drawn.viewed(x, total)
    return float(total[0]) == float(x.sum(dtype=xp.float64))


def _torch_sum(torch, x, total, n):
    torch.sum(x, dim=0, keepdim=True, out=total)


def _compiled_sum(torch, x, total, n):
    total.copy_(x.sum(dim=0, keepdim=True))


SUM_PEERS = {
    "CUB": lambda: peers.cub("sum"),
    "torch": lambda: peers.torch(_torch_sum),
    "torch.compile": lambda: peers.torch(_compiled_sum, compiled=True),
}

# ---------------------------------------------------------------- histogram

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
    """Draw bytes, each value as often as any other; and counters of 0."""
    return drawn.octets(n), ck.to_device(np.zeros(256, np.uint32)), n


def is_histogram(x, counts, n: int) -> bool:
    """Count each value by itself."""
    xp, x, counts = drawn.viewed(x, counts)
    wanted = [int(xp.count_nonzero(x == value)) for value in range(256)]
    return counts.tolist() == wanted


HISTOGRAM_PEERS = {"CUB": lambda: peers.cub("histogram")}

# ---------------------------------------------------------------- scan


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
    """Return the scan by blocks that stay, three tiles in shared memory each."""
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


# ---------------------------------------------------------------- all of them

_sum = functools.partial(
    Definition,
    setup=summands,
    verify=is_sum,
    bytes_moved=lambda n: 4 * n,
    count_size=2**14,
    peers=SUM_PEERS,
    reference="CUB",
)
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
    _sum(key="reduction/ladder", cases=sum_cases, sizes=(2**26,)),
    _sum(key="reduction/sum", cases=fast_sum_cases, sizes=(2**29,)),
    _histogram_of_bytes(key="histogram/ladder", cases=histogram_cases, sizes=(2**27,)),
    _histogram_of_bytes(
        key="histogram/bytes", cases=fast_histogram_cases, sizes=(2**30,)
    ),
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
