"""How the tests launch the kernels of kernels/extensions/: one function a file."""

from __future__ import annotations

import math

import numpy as np
from kernel_launches import RAGGED, Launch, blank, blocks, launches

from launches.fusion import GELU_ROUNDED, MATRICES, gelu_of, reached
from launches.mnist import whole


@launches("extensions/polynomial.cu", [{"n": n} for n in (*RAGGED, 1000)])
def polynomial(n: int) -> Launch:
    x = whole(n)  # exact in float32
    wanted = x.astype(np.float64) ** 3 - 3 * x + 1
    arguments = (x, blank(n), n)
    return Launch("polynomial<float>", blocks(n, 256), 256, arguments, {1: wanted})


@launches("extensions/polynomial_backward.cu", [{"n": n} for n in (*RAGGED, 1000)])
def polynomial_backward(n: int) -> Launch:
    x, grad_y = whole(n), whole(n, seed=1)  # exact in float32
    wanted = grad_y * (3 * x.astype(np.float64) ** 2 - 3)
    arguments = (x, grad_y, blank(n), n)
    kernel = "polynomial_backward<float>"
    return Launch(kernel, blocks(n, 256), 256, arguments, {2: wanted})


@launches("extensions/bias_gelu.cu", MATRICES)
def bias_gelu(rows: int, cols: int) -> Launch:
    x, offset = reached(rows, cols)
    wanted = gelu_of(x.astype(np.float64) + offset)
    arguments = (x, offset, np.full_like(x, np.nan), cols)
    grid = (blocks(cols, 256), rows)
    return Launch("bias_gelu<float>", grid, 256, arguments, {2: wanted}, GELU_ROUNDED)


@launches("extensions/bias_gelu_backward.cu", MATRICES)
def bias_gelu_backward(rows: int, cols: int) -> Launch:
    x, offset = reached(rows, cols)
    grad_y = whole(rows, cols)
    z = x.astype(np.float64) + offset
    share = 0.5 * np.vectorize(math.erfc)(-z / math.sqrt(2))
    wanted = grad_y * (share + z * np.exp(-z * z / 2) / math.sqrt(2 * math.pi))
    arguments = (x, offset, grad_y, np.full_like(x, np.nan), cols)
    grid = (blocks(cols, 256), rows)
    # P(z) and z p(z) are at most 1, and GELU_ROUNDED covers each; gradients are at
    # most 40. Near its zero the sum cancels, so that the bound is absolute.
    bound = {3: 2 * 40 * GELU_ROUNDED}
    kernel = "bias_gelu_backward<float>"
    return Launch(kernel, grid, 256, arguments, {3: wanted}, atol=bound)
