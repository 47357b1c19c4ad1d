"""Benchmarks of the transpose ladder, and of the copy as its limit."""

from __future__ import annotations

from collections.abc import Callable

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import COPIED, cover
from coursekit.benchmarks.peers import peers


def transpose_cases() -> dict[str, Callable]:
    """Return the copy, which writes another array, and the steps."""
    copy = ck.compile("transpose/step_00_copy.cu").copy

    def copied(x, out, copied, n):
        copy[cover(n * n, COPIED), 256](x, copied, n * n)

    return {
        "copy": copied,
        "naive": _transpose("01_naive", (32, 8), (32, 8)),
        "tiled": _transpose("02_tiled", (32, 8), (32, 32)),
        "padded": _transpose("03_padded", (32, 8), (32, 32)),
        "swizzled": _transpose("04_swizzled", (32, 8), (32, 32)),
        "vectorised": _transpose("05_vectorised", 256, (64, 64)),
    }


def _transpose(step: str, block, tile: tuple[int, int]) -> Callable:
    name = f"transpose_{step.partition('_')[2]}"
    kernel = ck.compile(f"transpose/step_{step}.cu")[name]

    def transpose(x, out, copied, n):
        kernel[(cover(n, tile[0]), cover(n, tile[1])), block](x, out, n, n)

    return transpose


def square(n: int) -> tuple:
    """Draw an n x n matrix; allocate its transpose and a copy."""
    return drawn.uniform(n, n), ck.empty((n, n)), ck.empty((n, n)), n


def is_transposed(x, out, copied, n: int) -> bool:
    """Tell whether a case has made the transpose, or the copy in its own place."""
    xp, x, out, copied = drawn.viewed(x, out, copied)
    return bool(xp.array_equal(out, x.T) or xp.array_equal(copied, x))


CHANNELS, PIXELS = 64, 56 * 56


def image_cases() -> dict[str, Callable]:
    """Return the ways to reorder images from NCHW to NHWC."""
    return {"naive": _image("naive", 8), "tiled": _image("tiled", 32)}


def _image(name: str, channels: int) -> Callable:
    kernel = ck.compile(f"transpose/nchw_nhwc_{name}.cu")[f"nchw_nhwc_{name}"]

    def last(x, out, n):
        grid = (cover(PIXELS, 32), cover(CHANNELS, channels), n)
        kernel[grid, (32, 8)](x, out, CHANNELS, PIXELS)

    return last


def images(n: int) -> tuple:
    """Draw n images of 64 channels and 56 x 56 pixels."""
    return drawn.uniform(n, CHANNELS, PIXELS), ck.empty((n, PIXELS, CHANNELS)), n


def is_channels_last(x, out, n: int) -> bool:
    """Compare with NumPy's order of axes."""
    xp, x, out = drawn.viewed(x, out)
    return bool(xp.array_equal(out, x.transpose(0, 2, 1)))


def _torch_transpose(torch, x, out, copied, n):
    out.copy_(x.t())


DEFINITIONS = (
    Definition(
        key="transpose/square",
        cases=transpose_cases,
        sizes=(8192,),
        setup=square,
        verify=is_transposed,
        bytes_moved=lambda n: 2 * 4 * n * n,
        count_size=128,
        peers={
            "torch": lambda: peers.torch(_torch_transpose),
            "torch.compile": lambda: peers.torch(_torch_transpose, compiled=True),
        },
    ),
    Definition(
        key="transpose/channels_last",
        cases=image_cases,
        sizes=(256,),
        setup=images,
        verify=is_channels_last,
        bytes_moved=lambda n: 2 * 4 * n * CHANNELS * PIXELS,
        count_size=1,
    ),
)
