"""How the tests launch the kernels of kernels/convolution/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import ROUNDING, Boxes, Launch, blocks, launches

NAMES = "NHWCK"
HALF_ROUNDING = 2.0**-11
SHIFTS = [(r, s) for r in range(3) for s in range(3)]


def layers(*shapes) -> list[dict[str, int]]:
    return [dict(zip(NAMES, shape, strict=True)) for shape in shapes]


SMALL, SQUARE = (1, 8, 8, 16, 64), (1, 8, 8, 64, 64)
RAGGED = (2, 5, 7, 16, 64)


def normal(*shape: int, spread: float = 1.0, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal(shape) * spread
    return drawn.astype(np.float16)


def unwritten(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float16)


def shifted(x: np.ndarray):
    """Yield r, s, and the pixels that a filter's row r and column s meet."""
    _, H, W, _ = x.shape
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for r, s in SHIFTS:
        yield r, s, padded[:, r : r + H, s : s + W]


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    wide = w.astype(np.float64)
    return sum(under @ wide[:, r, s].T for r, s, under in shifted(x))


def layer(kernel: str, sizes, grid, block, shared_bytes: int = 0) -> Launch:
    N, H, W, C, K = sizes
    x, w = normal(N, H, W, C), normal(K, 3, 3, C, spread=(9 * C) ** -0.5, seed=1)
    arguments = (x, w, unwritten(N, H, W, K), *sizes)
    wanted = convolved(x, w)
    # A sum is rounded to half precision once; roundings of float32 before that are far
    # smaller, but they stay where a sum cancels.
    allowed = HALF_ROUNDING * (abs(wanted) + 2.0**-6)
    return Launch(
        kernel, grid, block, arguments, {2: wanted}, 0.0, (), shared_bytes,
        atol={2: allowed},
    )  # fmt: skip


@launches("convolution/step_01_direct.cu", layers(SMALL, RAGGED))
def convolution_direct(N: int, H: int, W: int, C: int, K: int) -> Launch:
    return layer("convolution_direct", (N, H, W, C, K), blocks(N * H * W * K, 256), 256)


@launches("convolution/step_02_halo_tile.cu", layers(SMALL, (1, 9, 7, 32, 64)))
def convolution_halo_tile(N: int, H: int, W: int, C: int, K: int) -> Launch:
    grid = blocks(H, 8) * blocks(W, 8), K // 64, N
    return layer("convolution_halo_tile", (N, H, W, C, K), grid, 256)


@launches(
    "convolution/step_03_im2col.cu", layers(SMALL, RAGGED) + layers((2, 5, 7, 16, 0))
)
def convolution_im2col(N: int, H: int, W: int, C: int, K: int) -> Launch:
    pixels = N * H * W
    if K == 0:
        return im2col(N, H, W, C)
    grid = blocks(pixels, 64), K // 64
    made = layer("convolution_im2col", (N, H, W, C, K), grid, 256)
    x, w, y = made.arguments[:3]
    columns = np.concatenate([under for _, _, under in shifted(x)], 3)
    arguments = (columns.reshape(pixels, -1).astype(np.float16), w, y, pixels, C, K)
    return Launch(
        made.kernel, grid, 256, arguments, made.results, made.rtol, atol=made.atol
    )


def im2col(N: int, H: int, W: int, C: int) -> Launch:
    x = normal(N, H, W, C)
    wanted = np.concatenate([under for _, _, under in shifted(x)], 3)
    grid = blocks(wanted.size, 8 * 256)
    return Launch(
        "im2col", grid, 256, (x, unwritten(*wanted.shape), N, H, W, C), {1: wanted}
    )


@launches("convolution/step_04_implicit.cu", layers(SMALL, (1, 5, 7, 16, 128)))
def convolution_implicit(N: int, H: int, W: int, C: int, K: int) -> Launch:
    grid = blocks(N * H * W, 64), K // 64
    return layer("convolution_implicit", (N, H, W, C, K), grid, 256)


@launches("convolution/step_05_tensor_cores.cu", layers(SQUARE, (2, 5, 13, 64, 128)))
def convolution_tensor_cores(N: int, H: int, W: int, C: int, K: int) -> Launch:
    grid, shared_bytes = (blocks(N * H * W, 128), K // 64), 3 * (128 + 64) * 128
    return layer("convolution_tensor_cores", (N, H, W, C, K), grid, 256, shared_bytes)


# ---------------------------------------------------------------- tensor maps


def boxed(made: Launch, x_box, shared_bytes: int, defines, extent: int) -> Launch:
    """Give the kernel boxes of x and w; the shape is compiled in."""
    x, w, y, _, H, W, C, K = made.arguments
    pixels = Boxes(x.reshape(-1, C) if len(x_box) == 2 else x, x_box, 128)
    filters = Boxes(w.reshape(K, 9 * C), (K, 64), 128)
    shape = {"HEIGHT": H, "WIDTH": W, "CHANNELS": C, "FILTERS": K}
    return Launch(
        made.kernel, made.grid, 384, (pixels, filters, y, extent), made.results,
        made.rtol, shared_bytes=shared_bytes, defines=shape | defines, atol=made.atol,
    )  # fmt: skip


# Boxes of one image and of four, of which there are three; the fourth stage is the
# first of three again.
@launches("convolution/step_06_tma_wgmma.cu", layers(SQUARE, (3, 8, 4, 64, 128)))
def convolution_tma_wgmma(N: int, H: int, W: int, C: int, K: int) -> Launch:
    box = (1, 8, 8) if W % 8 == 0 else (4, 4, 4)
    shared_bytes = 3 * (384 + K) * 128 + 12 * 1024
    defines = dict(zip(("BOX_N", "BOX_H", "BOX_W"), box, strict=True))
    made = layer("convolution_tma_wgmma", (N, H, W, C, K), 1, 384)
    return boxed(made, (*box, 64), shared_bytes, defines, N)


# All tiles of w stay on chip, and a warpgroup comes to its second tile; then two slices
# of channels, and four tiles of w at a time.
@launches(
    "convolution/step_07_halo.cu",
    layers(SQUARE, (3, 13, 12, 64, 64), (2, 5, 7, 128, 128)),
)
def convolution_halo(N: int, H: int, W: int, C: int, K: int) -> Launch:
    slots, weights = (4, 9) if K == 64 else (6, 4)
    rows = 128 + 2 * W + 2
    shared_bytes = slots * blocks(rows, 8) * 1024 + weights * K * 128 + 12 * 1024
    made = layer("convolution_halo", (N, H, W, C, K), 1, 384)
    defines = {"SLOTS": slots, "WEIGHTS": weights}
    return boxed(made, (rows, 64), shared_bytes, defines, N * H * W)


# ---------------------------------------------------------------- Winograd

WEIGHTS = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
PIXELS = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
RESULTS = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])


