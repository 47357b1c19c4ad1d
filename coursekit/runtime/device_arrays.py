"""DeviceArray: an array in the memory of a GPU, or of the simulated one."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coursekit.errors import DeviceError, HostAccessError
from coursekit.runtime.arguments.complaints import summary

if TYPE_CHECKING:
    from coursekit.runtime.protocols import Buffer


class DeviceArray:
    """An array in the memory of a GPU, or of the simulated one.

    Kernels read and write it where it lies. Python sees its shape and type, and
    takes contiguous parts of it; its values must first come back to the host.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    space : str
        Where the array lies: "gpu" or "simulator".
    address : int
        Device address of the first element.

    Examples
    --------
    >>> from coursekit.runtime.arrays import to_device
    >>> rows = to_device(np.zeros((4, 3), np.float32))
    >>> rows[1:].shape, rows[0].shape, rows.reshape(-1).shape
    ((3, 3), (3,), (12,))
    """

    __slots__ = (
        "__weakref__", "_buffer", "_offset", "address", "dtype", "shape", "space"
    )  # fmt: skip
    __hash__ = object.__hash__

    def __init__(
        self, buffer: Buffer, offset: int, shape: tuple[int, ...], dtype: np.dtype
    ):
        self._buffer = buffer
        self._offset = offset
        self.shape = shape
        self.dtype = dtype
        self.space = buffer.space
        self.address = buffer.address + offset

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.space != "gpu":
            raise AttributeError("a simulated array has no CUDA array interface")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def __repr__(self) -> str:
        where = "on the GPU" if self.space == "gpu" else "in simulated memory"
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, {where})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a DeviceArray without axes")
        return self.shape[0]

    def __getitem__(self, key: Any) -> DeviceArray:
        """Take a contiguous part: leading indices, then at most one slice."""
        indices = key if isinstance(key, tuple) else (key,)
        array = self
        for position, index in enumerate(indices):
            if isinstance(index, slice) and position == len(indices) - 1:
                return array._rows(index)
            array = array._row(index)
        return array

    def _rows(self, part: slice) -> DeviceArray:
        if not self.shape:
            raise IndexError("too many indices: this DeviceArray has no axis left")
        start, stop, step = part.indices(self.shape[0])
        if step != 1:
            raise DeviceError.explained(
                f"A slice with step {step} of a DeviceArray of shape {self.shape}.",
                "Its elements would not lie side by side in device memory.",
                "Take a slice with step 1 and let the kernel step over elements.",
            )
        count = max(stop - start, 0)
        return self._part(start, (count, *self.shape[1:]))

    def _row(self, index: Any) -> DeviceArray:
        try:
            row = operator.index(index)
        except TypeError:
            raise self._refusal(f"indexing with {summary(index)}") from None
        if len(self.shape) < 2:
            raise self._refusal("reading of single elements")
        if not -self.shape[0] <= row < self.shape[0]:
            raise IndexError(
                f"index {row} is out of range for axis of length {self.shape[0]}"
            )
        return self._part(row % self.shape[0], self.shape[1:])

    def _part(self, row: int, shape: tuple[int, ...]) -> DeviceArray:
        stride = math.prod(self.shape[1:]) * self.dtype.itemsize
        return DeviceArray(self._buffer, self._offset + row * stride, shape, self.dtype)

    def reshape(self, *shape: Any) -> DeviceArray:
        """View the same memory under another shape; one length may be -1."""
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        others = math.prod(length for length in shape if length != -1)
        if shape.count(-1) == 1 and others:
            shape = tuple(self.size // others if n == -1 else n for n in shape)
        lengths = tuple(operator.index(length) for length in shape)
        if min(lengths, default=0) < 0 or math.prod(lengths) != self.size:
            raise DeviceError.explained(
                f"Cannot view a DeviceArray of shape {self.shape} as {lengths}.",
                f"It has {self.size} elements.",
                "Choose lengths whose product is the number of elements.",
            )
        return DeviceArray(self._buffer, self._offset, lengths, self.dtype)

    def __copy__(self) -> NoReturn:
        """Refuse what would be a second name for the same memory."""
        raise self._no_copy("copy.copy")

    def __deepcopy__(self, memo: object) -> NoReturn:
        """Refuse to choose where the copy lies."""
        raise self._no_copy("copy.deepcopy")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to store an address that another process cannot use."""
        raise self._no_copy("pickle")

    def _no_copy(self, how: str) -> DeviceError:
        return DeviceError.explained(
            f"{how} cannot copy {self!r}.",
            "The values lie in device memory; Python would copy their address alone.",
            "Write ck.to_device(array) for a copy on the device, or ck.to_host(array) "
            "for one that can be saved.",
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'DeviceArray' object has no attribute {name!r}")
        raise self._refusal(f".{name}", HostAccessError)

    def _refusal(self, what: str, kind: type[DeviceError] = DeviceError) -> DeviceError:
        return kind.explained(
            f"{self!r} allows no {what} on the host.",
            "Its values lie in device memory, which Python cannot reach.",
            "Copy it back with ck.to_host(array) and use the NumPy array it returns.",
        )


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refuse(self: DeviceArray, *operands: object, **options: object) -> NoReturn:
        raise self._refusal(what)

    return refuse


_REFUSED = {
    "assignment of elements": "setitem delitem",
    "iteration": "iter contains reversed",
    "conversion": "array bool float int complex index buffer round trunc",
    "NumPy function": "array_ufunc array_function",
    "comparison": "eq ne lt le gt ge",
    "arithmetic": "neg pos abs invert divmod rdivmod "
    "add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv "
    "floordiv rfloordiv ifloordiv mod rmod imod pow rpow ipow matmul rmatmul imatmul "
    "lshift rlshift ilshift rshift rrshift irshift "
    "and rand iand or ror ior xor rxor ixor",
}
for _what, _names in _REFUSED.items():
    for _name in _names.split():
        setattr(DeviceArray, f"__{_name}__", _refuse(_what))
