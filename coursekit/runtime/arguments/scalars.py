"""Arguments passed by value: numbers, vectors and structs, ready to pack."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable

import numpy as np

from coursekit.errors import CourseError
from coursekit.runtime.arguments.complaints import Context, summary
from coursekit.toolchain.signature import CType, Parameter

INT_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
FLOAT_CODES = {2: "e", 4: "f", 8: "d"}


def by_value(context: Context) -> tuple[str, Callable]:
    """Choose the code of the module struct, and the check, for a parameter."""
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


def _is_bool(value) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_int(value) -> bool:
    return isinstance(value, (int, np.integer, np.bool_))


def _is_float(value) -> bool:
    return isinstance(value, (float, np.floating))


class _Converter:
    __slots__ = ("context",)

    def __init__(self, context: Context):
        self.context = context


class _Bool(_Converter):
    __slots__ = ()

    def __call__(self, value) -> bool:
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

    def __call__(self, value) -> int:
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

    def _refusal(self, value) -> CourseError:
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

    def __call__(self, value) -> float:
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

    def __call__(self, value) -> int:
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
    """Vectors such as float4, and structs: anything that gives the right bytes."""

    __slots__ = ()

    def __call__(self, value) -> bytes:
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

    def _bytes_of(self, value) -> bytes | None:
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

    def _lanes_of(self, value) -> bytes | None:
        ctype = self.context.ctype
        lanes = isinstance(value, (list, tuple, np.ndarray))
        if not lanes or len(value) != ctype.lanes:
            return None
        lane = CType(ctype.name, ctype.kind, ctype.size // ctype.lanes, ctype.dtype)
        parameter = Parameter(self.context.parameter.name, lane, lane.size, 1, 0)
        code, convert = by_value(Context(self.context.kernel_name, parameter))
        return b"".join(struct.pack("<" + code, convert(one)) for one in value)
