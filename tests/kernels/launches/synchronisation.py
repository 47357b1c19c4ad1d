"""How the tests launch the kernels of kernels/synchronisation/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import (
    RAGGED,
    ROUNDING,
    Launch,
    blank,
    blocks,
    launches,
    picture,
    ramp,
)


@launches("synchronisation/rotate.cu", [{"n": n, "by": n // 3} for n in (1, 31, 1000)])
def rotate(n: int, by: int) -> Launch:
    x = ramp(n)
    wanted = np.roll(x, -by).astype(np.float64)
    return Launch("rotate", 1, blocks(n, 32) * 32, (x, blank(n), n, by), {1: wanted})


def heat(x: np.ndarray, rounds: int) -> np.ndarray:
    """Return a rod in float64 after some rounds of heat flow."""
    rod = x.astype(np.float64)
    for _ in range(rounds):
        rod[1:-1] = (rod[:-2] + 2 * rod[1:-1] + rod[2:]) / 4
    return rod


RODS = [{"n": n, "rounds": r} for n in (1, 2, 33, 1000) for r in (0, 1, 6)]


def heat_of_a_block(kernel: str, n: int, rounds: int) -> Launch:
    x = picture(1, n)[0]
    # No temperature is negative, and each round rounds twice.
    rtol = 2.01 * rounds * ROUNDING
    arguments, wanted = (x, n, rounds), {0: heat(x, rounds)}
    return Launch(kernel, 1, blocks(n, 32) * 32, arguments, wanted, rtol)


@launches("synchronisation/heat_block.cu", RODS)
def heat_block(n: int, rounds: int) -> Launch:
    return heat_of_a_block("heat_block", n, rounds)


@launches("synchronisation/heat_double_buffer.cu", RODS)
def heat_double_buffer(n: int, rounds: int) -> Launch:
    return heat_of_a_block("heat_double_buffer", n, rounds)


@launches("synchronisation/heat_step.cu")
def heat_step(n: int) -> Launch:
    x = picture(1, n)[0]
    arguments = (x, blank(n), n)
    return Launch(
        "heat_step", blocks(n, 256), 256, arguments, {1: heat(x, 1)}, 2.01 * ROUNDING
    )


@launches(
    "synchronisation/heat_grid.cu",
    [{"n": n, "rounds": r, "grid": g} for n, r in ((1, 2), (1025, 6)) for g in (2, 5)],
)
def heat_grid(n: int, rounds: int, grid: int) -> Launch:
    x = picture(1, n)[0]
    wanted = {0: heat(x, rounds), 1: heat(x, rounds - 1)}
    arguments = (x, blank(n), n, rounds)
    rtol = 2.01 * rounds * ROUNDING
    return Launch("heat_grid", grid, 256, arguments, wanted, rtol, cooperative=True)


@launches("synchronisation/sum_atomic.cu")
def sum_atomic(n: int) -> Launch:
    x = picture(1, n)[0]
    total, wanted = np.ones(1, np.float32), 1 + x.sum(dtype=np.float64, keepdims=True)
    # n additions of values that are not negative, in any order.
    arguments = (x, total, n)
    return Launch(
        "sum_atomic", blocks(n, 256), 256, arguments, {1: wanted}, n * ROUNDING
    )


@launches(
    "synchronisation/scopes.cu",
    [{"n": n, "positive": p} for n in RAGGED for p in (0, n // 2, n)],
)
def scopes(n: int, positive: int) -> Launch:
    x = np.sort(ramp(n)) - np.sort(ramp(n))[n - positive - 1] if positive < n else None
    x = (1 + np.arange(n) if x is None else x).astype(np.float32)
    x = np.random.default_rng(0).permutation(x)
    parts = np.pad(x > 0, (0, -n % 256)).reshape(-1, 256).sum(1).astype(np.float64)
    per_block, all_ = np.zeros(parts.size, np.int32), np.zeros(1, np.int32)
    wanted = {1: parts, 2: np.array([float(positive)])}
    return Launch("scopes", parts.size, 256, (x, per_block, all_, n), wanted)


@launches("synchronisation/message.cu", [{"n": 2}, {"n": 4}])
def message(n: int) -> Launch:
    squares = np.arange(33.0) ** 2
    data, out = np.zeros(33, np.int32), np.full((n - 1, 33), -1, np.int32)
    arguments = (data, np.zeros(1, np.int32), out)
    wanted = {0: squares, 1: np.ones(1), 2: np.tile(squares, (n - 1, 1))}
    return Launch("message", n, 33, arguments, wanted)


@launches("synchronisation/total_last_block.cu", [{"n": 64}, {"n": 256}, {"n": 960}])
def total_last_block(n: int) -> Launch:
    x = picture(1, n)[0]
    parts = x.astype(np.float64).reshape(-1, 64).sum(1)
    arguments = (x, blank(n // 64), np.zeros(1, np.uint32), blank(1))
    wanted = {1: parts, 2: np.array([n / 64]), 3: parts.sum(keepdims=True)}
    # 64 additions a part, then one for each part; no value is negative.
    return Launch("total", n // 64, 64, arguments, wanted, (64 + n / 64) * ROUNDING)


@launches(
    "synchronisation/lock.cu", [{"grid": 1, "block": 1}, {"grid": 3, "block": 40}]
)
@launches(
    "synchronisation/lock_by_block.cu",
    [{"grid": 1, "block": 1}, {"grid": 5, "block": 100}],
)
def lock(grid: int, block: int) -> Launch:
    arguments = (np.zeros(1, np.int32), np.full(1, 7, np.int32))
    wanted = {0: np.zeros(1), 1: np.array([7.0 + grid * block])}
    return Launch("count_threads", grid, block, arguments, wanted)


@launches("synchronisation/argmax_packed.cu")
def argmax_packed(n: int) -> Launch:
    # Few different values, so that the first of equals has to win. A float64 holds
    # the upper 53 bits of a key, which the lowest place of a value sets apart here.
    x = (np.random.default_rng(0).integers(-5, 0, n)).astype(np.int32)
    place = int(x.argmax())
    key = ((int(x[place]) + 2**31) << 32) | (2**32 - 1 - place)
    arguments = (x, np.zeros(1, np.uint64), n)
    wanted = {1: np.array([key], np.uint64).astype(np.float64)}
    return Launch("argmax_packed", blocks(n, 256), 256, arguments, wanted)


def histogram_of_bytes(kernel: str, n: int, grid: int) -> Launch:
    # A permutation of all bytes over and over, so that 1024 fill every counter.
    x = np.tile(np.random.default_rng(0).permutation(256), n // 256 + 1)
    x = x[:n].astype(np.uint8)
    counts = np.arange(256, dtype=np.uint32)
    wanted = counts + np.bincount(x, minlength=256).astype(np.float64)
    return Launch(kernel, grid, 256, (x, counts, n), {1: wanted})


COUNTED = [{"n": n, "grid": g} for n in RAGGED for g in (1, 3)]


@launches("synchronisation/histogram_global.cu", COUNTED)
def histogram_global(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_global", n, grid)


@launches("synchronisation/histogram_shared.cu", COUNTED)
def histogram_shared(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_shared", n, grid)


@launches("synchronisation/histogram_warp.cu", COUNTED)
def histogram_warp(n: int, grid: int) -> Launch:
    return histogram_of_bytes("histogram_warp", n, grid)


@launches("synchronisation/tiles.cu")
def tiles(n: int) -> Launch:
    x = np.random.default_rng(0).permutation(n).astype(np.int32)
    wanted = np.pad(x, (0, -n % 8)).reshape(-1, 8).sum(1).astype(np.float64)
    sums = np.full(wanted.size, -1, np.int32)
    return Launch("tiles", blocks(n, 256), 256, (x, sums, n), {1: wanted})
