"""The network as a PyTorch module, for comparison."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from coursekit.lessons.mnist.network import Network


def module(network: Network, weights: dict[str, np.ndarray] | None = None):
    """Build the network out of PyTorch's layers, in learning mode.

    Parameters
    ----------
    network : Network
    weights : dict of str to ndarray, optional
        Weights by the names of its state_dict; by default PyTorch's own.

    Returns
    -------
    torch.nn.Sequential
        Takes (N, 1, side, side), gives (N, classes), before any softmax.
    """
    import torch
    from torch import nn

    pool = {"max": nn.MaxPool2d, "average": nn.AvgPool2d}[network.pooling]
    layers: list[tuple[str, nn.Module]] = []
    seen = 1
    for number, made in enumerate(network.channels, start=1):
        norm = nn.BatchNorm2d(made, eps=network.epsilon, momentum=network.momentum)
        layers += [
            (f"conv{number}", nn.Conv2d(seen, made, 3, padding=1)),
            (f"bn{number}", norm),
            (f"relu{number}", nn.ReLU()),
            (f"pool{number}", pool(2)),
        ]
        seen = made
    layers += [
        ("flatten", nn.Flatten()),
        ("fc1", nn.Linear(network.features, network.hidden)),
        ("relu3", nn.ReLU()),
        ("fc2", nn.Linear(network.hidden, network.classes)),
    ]
    built = nn.Sequential(OrderedDict(layers))
    if weights is not None:
        tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
        counted = {f"bn{n}.num_batches_tracked": torch.tensor(0) for n in (1, 2)}
        built.load_state_dict(tensors | counted)
    return built
