"""How the tests launch the kernels of kernels/memory/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import ROUNDING, Launch, blank, blocks, launches, ramp

CHAINS = [(1, 32), (2, 128), (33, 32), (96, 160), (64, 32)]
FACTOR, SHIFT, FIRST, STEPS = 1 + 12 * 5, 7, 8, 100
FOOTPRINTS = [(1024, 8, 2), (1024, 4, 1), (3072, 20, 5), (5120, 8, 3)]
COPIES = [(1024, 1), (1024, 8), (33, 3), (1025, 41), (7, 7)]


def chain(count: int, stride: int) -> np.ndarray:
    """Return words with a chain whose element i lies at FIRST + i * stride."""
    words = np.full((FIRST + count * stride) // 4, 0x55555555, np.uint32)
    i = np.arange(count)
    words[(FIRST + i * stride) // 4] = FIRST + (FACTOR * i + SHIFT) % count * stride
    return words


@launches("memory/link_chain.cu", [{"count": c, "stride": s} for c, s in CHAINS])
def link_chain(count: int, stride: int) -> Launch:
    wanted = chain(count, stride).view(np.uint8)
    untouched = np.full_like(wanted, 0x55)
    arguments = (untouched, FIRST, stride, count, FACTOR, SHIFT)
    return Launch("link_chain", 2, 32, arguments, {0: wanted.astype(np.float64)})


@launches("memory/pointer_chase.cu", [{"count": c, "stride": s} for c, s in CHAINS])
def pointer_chase(count: int, stride: int) -> Launch:
    i = 0
    for _ in range(STEPS):
        i = (FACTOR * i + SHIFT) % count
    words, end = chain(count, stride).view(np.uint8), np.full(1, 3, np.uint32)
    wanted = np.array([FIRST + i * stride], np.float64)
    arguments = (words, FIRST, stride, count, STEPS, end)
    return Launch("pointer_chase", 1, 1024, arguments, {5: wanted})


@launches(
    "memory/read_footprint.cu",
    [{"vectors": v, "loads": n, "grid": g} for v, n, g in FOOTPRINTS],
)
def read_footprint(vectors: int, loads: int, grid: int = 2) -> Launch:
    # Whole numbers below 2^24, so that no sum is rounded.
    x = np.random.default_rng(0).permutation(4 * vectors).astype(np.float32)
    starts = np.arange(grid)[:, None, None] * (vectors // 1024) // grid * 1024
    place = starts + np.arange(256)[:, None] + 256 * np.arange(loads)
    own = x.reshape(-1, 4).astype(np.float64).sum(axis=1)
    wanted = own[place % vectors].sum(axis=2).reshape(-1)
    arguments = (x, blank(256 * grid), vectors, loads)
    return Launch("read_footprint", grid, 256, arguments, {1: wanted})


@launches(
    "memory/read_shared.cu",
    [{"n": 1, "loads": 8}, {"n": 3, "loads": 4}, {"n": 1, "loads": 4, "step": 32}],
)
def read_shared(n: int, loads: int, step: int = 256) -> Launch:
    x = np.random.default_rng(0).permutation(4096 * n).astype(np.float32)
    tile = x.reshape(n, 1024, 4).astype(np.float64).sum(axis=2)
    place = (np.arange(256)[:, None] + step * np.arange(loads)) % 1024
    wanted = tile[:, place].sum(axis=2).reshape(-1)
    arguments = (x, blank(256 * n), loads, step)
    return Launch("read_shared", n, 256, arguments, {1: wanted})


@launches("memory/strided_copy.cu", [{"n": n, "stride": s} for n, s in COPIES])
def strided_copy(n: int, stride: int) -> Launch:
    x = ramp(n)
    arguments = (x, blank(n), n, stride)
    wanted = {1: x.astype(np.float64)}
    return Launch("strided_copy", blocks(n, 256), 256, arguments, wanted)


def scaled(n: int) -> Launch:
    x = 1 + np.abs(ramp(64 * n)).reshape(64, n)
    wanted = x.astype(np.float64) / x.max(axis=0)
    arguments = (x, blank(64 * n).reshape(64, n), n)
    grid = blocks(n, 1024)
    return Launch("scale_columns", grid, 1024, arguments, {1: wanted}, 2 * ROUNDING)


@launches("memory/spill.cu")
def spill(n: int) -> Launch:
    return scaled(n)


@launches("memory/spill_fixed.cu")
def spill_fixed(n: int) -> Launch:
    return scaled(n)


@launches("memory/local_array.cu")
def local_array(n: int) -> Launch:
    x = np.random.default_rng(0).integers(0, 16, (32, n)).astype(np.int32)
    counts = (x[:, :, None] == np.arange(16)).sum(axis=0)
    wanted = counts.argmax(axis=1).astype(np.float64)
    arguments = (x, np.full(n, -1, np.int32), n)
    return Launch("most_frequent", blocks(n, 256), 256, arguments, {1: wanted})
