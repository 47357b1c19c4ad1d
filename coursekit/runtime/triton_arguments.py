"""The arguments of Triton's kernels: which are passed, and what for a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from coursekit.errors import ArgumentError, UnsupportedError
from coursekit.runtime import simulator
from coursekit.runtime.arrays import to_device, to_host
from coursekit.runtime.tensor_maps import TensorMap, tensor_map

if TYPE_CHECKING:
    import numpy as np

    from coursekit.runtime.device_arrays import DeviceArray

_SWIZZLES = (None, 32, 64, 128)  # by the numbers of CUtensorMapSwizzle


def parameters(
    signature: Mapping[str, Any], mapped: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield name and type of what is passed to the kernel.

    With `mapped`, a tensor descriptor is a tensor map, as from sm_90 on.
    """
    for name, kind in signature.items():
        if isinstance(kind, tuple):
            inner = {f"{name}_{i}": each for i, each in enumerate(kind)}
            yield from parameters(inner, mapped)
        elif str(kind).startswith("tensordesc"):
            rank = str(kind).count(",") + 1
            shape = [f"{name}_shape_{i}" for i in range(rank)]
            strides = [f"{name}_stride_{i}" for i in range(rank)]
            tf32 = [f"{name}_tf32"] if _rounds_to_tf32() else []
            plain = [] if mapped else [*shape, *strides, f"{name}_nan", *tf32]
            for each in (name, *plain, *shape, *strides):
                yield each, ""
        elif kind != "constexpr":
            yield name, kind


def _rounds_to_tf32() -> bool:
    """Tell whether descriptors have this flag: those of Triton 3.6 do not."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return "round_f32_to_tf32" in {each.name for each in fields(TensorDescriptor)}


def flat(
    name: str, kind: Any, value: Any, maps: Maps | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield each value that is passed: of a tuple all, of a constant none.

    `maps` makes the tensor map of each descriptor, where these are tensor maps.
    """
    if isinstance(kind, tuple):
        for one, each in zip(kind, value, strict=True):
            yield from flat(name, one, each, maps)
    elif str(kind).startswith("tensordesc"):
        for each in _described(name, value, maps):
            yield name, each
    elif kind != "constexpr":
        yield name, value


def _described(name: str, descriptor: Any, maps: Maps | None) -> list[Any]:
    """Return what is passed for a tensor descriptor."""
    shape, strides = descriptor.shape, descriptor.strides
    if maps is None:
        flags = [descriptor.padding == "nan"]
        if _rounds_to_tf32():
            flags.append(descriptor.round_f32_to_tf32)
        return [descriptor.base, *shape, *strides, *flags, *shape, *strides]
    return [maps.make(name, descriptor), *shape, *strides]


class Maps:
    """The tensor maps of one launch, and the tensors that they describe.

    Parameters
    ----------
    asked : iterable of mappings
        What Triton says of the tensor map of each descriptor.
    """

    def __init__(self, asked: Iterable[Mapping[str, Any]]):
        self._asked = iter(asked)
        self._copies: dict[
            tuple[Any, ...], tuple[np.ndarray, np.ndarray, DeviceArray]
        ] = {}

    def make(self, name: str, descriptor: Any) -> TensorMap:
        """Copy a tensor to simulated memory, and return the map of its boxes."""
        tensor, asked = descriptor.base, next(self._asked)
        plain = list(descriptor.shape) == list(tensor.shape) and tensor.is_contiguous()
        if not plain or asked.get("is_im2col") or descriptor.padding == "nan":
            raise UnsupportedError.explained(
                f"The simulator has no tensor map for the descriptor {name}.",
                "It maps whole tensors without gaps, with zeros outside.",
                "Use TensorDescriptor.from_tensor(tensor.contiguous(), block_shape).",
            )
        with simulator.current():
            array = self._copied(tensor, asked["elem_size"])
            return tensor_map(array, asked["block_size"], _SWIZZLES[asked["swizzle"]])

    def _copied(self, tensor: Any, itemsize: int) -> DeviceArray:
        """Return the copy of a tensor, one for all of its descriptors."""
        import torch

        key = tensor.data_ptr(), tuple(tensor.shape), itemsize
        if key not in self._copies:
            bits = tensor.detach().view(getattr(torch, f"uint{8 * itemsize}")).numpy()
            self._copies[key] = bits, bits.copy(), to_device(bits.copy())
        return self._copies[key][2]

    def copy_back(self) -> None:
        """Give the tensors the elements that the launch has changed."""
        for bits, before, array in self._copies.values():
            after = to_host(array)
            changed = after != before
            bits[changed] = after[changed]


def argument(kernel: str, name: str, value: Any) -> Any:
    """Return what is passed for a pointer or a number."""
    value = (
        getattr(value, "base", value)
        if type(value).__name__ == "TensorWrapper"
        else value
    )
    if not hasattr(value, "data_ptr"):
        return value
    if value.device.type != "cpu":
        raise ArgumentError.explained(
            f"{kernel}: {name} is a tensor on {value.device}.",
            "The simulator is Triton's device now; it takes tensors in host memory.",
            f"Pass {name}.cpu(), or turn the simulator off to launch on the GPU.",
        )
    return value if value.is_contiguous() else _reach(value)


def _reach(tensor: Any) -> Any:
    """Return the elements from the first of a tensor to its last, as they lie."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    count = 1 + sum((size - 1) * stride for size, stride in sizes)
    return tensor.as_strided((count if tensor.numel() else 0,), (1,))
