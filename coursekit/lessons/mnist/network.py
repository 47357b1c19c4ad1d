"""The sizes of the network's layers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

from coursekit.errors import ArgumentError

LEARNT = ("weight", "bias")


def is_whole(value: object) -> bool:
    """Tell whether a value is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Network:
    """Two blocks (convolution, batch normalisation, ReLU, pooling), two linear layers.

    Convolutions are 3 x 3 with a border of one zero, pooling takes 2 x 2 values, and
    a ReLU stands between the linear layers.

    Attributes
    ----------
    side : int
        Rows and columns of a picture, 4 or more.
    channels : tuple of int
        Channels of the two convolutions.
    hidden, classes : int
        Results of the two linear layers.
    pooling : str
        "max" or "average".
    epsilon, momentum : float
        Constants of batch normalisation; by default PyTorch's.

    Examples
    --------
    >>> Network().features, Network().parameters
    (3136, 421834)
    """

    side: int = 28
    channels: tuple[int, int] = (32, 64)
    hidden: int = 128
    classes: int = 10
    pooling: str = "max"
    epsilon: float = 1e-5
    momentum: float = 0.1

    def __post_init__(self):
        self._check_types()
        sizes = (*self.channels, self.hidden, self.classes)
        if self.side < 4 or min(sizes) < 1 or len(self.channels) != 2:
            raise ArgumentError.explained(
                f"{self} has a layer without elements.",
                "Pooling halves the side twice, and each layer has one result or more.",
                "Take a side of 4 or more, and positive sizes.",
            )
        if self.pooling not in ("max", "average"):
            raise ArgumentError.explained(
                f"{self} has no pooling of this name.",
                "2 x 2 values become one by their maximum or by their mean.",
                'Take "max" or "average".',
            )

    def _check_types(self) -> None:
        """Refuse sizes that are no whole numbers, and constants out of their range."""
        sizes = (self.side, *self.channels, self.hidden, self.classes)
        fits = (
            all(map(is_whole, sizes))
            and isinstance(self.pooling, str)
            and is_number(self.epsilon)
            and is_number(self.momentum)
            and 0 < self.epsilon < 1
            and 0 <= self.momentum <= 1
        )
        if not fits:
            raise ArgumentError.explained(
                f"{self} has a field of another type, or out of its range.",
                "Sizes are whole numbers, epsilon lies between 0 and 1, and momentum "
                "is a share.",
                "Give each field a value of its type.",
            )

    @property
    def sides(self) -> tuple[int, int, int]:
        """Sides of the pictures before each convolution, and after the last pooling."""
        return self.side, self.side // 2, self.side // 4

    @property
    def features(self) -> int:
        """Values of a picture that the first linear layer sees."""
        return self.channels[1] * self.sides[2] ** 2

    @property
    def parameters(self) -> int:
        """The number of parameters that are learnt."""
        return sum(math.prod(shape) for shape in self.learnt.values())

    @property
    def learnt(self) -> dict[str, tuple[int, ...]]:
        """Names, as PyTorch's state_dict has them, and shapes of what is learnt."""
        first, second = self.channels
        return {
            "conv1.weight": (first, 1, 3, 3),
            "conv1.bias": (first,),
            "bn1.weight": (first,),
            "bn1.bias": (first,),
            "conv2.weight": (second, first, 3, 3),
            "conv2.bias": (second,),
            "bn2.weight": (second,),
            "bn2.bias": (second,),
            "fc1.weight": (self.hidden, self.features),
            "fc1.bias": (self.hidden,),
            "fc2.weight": (self.classes, self.hidden),
            "fc2.bias": (self.classes,),
        }

    @property
    def kept(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the running statistics."""
        return {
            f"bn{layer}.running_{what}": (channels,)
            for layer, channels in enumerate(self.channels, start=1)
            for what in ("mean", "var")
        }


FULL = Network()
SMALL = Network(side=14, channels=(4, 8), hidden=32)
