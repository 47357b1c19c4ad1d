"""How the tests launch the kernels of kernels/hunt/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import Launch, blank, blocks, launches

SHAPES = [(1, 1), (3, 31), (2, 32), (5, 33), (64, 96), (7, 1025)]


@launches("hunt/row_maxima.cu", [{"rows": r, "cols": c} for r, c in SHAPES])
def row_maxima(rows: int, cols: int) -> Launch:
    # All below zero, so that a maximum which starts at 0 shows.
    values = np.random.default_rng(11).permutation(rows * cols) - rows * cols
    x = values.astype(np.float32).reshape(rows, cols)
    wanted = x.max(axis=1).astype(np.float64)
    arguments = (x, blank(rows), rows, cols)
    return Launch("row_maxima", blocks(rows, 2), 64, arguments, {1: wanted})
