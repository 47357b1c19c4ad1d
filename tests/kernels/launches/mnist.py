"""How the tests launch the layers of kernels/mnist/: one function a file.

A size names one of the file's kernels. Values are whole numbers wherever a kernel
only adds and multiplies, so that float32 is exact and no tolerance is needed.
"""

from __future__ import annotations

import numpy as np
from kernel_launches import ROUNDING, Launch, blocks, launches

from coursekit.lessons.mnist import reference as layers

EPSILON, MOMENTUM, RATE = 2.0**-10, 0.125, 0.375  # exact in float32


def whole(*shape: int, seed: int = 0, most: int = 40) -> np.ndarray:
    """Return whole numbers of both signs; sums of 5000 products stay below 2^24."""
    n = int(np.prod(shape))
    shuffled = np.random.default_rng(seed).permutation(n)
    return (shuffled % (2 * most + 1) - most).reshape(shape).astype(np.float32)


def blank(*shape: int) -> np.ndarray:
    """Return an output that nothing has written yet."""
    return np.full(shape, np.nan, dtype=np.float32)


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """Return the arrays in float64."""
    return [array.astype(np.float64) for array in arrays]


def of_each(kernels: tuple[str, ...], *sizes: dict[str, int]) -> list[dict]:
    """Return every size for every kernel."""
    return [{"kernel": kernel} | size for kernel in kernels for size in sizes]


# ---------------------------------------------------------------- element by element


@launches("mnist/normalise.cu", [{"n": n} for n in (1, 33, 1025)])
def normalise(n: int) -> Launch:
    pixels = (np.arange(n) * 37 % 256).astype(np.uint8)
    # With this mean nothing cancels; three roundings: / 255, - mean, / deviation.
    wanted = layers.normalise(pixels, -0.25, 0.375)
    arguments = (pixels, blank(n), n, -0.25, 0.375)
    return Launch(
        "normalise", blocks(n, 256), 256, arguments, {1: wanted}, 4 * ROUNDING
    )


@launches("mnist/sgd.cu", [{"n": n} for n in (1, 33, 1025)])
def sgd(n: int) -> Launch:
    w, dw = whole(n), whole(n, seed=1)
    wanted = w - RATE * dw.astype(np.float64)
    return Launch("sgd", blocks(n, 256), 256, (w, dw, n, RATE), {0: wanted})


@launches("mnist/relu.cu", of_each(("relu_forward", "relu_dx"), {"n": 1}, {"n": 1025}))
def relu(n: int, kernel: str = "relu_forward") -> Launch:
    x, dy = whole(n, most=3), whole(n, seed=1)
    if kernel == "relu_forward":
        wanted = layers.relu(x.astype(np.float64))
        return Launch(kernel, blocks(n, 256), 256, (x, blank(n), n), {1: wanted})
    y = layers.relu(x)
    wanted = layers.relu_backward(dy.astype(np.float64), y)
    return Launch(kernel, blocks(n, 256), 256, (dy, y, blank(n), n), {2: wanted})


# ---------------------------------------------------------------- convolution

CONV = ("conv_forward", "conv_dx", "conv_dw", "conv_db")
PICTURES = (
    {"N": 1, "C": 1, "K": 1, "H": 1, "W": 1},
    {"N": 3, "C": 2, "K": 5, "H": 9, "W": 11},
)


@launches("mnist/conv_direct.cu", of_each(CONV, *PICTURES))
def conv_direct(kernel: str, N: int, C: int, K: int, H: int, W: int) -> Launch:
    x, w, b = whole(N, C, H, W), whole(K, C, 3, 3, seed=1), whole(K, seed=2)
    dy, size = whole(N, K, H, W, seed=3), (N, C, K, H, W)
    dx, dw, db = layers.conv_backward(*wide(dy, x, w))
    if kernel == "conv_forward":
        wanted = layers.conv(*wide(x, w, b))
        arguments = (x, w, b, blank(*wanted.shape), *size)
        return Launch(kernel, blocks(dy.size, 256), 256, arguments, {3: wanted})
    if kernel == "conv_dx":
        arguments = (dy, w, blank(*x.shape), *size)
        return Launch(kernel, blocks(x.size, 256), 256, arguments, {2: dx})
    if kernel == "conv_dw":
        arguments = (x, dy, blank(*w.shape), *size)
        return Launch(kernel, (9, C, K), 256, arguments, {2: dw})
    return Launch(kernel, K, 256, (dy, blank(K), N, K, H, W), {1: db})


