"""One training step of the whole network in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.lessons.mnist import reference as layers
from coursekit.lessons.mnist.network import Network


@dataclass(frozen=True)
class Step:
    """The results of one training step.

    Attributes
    ----------
    losses : ndarray
        The loss of each picture.
    logits : ndarray
    gradients, weights : dict of str to ndarray
        Gradients of the mean loss; and all weights after the step, by name.
    """

    losses: np.ndarray
    logits: np.ndarray
    gradients: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]


def step(network: Network, weights, x, labels, rate: float) -> Step:
    """Compute the forward pass, the gradients and the updated weights.

    Parameters
    ----------
    network : Network
    weights : dict of str to ndarray
        Weights by PyTorch's names; the computation has their dtype.
    x : ndarray
        Pictures, normalised, (N, 1, side, side).
    labels : ndarray
    rate : float

    Returns
    -------
    Step
        Its weights are new arrays.
    """
    seen, kept = [], {}
    for layer in (1, 2):
        x, values = _forward(network, weights, layer, x)
        seen.append(values)
        kept |= _remembered(network, weights, layer, values["conv"])
    pooled = x.shape
    flat = x.reshape(len(labels), -1)
    hidden = layers.relu(layers.linear(flat, *_pair(weights, "fc1")))
    logits = layers.linear(hidden, *_pair(weights, "fc2"))
    gradients: dict[str, np.ndarray] = {}
    back = layers.cross_entropy_backward(logits, labels)
    back = _linear_back(weights, "fc2", back, hidden, gradients)
    back = layers.relu_backward(back, hidden)
    back = _linear_back(weights, "fc1", back, flat, gradients).reshape(pooled)
    for layer in (2, 1):
        back = _backward(network, weights, layer, back, seen[layer - 1], gradients)
    after = {name: weights[name] - rate * gradients[name] for name in network.learnt}
    losses = layers.cross_entropy(logits, labels)
    return Step(losses, logits, gradients, after | kept)


def _pair(weights, layer: str):
    return weights[f"{layer}.weight"], weights[f"{layer}.bias"]


def _forward(network: Network, weights, layer: int, x):
    """Convolve, normalise, apply ReLU, pool; return the result and all in between."""
    conv = layers.conv(x, *_pair(weights, f"conv{layer}"))
    mean, variance = layers.statistics(conv)
    gamma, beta = _pair(weights, f"bn{layer}")
    unit = layers.batchnorm(conv, mean, variance, gamma, beta, network.epsilon)
    cut = layers.relu(unit)
    values = {"x": x, "conv": conv, "relu": cut}
    if network.pooling == "average":
        return layers.average_pool(cut), values
    pooled, values["where"] = layers.max_pool(cut)
    return pooled, values


def _remembered(network: Network, weights, layer: int, conv) -> dict:
    mean, variance = layers.statistics(conv)
    variance = layers.unbiased(variance, conv.size // conv.shape[1])
    names = f"bn{layer}.running_mean", f"bn{layer}.running_var"
    pairs = zip(names, (mean, variance), strict=True)
    return {
        name: layers.running(weights[name], new, network.momentum)
        for name, new in pairs
    }


def _linear_back(weights, layer: str, dy, x, gradients: dict):
    dx, dw, db = layers.linear_backward(dy, x, weights[f"{layer}.weight"])
    gradients |= {f"{layer}.weight": dw, f"{layer}.bias": db}
    return dx


def _backward(network: Network, weights, layer: int, dy, seen: dict, gradients: dict):
    shape = seen["relu"].shape
    if network.pooling == "average":
        back = layers.average_pool_backward(dy, shape)
    else:
        back = layers.max_pool_backward(dy, seen["where"], shape)
    back = layers.relu_backward(back, seen["relu"])
    gamma = weights[f"bn{layer}.weight"]
    back, dgamma, dbeta = layers.batchnorm_backward(
        back, seen["conv"], gamma, network.epsilon
    )
    w = weights[f"conv{layer}.weight"]
    dx, dw, db = layers.conv_backward(back, seen["x"], w)
    gradients |= {f"bn{layer}.weight": dgamma, f"bn{layer}.bias": dbeta}
    gradients |= {f"conv{layer}.weight": dw, f"conv{layer}.bias": db}
    return dx
