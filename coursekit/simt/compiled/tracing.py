"""Arrays that record NumPy operations on them as LLVM IR.

The interpreter's functions run on `Lanes` in place of arrays: every ufunc appends an
instruction of all lanes. Shortcuts that look at values ("is there any NaN?") are told
that the general path is needed; what cannot be recorded raises UnsupportedError.
"""

from __future__ import annotations

import functools
import re

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from coursekit.errors import UnsupportedError

BOOL, F16, F32, F64 = (np.dtype(code) for code in ("?", "f2", "f4", "f8"))
U16, U32, U64, S32 = (np.dtype(code) for code in ("u2", "u4", "u8", "i4"))
_FLOATS = {F32: "float", F64: "double"}
_CONSTANT = re.compile(r"(?:splat \(i\d+ )?(-?\d+|true|false)\)?\Z")


@functools.cache
def word(dtype: np.dtype) -> str:
    """Return the integer type that holds the bits of one value."""
    return "i1" if dtype == BOOL else f"i{8 * dtype.itemsize}"


@functools.cache
def vector(one: str, count: int) -> str:
    """Return the type of `count` values of a type."""
    return one if count == 1 else f"<{count} x {one}>"


def splat(one: str, value, count: int) -> str:
    """Return a constant that is the same in every lane."""
    return f"{value}" if count == 1 else f"splat ({one} {value})"


def constant_of(text: str, width: int) -> int | None:
    """Return the unsigned value of an operand if it is one constant in every lane."""
    if text == "zeroinitializer":
        return 0
    found = _CONSTANT.match(text)
    if found is None:
        return None
    value = {"true": 1, "false": 0}.get(found[1])
    return (int(found[1]) if value is None else value) & ((1 << width) - 1)


def _bits_of(value, dtype: np.dtype) -> int:
    raw = np.array(value).astype(dtype).tobytes()
    return int.from_bytes(raw, "little")


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


def _float_literal(bits: int, dtype: np.dtype) -> str | None:
    """Return a float as LLVM writes it, as f64 bits; None for signaling NaNs."""
    if dtype == F64:
        return f"0x{bits:016X}"
    number = np.frombuffer(bits.to_bytes(4, "little"), F32)[0]
    if number == number:
        return f"0x{_bits_of(float(number), F64):016X}"
    if not bits >> 22 & 1:
        return None
    return f"0x{(bits >> 31 << 63) | 0x7FF << 52 | (bits & 0x7FFFFF) << 29:016X}"