def both_sides(matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Multiply the first two axes by a matrix, from the left and the right."""
    return np.einsum("ar,bs,rs...->ab...", matrix, matrix, values.astype(np.float64))


@launches(
    "convolution/winograd.cu",
    [
        {"N": 1, "H": 4, "W": 4, "C": 16, "K": 16},
        *({"N": 2, "H": 4, "W": 6, "C": 20, "K": 18, "part": part} for part in range(4)),
    ],
)
def winograd(N: int, H: int, W: int, C: int, K: int, part: int = 2) -> Launch:
    return (weights, pixels, squared, results)[part](N, H, W, C, K)


def narrow(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def empty(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def rounded(kernel: str, grid, block, arguments, place: int, wanted) -> Launch:
    """Launch what adds up to 16 numbers of size 1 to 4, several times."""
    allowed = 64 * ROUNDING * (1 + abs(wanted))
    return Launch(
        kernel, grid, block, arguments, {place: wanted}, atol={place: allowed}
    )


def weights(N: int, H: int, W: int, C: int, K: int) -> Launch:
    w = narrow(K, 3, 3, C)
    wanted = both_sides(WEIGHTS, w.transpose(1, 2, 3, 0)).reshape(16, C, K)
    arguments = w, empty(16, C, K), C, K
    return rounded("winograd_weights", blocks(K * C, 256), 256, arguments, 1, wanted)


def pixels(N: int, H: int, W: int, C: int, K: int) -> Launch:
    x = narrow(N, H, W, C)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    under = [
        [padded[:, r : r + H : 2, s : s + W : 2] for s in range(4)] for r in range(4)
    ]
    wanted = both_sides(PIXELS, np.array(under)).reshape(16, N * H * W // 4, C)
    arguments = x, empty(*wanted.shape), N, H, W, C
    grid = blocks(N * H * W // 4 * C, 256)
    return rounded("winograd_pixels", grid, 256, arguments, 1, wanted)


def squared(N: int, H: int, W: int, C: int, K: int) -> Launch:
    squares = N * H * W // 4
    V, U = narrow(16, squares, C), narrow(16, C, K, seed=1)
    wanted = V.astype(np.float64) @ U.astype(np.float64)
    arguments = V, U, empty(*wanted.shape), squares, C, K
    grid = blocks(K, 16), blocks(squares, 16), 16
    return rounded("winograd_products", grid, (16, 16), arguments, 2, wanted)


def results(N: int, H: int, W: int, C: int, K: int) -> Launch:
    squares = N * H * W // 4
    M = narrow(16, squares, K)
    made = both_sides(RESULTS, M.reshape(4, 4, N, H // 2, W // 2, K))
    wanted = made.transpose(2, 3, 0, 4, 1, 5).reshape(N, H, W, K)
    arguments = M, empty(N, H, W, K), N, H, W, K
    grid = blocks(squares * K, 256)
    return rounded("winograd_results", grid, 256, arguments, 1, wanted)


# ---------------------------------------------------------------- backward


@launches(
    "convolution/backward.cu",
    [
        {"N": 1, "H": 4, "W": 4, "C": 16, "K": 8},
        *({"N": 2, "H": 3, "W": 5, "C": 5, "K": 7, "of_w": of_w} for of_w in (0, 1)),
    ],
)
def backward(N: int, H: int, W: int, C: int, K: int, of_w: int = 0) -> Launch:
    x, dy, w = (
        narrow(N, H, W, C),
        narrow(N, H, W, K, seed=1),
        narrow(K, 3, 3, C, seed=2),
    )
    if of_w:
        parts = [np.einsum("nhwk,nhwc->kc", dy, under) for _, _, under in shifted(x)]
        wanted = np.array(parts).reshape(3, 3, K, C).transpose(2, 0, 1, 3)
        arguments = dy, x, empty(K, 3, 3, C), N, H, W, C, K
        grid = blocks(K * 9 * C, 256)
        return rounded("by_weights", grid, 256, arguments, 2, wanted)
    turned = w[:, ::-1, ::-1].transpose(3, 1, 2, 0)  # by 180 degrees, K for C
    wanted = convolved(dy, turned)
    arguments = dy, w, empty(N, H, W, C), N, H, W, C, K
    return rounded("by_data", blocks(N * H * W * C, 256), 256, arguments, 2, wanted)
