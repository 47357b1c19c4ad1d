"""Initial values: weights as PyTorch draws them from a seed, and normal numbers."""

from __future__ import annotations

import math

import numpy as np

from coursekit.lessons.mnist.network import Network


def initial_weights(network: Network, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the weights of the layers as PyTorch draws them after `manual_seed(seed)`.

    A layer whose results sum up `fan_in` products starts with weights and biases
    drawn evenly from -1 / sqrt(fan_in) to 1 / sqrt(fan_in). Both PyTorch and NumPy
    have the generator MT19937; PyTorch makes a float of the lower 24 of its 32 bits.

    Parameters
    ----------
    network : Network
    seed : int
        From 0 to 2^32 - 1.

    Returns
    -------
    dict of str to ndarray
        float32 arrays by their names in PyTorch's state_dict.

    Source
    ------
    PyTorch 2.13: `reset_parameters` of `torch.nn.Conv2d` and `torch.nn.Linear`,
    `torch.nn.init.kaiming_uniform_`; M. Matsumoto, T. Nishimura, Mersenne Twister,
    1998.
    """
    generator = np.random.RandomState(seed)  # noqa: NPY002 (has the same stream)
    weights = {}
    for name, shape in network.learnt.items():
        layer, _, kind = name.partition(".")
        if layer.startswith("bn"):
            value = 1 if kind == "weight" else 0
            weights[name] = np.full(shape, value, dtype=np.float32)
            continue
        if kind == "weight":
            fan_in = math.prod(shape[1:])
        weights[name] = _evenly(generator, shape, 1 / math.sqrt(fan_in))
    for name, shape in network.kept.items():
        value = 1 if name.endswith("var") else 0
        weights[name] = np.full(shape, value, dtype=np.float32)
    return weights


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return float32 numbers of the standard normal distribution, to try a layer with.

    Examples
    --------
    >>> normal(2, 3).shape, bool((normal(4) == normal(4)).all())
    ((2, 3), True)
    """
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _evenly(generator, shape: tuple[int, ...], bound: float) -> np.ndarray:
    """Draw from -bound to bound, as PyTorch does for float32: one rounding at the end,
    as of a fused multiply-add.
    """
    bits = generator.randint(0, 1 << 32, size=shape, dtype=np.uint32)
    share = (bits & 0xFFFFFF) * 2.0**-24
    edge = float(np.float32(bound))
    return (share * (2 * edge) - edge).astype(np.float32)
