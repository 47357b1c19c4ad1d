"""How the tests launch the ladder of kernels/scan/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import QUADS, RAGGED, Launch, blocks, launches


def numbers(n: int) -> np.ndarray:
    """Return n whole numbers so large that their sums leave 32 bits."""
    return np.random.default_rng(0).integers(-(2**31), 2**31, n).astype(np.int32)


def wrapped(sums: np.ndarray) -> np.ndarray:
    """Return whole numbers modulo 2^32, with sign, in float64."""
    return sums.astype(np.int32).astype(np.float64)


def scanned(kernel: str, n: int, segment: int, block: int) -> Launch:
    x, count = numbers(n), blocks(n, segment)
    padded = np.pad(x, (0, count * segment - n)).reshape(count, segment)
    sums = padded.cumsum(axis=1, dtype=np.int64)
    y, totals = np.full(n, -1, np.int32), np.full(count, -1, np.int32)
    wanted = {1: wrapped(sums.reshape(-1)[:n]), 2: wrapped(sums[:, -1])}
    return Launch(kernel, count, block, (x, y, totals, n), wanted)


@launches("scan/step_01_rounds.cu")
def scan_rounds(n: int) -> Launch:
    return scanned("scan_rounds", n, 1024, 1024)


@launches("scan/step_02_sweeps.cu")
def scan_sweeps(n: int) -> Launch:
    return scanned("scan_sweeps", n, 1024, 512)


@launches("scan/step_03_registers.cu", QUADS)
def scan_registers(n: int) -> Launch:
    return scanned("scan_registers", n, 4096, 256)


@launches(
    "scan/step_04_three_kernels.cu",
    [{"n": n, "segment": s} for n in RAGGED for s in (32, 1024)],
)
def add_totals(n: int, segment: int) -> Launch:
    y, totals = numbers(n), numbers(blocks(n, segment) + 1)[1:]
    wanted = y.astype(np.int64)
    wanted[segment:] += np.repeat(totals, segment)[: max(n - segment, 0)]
    arguments = (y, totals, segment, n)
    return Launch("add_totals", blocks(n, 256), 256, arguments, {0: wrapped(wanted)})


@launches("scan/step_05_look_back.cu", [*QUADS, {"n": 12000}, {"tiles": 300}])
def scan_look_back(n: int = 0, tiles: int = 0) -> Launch:
    if tiles:  # what makes ready for the next scan
        states, tickets = np.arange(1, 401, dtype=np.uint64), np.ones(1, np.uint32)
        wanted = {0: np.where(np.arange(400) < tiles, 0.0, states), 1: np.zeros(1)}
        return Launch(
            "forget", blocks(tiles, 256), 256, (states, tickets, tiles), wanted
        )
    x, tiles = numbers(n), blocks(n, 4096)
    sums = x.cumsum(dtype=np.int64)
    ends = np.append(sums[4095 : 4096 * (tiles - 1) : 4096], sums[-1])
    # In the end every tile has published the sum of all up to its end, and state 2.
    states = (2 << 32) + (ends & 0xFFFFFFFF)
    arguments = (
        x,
        np.full(n, -1, np.int32),
        np.zeros(tiles, np.uint64),
        np.zeros(1, np.uint32),
        n,
    )
    wanted = {
        1: wrapped(sums),
        2: states.astype(np.float64),
        3: np.array([float(tiles)]),
    }
    return Launch("scan_look_back", tiles, 256, arguments, wanted)


@launches(
    "scan/step_06_ahead.cu",
    [
        {"n": n, "grid": g}
        for n, g in ((4, 1), (132, 3), (16388, 2), (65536, 2), (90000, 2))
    ],
)
def scan_ahead(n: int, grid: int) -> Launch:
    # The sums of the tiles, and the tickets, are 0 again in the end.
    x = numbers(n)
    sums, arrived = np.zeros(4 * grid, np.uint64), np.zeros(1, np.uint32)
    arguments = (x, np.full(n, -1, np.int32), sums, arrived, n)
    wanted = {1: wrapped(x.cumsum(dtype=np.int64)), 2: 0.0 * sums, 3: np.zeros(1)}
    return Launch(
        "scan_ahead",
        grid,
        512,
        arguments,
        wanted,
        shared_bytes=3 * 4 * 16384,
        cooperative=True,
    )
