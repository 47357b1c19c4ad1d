"""The place of each weight in the array that the kernels of the fused step use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.mnist.network import Network

TAPS, HIDDEN, CLASSES = 9, 128, 10
PRECISIONS = {"tf32": 1, "fp32": 3}  # TF32 products per product


def require_network(network: Network) -> None:
    """Refuse a network for which the kernels cannot be compiled.

    Raises
    ------
    ArgumentError
        The network is another one.
    """
    side, (first, second) = network.side, network.channels
    like = Network(side=side, channels=network.channels)
    sizes = side % 4 == 0 and 8 <= side <= 32 and first in (16, 32)
    if network != like or not sizes or second not in (32, 64):
        raise ArgumentError.explained(
            f"The fused step has no kernels for {network}.",
            "They are written for 16 or 32 and 32 or 64 channels, sides of 8 to 32 "
            f"that are multiples of 4, {HIDDEN} hidden values, {CLASSES} classes, and "
            "max pooling.",
            "Take coursekit.lessons.mnist.FULL, or train with "
            "coursekit.lessons.mnist.Trainer.",
        )


def require_precision(precision: str) -> None:
    """Refuse a precision other than "tf32" and "fp32".

    Raises
    ------
    ArgumentError
        It is neither "tf32" nor "fp32".
    """
    if precision not in PRECISIONS:
        raise ArgumentError.explained(
            f"The fused step got precision={precision!r}.",
            "Products are made in TF32, or in float32 by three of them.",
            'Take "tf32" or "fp32".',
        )


def place(k, n, columns: int, *, paired: bool):
    """Return the place of element (k, n) of a right factor: `fragment_place` in C++."""
    within = k % 8
    t, half = (within // 2, within % 2) if paired else (within % 4, within // 4)
    tile = (k // 8) * (columns // 16) + n // 16
    return (tile * 32 + n % 8 * 4 + t) * 4 + n // 8 % 2 * 2 + half


def to_tf32(values: np.ndarray) -> np.ndarray:
    """Round float32 to 10 bits of fraction, ties away from zero, as cvt.rna does."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


@dataclass(frozen=True)
class Layout:
    """The kernels' array of parameters, and its mapping to a row of PyTorch's weights.

    Attributes
    ----------
    network : Network
    """

    network: Network

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Floats of each part, in the order of `network.cuh`."""
        first, second = self.network.channels
        wide = TAPS * first * second
        parts = {"fc1": self.network.features * HIDDEN}
        parts |= dict.fromkeys(("exact", "forward", "backward"), wide)
        names = (
            "conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias", "conv2.bias",
            "bn2.weight", "bn2.bias", "fc1.bias", "fc2.weight", "fc2.bias",
            *self.network.kept,
        )  # fmt: skip
        return parts | {name: math.prod(self.shapes[name]) for name in names}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights by PyTorch's names, in the order of a row."""
        return self.network.learnt | self.network.kept

    @cached_property
    def starts(self) -> dict[str, int]:
        """The index at which each part begins."""
        return _starts(self.sizes)

    @cached_property
    def parameters(self) -> int:
        """Floats of the kernels' array; conv2's weights are there three times."""
        return sum(self.sizes.values())

    @cached_property
    def weights(self) -> int:
        """Floats of PyTorch's weights in a row."""
        return sum(map(math.prod, self.shapes.values()))

    @property
    def rounded(self) -> tuple[int, int]:
        """The range of the array whose values are rounded for products."""
        return self.starts["forward"], self.starts["conv1.weight"]

    @cached_property
    def into(self) -> np.ndarray:
        """For each float of the kernels' array, its index in the row, int32."""
        places = np.zeros(self.parameters, np.int32)
        row = _starts({name: math.prod(s) for name, s in self.shapes.items()})
        for name, start in self.starts.items():
            if name in row:
                count = self.sizes[name]
                places[start : start + count] = row[name] + np.arange(count)
        fc1 = self._fc1_places()
        places[fc1.ravel()] = row["fc1.weight"] + np.arange(fc1.size)
        for part in ("exact", "forward", "backward"):
            conv2 = self._conv2_places(turned=part == "backward") + self.starts[part]
            places[conv2.ravel()] = row["conv2.weight"] + np.arange(conv2.size)
        return places

    @cached_property
    def out_of(self) -> np.ndarray:
        """For each weight in the row, its index in the kernels' array, int32."""
        places = np.zeros(self.weights, np.int32)
        own = np.arange(self.parameters, dtype=np.int32)
        first, last = self.rounded
        exact = ((own < first) | (own >= last)) & (self.into >= 0)
        places[self.into[exact]] = own[exact]
        return places

    def _fc1_places(self) -> np.ndarray:
        """Places of fc1.weight, whose columns are channel * pixels + pixel."""
        pixels = self.network.sides[2] ** 2
        hidden, feature = np.indices((HIDDEN, self.network.features))
        channel, pixel = feature // pixels, feature % pixels
        chunk = self.network.channels[1] * HIDDEN
        return pixel * chunk + place(channel, hidden, HIDDEN, paired=True)

    def _conv2_places(self, *, turned: bool) -> np.ndarray:
        first, second = self.network.channels
        k, c, r, s = np.indices((second, first, 3, 3))
        tap = 3 * r + s
        if turned:
            return place(tap * second + k, c, first, paired=True)
        return place(tap * first + c, k, second, paired=False)

    def row(self, weights: dict[str, np.ndarray]) -> np.ndarray:
        """Return the weights in a row, float32."""
        parts = [np.ravel(weights[name]) for name in self.shapes]
        return np.concatenate(parts).astype(np.float32)

    def named(self, row: np.ndarray) -> dict[str, np.ndarray]:
        """Return the weights of a row by PyTorch's names."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = np.split(row, ends[:-1])
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }


def _starts(sizes: dict[str, int]) -> dict[str, int]:
    starts, at = {}, 0
    for name, size in sizes.items():
        starts[name], at = at, at + size
    return starts
