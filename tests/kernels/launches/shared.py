"""How the tests launch the kernels of kernels/shared/: one function a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernel_launches import Launch, blank, launches, ramp

from launches.first import blur

BLURRED = [(1, 1, 1), (31, 33, 2), (8, 65, 0), (20, 70, 9)]


@launches("shared/read_banks.cu", [{"n": 1024, "stride": s} for s in (0, 1, 7, 33)])
def read_banks(n: int, stride: int) -> Launch:
    x = ramp(n)
    wanted = x[stride * np.arange(32)].astype(np.float64)
    return Launch("read_banks", 1, 32, (x, blank(32), stride), {1: wanted})


@launches("shared/read_wide.cu", [{"words": w} for w in (1, 2, 4)])
def read_wide(words: int) -> Launch:
    x, which = ramp(64 * words), np.arange(63, 31, -1, dtype=np.int32)
    wanted = x.reshape(64, words)[which].reshape(-1).astype(np.float64)
    arguments = (x, blank(32 * words), which)
    return Launch(f"read_{4 * words}_bytes", 1, 32, arguments, {1: wanted})


@launches(
    "shared/blur_tiled.cu", [{"rows": r, "cols": c, "radius": k} for r, c, k in BLURRED]
)
def blur_tiled(rows: int, cols: int, radius: int) -> Launch:
    shared_bytes = 4 * (32 + 2 * radius) * (8 + 2 * radius)
    naive = blur(rows, cols, radius)
    return replace(naive, kernel="blur_tiled", shared_bytes=shared_bytes)
