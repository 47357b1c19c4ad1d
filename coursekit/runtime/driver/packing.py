"""Kernel parameters as `cuLaunchKernel` takes them, turned into bytes.

A kernel's parameters reach the driver as an array of addresses, one per parameter. It
copies as many bytes from each address as the kernel declares, and cannot check more.
`cuda.bindings` makes the array from a pair of tuples, (values, types); here the same
rules are applied, and what a GPU would misread without a word is refused.

Source: cuda-bindings 13, `_lib/utils.pxi`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.toolchain.signature import Slot

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_SHAPE = (
    "Argument 'kernelParams' is not a valid type: tuple[tuple[Any, ...], tuple[Any, "
    "...]] or PyObject implementing Buffer Protocol or Int"
)


def packed(name: str, slots: Sequence[Slot], given: Any) -> bytes:
    """Return a kernel's parameter block.

    Parameters
    ----------
    name : str
        Of the kernel.
    slots : sequence of Slot
        The parameters that its PTX declares.
    given : tuple, buffer of addresses, or None
        The argument `kernelParams` of cuLaunchKernel.

    Raises
    ------
    ArgumentError
        The number of parameters, or a size, is not what the kernel declares.
    TypeError
        As `cuda.bindings` raises it.
    """
    if given is None or (isinstance(given, int) and given == 0):
        values: list[bytes] = _none(name, slots)
    elif isinstance(given, tuple) and [type(part) for part in given] == [tuple, tuple]:
        values = _from_tuples(name, slots, *given)
    elif isinstance(given, (np.ndarray, ctypes.Array, memoryview, bytes, bytearray)):
        values = _from_addresses(name, slots, given)
    else:
        raise TypeError(_SHAPE)
    block = b""
    for slot, value in zip(slots, values, strict=True):
        block += bytes(-len(block) % slot.align) + value
    return block


def pointers(slots: Sequence[Slot], block: bytes) -> Iterator[tuple[int, int]]:
    """Yield number and value of the parameters that may be addresses."""
    offset = 0
    for number, slot in enumerate(slots):
        offset += -offset % slot.align
        if slot.size == _POINTER and not slot.aggregate:
            yield number, int.from_bytes(block[offset : offset + _POINTER], "little")
        offset += slot.size


def _none(name: str, slots: Sequence[Slot]) -> list[bytes]:
    _require_count(name, slots, 0)
    return []


def _require_count(name: str, slots: Sequence[Slot], count: int) -> None:
    if count == len(slots):
        return
    raise ArgumentError.explained(
        f"cuLaunchKernel: {name} has {len(slots)} parameters, and kernelParams has "
        f"{count}.",
        "The driver gets no count. It reads one address per declared parameter, also "
        "behind the end of the array.",
        "Give one value and one type per parameter, in the order of the kernel.",
    )


def _from_tuples(
    name: str, slots: Sequence[Slot], values: tuple[Any, ...], types: tuple[Any, ...]
) -> list[bytes]:
    if len(values) != len(types):
        raise TypeError("Argument 'kernelParams' has tuples with different length")
    _require_count(name, slots, len(values))
    found = []
    for number, (slot, value, kind) in enumerate(
        zip(slots, values, types, strict=True)
    ):
        data = _bytes_of(value, kind)
        if len(data) != slot.size:
            raise _wrong_size(name, number, slot, kind, len(data))
        found.append(data)
    return found


def _wrong_size(
    name: str, number: int, slot: Slot, kind: Any, size: int
) -> ArgumentError:
    spelt = getattr(kind, "__name__", "a structure")
    return ArgumentError.explained(
        f"cuLaunchKernel: parameter {number} of {name} is .{slot.ptx_type} and has "
        f"{slot.size} bytes, and {spelt} has {size}.",
        f"A GPU copies {slot.size} bytes from the value's address, whatever is there, "
        "and reports nothing.",
        "Take the type of the C++ parameter: c_int for int, c_float for float, "
        "c_void_p or None for a pointer.",
    )


def _bytes_of(value: Any, kind: Any) -> bytes:
    """Return the bytes of one value, as `_pack_argument` of cuda-bindings stores it."""
    if kind is None:
        if callable(getattr(value, "getPtr", None)):
            return ctypes.string_at(value.getPtr(), _POINTER)
        if isinstance(value, ctypes.Structure):
            return bytes(value)
        raise TypeError(
            f"Provided argument is of type {type(value)} but expected a ctypes "
            "structure or a CUDA Binding structure with getPtr() attribute"
        )
    if kind is ctypes.c_void_p:
        return bytes(ctypes.c_void_p(_address(value)))
    if isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData):
        return bytes(value if isinstance(value, kind) else kind(value))
    raise TypeError(f"Unsupported type: {kind!r}")


def _address(value: Any) -> int | None:
    if isinstance(value, ctypes.c_void_p):
        return value.value
    if isinstance(value, int):
        return value
    if callable(getattr(value, "getPtr", None)):
        return int(value.getPtr())  # the address of the handle, not the handle
    raise TypeError(
        f"Provided argument is of type {type(value)} but expected Type {int}, "
        f"{ctypes.c_void_p} or CUDA Binding structure with getPtr() attribute"
    )


def _from_addresses(name: str, slots: Sequence[Slot], given: Any) -> list[bytes]:
    addresses = np.frombuffer(given, np.uint64)
    _require_count(name, slots, addresses.size)
    if not addresses.all():
        raise ArgumentError.explained(
            f"cuLaunchKernel: kernelParams of {name} has a null address.",
            "Each entry is the address of a value on the host. The driver reads the "
            "value there.",
            "Pass addresses, for example of NumPy arrays: array.ctypes.data.",
        )
    pairs = zip(slots, addresses, strict=True)
    return [ctypes.string_at(int(address), slot.size) for slot, address in pairs]
