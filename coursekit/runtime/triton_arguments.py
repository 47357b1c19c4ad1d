"""The arguments of Triton's kernels: which are passed, and what for a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coursekit.errors import ArgumentError


def parameters(signature: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and type of what is passed to the kernel."""
    for name, kind in signature.items():
        if isinstance(kind, tuple):
            inner = {f"{name}_{i}": each for i, each in enumerate(kind)}
            yield from parameters(inner)
        elif str(kind).startswith("tensordesc"):
            rank = str(kind).count(",") + 1
            shape = [f"{name}_shape_{i}" for i in range(rank)]
            strides = [f"{name}_stride_{i}" for i in range(rank)]
            flags = [f"{name}_nan", f"{name}_tf32"]
            for each in (name, *shape, *strides, *flags, *shape, *strides):
                yield each, ""
        elif kind != "constexpr":
            yield name, kind


def flat(name: str, kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each value that is passed: of a tuple all, of a constant none."""
    if isinstance(kind, tuple):
        for one, each in zip(kind, value, strict=True):
            yield from flat(name, one, each)
    elif str(kind).startswith("tensordesc"):
        from triton.backends.driver import decompose_descriptor

        for each in decompose_descriptor(value):
            yield name, each
    elif kind != "constexpr":
        yield name, value


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