class Lanes(NDArrayOperatorsMixin):
    """A value of every lane: an integer type, or a float as bits, number or both.

    Parameters
    ----------
    builder : Builder
    count : int
        Lanes; a single one is a scalar.
    dtype : numpy.dtype
    bits, number : str, optional
        IR operands of the integer type and the float type; f16 has bits only.
    """

    size = 32  # what the interpreter's code compares counts with

    def __init__(self, builder, count: int, dtype, bits=None, number=None):
        self.builder, self.count, self.dtype = builder, count, np.dtype(dtype)
        self._bits, self._number = bits, number
        self.origin = None  # the f32 values that these f64 values are
        self.zeros_are_right = False  # minimum and maximum that know +0 and -0
        self.parent = None  # the array that this is a view of

    # -- representations ---------------------------------------------------------------

    @property
    def type(self) -> str:
        """The IR type of the bits."""
        return vector(word(self.dtype), self.count)

    @property
    def float_type(self) -> str:
        """The IR type of the number."""
        return vector(_FLOATS[self.dtype], self.count)

    @property
    def has_bits(self) -> bool:
        """Whether the bits need no instruction."""
        return self._bits is not None

    @property
    def bits(self) -> str:
        """The operand of the integer type, converted if need be."""
        if self._bits is None:
            self._bits = self.builder.op(
                f"bitcast {self.float_type} {self.number} to {self.type}"
            )
        return self._bits

    @property
    def number(self) -> str:
        """The operand of the float type, converted if need be."""
        if self._number is None:
            self._number = self._literal() or self.builder.op(
                f"bitcast {self.type} {self.bits} to {self.float_type}"
            )
        return self._number

    def _literal(self) -> str | None:
        value = self.constant
        if value is None:
            return None
        text = _float_literal(value, self.dtype)
        if text is None:
            return None
        return splat(_FLOATS[self.dtype], text, self.count)

    @property
    def constant(self) -> int | None:
        """The bits, if they are one known constant in every lane."""
        if self._bits is None:
            return None
        width = 1 if self.dtype == BOOL else 8 * self.dtype.itemsize
        return constant_of(self._bits, width)

    # -- making others -----------------------------------------------------------------

    def of_bits(self, text: str, dtype=None) -> Lanes:
        """Append an instruction whose result is the bits of a value."""
        return Lanes(
            self.builder, self.count, dtype or self.dtype, self.builder.op(text)
        )

    def of_number(self, text: str, dtype=None) -> Lanes:
        """Append an instruction whose result is a number of a float type."""
        dtype = dtype or self.dtype
        return Lanes(self.builder, self.count, dtype, number=self.builder.op(text))

    def like(self, value, dtype=None) -> Lanes:
        """Return a constant with as many lanes."""
        dtype = np.dtype(dtype or self.dtype)
        one = word(dtype)
        width = int(one[1:])
        bits = _signed(_bits_of(value, dtype), width)
        text = ("true" if bits else "false") if width == 1 else bits
        return Lanes(self.builder, self.count, dtype, splat(one, text, self.count))

    def copy(self) -> Lanes:
        """Return the same values, to be changed in place."""
        other = Lanes(self.builder, self.count, self.dtype, self._bits, self._number)
        other.origin = self.origin
        return other

    def seen_as(self, dtype) -> Lanes:
        """Return the same bits as another type of this width."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if dtype.itemsize != self.dtype.itemsize or BOOL in (dtype, self.dtype):
            raise UnsupportedError(f"{self.dtype} seen as {dtype}")
        return Lanes(self.builder, self.count, dtype, self.bits)

    def view(self, dtype) -> Lanes:
        """Return the same bits as `ndarray.view` does, for types of one width."""
        other = self.seen_as(dtype)
        if other is not self:
            other.parent = self
        return other

    def astype(self, dtype, copy=True) -> Lanes:
        """Convert as `ndarray.astype` does."""
        from coursekit.simt.compiled.casts import converted  # it needs this module

        return converted(self, np.dtype(dtype))

    def call(self, name: str, *others: Lanes, extra: str = "") -> Lanes:
        """Call an intrinsic whose operands and result have this type.

        Floats of 32 and 64 bits are passed as numbers, all others as bits.
        """
        real = self.dtype in _FLOATS
        type_ = self.float_type if real else self.type
        one = (
            {"float": "f32", "double": "f64"}[_FLOATS[self.dtype]]
            if real
            else (word(self.dtype))
        )
        suffix = one if self.count == 1 else f"v{self.count}{one}"
        values = [x.number if real else x.bits for x in (self, *others)]
        types = ", ".join([type_] * len(values))
        more = f", {extra.split()[0]}" if extra else ""
        full = f"@llvm.{name}.{suffix}"
        self.builder.declare(f"declare {type_} {full}({types}{more})")
        arguments = ", ".join(f"{type_} {v}" for v in values)
        arguments += f", {extra}" if extra else ""
        make = self.of_number if real else self.of_bits
        return make(f"call {type_} {full}({arguments})")

    # -- NumPy -------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        from coursekit.simt.compiled.recording import record

        if method != "__call__":
            raise UnsupportedError(f"{ufunc.__name__}.{method}")
        return record(ufunc, self, inputs)

    def __array_function__(self, function, _types, args, kwargs):
        from coursekit.simt.compiled.recording import FUNCTIONS

        if function not in FUNCTIONS or kwargs:
            raise UnsupportedError(f"np.{function.__name__}")
        return FUNCTIONS[function](*args)

    def dot(self, _other) -> float:
        """Return NaN, the sum of squares for which `quiet` takes the general path."""
        return float("nan")

    def __setitem__(self, mask, value):
        if not isinstance(mask, Lanes) or mask.dtype != BOOL:
            raise UnsupportedError("a write to single lanes")
        new = choose(mask, self.like(value), self)
        self._bits, self._number = new.bits, None
        if self.parent is not None:
            self.parent._bits, self.parent._number = self._bits, None

    def __getitem__(self, index):
        if index != 0 or self.constant is None:
            raise UnsupportedError("a read of single lanes")
        return self.constant

    def __getattr__(self, name):
        raise UnsupportedError(f"{name} of arrays")

    def _refuse(self, *_):
        raise UnsupportedError("a value that only the run knows")

    __array__ = __bool__ = __float__ = __int__ = __index__ = __len__ = _refuse
    __iter__ = _refuse


def choose(condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """Return `a` where the condition holds, else `b`; both have one type."""
    flags = f"{condition.type} {condition.bits}"
    if a.dtype in _FLOATS and not (a.has_bits and b.has_bits):
        type_ = a.float_type
        return a.of_number(f"select {flags}, {type_} {a.number}, {type_} {b.number}")
    return a.of_bits(f"select {flags}, {a.type} {a.bits}, {a.type} {b.bits}")
