"""Benchmarks of the ladder of radix sorts, beside CUB and CuPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers

SWEEP_BLOCK, SWEEP_TILE, SWEEP_ROOM = 512, 512 * 32, 82976  # threads, keys, bytes
COUNTING_BLOCK, COUNTING_ROOM, THREADS_PER_SM = 1024, 65536, 2048
PASSES, DIGITS = 4, 256


def sort_cases() -> dict[str, Callable]:
    """Return the steps as whole sorts of keys."""
    return {
        "bits": _by_bits(),
        "digits": _by_tables("02_digits", tile=256, base=16, places=range(0, 32, 4)),
        "tiles": _by_tables("03_tiles", tile=4096, base=256, places=range(PASSES)),
        "one sweep": _one_sweep(),
    }


def scanned() -> Callable:
    """Return the inclusive scan of int32 in one pass: ``(x, y, n)``, n in fours."""
    kernel = ck.compile("scan/step_05_look_back.cu")
    scratch = drawn.zeros()

    def scan(x, y, n):
        tiles = cover(n, 4096)
        states = scratch("states", tiles, np.uint64)
        tickets = scratch("tickets", 1, np.uint32)
        kernel.forget[cover(tiles, 256), 256](states, tickets, tiles)
        kernel.scan_look_back[tiles, 256](x, y, states, tickets, n)

    return scan


def _by_bits() -> Callable:
    kernel, scan = ck.compile("sort/step_01_bits.cu"), scanned()
    scratch = drawn.zeros()

    def sort(x, y, n):
        zeros, upto = (scratch(name, n, np.int32) for name in ("zeros", "upto"))
        other = scratch("other", n, np.uint32)
        grid = cover(n, 256)
        for bit in range(32):
            source, target = _turn(x, y, other, bit)
            kernel.mark_zeros[grid, 256](source, zeros, bit, n)
            scan(zeros, upto, n)
            kernel.split[grid, 256](source, target, upto, bit, n)

    return sort


def _by_tables(step: str, *, tile: int, base: int, places) -> Callable:
    """Return a sort whose passes count, scan the counts, and scatter."""
    kernel, scan = ck.compile(f"sort/step_{step}.cu"), scanned()
    scratch = drawn.zeros()

    def sort(x, y, n):
        grid = cover(n, tile)
        counts, ends = (scratch(f"{c} {n}", base * grid, np.int32) for c in "ce")
        other = scratch("other", n, np.uint32)
        for number, place in enumerate(places):
            source, target = _turn(x, y, other, number)
            kernel.count_digits[grid, 256](source, counts, place, n)
            scan(counts, ends, base * grid)
            kernel.scatter[grid, 256](source, target, ends, place, n)

    return sort


def _turn(x, y, other, number: int) -> tuple:
    """Return source and target of a pass: of an even number of passes the last is y."""
    target, source = (y, other) if number % 2 else (other, y)
    return x if number == 0 else source, target


def _one_sweep() -> Callable:
    kernel = ck.compile("sort/step_04_one_sweep.cu")
    count, sweep = kernel["count_digits<unsigned>"], kernel["sweep<unsigned>"]
    blocks = THREADS_PER_SM // COUNTING_BLOCK * ck.device().sm_count
    scratch = drawn.zeros()

    def sort(x, y, n):
        tiles = cover(n, SWEEP_TILE)
        counts, begins = (scratch(k, PASSES * DIGITS, np.uint32) for k in "cb")
        states = [scratch(f"states {k}", tiles * DIGITS, np.uint32) for k in (0, 1)]
        ticket, other = scratch("ticket", 1, np.uint32), scratch("other", n, np.uint32)
        grid = min(blocks, cover(n, COUNTING_BLOCK))
        count[grid, COUNTING_BLOCK, COUNTING_ROOM](x, counts, n)
        kernel.begin_digits[PASSES, DIGITS](counts, begins)
        for number in range(PASSES):
            source, target = _turn(x, y, other, number)
            sweep[tiles, SWEEP_BLOCK, SWEEP_ROOM](
                source, target, begins, *states[:: 1 - 2 * (number % 2)], ticket,
                number, n,
            )  # fmt: skip

    return sort


def words(n: int) -> tuple:
    """Draw keys of 32 bits, and room for them in order."""
    return drawn.words(n), ck.empty(n, np.uint32), n


def are_sorted(x, y, n: int) -> bool:
    """Compare with the keys as CuPy or NumPy sort them."""
    xp, x, y = drawn.viewed(x, y)
    return bool(xp.array_equal(y, xp.sort(x)))


def _cupy_sort() -> Callable:
    """Return CuPy's sort, which is Thrust's; it sorts in place, so that x is copied."""
    import cupy

    def sort(x, y, n):
        given, result = cupy.asarray(x), cupy.asarray(y)
        result[:] = given
        result.sort()

    return sort


DEFINITIONS = (
    Definition(
        key="sort/uint32",
        cases=sort_cases,
        sizes=(2**27,),
        setup=words,
        verify=are_sorted,
        bytes_moved=lambda n: 2 * 4 * n,
        count_size=2**14,
        peers={"CUB": lambda: peers.cub("sort"), "CuPy": _cupy_sort},
        reference="CUB",
    ),
)
