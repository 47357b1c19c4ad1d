"""Converters: each checks one argument for its parameter, and prepares it to pack.

A number, a vector or a struct is passed by value; an array is passed for a pointer,
as an Operand whose address is packed.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.arguments import operands
from coursekit.runtime.arguments.complaints import WRONG_ORDER, Context, summary
from coursekit.runtime.arguments.operands import Operand
from coursekit.toolchain.signature import CType, Parameter

INT_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
FLOAT_CODES = {2: "e", 4: "f", 8: "d"}
_PACKED = {
    "torch tensor": "tensor.contiguous()",
    "CuPy array": "cupy.ascontiguousarray(array)",
}
_COMPLEX_LANES = {"complex64": "float32", "complex128": "float64"}


def by_value(context: Context) -> tuple[str, Callable[[Any], Any]]:
    """Choose how a value is packed (its code in `struct`), and its converter."""
    ctype, size = context.ctype, context.parameter.size
    if ctype.lanes > 1 or ctype.kind == "struct":
        return f"{size}s", _Bytes(context)
    if ctype.kind == "bool":
        return "?", _Bool(context)
    if ctype.kind == "int":
        return INT_CODES[size], _Int(context, signed=True)
    if ctype.kind == "uint":
        return INT_CODES[size].upper(), _Int(context, signed=False)
    if ctype.kind == "float":
        return FLOAT_CODES[size], _Float(context, FLOAT_CODES[size])
    return "H", _Bfloat16(context)


def _is_bool(value: object) -> TypeGuard[bool]:
    return isinstance(value, (bool, np.bool_))


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer, np.bool_))


def _is_float(value: object) -> TypeGuard[float]:
    return isinstance(value, (float, np.floating))


class _Converter:
    __slots__ = ("context",)

    def __init__(self, context: Context):
        self.context = context


class _Bool(_Converter):
    __slots__ = ()

    def __call__(self, value: Any) -> bool:
        if _is_bool(value) or (_is_int(value) and value in (0, 1)):
            return bool(value)
        raise self.context.unlike(value, "True or False")


class _Int(_Converter):
    __slots__ = ("highest", "lowest")

    def __init__(self, context: Context, signed: bool):
        super().__init__(context)
        bits = 8 * context.parameter.size
        self.lowest = -(1 << (bits - 1)) if signed else 0
        self.highest = (1 << (bits - signed)) - 1

    def __call__(self, value: Any) -> int:
        if not _is_int(value):
            raise self._refusal(value)
        if not self.lowest <= value <= self.highest:
            raise self.context.error(
                f"{int(value)}, which it cannot hold",
                f"The type {self.context.ctype.name} holds {self.lowest} to "
                f"{self.highest}.",
                "Pass a value in this range, or give the parameter a wider type.",
            )
        return int(value)

    def _refusal(self, value: Any) -> CourseError:
        if not _is_float(value):
            return self.context.unlike(value, "a whole number")
        return self.context.error(
            f"the float {float(value)!r}",
            "In Python / divides into a float, even where nothing is left over.",
            "Divide with //, or convert on purpose with int(...).",
        )


class _Float(_Converter):
    __slots__ = ("code",)

    def __init__(self, context: Context, code: str):
        super().__init__(context)
        self.code = code

    def __call__(self, value: Any) -> float:
        if not (_is_float(value) or _is_int(value)):
            raise self.context.unlike(value, "a number")
        try:
            number = float(value)
            struct.pack("<" + self.code, number)
        except OverflowError:
            raise self.context.error(
                f"{value!r}, which it cannot hold",
                f"The value is beyond the range of {self.context.ctype.name}.",
                "Pass a smaller value, or give the parameter the type double.",
            ) from None
        return number


class _Bfloat16(_Converter):
    __slots__ = ()

    def __call__(self, value: Any) -> int:
        if not (_is_float(value) or _is_int(value)):
            raise self.context.unlike(value, "a number")
        number = float(value)
        if math.isnan(number):
            return 0x7FFF
        with np.errstate(over="ignore"):
            bits = int(np.float32(number).view(np.uint32))
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        if math.isfinite(number) and rounded & 0x7F80 == 0x7F80:
            raise self.context.error(
                f"{value!r}, which it cannot hold",
                "The largest bfloat16 is 3.39e38.",
                "Pass a smaller value.",
            )
        return rounded


class _Bytes(_Converter):
    """Converts for a vector such as float4, or a struct, what has the right bytes."""

    __slots__ = ()

    def __call__(self, value: Any) -> bytes:
        size, ctype = self.context.parameter.size, self.context.ctype
        data = self._bytes_of(value)
        if data is not None and len(data) == size:
            return data
        got = summary(value) if data is None else f"{len(data)} bytes"
        if ctype.lanes > 1:
            cure = f"Pass {ctype.lanes} numbers, for example as a tuple."
        else:
            cure = (
                "Build it as a NumPy structured scalar, np.array((...), dtype)[()], "
                "or pass its bytes."
            )
        raise self.context.error(
            got, f"{ctype.name} is passed by value and has {size} bytes.", cure
        )

    def _bytes_of(self, value: Any) -> bytes | None:
        if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure)):
            return bytes(value)
        if isinstance(value, (np.void, np.complexfloating)):
            return value.tobytes()
        if isinstance(value, np.ndarray) and (value.ndim == 0 and value.dtype.names):
            return value.tobytes()
        if self.context.ctype.lanes > 1:
            return self._lanes_of(value)
        if hasattr(type(value), "__bytes__"):
            return bytes(value)
        return None

    def _lanes_of(self, value: Any) -> bytes | None:
        ctype = self.context.ctype
        lanes = isinstance(value, (list, tuple, np.ndarray))
        if not lanes or len(value) != ctype.lanes:
            return None
        lane = CType(ctype.name, ctype.kind, ctype.size // ctype.lanes, ctype.dtype)
        parameter = Parameter(self.context.parameter.name, lane, lane.size, 1, 0)
        code, convert = by_value(Context(self.context.kernel_name, parameter))
        return b"".join(struct.pack("<" + code, convert(number)) for number in value)


class ArrayOf:
    """Converts an array for a pointer: it must have the pointer's element type."""

    __slots__ = ("context", "target")

    def __init__(self, context: Context, target: CType):
        self.context = context
        self.target = target

    def __call__(self, value: Any) -> Operand | None:
        if value is None:
            return None
        operand = described(self.context, value)
        if operand is None:
            raise self._no_array(value)
        self._check_type(operand)
        checked_layout(self.context, operand)
        if not operand.writable and not self.target.const:
            raise self.context.error(
                f"a {operand.kind} that is read-only",
                f"The parameter is no const {self.target.name}*, so results may be "
                "written to the array.",
                "Pass array.copy(), or declare the parameter const.",
            )
        return operand

    def _no_array(self, value: Any) -> CourseError:
        names = _element_types(self.target)
        if isinstance(value, (list, tuple)):
            return self.context.error(
                f"a {type(value).__name__}",
                "A list keeps Python objects; a kernel reads numbers side by side.",
                f"Pass np.array(values, dtype=np.{names[0]}).",
            )
        return self.context.error(
            summary(value),
            f"The parameter takes an array, or None for a null pointer. {WRONG_ORDER}",
            f"Pass an array of {' or '.join(names)}, in the kernel's order.",
        )

    def _check_type(self, operand: Operand) -> None:
        if not accepts(self.target, operand):
            names = " or ".join(_element_types(self.target))
            takes = f"{self.target.name}* takes {names}"
            usual = operand.type_name in ("float64", "int64")
            from_numpy = usual and not operand.is_torch
            raise self.context.error(
                f"a {operand.kind} of {operand.type_name}",
                f"{takes}; NumPy makes float64 and int64 unless told otherwise."
                if from_numpy
                else f"{takes}.",
                _conversion(self.target, operand),
            )
        lanes = self.target.lanes
        count = operand.nbytes // max(self.target.size, 1)
        if lanes > 1 and count * self.target.size != operand.nbytes:
            raise self.context.error(
                f"{math.prod(operand.shape)} elements of {operand.type_name}",
                f"Each {self.target.name} takes {lanes} of them, and the number is no "
                f"multiple of {lanes}.",
                f"Pad the array to a multiple of {lanes} elements.",
            )
        if operand.space != "host" and operand.address % alignment(self.target):
            raise self.context.error(
                f"a {operand.kind} at an address that is no multiple of "
                f"{alignment(self.target)}",
                f"{self.target.name} values are read {alignment(self.target)} bytes "
                "at once; a slice that starts elsewhere is misaligned.",
                f"Start the slice at a multiple of {lanes} elements, or copy it.",
            )


