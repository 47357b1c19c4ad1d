"""An Operand describes an array of any library: its place, its type, how to copy it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.runtime.device_arrays import DeviceArray

if TYPE_CHECKING:
    from coursekit.runtime.protocols import Buffer

_TORCH_BITS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


@dataclass(frozen=True, slots=True)
class Operand:
    """An array argument of any library, as a launch sees it.

    Attributes
    ----------
    kind : str
        What messages call it, for example "NumPy array".
    space : str
        "host", "gpu" or "simulator".
    address : int
        First byte, within that space.
    dtype : numpy.dtype
        Element type; the bits where NumPy lacks the type, which `bits_of` names.
    read : callable
        ``read()`` returns all bytes as an array of uint8; of a host array, a view.
    write : callable
        ``write(data)`` overwrites them from an array of uint8.
    buffer : Buffer or None
        The allocation that holds a DeviceArray, or the array it is a slice of.
    """

    kind: str
    space: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    contiguous: bool
    writable: bool
    read: Callable[[], np.ndarray]
    write: Callable[[np.ndarray], None]
    bits_of: str = ""
    is_torch: bool = False
    buffer: Buffer | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def type_name(self) -> str:
        """The element type as its library calls it."""
        return self.bits_of or str(self.dtype)


def describe(value: Any) -> Operand | None:
    """Describe an array; return None when `value` is no array.

    Raises
    ------
    ArgumentError
        Devices lack its element type or its layout.
    """
    if isinstance(value, np.ndarray):
        return _host(value, "NumPy array")
    if isinstance(value, DeviceArray):
        return _device_array(value)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor(value, torch)
    if hasattr(type(value), "__cuda_array_interface__"):
        return _cuda_array(value)
    return None


def as_bytes(array: np.ndarray) -> np.ndarray:
    """View a C-contiguous array as its bytes."""
    return array.reshape(-1).view(np.uint8)


def packed(array: Any) -> Any:
    """Copy an array so that its elements lie side by side."""
    if isinstance(array, np.ndarray):
        return np.array(array, order="C", copy=True, subok=False)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return array.contiguous()
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))


def checked_dtype(dtype: Any) -> np.dtype:
    """Check that devices know an element type.

    Raises
    ------
    ArgumentError
        It holds Python objects or text, its bytes are swapped, or it is no type.
    """
    try:
        element: np.dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        raise ArgumentError.explained(
            f"{dtype!r} is no element type.",
            "NumPy knows no type of this name.",
            "Pass a NumPy type, for example np.float32.",
        ) from None
    if element.hasobject or element.kind in "USMm":
        raise ArgumentError.explained(
            f"An array of {element}, which cannot go to a device.",
            "Kernels compute with numbers of a fixed size.",
            "Convert it, for example with array.astype(np.float32).",
        )
    if not element.isnative:
        raise ArgumentError.explained(
            f"An array of {element}, with its bytes in the order of another machine.",
            "Files in network byte order are read like this.",
            "Convert it with array.astype(array.dtype.newbyteorder('=')).",
        )
    return element


def _host(array: np.ndarray, kind: str, **facts: Any) -> Operand:
    checked_dtype(array.dtype)
    bfloat16 = "bfloat16" if array.dtype.name == "bfloat16" else ""
    facts.setdefault("bits_of", bfloat16)

    def write(data: np.ndarray) -> None:
        as_bytes(array)[:] = data

    return Operand(
        kind,
        "host",
        array.__array_interface__["data"][0],
        array.shape,
        array.dtype,
        array.flags.c_contiguous,
        array.flags.writeable,
        lambda: as_bytes(array),
        write,
        **facts,
    )


def _device_array(array: DeviceArray) -> Operand:
    buffer, offset, nbytes = array._buffer, array._offset, array.nbytes
    return Operand(
        "DeviceArray",
        array.space,
        array.address,
        array.shape,
        array.dtype,
        True,
        True,
        lambda: buffer.read(offset, nbytes),
        lambda data: buffer.write(offset, data),
        buffer=buffer,
    )


def _tensor(tensor: Any, torch: Any) -> Operand:
    if tensor.layout is not torch.strided or tensor.device.type not in ("cpu", "cuda"):
        raise ArgumentError.explained(
            f"A torch tensor on {tensor.device} with layout {tensor.layout}.",
            "Kernels read plain arrays in the memory of this machine or of its GPU.",
            "Convert it with tensor.to_dense() or tensor.cpu().",
        )
    tensor = tensor.detach().resolve_conj().resolve_neg()
    name = str(tensor.dtype).removeprefix("torch.")
    bits = _TORCH_BITS.get(name, "")
    facts: dict[str, Any] = {"bits_of": name if bits else "", "is_torch": True}
    if tensor.device.type == "cpu":
        plain = tensor.view(getattr(torch, bits)) if bits else tensor
        return _host(plain.numpy(), "torch tensor", **facts)
    return _gpu(
        "torch tensor",
        tensor.data_ptr(),
        tuple(tensor.shape),
        checked_dtype(bits or name),
        tensor.is_contiguous(),
        **facts,
    )


def _cuda_array(array: Any) -> Operand:
    interface = array.__cuda_array_interface__
    shape, dtype = interface["shape"], checked_dtype(interface["typestr"])
    strides = interface.get("strides")
    address, read_only = interface["data"]
    cupy_made = type(array).__module__.partition(".")[0] == "cupy"
    return _gpu(
        "CuPy array" if cupy_made else type(array).__name__,
        address,
        shape,
        dtype,
        strides is None or _side_by_side(shape, strides, dtype.itemsize),
        writable=not read_only,
    )


def _side_by_side(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> bool:
    if 0 in shape:
        return True
    expected = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def _gpu(
    kind: str,
    address: int,
    shape: tuple[int, ...],
    dtype: np.dtype,
    contiguous: bool,
    *,
    writable: bool = True,
    **facts: Any,
) -> Operand:
    from coursekit.runtime import gpu

    nbytes = math.prod(shape) * dtype.itemsize
    return Operand(
        kind,
        "gpu",
        address,
        shape,
        dtype,
        contiguous,
        writable,
        lambda: gpu.copy_to_host(address, nbytes),
        lambda data: gpu.copy_from_host(address, data),
        **facts,
    )
