"""Steps 1 to 9 of the matrix-product ladder: compiled, and counted for one product.

The product is small, 128 x 128 with 32 values along k, and every step fits it. So
what the steps count can be compared.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from coursekit.analysis.counting import count
from coursekit.errors import ArgumentError
from coursekit.lessons.tiling import LADDER, Tiling
from coursekit.runtime.compiler import compile as compile_source
from coursekit.runtime.modules import Module
from coursekit.simt import Counters

__all__ = ["FMAS", "LADDER", "STEPS", "Tiling", "compiled", "counted"]

M, N, K = 128, 128, 32
FMAS = M * N * K // 32  # multiply-adds that a warp issues for the product
STEPS = (
    "naive",
    "coalesced",
    "shared_tiling",
    "column",
    "patch",
    "vectorised",
    "conflict_free",
    "warp_tiles",
    "double_buffered",
)
# By step: threads of a block, and side of the tile of C that it computes. The steps
# from 5 on have those of step 5.
LAUNCHES: dict[int, tuple[int | tuple[int, int], int]] = {
    1: ((32, 32), 32),
    2: ((32, 32), 32),
    3: ((32, 32), 32),
    4: ((64, 8), 64),
    5: (256, 128),
}


@cache
def compiled(step: int) -> Module:
    """Return the module of a step of the ladder.

    Parameters
    ----------
    step : int
        1 to 9.

    Raises
    ------
    ArgumentError
        There is no such step.

    Examples
    --------
    >>> compiled(2).kernels
    ('matmul_coalesced',)
    """
    if step not in range(1, len(STEPS) + 1):
        raise ArgumentError.explained(
            f"The ladder has no step {step!r}.",
            f"Steps 1 to {len(STEPS)} multiply matrices of any size in float32.",
            'Compile later steps by name: ck.compile("matmul/step_11_tuned.cu").',
        )
    return compile_source(f"matmul/step_{step:02}_{STEPS[step - 1]}.cu")


@cache
def counted(step: int) -> Counters:
    """Return what a step counts for 128 x 128 results with 32 values along k each.

    Parameters
    ----------
    step : int
        1 to 9.

    Raises
    ------
    ArgumentError
        There is no such step.

    Examples
    --------
    >>> counted(2).global_load_sectors / FMAS
    5.0
    """
    module = compiled(step)
    block, tile = LAUNCHES[min(step, max(LAUNCHES))]
    shapes = (M, K), (K, N), (M, N)
    arrays = [np.zeros(shape, np.float32) for shape in shapes]
    grid = N // tile, M // tile
    return count(module[module.kernels[0]], grid, block, (*arrays, M, N, K))
