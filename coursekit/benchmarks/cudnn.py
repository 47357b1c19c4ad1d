"""Benchmarks of cuDNN: the plans of a convolution, and what a fused graph saves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.peers import cudnn_plans, peers

BATCH, FILTER = 64, 3
CHANNELS = {56: 64, 28: 128}  # by height and width
SIZES = tuple(CHANNELS)
RANKS = 6
SPREAD = 2.0**-4  # of weights: results are about 1.5 then
HALF_ROUNDING = 2.0**-11


def half(*shape: int, spread: float = 1.0):
    """Draw normal numbers in half precision."""
    values = ck.to_host(drawn.normal(*shape)) * np.float32(spread)
    return ck.to_device(values.astype(np.float16))


def images(size: int) -> tuple:
    """Draw images and filters with channels last, and make room for the result."""
    channels = CHANNELS[size]
    shape = BATCH, size, size, channels
    weights = half(channels, FILTER, FILTER, channels, spread=SPREAD)
    return half(*shape), weights, ck.empty(shape, np.float16), size


def biased(size: int) -> tuple:
    """Draw as `images`, with a bias per channel."""
    x, w, y, _ = images(size)
    return x, w, half(1, 1, 1, CHANNELS[size]), y, size


def gradients(size: int) -> tuple:
    """Draw images and the gradient of the result; make room for that of weights."""
    x, w, y, _ = images(size)
    loss = half(*y.shape, spread=2.0**-7)
    return x, loss, ck.empty(w.shape, np.float16), size


# ---------------------------------------------------------------- references


def taps(image, xp):
    """Yield each row and column of the filter, with the shifted images under it."""
    padded = xp.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = image.shape[1:3]
    for r in range(FILTER):
        for s in range(FILTER):
            yield r, s, padded[:, r : r + height, s : s + width]


def convolved(x, w, xp):
    """Return the convolution of some images in float64."""
    total = xp.zeros((*x.shape[:3], w.shape[0]))
    for r, s, under in taps(x.astype(xp.float64), xp):
        total += under @ w[:, r, s].astype(xp.float64).T
    return total


def demand(found, wanted, roundings: int) -> None:
    """Compare results that half precision rounded.

    Raises
    ------
    AssertionError
        They are further off, or no numbers.
    """
    allowed = roundings * HALF_ROUNDING * (1 + abs(wanted))
    if not bool((abs(found - wanted) <= allowed).all()):
        raise AssertionError(f"off by {float(abs(found - wanted).max()):.3g} at most.")


def is_convolution(x, w, y, size: int) -> None:
    """Compare the first two images, and the last, with float64.

    Raises
    ------
    AssertionError
        Results are further off than half precision makes them, or no numbers.
    """
    xp, x, w, y = drawn.viewed(x, w, y)
    some = [0, 1, -1]
    demand(y[some], convolved(x[some], w, xp), 2)


def is_layer(x, w, bias, y, size: int) -> None:
    """Compare the first two images, and the last, with float64.

    Three kernels round three times; a sum below 8 is off by 8 roundings at most.

    Raises
    ------
    AssertionError
        Results are further off than half precision makes them, or no numbers.
    """
    xp, x, w, bias, y = drawn.viewed(x, w, bias, y)
    some = [0, 1, -1]
    demand(y[some], xp.maximum(convolved(x[some], w, xp) + bias, 0), 8)


def is_gradient(x, loss, dw, size: int) -> None:
    """Compare gradients of all weights with float64.

    Raises
    ------
    AssertionError
        Results are further off than half precision makes them, or no numbers.
    """
    xp, x, loss, dw = drawn.viewed(x, loss, dw)
    flat = loss.reshape(-1, loss.shape[3]).astype(xp.float64)
    for r, s, under in taps(x.astype(xp.float64), xp):
        demand(dw[:, r, s], flat.T @ under.reshape(flat.shape[0], -1), 4)


def products(size: int) -> int:
    """Count the additions and multiplications of a convolution."""
    return 2 * BATCH * size**2 * FILTER**2 * CHANNELS[size] ** 2


def layer_bytes(size: int) -> int:
    """Count the bytes of images, weights, bias and results, each once."""
    channels = CHANNELS[size]
    pixels = 2 * BATCH * size**2 * channels
    return 2 * (pixels + FILTER**2 * channels**2 + channels)


# ---------------------------------------------------------------- cases


def three_kernels() -> Callable | None:
    """Return the layer by a graph per operation, each by its fastest plan."""
    product = cudnn_plans.case(cudnn_plans.convolution)
    sums = cudnn_plans.case(cudnn_plans.added)
    clip = cudnn_plans.case(cudnn_plans.clipped)
    if product is None or sums is None or clip is None:
        return None
    scratch = drawn.zeros()

    def layer(x, w, bias, y, size):
        first, second = (
            scratch(name, y.shape, np.float16) for name in ("product", "sum")
        )
        product(x, w, first, size)
        sums(first, bias, second, size)
        clip(second, y, size)

    return layer


def _of_torch(torch, x, w, bias, y, size):
    x, w = (cudnn_plans.channels_last(one) for one in (x, w))
    made = torch.nn.functional.conv2d(x, w, bias.flatten(), padding=1)
    return torch.relu_(made).permute(0, 2, 3, 1)


def pytorch() -> Callable | None:
    """Return PyTorch's convolution and ReLU, with cudnn.benchmark."""
    made = peers.torch(_of_torch, into=3)
    if made is not None:
        import torch

        torch.backends.cudnn.benchmark = True
    return made


CONVOLUTION, WEIGHTS = cudnn_plans.convolution, cudnn_plans.weight_gradient
DEFINITIONS = (
    Definition(
        key="cudnn/engines",
        cases=dict,
        sizes=SIZES,
        setup=images,
        verify=is_convolution,
        flops=("fp16_tensor", products),
        peers={
            **{
                f"plan {n}": partial(cudnn_plans.ranked, CONVOLUTION, n)
                for n in range(RANKS)
            },
            "fastest of all": partial(cudnn_plans.case, CONVOLUTION),
        },
        reference="plan 0",
    ),
    Definition(
        key="cudnn/determinism",
        cases=dict,
        sizes=SIZES,
        setup=gradients,
        verify=is_gradient,
        flops=("fp16_tensor", products),
        peers={
            "any plan": partial(cudnn_plans.case, WEIGHTS),
            "deterministic": partial(
                cudnn_plans.case, WEIGHTS, left_out=("nondeterministic",)
            ),
        },
        reference="any plan",
    ),
    Definition(
        key="cudnn/fusion",
        cases=dict,
        sizes=SIZES,
        setup=biased,
        verify=is_layer,
        bytes_moved=layer_bytes,
        flops=("fp16_tensor", products),
        peers={
            "three graphs": three_kernels,
            "one graph": partial(cudnn_plans.case, cudnn_plans.fused),
            "PyTorch": pytorch,
        },
        reference="three graphs",
    ),
)
