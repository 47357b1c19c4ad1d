"""How the tests launch the ladder of kernels/histogram/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import Launch, launches

COUNTED = [{"n": n, "grid": g} for n, g in ((1, 1), (33, 3), (4100, 2))]


def counted(kernel: str, n: int, grid: int) -> Launch:
    """Count random bytes, so that threads meet at counters; only one begins with 0."""
    x = np.random.default_rng(0).integers(0, 256, n).astype(np.uint8)
    counts = np.arange(256, dtype=np.uint32)
    wanted = {1: counts + np.bincount(x, minlength=256).astype(np.float64)}
    return Launch(kernel, grid, 256, (x, counts, n), wanted)


@launches("histogram/step_01_global.cu", COUNTED)
def histogram_global(n: int, grid: int) -> Launch:
    return counted("histogram_global", n, grid)


@launches("histogram/step_02_shared.cu", COUNTED)
def histogram_shared(n: int, grid: int) -> Launch:
    return counted("histogram_shared", n, grid)


@launches("histogram/step_03_warps.cu", COUNTED)
def histogram_warps(n: int, grid: int) -> Launch:
    return counted("histogram_warps", n, grid)


@launches("histogram/step_04_lanes.cu", COUNTED)
def histogram_lanes(n: int, grid: int) -> Launch:
    return counted("histogram_lanes", n, grid)


@launches("histogram/step_05_vectorised.cu", [*COUNTED, {"n": 17000, "grid": 1}])
def histogram_vectorised(n: int, grid: int) -> Launch:
    return counted("histogram_vectorised", n, grid)
