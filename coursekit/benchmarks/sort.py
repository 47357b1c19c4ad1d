"""Benchmarks of the ladder of radix sorts, beside CUB and CuPy."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers
from coursekit.errors import ArgumentError, UnknownNameError

SWEEP_BLOCK, SWEEP_TILE, SWEEP_ROOM = 512, 512 * 32, 82976  # threads, keys, bytes
COUNTING_BLOCK, COUNTING_ROOM, THREADS_PER_SM = 1024, 65536, 2048
PASSES, DIGITS = 4, 256


def sort_cases() -> dict[str, Callable]:
    """Return the steps as whole sorts of keys."""
    return {name: build() for name, build in STEPS.items()}


def radix_sort(step: str, keys: np.ndarray) -> np.ndarray:
    """Sort keys by all passes of a step of the ladder `kernels/sort`.

    Parameters
    ----------
    step : str
        "bits", "digits", "tiles" or "one sweep": steps 1 to 4.
    keys : ndarray of uint32
        At least one key; it stays as it is.

    Returns
    -------
    ndarray
        The keys in ascending order. `ck.counted()` counts the launches.

    Raises
    ------
    UnknownNameError
        There is no such step.
    ArgumentError
        The keys are no one-dimensional array of uint32, or there is none.

    Examples
    --------
    >>> radix_sort("bits", np.array([7, 1, 5], np.uint32)).tolist()
    [1, 5, 7]
    """
    if step not in STEPS:
        raise UnknownNameError.explained(
            f"There is no step {step!r} in kernels/sort.",
            "The name of a step is misspelt.",
            f"Take one of {', '.join(map(repr, STEPS))}.",
        )
    given = np.asarray(keys)
    if given.dtype != np.uint32 or given.ndim != 1 or not given.size:
        raise ArgumentError.explained(
            f"ck.radix_sort takes keys of uint32 in one dimension, and got "
            f"{given.dtype} of shape {given.shape}.",
            "The kernels compare 32 bits without a sign, and sort at least one key.",
            "Convert them, for example with keys.astype(np.uint32).",
        )
    x, y = ck.to_device(given), ck.empty(given.size, np.uint32)
    STEPS[step]()(x, y, given.size)
    return ck.to_host(y)


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
        room = 4 * cover(n, 4)  # the scan takes multiples of 4
        zeros, upto = (scratch(name, room, np.int32) for name in ("zeros", "upto"))
        other = scratch("other", n, np.uint32)
        grid = cover(n, 256)
        for bit in range(32):
            source, target = _turn(x, y, other, bit)
            kernel.mark_zeros[grid, 256](source, zeros, bit, n)
            scan(zeros, upto, room)
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


STEPS: dict[str, Callable[[], Callable]] = {
    "bits": _by_bits,
    "digits": functools.partial(
        _by_tables, "02_digits", tile=256, base=16, places=range(0, 32, 4)
    ),
    "tiles": functools.partial(
        _by_tables, "03_tiles", tile=4096, base=256, places=range(PASSES)
    ),
    "one sweep": _one_sweep,
}
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
