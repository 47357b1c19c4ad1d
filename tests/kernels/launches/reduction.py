"""How the tests launch the ladder of kernels/reduction/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import QUADS, Launch, blank, blocks, launches


def whole(n: int) -> np.ndarray:
    """Return n whole numbers; float32 adds up to 2^15 exactly, in any order."""
    return (np.random.default_rng(0).permutation(n) % 801 - 300).astype(np.float32)


def added(kernel: str, n: int, covered: int) -> Launch:
    x = whole(n)
    wanted = 1 + x.sum(dtype=np.float64, keepdims=True)
    arguments = (x, np.ones(1, np.float32), n)
    return Launch(kernel, blocks(n, covered), 256, arguments, {1: wanted})


@launches("reduction/step_01_atomic.cu")
def sum_atomic(n: int) -> Launch:
    return added("sum_atomic", n, 256)


@launches("reduction/step_02_tree.cu")
def sum_tree(n: int) -> Launch:
    return added("sum_tree", n, 256)


@launches("reduction/step_03_packed.cu")
def sum_packed(n: int) -> Launch:
    return added("sum_packed", n, 256)


@launches("reduction/step_04_halves.cu")
def sum_halves(n: int) -> Launch:
    return added("sum_halves", n, 256)


@launches("reduction/step_05_shuffle.cu")
def sum_shuffle(n: int) -> Launch:
    return added("sum_shuffle", n, 256)


@launches("reduction/step_06_vectorised.cu", QUADS)
def sum_vectorised(n: int) -> Launch:
    return added("sum_vectorised", n, 4096)


@launches(
    "reduction/step_07_persistent.cu",
    [{"n": n, "grid": g} for n, g in ((4, 1), (132, 3), (4092, 1), (20000, 2))],
)
def sum_persistent(n: int, grid: int) -> Launch:
    # Whole tiles of 4096 go to the blocks in turn; the rest does by 256 quads.
    x, end = whole(n), n // 4096 * 4096
    owner = np.append(np.arange(end) // 4096, np.arange(n - end) // 1024) % grid
    parts = np.bincount(owner, weights=x, minlength=grid)
    arguments = (x, blank(grid), np.zeros(1, np.uint32), blank(1), n)
    wanted = {1: parts, 3: parts.sum(keepdims=True)}
    return Launch("sum_persistent", grid, 256, arguments, wanted)