def described(context: Context, value: object) -> Operand | None:
    """Describe an array; an error about it names the parameter."""
    try:
        return operands.describe(value)
    except ArgumentError as problem:
        raise context.about(problem) from None


def checked_layout(context: Context, operand: Operand | None) -> Operand | None:
    """Check that the elements of an array lie side by side in memory."""
    if operand is not None and not operand.contiguous:
        raise context.error(
            f"a {operand.kind} of shape {operand.shape} that is not contiguous",
            "A transposed array or a slice with a step skips over elements; a kernel "
            "counts on rows that lie side by side.",
            f"Pass {_PACKED.get(operand.kind, 'np.ascontiguousarray(array)')}: a copy, "
            "so keep it if the kernel writes results.",
        )
    return operand


def accepts(target: CType, operand: Operand) -> bool:
    """Return whether an array of this element type may be passed for a pointer."""
    name = operand.dtype.name
    if target.kind == "bfloat16":
        return name in ("uint16", "bfloat16")
    if target.kind == "struct":
        return _fits_struct(target, operand)
    if target.dtype is None:
        return True
    if operand.bits_of:
        return False
    if name in ("int8", "uint8") and target.name.startswith("char"):
        return True
    if target.lanes == 2 and _COMPLEX_LANES.get(name) == target.dtype:
        return True
    if operand.dtype.kind == "V":
        return target.lanes > 1 and operand.dtype.itemsize == target.size
    return name == target.dtype


