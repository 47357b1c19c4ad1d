"""How the tests launch the starters of Count Golf: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, ramp

from launches.moving import WINDOWS


@launches(
    "golf/vec_add_chunks.cu", [{"n": n, "grid": g} for n in RAGGED for g in (1, 3)]
)
def vec_add_chunks(n: int, grid: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = a.astype(np.float64) + b
    arguments = (a, b, blank(n), n)
    return Launch("vec_add_chunks", grid, 256, arguments, {2: wanted}, ROUNDING)


@launches(
    "golf/pack_window_rows.cu",
    [{"rows": r, "cols": c, "left": f} for r, c, f in WINDOWS],
)
def pack_window_rows(rows: int, cols: int, left: int) -> Launch:
    width, top = 8 * ((left + cols) // 8 + 2), 3
    a = ramp((top + rows + 2) * width).reshape(-1, width)
    window = a[top : top + rows, left : left + cols].astype(np.float64)
    out = blank(rows * cols).reshape(rows, cols)
    arguments = (a, out, width, top, left, rows, cols)
    grid = blocks(rows, 32)
    return Launch("pack_window_rows", grid, 32, arguments, {1: window})