@launches(
    "mnist/conv_implicit_gemm.cu",
    [PICTURES[0], {"N": 2, "C": 3, "K": 17, "H": 5, "W": 7}],
)
def conv_implicit_gemm(N: int, C: int, K: int, H: int, W: int) -> Launch:
    x, w, b = whole(N, C, H, W), whole(K, C, 3, 3, seed=1), whole(K, seed=2)
    wanted = layers.conv(*wide(x, w, b))
    arguments = (x, w, b, blank(*wanted.shape), N, C, K, H, W)
    grid = (blocks(N * H * W, 16), blocks(K, 16))
    return Launch("conv_implicit_gemm", grid, (16, 16), arguments, {3: wanted})


# ---------------------------------------------------------------- batch normalisation

BATCHNORM = (
    "batchnorm_statistics", "batchnorm_apply", "batchnorm_sums", "batchnorm_dx",
)  # fmt: skip
CHANNELS = ({"N": 2, "C": 1, "HW": 1}, {"N": 3, "C": 2, "HW": 111})


@launches("mnist/batchnorm.cu", of_each(BATCHNORM, *CHANNELS))
def batchnorm(kernel: str, N: int, C: int, HW: int) -> Launch:
    """Launch with numbers that keep each result away from 0, where nothing cancels."""
    function = globals()[f"_{kernel}"]
    return function(kernel, (N, C, HW), whole(N, C, HW) + 50, N * C * HW)


def _planes(x: np.ndarray) -> np.ndarray:
    """Return N x C x HW as the reference has it, N x C x HW x 1, in float64."""
    return x.astype(np.float64)[..., None]


def _batchnorm_statistics(kernel: str, size, x, elements: int) -> Launch:
    N, C, HW = size
    old_mean, old_variance = 100 + whole(C), 3000 + whole(C)
    mean, variance = layers.statistics(_planes(x))
    unbiased = layers.unbiased(variance, N * HW)
    wanted = {
        1: mean,
        2: variance,
        3: layers.running(old_mean.astype(np.float64), mean, MOMENTUM),
        4: layers.running(old_variance.astype(np.float64), unbiased, MOMENTUM),
    }
    arguments = (x, blank(C), blank(C), old_mean, old_variance, *size, MOMENTUM)
    # A thread adds 2 squares, 8 more meet in trees; and there are 6 other roundings.
    return Launch(kernel, C, 256, arguments, wanted, 16 * ROUNDING)


def _batchnorm_apply(kernel: str, size, x, elements: int) -> Launch:
    C = size[1]
    mean, variance = whole(C) - 50, whole(C, seed=1) + 90  # x - mean > 0
    gamma, beta = whole(C, seed=2) + 45, whole(C, seed=3) + 45
    each = [_planes(v)[:, 0] for v in (mean, variance, gamma, beta)]
    wanted = layers.batchnorm(_planes(x), *each, EPSILON)[..., 0]
    arguments = (x, mean, variance, gamma, beta, blank(*x.shape), *size, EPSILON)
    grid = blocks(elements, 256)
    # rsqrtf errs by 2 units in the last place; 5 other roundings.
    return Launch(kernel, grid, 256, arguments, {5: wanted}, 10 * ROUNDING)


def _batchnorm_sums(kernel: str, size, x, elements: int) -> Launch:
    C = size[1]
    dy = whole(*x.shape, seed=1) + 45
    mean, variance = whole(C) - 50, whole(C, seed=1) + 90
    apart = x.astype(np.float64) - mean[:, None]
    products = dy * apart / np.sqrt(variance.astype(np.float64) + EPSILON)[:, None]
    wanted = {4: products.sum(axis=(0, 2)), 5: dy.sum(axis=(0, 2), dtype=np.float64)}
    arguments = (dy, x, mean, variance, blank(C), blank(C), *size, EPSILON)
    # All products are positive: 2 + 8 additions, and 6 roundings of each.
    return Launch(kernel, C, 256, arguments, wanted, 20 * ROUNDING)


def _batchnorm_dx(kernel: str, size, x, elements: int) -> Launch:
    N, C, HW = size
    dy = whole(*x.shape, seed=1) + 2000  # far larger than what is taken away
    mean, variance = whole(C), whole(C, seed=1) + 90
    gamma, dgamma, dbeta = (whole(C, seed=s, most=9) + 11 for s in (2, 3, 4))
    scale = 1 / np.sqrt(variance.astype(np.float64) + EPSILON)[:, None]
    u = (x.astype(np.float64) - mean[:, None]) * scale
    less = (dbeta[:, None] + u * dgamma[:, None]) / (N * HW)
    wanted = gamma[:, None] * scale * (dy - less)
    arguments = (dy, x, mean, variance, gamma, dgamma, dbeta, blank(*x.shape))
    grid = blocks(elements, 256)
    return Launch(
        kernel, grid, 256, (*arguments, *size, EPSILON), {7: wanted}, 12 * ROUNDING
    )


