"""How the tests launch the kernels of kernels/fusion/: one function a file."""

from __future__ import annotations

import math

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, picture

from launches.layernorm import EPSILON, rounded

MATRICES = [{"rows": r, "cols": c} for r, c in ((1, 1), (3, 33), (2, 300))]
REACH = 4.0  # no argument of GELU is further from 0


def reached(rows: int, cols: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x and a bias of both signs that sum to numbers within REACH."""
    x, offset = picture(rows, cols), picture(1, cols)[0, ::-1]
    return REACH * (x - np.float32(0.5)), REACH * (offset - np.float32(0.5))


def gelu_of(z: np.ndarray) -> np.ndarray:
    """Return the GELU in float64; erfc keeps the digits of small probabilities."""
    return z * 0.5 * np.vectorize(math.erfc)(-z / math.sqrt(2))


# The sum rounds once, and GELU passes that on, at most 1 + z * density / probability
# times: 16 at -REACH. normcdff is off by 5 units in the last place, 2 ROUNDING each.
GELU_ROUNDED = (16 + 2 * 5 + 2) * ROUNDING


@launches("fusion/bias.cu", MATRICES)
def bias(rows: int, cols: int) -> Launch:
    x, offset = reached(rows, cols)
    wanted = x.astype(np.float64) + offset
    arguments = (x, offset, np.full_like(x, np.nan), cols)
    grid = (blocks(cols, 256), rows)
    return Launch("bias", grid, 256, arguments, {2: wanted}, ROUNDING)


@launches("fusion/gelu.cu", [{"n": n} for n in RAGGED])
def gelu(n: int) -> Launch:
    z = 2 * REACH * (picture(1, n)[0] - np.float32(0.5))
    wanted = gelu_of(z.astype(np.float64))
    arguments = (z, blank(n), n)
    return Launch("gelu", blocks(n, 256), 256, arguments, {1: wanted}, GELU_ROUNDED)


@launches("fusion/bias_gelu.cu", MATRICES)
def bias_gelu(rows: int, cols: int) -> Launch:
    x, offset = reached(rows, cols)
    wanted = gelu_of(x.astype(np.float64) + offset)
    arguments = (x, offset, np.full_like(x, np.nan), cols)
    grid = (blocks(cols, 256), rows)
    return Launch("bias_gelu", grid, 256, arguments, {2: wanted}, GELU_ROUNDED)


IMAGES = [
    dict(zip("NCPG", sizes, strict=True))
    for sizes in ((1, 1, 1, 1), (2, 6, 33, 3), (3, 10, 40, 1), (1, 4, 300, 4))
]


@launches("fusion/groupnorm.cu", IMAGES)
def groupnorm(N: int, C: int, P: int, G: int) -> Launch:
    x = picture(N * C, P).reshape(N, C, P)
    gamma, beta = 0.5 + picture(1, C)[0], 8 + picture(1, C)[0, ::-1]
    gamma, beta = gamma.astype(np.float32), beta.astype(np.float32)
    exact = x.astype(np.float64).reshape(N, G, -1)
    normal = exact - exact.mean(axis=2, keepdims=True)
    normal /= np.sqrt(exact.var(axis=2, keepdims=True) + EPSILON)
    wanted = normal.reshape(N, C, P) * gamma[:, None] + beta[:, None]
    arguments = (x, gamma, beta, np.full_like(x, np.nan), C, P, EPSILON)
    size = C // G * P
    # As for a layernorm, but value and mean are scaled before they are subtracted:
    # products of at most 48 and a sum of at most 57 round, and results are 4 at least.
    return Launch(
        "groupnorm",
        (G, N),
        256,
        arguments,
        {3: wanted},
        rounded(size) + 40 * ROUNDING,
        shared_bytes=4 * size,
    )
