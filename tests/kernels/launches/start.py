"""How the tests launch the kernels of kernels/start/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, ramp


@launches("start/hello.cu", [{"grid": 1, "block": 1}, {"grid": 3, "block": 33}])
def hello(grid: int, block: int) -> Launch:
    lines = (
        f"Hello from thread {thread} of block {number}"
        for number in range(grid)
        for thread in range(block)
    )
    return Launch("hello", grid, block, prints=tuple(lines))


@launches("start/vec_add.cu")
def vec_add(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = a.astype(np.float64) + b
    arguments = (a, b, blank(n), n)
    return Launch("vec_add", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches(
    "start/read_strided.cu", [{"n": n, "stride": s} for n in RAGGED for s in (1, 3, 32)]
)
def read_strided(n: int, stride: int) -> Launch:
    x = ramp((n - 1) * stride + 1)
    wanted = x[::stride].astype(np.float64)
    arguments = (x, blank(n), n, stride)
    return Launch("read_strided", blocks(n, 256), 256, arguments, {1: wanted})


@launches("start/scale.cu")
def scale(n: int) -> Launch:
    x = ramp(n)
    wanted = 3.25 * x.astype(np.float64)
    arguments = (x, 3.25, blank(n), n)
    return Launch("scale", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches("start/add_scale.cu")
def add_scale(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = 3.25 * (a.astype(np.float64) + b)
    arguments = (a, b, 3.25, blank(n), n)
    # Two roundings: the sum, and its product.
    return Launch(
        "add_scale", blocks(n, 256), 256, arguments, {3: wanted}, 2.01 * ROUNDING
    )
