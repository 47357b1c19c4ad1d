"""Integer arithmetic of PTX on arrays of lanes, and the updates of atomics.

Functions take arrays of the instruction's types and return the result's type; the
ones that need a type at hand are made by factories.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coursekit.simt.isa.syntax import DTYPES, WIDE

_UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_SIGNED = {2: np.int16, 4: np.int32, 8: np.int64}
_LOW32 = np.uint64(0xFFFFFFFF)


def parts(x: np.ndarray, dtype) -> np.ndarray:
    """Return the bytes of `x` as narrower numbers."""
    return np.ascontiguousarray(x).view(dtype)


def unsigned(x: np.ndarray) -> np.ndarray:
    """Return the bits of `x` as an unsigned number."""
    return x.view(_UNSIGNED[x.dtype.itemsize])


def clamped(x: np.ndarray, kind: str) -> np.ndarray:
    """Limit integers to the range of another integer type and convert to it."""
    target, source = np.iinfo(DTYPES[kind]), np.iinfo(x.dtype)
    low, high = max(target.min, source.min), min(target.max, source.max)
    return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)).astype(
        DTYPES[kind]
    )


def add_saturated(a, b):
    """Add s32 without wrapping."""
    return clamped(a.astype(np.int64) + b, "s32")


def sub_saturated(a, b):
    """Subtract s32 without wrapping."""
    return clamped(a.astype(np.int64) - b, "s32")


def multiply_wide(kind: str) -> Callable:
    """Multiply into twice the width."""
    wide = DTYPES[WIDE[kind]]
    return lambda a, b: a.astype(wide) * b


def _high_unsigned64(a, b):
    a0, a1, b0, b1 = a & _LOW32, a >> 32, b & _LOW32, b >> 32
    middle = a1 * b0 + (a0 * b0 >> 32)
    other = a0 * b1 + (middle & _LOW32)
    return a1 * b1 + (middle >> 32) + (other >> 32)


def _high_signed64(a, b):
    high = _high_unsigned64(a.view(np.uint64), b.view(np.uint64)).view(np.int64)
    return high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)


def multiply_high(kind: str) -> Callable:
    """Return the upper half of the product."""
    if kind in {"u64", "s64"}:
        return _high_unsigned64 if kind == "u64" else _high_signed64
    narrow, wide = DTYPES[kind], DTYPES[WIDE[kind]]
    bits = 8 * narrow.itemsize
    return lambda a, b: (a.astype(wide) * b >> bits).astype(narrow)


def multiply24(kind: str, part: str) -> Callable:
    """Multiply the low 24 bits; the low 32 or the high 32 of 48 bits."""
    narrow, wide = DTYPES[kind], DTYPES[WIDE[kind]]
    shift = 16 if part == "hi" else 0

    def evaluate(a, b):
        product = (a << 8 >> 8).astype(wide) * (b << 8 >> 8)
        return (product >> shift).astype(narrow)

    return evaluate


def product(kind: str, part: str) -> Callable:
    """Return the low, high or wide product of `mul` and `mad`."""
    if part == "lo":
        return np.multiply
    return multiply_high(kind) if part == "hi" else multiply_wide(kind)


def then_add(multiply: Callable) -> Callable:
    """Turn a product into a multiply-add."""
    return lambda a, b, c: multiply(a, b) + c


def then_add_saturated(multiply: Callable) -> Callable:
    """Turn a product into an s32 multiply-add that does not wrap."""
    return lambda a, b, c: add_saturated(multiply(a, b), c)


def sum_of_differences(a, b, c):
    """Compute c + |a - b|, `sad`."""
    return c + np.where(a < b, b - a, a - b)


def divide(a, b):
    """Divide toward zero; lanes with a zero divisor hold 0."""
    return (a - np.fmod(a, b)) // b


def dot4(a_kind: str, b_kind: str) -> Callable:
    """Add four products of bytes to c, `dp4a`."""
    byte = {"u32": np.uint8, "s32": np.int8}

    def evaluate(a, b, c):
        rows = parts(a, byte[a_kind]).reshape(-1, 4).astype(np.int64)
        columns = parts(b, byte[b_kind]).reshape(-1, 4)
        return ((rows * columns).sum(axis=1) + c).astype(np.int32)

    return evaluate


def dot2(a_kind: str, b_kind: str, part: str) -> Callable:
    """Add two products of a 16-bit half and a byte to c, `dp2a`."""
    half, byte = {"u32": np.uint16, "s32": np.int16}, {"u32": np.uint8, "s32": np.int8}
    first = 2 if part == "hi" else 0

    def evaluate(a, b, c):
        rows = parts(a, half[a_kind]).reshape(-1, 2).astype(np.int64)
        columns = parts(b, byte[b_kind]).reshape(-1, 4)[:, first : first + 2]
        return ((rows * columns).sum(axis=1) + c).astype(np.int32)

    return evaluate


def add_carry(reads: bool, writes: bool) -> Callable:
    """Add with a carry read, written or both, `add.cc` and `addc`."""

    def evaluate(a, b, carry=None):
        first = unsigned(a) + unsigned(b)
        total = first + carry if reads else first
        if not writes:
            return total.view(a.dtype)
        out = first < unsigned(a)
        return total.view(a.dtype), (out | (total < first) if reads else out)

    return evaluate


def sub_borrow(reads: bool, writes: bool) -> Callable:
    """Subtract with a borrow read, written or both, `sub.cc` and `subc`."""

    def evaluate(a, b, borrow=None):
        first = unsigned(a) - unsigned(b)
        total = first - borrow if reads else first
        if not writes:
            return total.view(a.dtype)
        out = unsigned(a) < unsigned(b)
        return total.view(a.dtype), (out | (total > first) if reads else out)

    return evaluate


def multiply_add_carry(kind: str, part: str, reads: bool, writes: bool) -> Callable:
    """Multiply, then add with carry, `mad.cc` and `madc`."""
    multiply, add = product(kind, part), add_carry(reads, writes)
    return lambda a, b, c, *carry: add(multiply(a, b), c, *carry)


def by_halves(function: Callable, kind: str) -> Callable:
    """Apply a 16-bit function to both halves of 32-bit words."""
    half = {"u16x2": np.uint16, "s16x2": np.int16}[kind]
    return lambda *words: function(*(parts(w, half) for w in words)).view(np.uint32)


def not_negative(function: Callable) -> Callable:
    """Replace negative results by 0, `.relu`."""
    return lambda *sources: np.maximum(function(*sources), 0)


def increment(old, limit):
    """Count up and wrap to 0 past the limit, `atom.inc`."""
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def decrement(old, limit):
    """Count down and wrap to the limit at 0, `atom.dec`."""
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def compare_and_swap(old, expected, new):
    """Replace the old value where it is the expected one, `atom.cas`."""
    return np.where(old == expected, new, old)
