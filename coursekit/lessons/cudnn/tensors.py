"""Tensors of a graph: extents, strides and a type, without memory of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from coursekit.errors import ArgumentError

TYPES: dict[str, np.dtype] = {
    "HALF": np.dtype(np.float16),
    "FLOAT": np.dtype(np.float32),
}
Extents = tuple[int, ...]


def packed(dim: Sequence[int], order: Sequence[int]) -> Extents:
    """Return the strides of a tensor without gaps.

    Parameters
    ----------
    dim : sequence of int
        Extents.
    order : sequence of int
        Axes from the outermost to the one whose elements are neighbours.

    Returns
    -------
    tuple of int
    """
    strides, step = [0] * len(dim), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= dim[axis]
    return tuple(strides)


def channels_last(dim: Sequence[int]) -> Extents:
    """Return strides for extents N, C, H, W of a tensor that lies as N, H, W, C.

    Parameters
    ----------
    dim : sequence of int
        Extents in the order N, C, H, W.

    Returns
    -------
    tuple of int
        Strides in the same order, in elements.

    Examples
    --------
    >>> channels_last((1, 8, 4, 4))
    (128, 1, 32, 8)
    """
    return packed(dim, [0, *range(2, len(dim)), 1])


class Tensor:
    """A tensor of a graph.

    Attributes
    ----------
    name : str
    dim, stride : tuple of int
        Extents, and distances between neighbours along each axis, in elements.
    data_type : str
        "HALF" or "FLOAT".
    is_virtual : bool
        Whether it is only passed between operations and has no memory.
    """

    def __init__(self, name: str, dim=(), stride=(), data_type: str = ""):
        self.name, self.is_virtual = name, False
        self.dim: Extents = tuple(dim)
        self.stride: Extents = tuple(stride)
        self.data_type = ""
        if data_type:
            self.set_data_type(data_type)

    def __repr__(self) -> str:
        where = "virtual" if self.is_virtual else f"strides {self.stride}"
        return f"{self.name}: {self.data_type} {self.dim}, {where}"

    def set_output(self, is_output: bool) -> Tensor:
        """Say whether the tensor is a result with memory of its own."""
        self.is_virtual = not is_output
        return self

    def set_name(self, name: str) -> Tensor:
        """Set the name."""
        self.name = name
        return self

    def set_data_type(self, data_type: str) -> Tensor:
        """Set the type of the elements."""
        self.data_type = known_type(data_type)
        return self

    def set_dim(self, dim: Sequence[int]) -> Tensor:
        """Set the extents, where the graph cannot infer them."""
        self.dim = tuple(dim)
        return self

    def set_stride(self, stride: Sequence[int]) -> Tensor:
        """Set the strides, in elements."""
        self.stride = tuple(stride)
        return self

    def get_dim(self) -> list[int]:
        """Return the extents."""
        return list(self.dim)

    def get_stride(self) -> list[int]:
        """Return the strides, in elements."""
        return list(self.stride)

    @property
    def order(self) -> list[int]:
        """Axes from the outermost to the one whose elements are neighbours."""
        return sorted(range(len(self.dim)), key=lambda a: (-self.stride[a], a))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, each once."""
        return math.prod(self.dim) * TYPES[self.data_type].itemsize

    def view(self, array: np.ndarray) -> np.ndarray:
        """Return the tensor in an array's memory.

        Raises
        ------
        ArgumentError
            The array is of another type, has gaps, or ends too early.
        """
        held = TYPES[self.data_type]
        if not isinstance(array, np.ndarray) or array.dtype != held:
            found = getattr(array, "dtype", type(array).__name__)
            raise ArgumentError.explained(
                f"{self.name} is {self.data_type}, but its memory holds {found}.",
                "A graph gets addresses: it would read the bytes as another type.",
                f"Give a NumPy array of {held}, or declare the tensor as it is.",
            )
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ArgumentError.explained(
                f"The array for {self.name} is a view with gaps.",
                "A graph gets an address and the tensor's strides, not NumPy's.",
                "Give the array whose memory it is, or a copy.",
            )
        reach = 1 + sum((n - 1) * s for n, s in zip(self.dim, self.stride, strict=True))
        if reach > array.size:
            raise ArgumentError.explained(
                f"{self.name} reaches element {reach - 1:,}, but its memory has "
                f"{array.size:,} elements.",
                f"Its extents are {self.dim} and its strides {self.stride}. cuDNN does "
                "not know where the memory ends.",
                "Compare both with the array's shape.",
            )
        flat = array.reshape(-1, order="A")
        steps = tuple(s * flat.itemsize for s in self.stride)
        return np.lib.stride_tricks.as_strided(flat, self.dim, steps)


def known_type(name: str) -> str:
    """Return the name of a type.

    Raises
    ------
    ArgumentError
        There is none of this name here.
    """
    if name not in TYPES:
        raise ArgumentError.explained(
            f"There is no type {name!r} here.",
            "cuDNN has more types than these graphs: integers, BF16, FP8.",
            f"Take one of {', '.join(TYPES)}.",
        )
    return name
