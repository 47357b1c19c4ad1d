"""Device buffers of a trainer, and checks of weights and batches."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.mnist.network import Network
from coursekit.runtime.arrays import DeviceArray, empty


def reserved(network: Network, batch: int) -> dict[str, DeviceArray]:
    """Reserve arrays for the results of each layer and for their gradients."""
    sides, channels = network.sides, (1, *network.channels)
    made = {"fc1": (network.hidden,), "relu3": (network.hidden,)}
    made["logits"] = (network.classes,)
    for place, side in enumerate(sides):
        made[f"x{place + 1}"] = (channels[place], side, side)
    for layer in (1, 2):
        shape = (channels[layer], sides[layer - 1], sides[layer - 1])
        made |= {f"{kind}{layer}": shape for kind in ("conv", "bn", "relu")}
    values = {name: empty((batch, *shape)) for name, shape in made.items()}
    # The pictures need no gradient.
    back = made.keys() - {"x1"}
    values |= {f"d{name}": empty((batch, *made[name])) for name in back}
    for layer, count in enumerate(network.channels, start=1):
        values |= {f"mean{layer}": empty(count), f"variance{layer}": empty(count)}
        shape = (batch, *made[f"x{layer + 1}"])
        values[f"where{layer}"] = empty(shape, np.uint8)
    return values | {"losses": empty(batch)}


def require_weights(network: Network, weights: dict, batch: int) -> None:
    """Refuse weights of another network, and batches without pictures."""
    if batch < 1:
        raise ArgumentError.explained(
            f"A batch of {batch} pictures.",
            "A step learns from one picture at least.",
            "Take a positive number.",
        )
    shapes = network.learnt | network.kept
    given = {name: np.shape(array) for name, array in weights.items()}
    for name in shapes | given:
        if shapes.get(name) != given.get(name):
            raise ArgumentError.explained(
                f"{name} has the shape {given.get(name)}, where the network needs "
                f"{shapes.get(name)}.",
                "The weights are those of another network.",
                "Take initial_weights(network), or weights of the same network.",
            )


def require_batch(network: Network, batch: int, images, labels) -> None:
    """Refuse pictures and labels that the network cannot take."""
    side, classes = network.side, network.classes
    shape, count = getattr(images, "shape", ()), len(images)
    fits = shape == (count, side, side) and images.dtype == np.uint8
    if not fits or not 0 < count <= batch:
        raise ArgumentError.explained(
            f"A batch of shape {shape} for a network that sees {side} x {side}.",
            f"It takes 1 to {batch} pictures of uint8.",
            "Pass images of this shape, or make another network.",
        )
    if labels is None:
        return
    matches = labels.dtype == np.uint8 and labels.shape == (count,)
    if not matches or int(labels.max()) >= classes:
        raise ArgumentError.explained(
            f"Labels of {labels.dtype} and shape {labels.shape} for {count} "
            f"pictures of {classes} classes.",
            f"Each picture has one, of uint8, from 0 to {classes - 1}.",
            "Check that images and labels belong together.",
        )
