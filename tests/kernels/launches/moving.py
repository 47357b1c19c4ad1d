"""How the tests launch the kernels of kernels/moving/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, ramp

CHUNKS = [(0, 1), (1, 31), (31, 33), (1000, 25), (7, 1025)]
WINDOWS = [(1, 1, 0), (7, 33, 4), (9, 31, 1), (33, 64, 0)]


@launches("moving/scale_chunk.cu", [{"first": f, "count": c} for f, c in CHUNKS])
def scale_chunk(first: int, count: int) -> Launch:
    x, y = ramp(first + count + 40), ramp(first + count + 40, seed=1)
    wanted = y.astype(np.float64)
    part = slice(first, first + count)
    wanted[part] = 3.25 * x[part].astype(np.float64)
    arguments = (x, 3.25, y, first, count)
    grid = blocks(count, 256)
    return Launch("scale_chunk", grid, 256, arguments, {2: wanted}, ROUNDING)


@launches(
    "moving/pack_window.cu", [{"rows": r, "cols": c, "left": f} for r, c, f in WINDOWS]
)
def pack_window(rows: int, cols: int, left: int) -> Launch:
    width, top = 8 * ((left + cols) // 8 + 2), 3
    a = ramp((top + rows + 2) * width).reshape(-1, width)
    window = a[top : top + rows, left : left + cols].astype(np.float64)
    out = blank(rows * cols).reshape(rows, cols)
    arguments = (a, out, width, top, left, rows, cols)
    grid = (blocks(cols, 32), blocks(rows, 8))
    return Launch("pack_window", grid, (32, 8), arguments, {1: window})


@launches(
    "moving/read_every.cu", [{"n": n, "stride": s} for n in RAGGED for s in (1, 33)]
)
def read_every(n: int, stride: int) -> Launch:
    x = ramp((n - 1) * stride + 1)
    wanted = x[::stride].astype(np.float64)
    arguments = (x, blank(n), n, stride)
    return Launch("read_every", blocks(n, 256), 256, arguments, {1: wanted})


@launches("moving/relu.cu")
def relu(n: int) -> Launch:
    x = ramp(n)
    wanted = np.maximum(x, 0).astype(np.float64)
    return Launch("relu", blocks(n, 256), 256, (x, blank(n), n), {1: wanted})


@launches("moving/scale_add_relu.cu")
def scale_add_relu(n: int) -> Launch:
    # Eighths and fourths: product and sum are exact, so no rounding to allow for.
    x, b = np.round(ramp(n) * 8) / 8, np.round(ramp(n, seed=1) * 8) / 8
    wanted = np.maximum(1.25 * x.astype(np.float64) + b, 0)
    arguments = (x, 1.25, b, blank(n), n)
    return Launch("scale_add_relu", blocks(n, 256), 256, arguments, {3: wanted})


@launches("moving/count_up.cu")
def count_up(n: int) -> Launch:
    x = np.random.default_rng(0).permutation(n).astype(np.int32)
    wanted = x.astype(np.float64) + 1
    return Launch("count_up", blocks(n, 256), 256, (x, n), {0: wanted})


@launches("moving/square_and_add.cu")
def square_and_add(n: int) -> Launch:
    generator = np.random.default_rng(1)
    weights, x = (generator.permutation(n).astype(np.int32) for _ in range(2))
    wanted = weights.astype(np.float64) ** 2 + x
    arguments = (weights, x, np.full(n, -1, np.int32), n)
    return Launch("square_and_add", blocks(n, 256), 256, arguments, {2: wanted})