def _fits_struct(target: CType, operand: Operand) -> bool:
    kind, itemsize = operand.dtype.kind, operand.dtype.itemsize
    if operand.dtype.name == "uint8" or (kind == "c" and "complex" in target.name):
        return True
    return kind == "V" and target.size in (0, itemsize)


def alignment(target: CType) -> int:
    """Return the alignment in bytes of a type, as far as it is known; 1 if not."""
    if target.dtype is None:
        return 1
    lane = np.dtype(target.dtype).itemsize
    if "[" not in target.name and target.lanes in (2, 4):
        return min(lane * target.lanes, 16)
    return lane


def _conversion(target: CType, operand: Operand) -> str:
    """Say how to get an array of the right type from the one that was passed."""
    name = _element_types(target)[0]
    if target.kind == "struct":
        return (
            f"Pass a structured array with the fields of {target.name}, or its bytes."
        )
    if target.kind == "bfloat16":
        return "Convert the values with torch: tensor.to(torch.bfloat16)."
    if operand.is_torch:
        return f"Convert the tensor, for example with tensor.to(torch.{name})."
    if operand.kind == "DeviceArray":
        return (
            f"Make it with this type: ck.empty(shape, np.{name}), or "
            f"ck.to_device(array.astype(np.{name}))."
        )
    return f"Convert the array, for example with array.astype(np.{name})."


def _element_types(target: CType) -> tuple[str, ...]:
    """Return the element types that a message suggests."""
    if target.kind == "struct":
        return ("uint8", "a structured type of the same size")
    if target.kind == "bfloat16":
        return ("uint16", "a torch bfloat16 tensor")
    if target.name.startswith("char"):
        return ("int8", "uint8")
    return (target.dtype or "float32",)


class Untyped:
    """Converts for a parameter of unknown type whatever has its width."""

    __slots__ = ("context",)

    def __init__(self, context: Context):
        self.context = context

    def __call__(self, value: Any) -> Operand | int | bytes | None:
        size = self.context.parameter.size
        if size == 8:
            scalar = isinstance(value, np.generic)
            operand = None if scalar else described(self.context, value)
            if operand is not None or value is None:
                return checked_layout(self.context, operand)
        data = self._bytes_of(value, size)
        if data is None or len(data) != size:
            raise self.context.unlike(value, f"a value of {size} bytes")
        return int.from_bytes(data, "little") if size == 8 else data

    def _bytes_of(self, value: Any, size: int) -> bytes | None:
        if isinstance(value, np.generic):
            return value.tobytes()
        if isinstance(value, float) and size in FLOAT_CODES:
            return struct.pack("<" + FLOAT_CODES[size], value)
        if isinstance(value, int) and -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            return (value % (1 << 8 * size)).to_bytes(size, "little")
        return None
