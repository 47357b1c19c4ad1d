"""Array arguments checked against the pointers they are passed for."""

from __future__ import annotations

import math
import struct

import numpy as np

from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.arguments import operands
from coursekit.runtime.arguments.complaints import WRONG_ORDER, Context, summary
from coursekit.runtime.arguments.operands import Operand
from coursekit.runtime.arguments.scalars import FLOAT_CODES
from coursekit.toolchain.signature import CType

_PACKED = {
    "torch tensor": "tensor.contiguous()",
    "CuPy array": "cupy.ascontiguousarray(array)",
}
_COMPLEX_LANES = {"complex64": "float32", "complex128": "float64"}


class ArrayOf:
    """An array whose element type is the one the pointer points to."""

    __slots__ = ("context", "target")

    def __init__(self, context: Context, target: CType):
        self.context = context
        self.target = target

    def __call__(self, value) -> Operand | None:
        if value is None:
            return None
        found = described(self.context, value)
        if found is None:
            raise self._no_array(value)
        self._check_type(found)
        checked_layout(self.context, found)
        if not found.writable and not self.target.const:
            raise self.context.error(
                f"a {found.kind} that is read-only",
                f"The parameter is no const {self.target.name}*, so results may be "
                "written to the array.",
                "Pass array.copy(), or declare the parameter const.",
            )
        return found

    def _no_array(self, value) -> CourseError:
        wanted = _wanted(self.target)
        if isinstance(value, (list, tuple)):
            return self.context.error(
                f"a {type(value).__name__}",
                "A list keeps Python objects; a kernel reads numbers side by side.",
                f"Pass np.array(values, dtype=np.{wanted[0]}).",
            )
        return self.context.error(
            summary(value),
            f"The parameter takes an array, or None for a null pointer. {WRONG_ORDER}",
            f"Pass an array of {' or '.join(wanted)}, in the kernel's order.",
        )

    def _check_type(self, found: Operand) -> None:
        if not accepts(self.target, found):
            takes = f"{self.target.name}* takes {' or '.join(_wanted(self.target))}"
            from_numpy = found.type_name in ("float64", "int64") and not found.is_torch
            raise self.context.error(
                f"a {found.kind} of {found.type_name}",
                f"{takes}; NumPy makes float64 and int64 unless told otherwise."
                if from_numpy
                else f"{takes}.",
                _conversion(self.target, found),
            )
        lanes = self.target.lanes
        count = found.nbytes // max(self.target.size, 1)
        if lanes > 1 and count * self.target.size != found.nbytes:
            raise self.context.error(
                f"{math.prod(found.shape)} elements of {found.type_name}",
                f"Each {self.target.name} takes {lanes} of them, and the number is no "
                f"multiple of {lanes}.",
                f"Pad the array to a multiple of {lanes} elements.",
            )
        if found.space != "host" and found.address % alignment(self.target):
            raise self.context.error(
                f"a {found.kind} at an address that is no multiple of "
                f"{alignment(self.target)}",
                f"{self.target.name} values are read {alignment(self.target)} bytes "
                "at once; a slice that starts elsewhere is misaligned.",
                f"Start the slice at a multiple of {lanes} elements, or copy it.",
            )


def described(context: Context, value) -> Operand | None:
    """Describe an array; what no kernel can take is refused by parameter."""
    try:
        return operands.describe(value)
    except ArgumentError as problem:
        raise context.about(problem) from None


def checked_layout(context: Context, found: Operand | None) -> Operand | None:
    """Check that the elements of an array lie side by side."""
    if found is not None and not found.contiguous:
        raise context.error(
            f"a {found.kind} of shape {found.shape} that is not contiguous",
            "A transposed array or a slice with a step skips over elements; a kernel "
            "counts on rows that lie side by side.",
            f"Pass {_PACKED.get(found.kind, 'np.ascontiguousarray(array)')}: a copy, "
            "so keep it if the kernel writes results.",
        )
    return found


def accepts(target: CType, found: Operand) -> bool:
    """Whether a pointer to `target` may take an array of this element type."""
    name = found.dtype.name
    if target.kind == "bfloat16":
        return name in ("uint16", "bfloat16")
    if target.kind == "struct":
        return _fits_struct(target, found)
    if target.dtype is None:
        return True
    if found.bits_of:
        return False
    if name in ("int8", "uint8") and target.name.startswith("char"):
        return True
    if target.lanes == 2 and _COMPLEX_LANES.get(name) == target.dtype:
        return True
    if found.dtype.kind == "V":
        return target.lanes > 1 and found.dtype.itemsize == target.size
    return name == target.dtype


def _fits_struct(target: CType, found: Operand) -> bool:
    kind, itemsize = found.dtype.kind, found.dtype.itemsize
    if found.dtype.name == "uint8" or (kind == "c" and "complex" in target.name):
        return True
    return kind == "V" and target.size in (0, itemsize)


def alignment(target: CType) -> int:
    """Bytes that the address of a `target` must be a multiple of, as far as known."""
    if target.dtype is None:
        return 1
    lane = np.dtype(target.dtype).itemsize
    if "[" not in target.name and target.lanes in (2, 4):
        return min(lane * target.lanes, 16)
    return lane


def _conversion(target: CType, found: Operand) -> str:
    """How to get an array of the right type from the one that was passed."""
    wanted = _wanted(target)[0]
    if target.kind == "struct":
        return (
            f"Pass a structured array with the fields of {target.name}, or its bytes."
        )
    if target.kind == "bfloat16":
        return "Convert the values with torch: tensor.to(torch.bfloat16)."
    if found.is_torch:
        return f"Convert the tensor, for example with tensor.to(torch.{wanted})."
    if found.kind == "DeviceArray":
        return (
            f"Make it with this type: ck.empty(shape, np.{wanted}), or "
            f"ck.to_device(array.astype(np.{wanted}))."
        )
    return f"Convert the array, for example with array.astype(np.{wanted})."


def _wanted(target: CType) -> tuple[str, ...]:
    """Element types to suggest in a message."""
    if target.kind == "struct":
        return ("uint8", "a structured type of the same size")
    if target.kind == "bfloat16":
        return ("uint16", "a torch bfloat16 tensor")
    if target.name.startswith("char"):
        return ("int8", "uint8")
    return (target.dtype or "float32",)


class Untyped:
    """Only the width is known: whatever has it."""

    __slots__ = ("context",)

    def __init__(self, context: Context):
        self.context = context

    def __call__(self, value):
        size = self.context.parameter.size
        if size == 8:
            scalar = isinstance(value, np.generic)
            found = None if scalar else described(self.context, value)
            if found is not None or value is None:
                return checked_layout(self.context, found)
        data = self._bytes_of(value, size)
        if data is None or len(data) != size:
            raise self.context.unlike(value, f"a value of {size} bytes")
        return int.from_bytes(data, "little") if size == 8 else data

    def _bytes_of(self, value, size: int) -> bytes | None:
        if isinstance(value, np.generic):
            return value.tobytes()
        if isinstance(value, float) and size in FLOAT_CODES:
            return struct.pack("<" + FLOAT_CODES[size], value)
        if isinstance(value, int) and -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            return (value % (1 << 8 * size)).to_bytes(size, "little")
        return None
