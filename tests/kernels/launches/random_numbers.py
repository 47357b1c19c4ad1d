"""How the tests launch the ladder of kernels/random_numbers/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import QUADS, ROUNDING, Launch, blank, blocks, launches

from coursekit.lessons.curand import philox

SEED, SEQUENCE, FIRST = 0x123456789ABCDEF0, 0x300000002, 7
LOOPS = [{"n": n, "grid": g} for n, g in ((1, 1), (33, 3), (1025, 2), (4096, 1))]


def uniform(words: np.ndarray) -> np.ndarray:
    """Return words as numbers from 2^-33 to 1, in float64."""
    return words * 2.0**-32 + 2.0**-33


def by_philox(n: int) -> np.ndarray:
    """Return the four words of n counters, a row each."""
    counter = np.zeros((n, 4), np.uint64)
    counter[:, 0] = FIRST + np.arange(n)
    counter[:, 2:] = SEQUENCE & 0xFFFFFFFF, SEQUENCE >> 32
    return philox(counter, (SEED & 0xFFFFFFFF, SEED >> 32))


def stateless(kernel: str, n: int, block_values: int, words: np.ndarray) -> Launch:
    """Launch a step whose values depend on the place and the seed alone."""
    arguments = (blank(n), n, SEED, SEQUENCE, FIRST)
    # The word is rounded to float32, and the sum; both are at most 1.
    atol = {0: 2 * ROUNDING}
    grid = blocks(n, block_values)
    return Launch(kernel, grid, 256, arguments, {0: uniform(words)}, atol=atol)


def drawn(states: np.ndarray) -> np.ndarray:
    """Advance the states by one number, in place, and return the numbers."""
    x, v = (states[:, i].astype(np.uint64) for i in (0, 4))
    x ^= x >> np.uint64(2)
    last = (v ^ (v << np.uint64(4))) ^ (x ^ (x << np.uint64(1)))
    states[:, :4] = states[:, 1:5]
    states[:, 4] = last & np.uint64(0xFFFFFFFF)
    states[:, 5] += np.uint32(362437)
    return states[:, 4] + states[:, 5]


def with_states(kernel: str, n: int, grid: int, threads: int) -> Launch:
    """Launch a step whose threads own xorwow's states, and draw n values in turn."""
    states = np.random.default_rng(0).integers(1, 2**32, (threads, 6), np.uint32)
    advanced, words = states.copy(), np.empty(n, np.uint32)
    for first in range(0, n, threads):
        count = min(threads, n - first)
        words[first : first + count] = drawn(advanced[:count])
    octets, after = (array.reshape(-1).view(np.uint8) for array in (states, advanced))
    wanted = {0: after.astype(np.float64), 1: uniform(words)}
    arguments = (octets, blank(n), n)
    return Launch(kernel, grid, 256, arguments, wanted, atol={1: 2 * ROUNDING})


@launches("random_numbers/step_00_fill.cu", QUADS)
def random_fill(n: int) -> Launch:
    wanted = {0: np.full(n, 0.625)}
    arguments = (blank(n), n, np.float32(0.625))
    return Launch("random_fill", blocks(n, 1024), 256, arguments, wanted)


@launches("random_numbers/step_01_states.cu")
def random_states(n: int) -> Launch:
    return with_states("random_states", n, blocks(n, 256), n)


@launches("random_numbers/step_02_loop.cu", LOOPS)
def random_loop(n: int, grid: int) -> Launch:
    return with_states("random_loop", n, grid, 256 * grid)


@launches("random_numbers/step_03_philox.cu")
def random_philox(n: int) -> Launch:
    return stateless("random_philox", n, 256, by_philox(n)[:, 0])


@launches("random_numbers/step_04_quads.cu", QUADS)
def random_quads(n: int) -> Launch:
    return stateless("random_quads", n, 1024, by_philox(n // 4).reshape(-1))


@launches("random_numbers/step_05_in_flight.cu", [*QUADS, {"n": 20_000}])
def random_in_flight(n: int) -> Launch:
    values = by_philox(n // 4).reshape(-1)
    return stateless("random_in_flight", n, 4096, values)
