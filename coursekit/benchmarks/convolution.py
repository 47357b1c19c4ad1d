"""Benchmarks of the ladder of 3 x 3 convolutions, beside the fastest plan of cuDNN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.cudnn import convolved, demand, half
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import cudnn_plans, peers
from coursekit.benchmarks.tilings import Maps

ROW_BYTES, UNIT = 128, 64  # of 64 channels; pixels of one product
TEAMS, UNITS = 3, 2  # of steps 6 and 7
TEAM_THREADS, BOARD_BYTES = 128, 1024


@dataclass(frozen=True)
class Layer:
    """A convolution of `batch` square images, from so many channels to as many."""

    batch: int
    channels: int


LAYERS = {56: Layer(64, 64), 28: Layer(64, 128), 8: Layer(1, 64)}  # by height and width
SIZES = (56, 28)
COUNTED = 8
BOXES = {56: (1, 8, 8), 28: (4, 4, 4), 8: (1, 8, 8)}  # images, rows, columns
SPREAD = 2.0**-4  # of weights: results are about 2 then


def images(size: int) -> tuple:
    """Draw images and filters with channels last, and make room for the result."""
    layer = LAYERS[size]
    shape = layer.batch, size, size, layer.channels
    weights = half(layer.channels, 3, 3, layer.channels, spread=SPREAD)
    return half(*shape), weights, ck.empty(shape, np.float16), size


def is_convolution(x, w, y, size: int) -> None:
    """Compare with the convolution in float64.

    Raises
    ------
    AssertionError
        Results are further off than half precision makes them, or no numbers.
    """
    xp, x, w, y = drawn.viewed(x, w, y)
    demand(y, convolved(x, w, xp), 2)


def products(size: int) -> int:
    """Count the additions and multiplications of a layer."""
    layer = LAYERS[size]
    return 2 * layer.batch * size**2 * 9 * layer.channels**2


# ---------------------------------------------------------------- portable steps


def direct_case() -> Callable:
    """Return step 1."""
    kernel = ck.compile("convolution/step_01_direct.cu").convolution_direct

    def case(x, w, y, size):
        kernel[cover(y.size, 256), 256](x, w, y, *x.shape, y.shape[3])

    return case


def halo_tile_case() -> Callable:
    """Return step 2."""
    kernel = ck.compile("convolution/step_02_halo_tile.cu").convolution_halo_tile

    def case(x, w, y, size):
        grid = cover(size, 8) ** 2, y.shape[3] // 64, x.shape[0]
        kernel[grid, 256](x, w, y, *x.shape, y.shape[3])

    return case


def im2col_case() -> Callable:
    """Return step 3, the matrix included."""
    module = ck.compile("convolution/step_03_im2col.cu")
    scratch = drawn.zeros()

    def case(x, w, y, size):
        (N, H, W, C), K = x.shape, y.shape[3]
        columns = scratch("columns", (N * H * W, 9 * C), np.float16)
        module.im2col[cover(columns.size, 8 * 256), 256](x, columns, N, H, W, C)
        grid = cover(N * H * W, 64), K // 64
        module.convolution_im2col[grid, 256](columns, w, y, N * H * W, C, K)

    return case


def implicit_case() -> Callable:
    """Return step 4."""
    kernel = ck.compile("convolution/step_04_implicit.cu").convolution_implicit

    def case(x, w, y, size):
        grid = cover(x.shape[0] * size**2, 64), y.shape[3] // 64
        kernel[grid, 256](x, w, y, *x.shape, y.shape[3])

    return case


def tensor_cores_case() -> Callable:
    """Return step 5."""
    module = ck.compile("convolution/step_05_tensor_cores.cu", arch="sm_80")
    kernel, shared_bytes = module.convolution_tensor_cores, 3 * (128 + 64) * ROW_BYTES

    def case(x, w, y, size):
        grid = cover(x.shape[0] * size**2, 128), y.shape[3] // 64
        kernel[grid, 256, shared_bytes](x, w, y, *x.shape, y.shape[3])

    return case


# ---------------------------------------------------------------- steps for Hopper


def shape_defines(size: int) -> dict[str, int]:
    """Return the macros that say what steps 6 and 7 are compiled for."""
    channels = LAYERS[size].channels
    return {"CHANNELS": channels, "FILTERS": channels, "HEIGHT": size, "WIDTH": size}


def blocks(pixels: int, each: int) -> int:
    """Return a block per SM, or per tile where these are fewer."""
    tiles = cover(pixels, TEAMS * each)
    return min(tiles, ck.device().sm_count)


def filters(maps: Maps, w):
    """Return the tensor map of the weights: a row per filter, 64 numbers at a time."""
    count = w.shape[0]
    return maps(w.reshape(count, -1), (count, 64), 128)


def boxes_case() -> Callable:
    """Return step 6, compiled for each layer."""
    kernels = {
        size: ck.compile(
            "convolution/step_06_tma_wgmma.cu",
            arch="sm_90a",
            defines=shape_defines(size)
            | dict(zip(("BOX_N", "BOX_H", "BOX_W"), BOXES[size], strict=True)),
        ).convolution_tma_wgmma
        for size in LAYERS
    }
    maps = Maps()

    def case(x, w, y, size):
        stage = (TEAMS * UNITS * UNIT + w.shape[0]) * ROW_BYTES
        shared_bytes = 3 * stage + 4 * TEAMS * BOARD_BYTES
        grid = blocks(x.shape[0] * size**2, UNITS * UNIT)
        kernels[size][grid, TEAMS * TEAM_THREADS, shared_bytes](
            maps(x, (*BOXES[size], 64), 128), filters(maps, w), y, x.shape[0]
        )

    return case


@dataclass(frozen=True)
class Halos:
    """Sizes of step 7.

    Attributes
    ----------
    slots, weights : int
        Halos, and tiles of w, that are on chip at a time.
    units : int
        Products of 64 pixels that a warpgroup has at a time.
    stagger : int
        Taps by which a warpgroup begins after the one before.
    """

    slots: int
    weights: int
    units: int = UNITS
    stagger: int = 3

    def defines(self, size: int) -> dict[str, int]:
        """Return the macros of step 7 for a layer."""
        return shape_defines(size) | {
            "SLOTS": self.slots, "WEIGHTS": self.weights, "UNITS": self.units,
            "STAGGER": self.stagger,
        }  # fmt: skip

    def rows(self, size: int) -> int:
        """Return the pixels of a halo."""
        return self.units * UNIT + 2 * size + 2

    def shared_bytes(self, size: int) -> int:
        """Return the dynamic shared memory of a block."""
        halo = cover(self.rows(size) * ROW_BYTES, 1024) * 1024
        tile = LAYERS[size].channels * ROW_BYTES
        boards = 4 * TEAMS * BOARD_BYTES
        return self.slots * halo + self.weights * tile + boards


CHOSEN = {56: Halos(4, 9), 28: Halos(6, 4), 8: Halos(4, 9)}


def halo_case(chosen: dict[int, Halos] = CHOSEN) -> Callable:
    """Return step 7, compiled for each layer."""
    kernels = {
        size: ck.compile(
            "convolution/step_07_halo.cu", arch="sm_90a", defines=sizes.defines(size)
        ).convolution_halo
        for size, sizes in chosen.items()
    }
    maps = Maps()

    def case(x, w, y, size):
        sizes, pixels = chosen[size], x.shape[0] * size**2
        grid = blocks(pixels, sizes.units * UNIT)
        pixel_rows = maps(x.reshape(pixels, -1), (sizes.rows(size), 64), 128)
        kernels[size][grid, TEAMS * TEAM_THREADS, sizes.shared_bytes(size)](
            pixel_rows, filters(maps, w), y, pixels
        )

    return case


# ---------------------------------------------------------------- what is recorded


def ladder_cases() -> dict[str, Callable]:
    """Return all steps."""
    return {
        "direct": direct_case(),
        "halo tile": halo_tile_case(),
        "im2col": im2col_case(),
        "implicit": implicit_case(),
        "tensor cores": tensor_cores_case(),
        "TMA and wgmma": boxes_case(),
        "halo": halo_case(),
    }


def _of_torch(torch, x, w, y, size):
    x, w = (cudnn_plans.channels_last(one) for one in (x, w))
    return torch.nn.functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1)


def pytorch() -> Callable | None:
    """Return PyTorch's convolution, with cudnn.benchmark."""
    made = peers.torch(_of_torch, into=2)
    if made is not None:
        import torch

        torch.backends.cudnn.benchmark = True
    return made


DEFINITIONS = (
    Definition(
        key="convolution/forward",
        cases=ladder_cases,
        sizes=SIZES,
        setup=images,
        verify=is_convolution,
        flops=("fp16_tensor", products),
        count_size=COUNTED,
        peers={
            "cuDNN": partial(cudnn_plans.case, cudnn_plans.convolution),
            "PyTorch": pytorch,
        },
        reference="cuDNN",
    ),
)
