"""Each layer of kernels/mnist/ as three functions: inputs, forward and backward.

Forward and backward launch kernels; `torch_forward` is PyTorch's own. `sums` says
how many additions the longest sum of a layer has, for tolerances.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import coursekit as ck
from coursekit.lessons.mnist import reference

N, C, K, H, W = 2, 3, 4, 5, 7
EPSILON = 2.0**-10


@functools.cache
def compiled(file: str):
    return ck.compile(f"mnist/{file}.cu")


def launch(file: str, kernel: str, threads: int, *arguments) -> None:
    """Launch with a thread for each of so many things."""
    compiled(file)[kernel][-(-threads // 256), 256](*arguments)


def blank(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, dtype=np.float32)


def normal(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(7)
    return [random.standard_normal(shape, dtype=np.float32) for shape in shapes]


@dataclass(frozen=True)
class Layer:
    """A layer to be compared.

    Attributes
    ----------
    inputs : function giving the differentiable inputs, float32
    forward : function of the inputs, giving y
    backward : function of dy and the inputs, giving a gradient for each input
    torch_forward : the same as `forward`, of tensors
    sums : int
    bound : function of dy and the inputs, giving (y, gradients) of absolute values,
        which rounding errors are measured by; None where they are about 1
    step : float
        How far to go for a finite difference.
    """

    inputs: Callable
    forward: Callable
    backward: Callable
    torch_forward: Callable
    sums: int
    bound: Callable | None = None
    step: float = 1.0


# ---------------------------------------------------------------- convolution


def conv_forward(x, w, b):
    y = blank(N, K, H, W)
    launch("conv_direct", "conv_forward", y.size, x, w, b, y, N, C, K, H, W)
    return y


def conv_implicit(x, w, b):
    y, grid = blank(N, K, H, W), (-(-N * H * W // 16), -(-K // 16))
    kernel = compiled("conv_implicit_gemm").conv_implicit_gemm
    kernel[grid, (16, 16)](x, w, b, y, N, C, K, H, W)
    return y


def conv_backward(dy, x, w, b):
    dx, dw, db = (np.full_like(array, np.nan) for array in (x, w, b))
    launch("conv_direct", "conv_dx", dx.size, dy, w, dx, N, C, K, H, W)
    module = compiled("conv_direct")
    module.conv_dw[(9, C, K), 256](x, dy, dw, N, C, K, H, W)
    module.conv_db[K, 256](dy, db, N, K, H, W)
    return dx, dw, db


def torch_conv(x, w, b):
    from torch.nn.functional import conv2d

    return conv2d(x, w, b, padding=1)


def conv_bound(dy, x, w, b):
    return reference.conv(x, w, b), reference.conv_backward(dy, x, w)


CONV = functools.partial(
    Layer,
    inputs=lambda: normal((N, C, H, W), (K, C, 3, 3), (K,)),
    backward=conv_backward,
    torch_forward=torch_conv,
    sums=N * H * W,  # of dw; forward and dx add fewer
    bound=conv_bound,
)

# ---------------------------------------------------------------- normalisation


def batchnorm_forward(x, gamma, beta):
    mean, variance, y = blank(C), blank(C), np.full_like(x, np.nan)
    kept = np.zeros(C, np.float32), np.ones(C, np.float32)
    kernel = compiled("batchnorm").batchnorm_statistics
    kernel[C, 256](x, mean, variance, *kept, N, C, H * W, 0.5)
    arguments = (x, mean, variance, gamma, beta, y, N, C, H * W, EPSILON)
    launch("batchnorm", "batchnorm_apply", x.size, *arguments)
    return y


def batchnorm_backward(dy, x, gamma, beta):
    mean, variance = (v.astype(np.float32) for v in reference.statistics(x))
    dx, dgamma, dbeta = np.full_like(x, np.nan), blank(C), blank(C)
    seen, size = (dy, x, mean, variance), (N, C, H * W, EPSILON)
    compiled("batchnorm").batchnorm_sums[C, 256](*seen, dgamma, dbeta, *size)
    arguments = (*seen, gamma, dgamma, dbeta, dx, *size)
    launch("batchnorm", "batchnorm_dx", x.size, *arguments)
    return dx, dgamma, dbeta


def torch_batchnorm(x, gamma, beta):
    from torch.nn.functional import batch_norm

    return batch_norm(x, None, None, gamma, beta, training=True, eps=EPSILON)


BATCHNORM = Layer(
    lambda: normal((N, C, H, W), (C,), (C,)),
    batchnorm_forward,
    batchnorm_backward,
    torch_batchnorm,
    sums=N * H * W,
    step=2.0**-7,
)

# ---------------------------------------------------------------- relu, pooling


def steps(*shape: int) -> list[np.ndarray]:
    """Return distinct values of both signs, 1/8 apart, none closer to 0 than 1/16."""
    n = int(np.prod(shape))
    order = np.random.default_rng(3).permutation(n)
    return [((order - n // 2 + 0.5) / 8).reshape(shape).astype(np.float32)]


def relu_forward(x):
    y = np.full_like(x, np.nan)
    launch("relu", "relu_forward", x.size, x, y, x.size)
    return y


def relu_backward(dy, x):
    dx = np.full_like(x, np.nan)
    launch("relu", "relu_dx", x.size, dy, relu_forward(x), dx, x.size)
    return (dx,)


def torch_relu(x):
    return x.relu()


def max_pool_forward(x):
    return max_pool(x)[0]


def max_pool(x):
    *front, rows, cols = x.shape
    y, planes = blank(*front, rows // 2, cols // 2), int(np.prod(front))
    where = np.full(y.shape, 255, dtype=np.uint8)
    launch("max_pool", "max_pool_forward", y.size, x, y, where, planes, rows, cols)
    return y, where


def max_pool_backward(dy, x):
    dx, planes = np.full_like(x, np.nan), int(np.prod(x.shape[:-2]))
    arguments = (dy, max_pool(x)[1], dx, planes, *x.shape[-2:])
    launch("max_pool", "max_pool_dx", x.size, *arguments)
    return (dx,)


def torch_max_pool(x):
    from torch.nn.functional import max_pool2d

    return max_pool2d(x, 2)


def average_pool_forward(x):
    y = blank(N, C, H // 2, W // 2)
    launch("average_pool", "average_pool_forward", y.size, x, y, N * C, H, W)
    return y


def average_pool_backward(dy, x):
    dx = np.full_like(x, np.nan)
    launch("average_pool", "average_pool_dx", x.size, dy, dx, N * C, H, W)
    return (dx,)


def torch_average_pool(x):
    from torch.nn.functional import avg_pool2d

    return avg_pool2d(x, 2)


PIECEWISE = functools.partial(Layer, inputs=lambda: steps(N, C, H, W), step=2.0**-6)

# ---------------------------------------------------------------- linear, loss

SEEN, MADE = 13, 6


def linear_forward(x, w, b):
    y = blank(N, MADE)
    launch("linear", "linear_forward", y.size, x, w, b, y, N, SEEN, MADE)
    return y


def linear_backward(dy, x, w, b):
    dx, dw, db = (np.full_like(array, np.nan) for array in (x, w, b))
    launch("linear", "linear_dx", dx.size, dy, w, dx, N, SEEN, MADE)
    launch("linear", "linear_dw", dw.size, x, dy, dw, N, SEEN, MADE)
    launch("linear", "linear_db", MADE, dy, db, N, MADE)
    return dx, dw, db


def torch_linear(x, w, b):
    from torch.nn.functional import linear

    return linear(x, w, b)


def linear_bound(dy, x, w, b):
    return reference.linear(x, w, b), reference.linear_backward(dy, x, w)


LABELS = np.array([1, 0, 5, 3, 3, 2], dtype=np.uint8)


def loss_forward(logits):
    """Return the mean loss alone, whose gradient the kernel computes."""
    losses = blank(len(LABELS))
    arguments = (logits, LABELS, losses, *logits.shape)
    launch("cross_entropy", "cross_entropy_forward", len(LABELS), *arguments)
    return losses.mean(dtype=np.float64, keepdims=True)


def loss_backward(dy, logits):
    dx = np.full_like(logits, np.nan)
    arguments = (logits, LABELS, dx, *logits.shape)
    launch("cross_entropy", "cross_entropy_dx", len(LABELS), *arguments)
    return (dy * dx,)


def torch_loss(logits):
    import torch

    labels = torch.from_numpy(LABELS.astype(np.int64))
    return torch.nn.functional.cross_entropy(logits, labels).reshape(1)


LAYERS = {
    "conv direct": CONV(forward=conv_forward),
    "conv implicit gemm": CONV(forward=conv_implicit),
    "batchnorm": BATCHNORM,
    "relu": PIECEWISE(
        forward=relu_forward, backward=relu_backward, torch_forward=torch_relu, sums=1
    ),
    "max pool": PIECEWISE(
        forward=max_pool_forward,
        backward=max_pool_backward,
        torch_forward=torch_max_pool,
        sums=1,
    ),
    "average pool": PIECEWISE(
        forward=average_pool_forward,
        backward=average_pool_backward,
        torch_forward=torch_average_pool,
        sums=4,
    ),
    "linear": Layer(
        lambda: normal((N, SEEN), (MADE, SEEN), (MADE,)),
        linear_forward,
        linear_backward,
        torch_linear,
        sums=SEEN,
        bound=linear_bound,
    ),
    "cross-entropy": Layer(
        lambda: normal((6, 7)),
        loss_forward,
        loss_backward,
        torch_loss,
        sums=7,
        step=2.0**-7,
    ),
}
