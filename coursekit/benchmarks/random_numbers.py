"""Benchmarks of random numbers: the ladder of generators beside cuRAND's."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import curand
from coursekit.lessons.curand import philox

BLOCK, THREADS_AN_SM = 256, 2048
STATE_BYTES = 24  # of xorwow: five words and a counter
COUNTERS = 4  # of a thread of step 5
VERIFIED = 2**16  # values that are compared with Philox in NumPy, from both ends
BINS = 64
_seeds = itertools.count(2**32 + 1)


def fill_case() -> Callable:
    """Return the stores alone, into an array that no other case writes."""
    fill = ck.compile("random_numbers/step_00_fill.cu").random_fill

    def case(out, filled, seed, n):
        fill[cover(n, 4 * BLOCK), BLOCK](filled, n, 0.5)

    return case


def states_case() -> Callable:
    """Return step 1: a state in memory for each value."""
    kernel = ck.compile("random_numbers/step_01_states.cu").random_states
    states = _states()

    def case(out, filled, seed, n):
        kernel[cover(n, BLOCK), BLOCK](states(n), out, n)

    return case


def loop_case() -> Callable:
    """Return step 2: a state for each thread of a full device."""
    kernel = ck.compile("random_numbers/step_02_loop.cu").random_loop
    states = _states()

    def case(out, filled, seed, n):
        count = min(threads(), n)
        kernel[count // BLOCK, BLOCK](states(count), out, n)

    return case


def philox_case(step: str, values: int, name: str) -> Callable:
    """Return a step without states, whose threads make some values each."""
    kernel = ck.compile(f"random_numbers/step_{step}.cu")[name]

    def case(out, filled, seed, n):
        kernel[cover(n, values * BLOCK), BLOCK](out, n, seed, 0, 0)

    return case


def threads() -> int:
    """Return the threads that are resident on this device."""
    return THREADS_AN_SM * ck.device().sm_count


def stateless_cases() -> dict[str, Callable]:
    """Return the steps that compute a value from its place."""
    return {
        "philox": philox_case("03_philox", 1, "random_philox"),
        "quads": philox_case("04_quads", 4, "random_quads"),
        "in flight": philox_case("05_in_flight", 4 * COUNTERS, "random_in_flight"),
    }


def uniform_cases() -> dict[str, Callable]:
    """Return all steps but the one whose states fill the memory."""
    return {"fill": fill_case(), "loop": loop_case(), **stateless_cases()}


def ladder_cases() -> dict[str, Callable]:
    """Return all steps."""
    first = {"fill": fill_case(), "states": states_case(), "loop": loop_case()}
    return {**first, **stateless_cases()}


def _states() -> Callable:
    """Return a function that draws the states of a number of threads, once.

    They are no argument of a case: a benchmark counts what it writes in these.
    """

    @functools.cache
    def states(count: int):
        return drawn.octets(count * STATE_BYTES)

    return states


def room(n: int) -> tuple:
    """Make room for n values, and for the fill, with noise in it; draw a seed."""
    return drawn.normal(n), drawn.normal(n), next(_seeds), n


def is_uniform(out, filled, seed: int, n: int) -> None:
    """Test the distribution, and the values themselves where they are Philox's.

    Of n values, a bin has n / 64, with a deviation of sqrt(n / 64); neighbours are not
    correlated. Each may be off by six deviations: one run in 10^6 has more by chance.

    Raises
    ------
    AssertionError
        Values lie outside of (0, 1], are not uniform, or are not Philox's.
    """
    xp, out, filled = drawn.viewed(out, filled)
    if bool((filled == 0.5).all()):
        return
    if not bool(((out > 0) & (out <= 1)).all()):
        raise AssertionError("a value is not set, or lies outside of (0, 1].")
    bins = xp.bincount(xp.minimum((out * BINS).astype(xp.int32), BINS - 1))
    off = float(abs(bins - n / BINS).max())
    if not (len(bins) == BINS and off <= 6 * (n / BINS) ** 0.5):
        raise AssertionError(f"a bin of {n // BINS} values is off by {off:.0f}.")
    centred = out.astype(xp.float64) - 0.5
    products = float((centred[1:] * centred[:-1]).sum()) * 12
    if not abs(products) <= 6 * n**0.5:
        raise AssertionError(f"neighbours are correlated: {products / n:.3g}.")
    _is_philox(ck.to_host(out) if xp is np else xp.asnumpy(out), seed)


def _is_philox(out: np.ndarray, seed: int) -> None:
    """Where the first value is Philox's, demand it of both ends of the array.

    Step 3 stores one word of a counter, the others all four.
    """
    agreeing = [_agreeing(out, seed, used) for used in (1, 4)]
    if agreeing[0].flat[0] and not any(one.all() for one in agreeing):
        raise AssertionError("the first value is Philox's, and another is not.")


def _agreeing(out: np.ndarray, seed: int, used: int) -> np.ndarray:
    """Say which values are those of Philox's first words of consecutive counters."""
    quads = out.size // used
    few = min(quads, VERIFIED // 8)
    places = np.r_[:few, quads - few : quads].astype(np.uint64)
    counter = np.zeros((places.size, 4), np.uint64)
    counter[:, 0] = places
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))[:, :used]
    wanted = words.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    return out.reshape(quads, used)[places] == wanted


GENERATORS = {
    f"cuRAND {name}, {order} order": functools.partial(
        curand.case, f"PSEUDO_{rng_type}", f"PSEUDO_{order.upper()}"
    )
    for name, rng_type in (
        ("Philox", "PHILOX4_32_10"),
        ("XORWOW", "XORWOW"),
        ("MRG32k3a", "MRG32K3A"),
        ("MTGP32", "MTGP32"),
    )
    for order in ("default", "dynamic")
}
PHILOX_PEERS = {name: GENERATORS[name] for name in GENERATORS if "Philox" in name}
_uniform = functools.partial(
    Definition,
    setup=room,
    verify=is_uniform,
    bytes_moved=lambda n: 4 * n,
    count_size=2**12,
)
DEFINITIONS = (
    _uniform(
        key="random_numbers/ladder",
        cases=ladder_cases,
        sizes=(2**24,),
        peers=PHILOX_PEERS,
        reference="fill",
    ),
    _uniform(
        key="random_numbers/uniform",
        cases=uniform_cases,
        sizes=(2**27,),
        peers=GENERATORS,
        reference="cuRAND Philox, dynamic order",
    ),
)
