"""Times Numba's simulator on the first blocks of a tiled matmul 256^3.

Run `NUMBA_ENABLE_CUDASIM=1 python numba_matmul.py BLOCKS`; it prints the seconds.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import cuda, float32
from simulator_launching import clock

SIDE, TILE = 256, 16


@cuda.jit
def matmul_tiled(a, b, c, n):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x // (n // TILE) * TILE + y
    col = cuda.blockIdx.x % (n // TILE) * TILE + x
    total = float32(0)
    for k0 in range(0, n, TILE):
        a_tile[y, x] = a[row, k0 + x]
        b_tile[y, x] = b[k0 + y, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    c[row, col] = total


def main(blocks: int) -> None:
    a, b = np.random.default_rng(0).random((2, SIDE, SIDE), np.float32)
    c = np.zeros_like(a)
    start = clock()
    matmul_tiled[blocks, (TILE, TILE)](a, b, c, SIDE)
    elapsed = clock() - start
    # At most SIDE roundings; all terms are positive.
    np.testing.assert_allclose(c[:TILE, :TILE], (a @ b)[:TILE, :TILE], rtol=1e-4)
    print(elapsed)


if __name__ == "__main__":
    main(int(sys.argv[1]))
