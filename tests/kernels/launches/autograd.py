"""How the tests launch the operations of kernels/autograd/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import ROUNDING, Launch, blank, blocks, launches, ramp

from launches.mnist import of_each, whole

SHAPES = ({"rows": 1, "cols": 1}, {"rows": 7, "cols": 33}, {"rows": 31, "cols": 9})


@launches("autograd/broadcast.cu", of_each(("add", "mul", "copy"), *SHAPES))
def broadcast(kernel: str, rows: int, cols: int) -> Launch:
    a, b = whole(cols, rows), whole(cols, seed=1)  # a transposed, b a repeated row
    sizes = (rows, cols, 1, rows)
    grid, wanted = blocks(rows * cols, 256), a.T.astype(np.float64)
    if kernel == "copy":
        arguments = (a, blank(rows * cols), *sizes)
        return Launch(kernel, grid, 256, arguments, {1: wanted.ravel()})
    wanted = wanted + b if kernel == "add" else wanted * b
    arguments = (a, b, blank(rows * cols), *sizes, 0, 1)
    return Launch(kernel, grid, 256, arguments, {2: wanted.ravel()})


MAPS = ("tanh_forward", "exp_forward", "log_forward", "tanh_dx", "exp_dx", "log_dx")


@launches("autograd/maps.cu", of_each(MAPS, {"n": 1}, {"n": 33}, {"n": 1025}))
def maps(kernel: str, n: int) -> Launch:
    x = (whole(n, most=20) / 16).astype(np.float32)
    name = kernel.split("_")[0]
    if name == "log":
        x = np.abs(x) + np.float32(2)
    wide, dy = x.astype(np.float64), ramp(n)
    of = {"tanh": np.tanh, "exp": np.exp, "log": np.log}[name]
    slope = {"tanh": lambda y: 1 - y * y, "exp": lambda y: y, "log": lambda x: 1 / x}
    rtol = 16 * ROUNDING  # the functions err by 2 units in the last place
    grid = blocks(n, 256)
    if kernel.endswith("forward"):
        return Launch(kernel, grid, 256, (x, blank(n), n), {1: of(wide)}, rtol)
    given = x if name == "tanh" else np.abs(x) + np.float32(1)
    wanted = dy.astype(np.float64) * slope[name](given.astype(np.float64))
    # For tanh 1 - y * y cancels: y * y is rounded, and dy up to n in size.
    atol = {2: 4 * ROUNDING * float(np.abs(dy).max())}
    return Launch(
        kernel, grid, 256, (given, dy, blank(n), n), {2: wanted}, rtol, atol=atol
    )


@launches("autograd/matmul.cu", [{"M": 1, "N": 1, "K": 1}, {"M": 9, "N": 33, "K": 5}])
def matmul(M: int, N: int, K: int) -> Launch:
    a, b = whole(M, K, most=9), whole(N, K, seed=1, most=9)  # b is transposed
    wanted = a.astype(np.float64) @ b.T
    arguments = (a, b, blank(M * N), M, N, K, K, 1, 1, K)
    return Launch("matmul", blocks(M * N, 256), 256, arguments, {2: wanted.ravel()})


ALONG = ("sum_along", "max_along", "max_dx")


@launches("autograd/along.cu", of_each(ALONG, {"n": 1, "m": 1}, {"n": 33, "m": 7}))
def along(kernel: str, n: int, m: int) -> Launch:
    x, grid, strides = whole(m, n), blocks(n, 256), (1, n)  # down the columns
    wide, where = x.astype(np.float64), x.argmax(axis=0).astype(np.int32)
    if kernel == "sum_along":
        arguments = (x, blank(n), n, m, *strides)
        return Launch(kernel, grid, 256, arguments, {1: wide.sum(axis=0)})
    if kernel == "max_along":
        arguments = (x, blank(n), np.full(n, -1, np.int32), n, m, *strides)
        wanted = {1: wide.max(axis=0), 2: where.astype(np.float64)}
        return Launch(kernel, grid, 256, arguments, wanted)
    dy = whole(n, seed=2)
    dx = np.where(np.arange(m)[:, None] == where, dy.astype(np.float64), 0.0)
    arguments = (dy, where, blank(m * n), n, m, *strides)
    return Launch(kernel, blocks(n * m, 256), 256, arguments, {2: dx.ravel()})
