"""Bit operations of PTX on arrays of lanes: fields, shifts, permutations, logic.

NumPy's shifts already give 0 (or the sign) for counts of the width or more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from coursekit.simt.isa.integer import parts, unsigned
from coursekit.simt.isa.syntax import DTYPES

_REVERSED = np.array([int(f"{i:08b}"[::-1], 2) for i in range(256)], np.uint8)


def count_ones(a):
    """Count set bits, `popc`."""
    return np.bitwise_count(a).astype(np.uint32)


def bit_length(a):
    """Return the number of bits up to the highest set one, as u32."""
    if a.dtype.itemsize < 8:
        return np.frexp(a.astype(np.float64))[1].astype(np.uint32)
    high, low = (a >> 32).astype(np.uint32), a.astype(np.uint32)
    return np.where(high > 0, bit_length(high) + 32, bit_length(low)).astype(np.uint32)


def leading_zeros(a):
    """Count zeros above the highest set bit, `clz`."""
    return np.uint32(8 * a.dtype.itemsize) - bit_length(a)


def reverse_bits(a):
    """Reverse the order of the bits, `brev`."""
    return _REVERSED[parts(a, np.uint8)].view(a.dtype).byteswap()


def find_highest(shift_amount: bool) -> Callable:
    """Find the highest bit that is not a copy of the sign, `bfind`; -1 if none."""

    def evaluate(a):
        bits = 8 * a.dtype.itemsize
        value = unsigned(np.where(a < 0, ~a, a))
        place = bit_length(value) - np.uint32(1)
        if not shift_amount:
            return place
        return np.where(place == 0xFFFFFFFF, place, np.uint32(bits - 1) - place)

    return evaluate


def _ones(count, dtype):
    """Return masks of `count` low bits; all bits for counts of the width or more."""
    every = dtype(~dtype(0))
    return ~np.left_shift(every, count.astype(dtype))


def _field(position, length, bits):
    """Return the position, and how many bits of the field lie inside the word."""
    position, length = position & 255, length & 255
    return position, np.minimum(length, np.maximum(bits - position.astype(np.int32), 0))


def extract_field(a, position, length):
    """Cut `length` bits out at `position`, filling up with the sign, `bfe`."""
    word = unsigned(a)
    dtype, bits = word.dtype.type, 8 * word.dtype.itemsize
    position, inside = _field(position, length, bits)
    keep = _ones(inside, dtype)
    found = (word >> position.astype(dtype)) & keep
    if a.dtype.kind == "u":
        return found
    length = (length & 255).astype(np.int64)
    top = np.clip(position.astype(np.int64) + length - 1, 0, bits - 1)
    sign = (word >> top.astype(dtype)) & dtype(1)
    return np.where((sign > 0) & (length > 0), found | ~keep, found).view(a.dtype)


def insert_field(a, b, position, length):
    """Put the low `length` bits of `a` into `b` at `position`, `bfi`."""
    dtype, bits = b.dtype.type, 8 * b.dtype.itemsize
    position, inside = _field(position, length, bits)
    place = position.astype(dtype)
    mask = _ones(inside, dtype) << place
    return (b & ~mask) | ((a << place) & mask)


def field_mask(edge: str) -> Callable:
    """Set `b` bits from bit `a` on, `bmsk`."""

    def evaluate(a, b):
        if edge == "wrap":
            a, b = a & 31, b & 31
        start, end = np.minimum(a, 32), np.minimum(a, 32) + np.minimum(b, 32)
        return _ones(end, np.uint32) & ~_ones(start, np.uint32)

    return evaluate


def extend(edge: str) -> Callable:
    """Keep the low `b` bits and extend their sign or zero, `szext`."""

    def evaluate(a, b):
        word = a.view(np.uint32)
        width = b & 31 if edge == "wrap" else np.minimum(b, 32)
        keep = _ones(width, np.uint32)
        if a.dtype.kind == "u":
            return word & keep
        sign = (word >> ((width - 1) & 31)) & 1 & (width > 0) & (width < 32)
        return np.where(sign > 0, word | ~keep, word & keep).view(np.int32)

    return evaluate


def find_nth_set(mask, base, offset):
    """Find the n-th set bit from a base bit up or down, `fns`; all ones if none."""

    def one(mask: int, base: int, offset: int) -> int:
        if offset == 0:
            return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
        places = range(base, 32) if offset > 0 else range(min(base, 31), -1, -1)
        found = [place for place in places if mask >> place & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF

    lanes = zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)
    return np.array([one(*lane) for lane in lanes], np.uint32)


# Byte selectors of the modes of prmt, by the two low bits of the control operand.
_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def permute_bytes(mode: str | None) -> Callable:
    """Pick four of the eight bytes of b:a, `prmt`; nibble bit 3 copies the sign."""

    def evaluate(a, b, selector):
        if mode:
            selector = np.array(_SELECTORS[mode], np.uint32)[selector & 3]
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
        nibbles = selector[:, None] >> np.array([0, 4, 8, 12], np.uint32) & 15
        picked = (both[:, None] >> ((nibbles & 7) * 8).astype(np.uint64)) & 255
        signs = np.where(picked >= 128, 255, 0)
        picked = np.where(nibbles >= 8, signs, picked).astype(np.uint8)
        return picked.view(np.uint32).reshape(-1)

    return evaluate


def funnel_shift(direction: str, edge: str) -> Callable:
    """Shift the 64 bits b:a and keep the upper (left) or lower half, `shf`."""

    def evaluate(a, b, count):
        count = count & 31 if edge == "wrap" else np.minimum(count, 32)
        count = count.astype(np.uint64)
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
        both = both << count >> np.uint64(32) if direction == "l" else both >> count
        return both.astype(np.uint32)

    return evaluate


def shift_left(kind: str) -> Callable:
    """Shift left by a u32 count; counts of the width or more give 0."""
    return _shift(np.left_shift, kind)


def shift_right(kind: str) -> Callable:
    """Shift right by a u32 count; signed types fill up with the sign."""
    return _shift(np.right_shift, kind)


def _shift(ufunc: np.ufunc, kind: str) -> Callable:
    dtype = DTYPES[kind]
    if kind in ("b32", "u32"):
        return ufunc
    if dtype.itemsize == 8:
        return lambda a, count: ufunc(a, count.astype(dtype))
    most = np.uint32(8 * dtype.itemsize)
    return lambda a, count: ufunc(a, np.minimum(count, most).astype(dtype))


def is_zero(a):
    """Return 1 where a is 0, else 0, `cnot`."""
    return (a == 0).astype(a.dtype)


# The sixteen functions of two bits, by truth table (b, c) = 11 10 01 00.
_PAIRS = (
    lambda b, c: None,
    lambda b, c: ~(b | c),
    lambda b, c: c & ~b,
    lambda b, c: ~b,
    lambda b, c: b & ~c,
    lambda b, c: ~c,
    lambda b, c: b ^ c,
    lambda b, c: ~(b & c),
    lambda b, c: b & c,
    lambda b, c: ~(b ^ c),
    lambda b, c: c,
    lambda b, c: c | ~b,
    lambda b, c: b,
    lambda b, c: b | ~c,
    lambda b, c: b | c,
    lambda b, c: ~np.zeros_like(b),
)


@lru_cache(maxsize=256)
def _three_bits(table: int) -> Callable:
    """Return the function of three bits: a chooses between two functions of (b, c)."""
    low, high = _PAIRS[table & 15], _PAIRS[table >> 4]

    def evaluate(a, b, c):
        if low is high:
            return a ^ a if low is _PAIRS[0] else low(b, c)
        if low is _PAIRS[0]:
            return a & high(b, c)
        if high is _PAIRS[0]:
            return low(b, c) & ~a
        chosen = low(b, c)
        return chosen ^ (a & (chosen ^ high(b, c)))

    return evaluate


def logic3(a, b, c, table):
    """Combine three words bit by bit by a truth table, `lop3`."""
    return _three_bits(int(table[0]) & 255)(a, b, c)


def logic3_tested(combine: np.ufunc) -> Callable:
    """Compute `lop3`, and combine (result != 0) with a predicate."""

    def evaluate(a, b, c, table, p):
        result = logic3(a, b, c, table)
        return result, combine(result != 0, p)

    return evaluate
