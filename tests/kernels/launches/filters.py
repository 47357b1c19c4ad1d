"""How the tests launch the ladder of kernels/filters/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import ROUNDING, Launch, blocks, launches

from launches.fft import pairs, values


def picture(*shape: int) -> np.ndarray:
    """Return distinct values of both signs, in no order."""
    count = int(np.prod(shape))
    shuffled = np.random.default_rng(3).permutation(count) / count - 0.4
    return shuffled.astype(np.float32).reshape(shape)


def convolved(x: np.ndarray, weights: np.ndarray, skip: int) -> np.ndarray:
    """Return the middle of the full convolution, in float64: skip values are cut."""
    (H, W), side = x.shape, len(weights)
    full = np.zeros((H + side - 1, W + side - 1))
    for a, b in np.ndindex(weights.shape):
        full[a : a + H, b : b + W] += weights[a, b].astype(float) * x
    rows, cols = (n + side - 1 - 2 * skip for n in (H, W))
    return full[skip : skip + rows, skip : skip + cols]


MODES = [
    {"H": 64, "W": 64, "side": 5},
    {"H": 33, "W": 70, "side": 3, "skip": 0},
    {"H": 9, "W": 31, "side": 3, "skip": 2},
    {"H": 1, "W": 1, "side": 3},
]


def problem(H: int, W: int, side: int, skip: int | None) -> tuple:
    """Return a picture, a filter, and what must come out, with how much is cut."""
    x, weights = picture(H, W), picture(side, side)
    skip = side // 2 if skip is None else skip
    return x, weights, convolved(x, weights, skip), skip


@launches("filters/step_01_direct.cu", MODES)
def filter_direct(H: int, W: int, side: int, skip: int | None = None) -> Launch:
    x, weights, wanted, skip = problem(H, W, side, skip)
    rows, cols = wanted.shape
    y = np.full(wanted.shape, np.nan, np.float32)
    return Launch(
        "filter_direct", (blocks(cols, 32), blocks(rows, 8)), (32, 8),
        (x, weights, y, H, W, rows, cols, skip), {2: wanted},
        atol={2: side**2 * ROUNDING * side**2}, defines={"SIDE": side},
    )  # fmt: skip


@launches("filters/step_02_tiled.cu", [*MODES, {"H": 40, "W": 40, "side": 3, "add": 1}])
def filter_tiled(
    H: int, W: int, side: int, skip: int | None = None, add: int = 0
) -> Launch:
    x, weights, wanted, skip = problem(H, W, side, skip)
    rows, cols = wanted.shape
    y = picture(rows, cols) if add else np.full(wanted.shape, np.nan, np.float32)
    return Launch(
        "filter_tiled", (blocks(cols, 32), blocks(rows, 64)), (32, 8),
        (x, weights.tobytes(), y, H, W, rows, cols, skip, skip, add),
        {2: wanted + (y if add else 0)},
        atol={2: side**2 * ROUNDING * side**2}, defines={"TALL": side},
        shared_bytes=(64 + side - 1) * (32 + side - 1) * 4,
    )  # fmt: skip


@launches(
    "filters/step_03_separable.cu",
    [
        {"H": 64, "W": 64, "side": 5},
        {"H": 64, "W": 64, "side": 5, "kernel": "along_columns"},
        {"H": 9, "W": 33, "side": 3},
        {"H": 9, "W": 33, "side": 3, "kernel": "along_columns"},
        {"H": 1, "W": 2, "side": 7},
    ],
)
def separable(H: int, W: int, side: int, kernel: str = "along_rows") -> Launch:
    x, weights = picture(H, W), picture(side)
    lone = np.zeros((side, side))
    lone[side // 2] = weights
    if kernel == "along_columns":
        lone = lone.T
    y = np.full((H, W), np.nan, np.float32)
    return Launch(
        kernel, (blocks(W, 32), blocks(H, 8)), (32, 8),
        (x, weights.tobytes(), y, H, W), {2: convolved(x, lone, side // 2)},
        atol={2: side * ROUNDING * side}, defines={"SIDE": side},
    )  # fmt: skip


@launches(
    "filters/step_04_im2col.cu",
    [{"H": 64, "W": 64, "side": 5}, {"H": 3, "W": 11, "side": 3}],
)
def im2col(H: int, W: int, side: int) -> Launch:
    x = picture(H, W)
    moved = [np.zeros((side, side)) for _ in range(side * side)]
    for k, one in enumerate(moved):
        one.flat[k] = 1
    wanted = np.stack([convolved(x, one, side // 2).ravel() for one in moved])
    columns = np.full(wanted.shape, np.nan, np.float32)
    return Launch(
        "im2col", (blocks(H * W, 256), side * side), 256,
        (x, columns, H, W), {1: wanted}, defines={"SIDE": side},
    )  # fmt: skip


@launches(
    "filters/step_05_product.cu",
    [
        {"n": 1024},
        {"n": 300, "period": 100},
        {"n": 1},
        {"kernel": "padded", "n": 64, "W": 5},
        {"kernel": "cut", "n": 15, "W": 5},
    ],
)
def by_spectra(n: int, kernel: str = "product", **sizes: int) -> Launch:
    return {"product": product, "padded": padded, "cut": cut}[kernel](n, **sizes)


def product(n: int, period: int | None = None) -> Launch:
    period = period or n
    X, F = values(n), values(period)
    wanted = X.astype(complex) * np.tile(F, n // period) * 0.5
    Y = np.full((n, 2), np.nan, np.float32)
    given = [a.view(np.float32).reshape(-1, 2) for a in (X, F)]
    return Launch(
        "product", blocks(n, 256), 256, (*given, Y, n, period, np.float32(0.5)),
        {2: pairs(wanted)}, atol={2: 4 * ROUNDING},
    )  # fmt: skip


def padded(n: int, W: int) -> Launch:
    x, P = picture(3, W), 8
    wanted = np.zeros((n // P, P))
    wanted[:3, :W] = x
    X = np.full((n // P, P, 2), np.nan, np.float32)
    return Launch("padded", blocks(n, 256), 256, (x, X, 3, W, n, P), {1: pairs(wanted)})


def cut(n: int, W: int) -> Launch:
    Y, P, skip = values(8, 8), 8, 1
    y = np.full((n // W, W), np.nan, np.float32)
    wanted = Y.real[skip : skip + n // W, skip : skip + W].astype(float)
    given = Y.view(np.float32).reshape(8, 8, 2)
    return Launch("cut", blocks(n, 256), 256, (given, y, n, W, P, skip), {1: wanted})
