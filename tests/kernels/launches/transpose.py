"""How the tests launch the kernels of kernels/transpose/: one function a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernel_launches import PICTURES, QUADS, Launch, blank, blocks, launches, ramp

OF_FOURS = [
    {"rows": rows, "cols": cols} for rows, cols in ((4, 4), (64, 64), (36, 132))
]


@launches("transpose/step_00_copy.cu", QUADS)
def copy(n: int) -> Launch:
    x = ramp(n)
    wanted = {1: x.astype(np.float64)}
    return Launch("copy", blocks(n, 1024), 256, (x, blank(n), n), wanted)


def transposed(
    kernel: str, rows: int, cols: int, block=(32, 8), tile=(32, 32)
) -> Launch:
    x = ramp(rows * cols).reshape(rows, cols)
    out = np.full((cols, rows), np.nan, np.float32)
    grid = (blocks(cols, tile[0]), blocks(rows, tile[1]))
    wanted = {1: x.T.astype(np.float64)}
    return Launch(kernel, grid, block, (x, out, rows, cols), wanted)


@launches("transpose/step_01_naive.cu", PICTURES)
def transpose_naive(rows: int, cols: int) -> Launch:
    return transposed("transpose_naive", rows, cols, tile=(32, 8))


@launches("transpose/step_02_tiled.cu", PICTURES)
def transpose_tiled(rows: int, cols: int) -> Launch:
    return transposed("transpose_tiled", rows, cols)


@launches("transpose/step_03_padded.cu", PICTURES)
def transpose_padded(rows: int, cols: int) -> Launch:
    return transposed("transpose_padded", rows, cols)


@launches("transpose/step_04_swizzled.cu", PICTURES)
def transpose_swizzled(rows: int, cols: int) -> Launch:
    return transposed("transpose_swizzled", rows, cols)


@launches("transpose/step_05_vectorised.cu", OF_FOURS)
def transpose_vectorised(rows: int, cols: int) -> Launch:
    launch = transposed("transpose_vectorised", rows, cols, block=256, tile=(64, 64))
    return replace(launch, grid=launch.grid[::-1])  # down the rows of x first


IMAGES = [
    {"N": n, "C": c, "HW": hw} for n, c, hw in ((1, 1, 1), (2, 3, 35), (3, 33, 40))
]


def channels_last(kernel: str, down: int, N: int, C: int, HW: int) -> Launch:
    x = ramp(N * C * HW).reshape(N, C, HW)
    out = np.full((N, HW, C), np.nan, np.float32)
    grid = (blocks(HW, 32), blocks(C, down), N)
    wanted = {1: x.transpose(0, 2, 1).astype(np.float64)}
    return Launch(kernel, grid, (32, 8), (x, out, C, HW), wanted)


@launches("transpose/nchw_nhwc_naive.cu", IMAGES)
def nchw_nhwc_naive(N: int, C: int, HW: int) -> Launch:
    return channels_last("nchw_nhwc_naive", 8, N, C, HW)


@launches("transpose/nchw_nhwc_tiled.cu", IMAGES)
def nchw_nhwc_tiled(N: int, C: int, HW: int) -> Launch:
    return channels_last("nchw_nhwc_tiled", 32, N, C, HW)