# ---------------------------------------------------------------- pooling

PLANES = ({"P": 1, "H": 2, "W": 2}, {"P": 5, "H": 9, "W": 31})


@launches("mnist/max_pool.cu", of_each(("max_pool_forward", "max_pool_dx"), *PLANES))
def max_pool(kernel: str, P: int, H: int, W: int) -> Launch:
    x = whole(P, H, W, most=2)  # many are equal
    y, where = layers.max_pool(x.astype(np.float64))
    if kernel == "max_pool_forward":
        places = np.full(y.shape, 255, dtype=np.uint8)
        arguments = (x, blank(*y.shape), places, P, H, W)
        wanted = {1: y, 2: where.astype(np.float64)}
        return Launch(kernel, blocks(y.size, 256), 256, arguments, wanted)
    dy = whole(*y.shape, seed=1)
    wanted = layers.max_pool_backward(dy.astype(np.float64), where, x.shape)
    arguments = (dy, where.astype(np.uint8), blank(*x.shape), P, H, W)
    return Launch(kernel, blocks(x.size, 256), 256, arguments, {2: wanted})


@launches(
    "mnist/average_pool.cu",
    of_each(("average_pool_forward", "average_pool_dx"), *PLANES),
)
def average_pool(kernel: str, P: int, H: int, W: int) -> Launch:
    x = whole(P, H, W)
    y = layers.average_pool(x.astype(np.float64))
    if kernel == "average_pool_forward":
        arguments = (x, blank(*y.shape), P, H, W)
        return Launch(kernel, blocks(y.size, 256), 256, arguments, {1: y})
    dy = whole(*y.shape, seed=1)
    wanted = layers.average_pool_backward(dy.astype(np.float64), x.shape)
    arguments = (dy, blank(*x.shape), P, H, W)
    return Launch(kernel, blocks(x.size, 256), 256, arguments, {1: wanted})


# ---------------------------------------------------------------- linear, loss

LINEAR = ("linear_forward", "linear_dx", "linear_dw", "linear_db")
MATRICES = ({"N": 1, "I": 1, "O": 1}, {"N": 9, "I": 35, "O": 33})


@launches("mnist/linear.cu", of_each(LINEAR, *MATRICES))
def linear(kernel: str, N: int, I: int, O: int) -> Launch:  # noqa: E741
    x, w, b = whole(N, I), whole(O, I, seed=1), whole(O, seed=2)
    dy, size = whole(N, O, seed=3), (N, I, O)
    dx, dw, db = layers.linear_backward(*wide(dy, x, w))
    if kernel == "linear_forward":
        arguments = (x, w, b, blank(N, O), *size)
        wanted = {3: layers.linear(*wide(x, w, b))}
        return Launch(kernel, blocks(N * O, 256), 256, arguments, wanted)
    if kernel == "linear_dx":
        arguments = (dy, w, blank(N, I), *size)
        return Launch(kernel, blocks(N * I, 256), 256, arguments, {2: dx})
    if kernel == "linear_dw":
        arguments = (x, dy, blank(O, I), *size)
        return Launch(kernel, blocks(O * I, 256), 256, arguments, {2: dw})
    return Launch(kernel, blocks(O, 256), 256, (dy, blank(O), N, O), {1: db})


@launches(
    "mnist/cross_entropy.cu",
    of_each(
        ("cross_entropy_forward", "cross_entropy_dx"),
        {"N": 1, "O": 2},
        {"N": 259, "O": 10},
    ),
)
def cross_entropy(kernel: str, N: int, O: int) -> Launch:  # noqa: E741
    logits = whole(N, O) / 16  # so that no probability is close to 1
    labels = (np.arange(N) * 7 % O).astype(np.uint8)
    grid = blocks(N, 256)
    # expf and logf err by 2 units in the last place, and 10 terms are added; the
    # loss, and p - 1, are at least a tenth of what they are made of.
    rtol = 200 * ROUNDING
    if kernel == "cross_entropy_forward":
        wanted = {2: layers.cross_entropy(logits.astype(np.float64), labels)}
        return Launch(kernel, grid, 256, (logits, labels, blank(N), N, O), wanted, rtol)
    wanted = {2: layers.cross_entropy_backward(logits.astype(np.float64), labels)}
    arguments = (logits, labels, blank(N, O), N, O)
    return Launch(kernel, grid, 256, arguments, wanted, rtol)
