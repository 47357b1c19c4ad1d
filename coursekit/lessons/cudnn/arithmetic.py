"""The oracle's arithmetic: float32 arrays in the order N, C, H, W."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray


def spots(filter_shape, out_shape, how) -> Iterator[tuple]:
    """Yield the places of a filter, with the slices of a padded image under each.

    The elements of the slices meet that place of the filter, one per result.
    """
    stride, dilation = how["stride"], how["dilation"]
    for place in product(*(range(n) for n in filter_shape[2:])):
        under = tuple(
            slice(at * d, at * d + (n - 1) * s + 1, s)
            for at, d, s, n in zip(place, dilation, stride, out_shape[2:], strict=True)
        )
        yield (slice(None), slice(None), *place), (slice(None), slice(None), *under)


def padded(image: Array, how) -> Array:
    """Return an image in a border of zeros."""
    border = [(0, 0), (0, 0), *((p, p) for p in how["padding"])]
    return np.pad(image, border)


def unpadded(image: Array, how) -> Array:
    """Return an image without its border."""
    inner = tuple(
        slice(p, n - p) for p, n in zip(how["padding"], image.shape[2:], strict=True)
    )
    return image[(slice(None), slice(None), *inner)]


def forward(image: Array, weight: Array, out_shape, how) -> Array:
    """Return the cross-correlation, as cuDNN and PyTorch compute it."""
    total = np.zeros(out_shape, np.float32)
    wide = padded(image, how)
    for place, under in spots(weight.shape, out_shape, how):
        total += np.einsum("nc...,kc->nk...", wide[under], weight[place])
    return total


def by_data(loss: Array, weight: Array, out_shape, how) -> Array:
    """Return the gradient of the image."""
    border = [2 * p for p in how["padding"]]
    sizes = [n + b for n, b in zip(out_shape[2:], border, strict=True)]
    total = np.zeros((*out_shape[:2], *sizes), np.float32)
    for place, under in spots(weight.shape, loss.shape, how):
        total[under] += np.einsum("nk...,kc->nc...", loss, weight[place])
    return unpadded(total, how)


def by_weights(image: Array, loss: Array, out_shape, how) -> Array:
    """Return the gradient of the weights."""
    total = np.zeros(out_shape, np.float32)
    wide, losses = padded(image, how), loss.reshape(*loss.shape[:2], -1)
    for place, under in spots(out_shape, loss.shape, how):
        pixels = wide[under].reshape(*image.shape[:2], -1)
        total[place] = np.einsum("nci,nki->kc", pixels, losses)
    return total


def normalised(x: Array, axes: tuple[int, ...], epsilon: float) -> tuple[Array, ...]:
    """Return x with mean 0 and variance 1 over some axes, the mean and 1/deviation."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    unit = 1 / np.sqrt(wide.var(axis=axes, keepdims=True) + epsilon)
    return ((wide - mean) * unit).astype(np.float32), f32(mean), f32(unit)


def batch_norm(x, scale, bias, running: tuple[Array, Array], how) -> tuple:
    """Return the normalised batch, its statistics, and the new running averages."""
    axes = (0, *range(2, x.ndim))
    inner, mean, unit = normalised(x, axes, how["epsilon"])
    count = x.size // x.shape[1]
    share = how["momentum"]
    unbiased = x.astype(np.float64).var(axis=axes, keepdims=True) * (
        count / max(count - 1, 1)
    )
    averages = [
        f32((1 - share) * old + share * new)
        for old, new in zip(running, (mean, unbiased), strict=True)
    ]
    return inner * scale + bias, mean, unit, *averages


def attention(q: Array, k: Array, v: Array, how) -> tuple[Array, Array]:
    """Return the attention of each head, and the logarithm of each row's sum."""
    scores = np.einsum("bhqd,bhkd->bhqk", q, k, dtype=np.float64)
    scores *= how["attn_scale"]
    if how["use_causal_mask"]:
        rows, columns = scores.shape[2:]
        scores[:, :, ~np.tri(rows, columns, dtype=bool)] = -np.inf
    top = scores.max(axis=3, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(axis=3, keepdims=True)
    return f32(np.einsum("bhqk,bhkd->bhqd", powers / total, v)), f32(
        top + np.log(total)
    )


def f32(x: Any) -> Array:
    """Return an array in float32."""
    return np.asarray(x, np.float32)
