"""Ways in which random PTX kernels compute the address of an array element.

Each takes a writer, a 64-bit base, how many elements there are (a power of two) and
their size, and returns a register with an address that is sure to be one of theirs.
"""

from __future__ import annotations


def _scaled(w, base: str, index: str, size: int) -> str:
    """The address base + index * size; the index is small and not negative."""
    if w.chance(0.4):
        offset = w.temporary(f"mul.wide.{w.pick('u32', 's32')}", "l", index, size)
    elif w.chance(0.5):
        low = w.temporary("shl.b32", "i", index, size.bit_length() - 1)
        offset = w.temporary(w.pick("cvt.u64.u32", "cvt.s64.s32"), "l", low)
    else:
        return w.temporary("mad.wide.u32", "l", index, size, base)
    return w.temporary("add.s64", "l", base, offset)


def masked(w, base: str, count: int, size: int) -> str:
    low = w.temporary("and.b32", "i", w.index(), count - 1)
    return _scaled(w, base, low, size)


def masked_wide(w, base: str, count: int, size: int) -> str:
    wide = w.temporary(w.pick("cvt.u64.u32", "cvt.s64.s32"), "l", w.index())
    if w.chance(0.5):
        scaled = w.temporary("shl.b64", "l", wide, size.bit_length() - 1)
        offset = w.temporary("and.b64", "l", scaled, (count - 1) * size)
    else:
        low = w.temporary("and.b64", "l", wide, count - 1)
        offset = w.temporary("shl.b64", "l", low, size.bit_length() - 1)
    return w.temporary("add.s64", "l", base, offset)


def high_bits(w, base: str, count: int, size: int) -> str:
    """Multiplied until it wraps, then shifted."""
    factor = w.pick(0x9E3779B1 - (1 << 32), 0x10000001, 0x01000000, 0x08000001)
    mixed = w.temporary("mul.lo.s32", "i", w.index(), factor)
    low = w.temporary("shr.u32", "i", mixed, 33 - count.bit_length())
    return _scaled(w, base, low, size)


def wrapped_below(w, base: str, count: int, size: int) -> str:
    """A 32-bit index that wraps below zero and comes back."""
    low = w.temporary("and.b32", "i", w.index(), count - 1)
    away = w.pick(1, 7, 16, 100, 0x7FFFFFFF)
    below = w.temporary("add.s32", "i", low, -away)
    if w.chance(0.5):
        back = w.temporary("add.s32", "i", below, away)
        return _scaled(w, base, back, size)
    offset = w.temporary("mul.wide.s32", "l", below, size)
    near = w.temporary("add.s64", "l", base, offset)
    return w.temporary("add.s64", "l", near, away * size)


def wrapped_above(w, base: str, count: int, size: int) -> str:
    """A scaled 32-bit index that wraps above 2^32, and is then cut down."""
    step = w.pick(0x40000001, 0x20000003, 0xFFFFFFF)
    far = w.temporary("mad.lo.s32", "i", w.index(), step, w.pick(-1, 5, -0x80000000))
    low = w.temporary("and.b32", "i", far, count - 1)
    return _scaled(w, base, low, size)


def field(w, base: str, count: int, size: int) -> str:
    wide = count.bit_length() - 1
    low = w.temporary("bfe.u32", "i", w.index(), w.pick(0, 0, 1, 3), wide)
    return _scaled(w, base, low, size)


def remainder(w, base: str, count: int, size: int) -> str:
    by = max(count - w.pick(0, 1, 3), 1)
    low = w.temporary("rem.u32", "i", w.index(), by)
    return _scaled(w, base, low, size)


def smallest(w, base: str, count: int, size: int) -> str:
    low = w.temporary("min.u32", "i", w.index(), count - 1)
    return _scaled(w, base, low, size)


def narrow(w, base: str, count: int, size: int) -> str:
    """Through a 16-bit register."""
    short = w.temporary("cvt.u16.u32", "h", w.index())
    low = w.temporary("and.b16", "h", short, min(count - 1, 0x7FFF))
    index = w.temporary("cvt.u32.u16", "i", low)
    return _scaled(w, base, index, size)


def exclusive(w, base: str, count: int, size: int) -> str:
    """A permutation of lanes, as butterflies and swizzles make."""
    mixed = w.temporary("xor.b32", "i", w.index(), w.pick(1, 4, 7, 31, w.value("i")))
    low = w.temporary("and.b32", "i", mixed, count - 1)
    return _scaled(w, base, low, size)


RECIPES = [masked, masked, masked_wide, high_bits, wrapped_below, wrapped_above,
           field, remainder, smallest, narrow, exclusive]  # fmt: skip
