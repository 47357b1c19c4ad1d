"""Bit instructions as hand-written LLVM IR, where traced code would be long.

Each entry of HAND makes the function of the lanes out of a form. A function that
returns None leaves its sources to tracing.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.compiled.casts import converted
from coursekit.simt.compiled.tracing import S32, U32, U64, Lanes, choose


def _unsigned(x: Lanes) -> Lanes:
    return x.seen_as(f"u{x.dtype.itemsize}")


def _width(x: Lanes) -> int:
    return 8 * x.dtype.itemsize


def _count_ones(form):
    return lambda a: converted(a.call("ctpop"), U32)


def _zeros(a: Lanes) -> Lanes:
    return converted(_unsigned(a).call("ctlz", extra="i1 false"), U32)


def _leading_zeros(form):
    return _zeros


def _reverse(form):
    return lambda a: a.call("bitreverse")


def _find_highest(form):
    def evaluate(a):
        if a.dtype.kind == "i":
            a = a ^ (a >> (_width(a) - 1))
        zeros, width = _zeros(a), _width(a)
        if "shiftamt" not in form:
            return zeros.like(width - 1) - zeros
        return choose(zeros == width, zeros.like(-1), zeros)

    return evaluate


def _extract(form):
    """Emit `bfe` with a constant field."""

    def evaluate(a, position, length):
        if position.constant is None or length.constant is None:
            return None
        position, length = position.constant & 255, length.constant & 255
        width = _width(a)
        if length == 0 or (a.dtype.kind == "u" and position >= width):
            return a.like(0)
        above = width - position - length
        if above <= 0:
            return a >> min(position, width - 1)
        if a.dtype.kind == "i":
            return (a << above if above else a) >> (width - length)
        return (a >> position if position else a) & ((1 << length) - 1)

    return evaluate


def _insert(form):
    """Emit `bfi` with a constant field."""

    def evaluate(a, b, position, length):
        if position.constant is None or length.constant is None:
            return None
        position, length = position.constant & 255, length.constant & 255
        inside = min(length, max(_width(a) - position, 0))
        if inside == 0:
            return b
        mask = ((1 << inside) - 1) << position
        rest = b & (((1 << _width(a)) - 1) ^ mask)
        return rest | ((a << position if position else a) & mask)

    return evaluate


def _funnel(form):
    left, wraps = "l" in form, form["EDGE"] == "wrap"

    def evaluate(a, b, count):
        if left:
            shifted, rest = b.call("fshl", a, count), a
        else:
            shifted, rest = b.call("fshr", a, count), b
        if wraps or (count.constant is not None and count.constant < 32):
            return shifted
        return choose(count < 32, shifted, rest)

    return evaluate


# Byte selectors of the modes of prmt, by the two low bits of the control operand.
_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _permute(form):
    mode = form.get("PRMT")

    def evaluate(a, b, selector):
        known = selector.constant
        if mode and known is not None:
            known = _SELECTORS[mode][known & 3]
        elif mode:
            selector = _by_low_bits(selector & 3, _SELECTORS[mode])
        if known is not None:
            return _permute_constant(a, b, known & 0xFFFF)
        return _permute_any(a, b, selector)

    return evaluate


def _by_low_bits(index: Lanes, values) -> Lanes:
    high, low = (index & 2) != 0, (index & 1) != 0
    pairs = [
        choose(low, index.like(values[k + 1]), index.like(values[k])) for k in (0, 2)
    ]
    return choose(high, pairs[1], pairs[0])


def _permute_constant(a, b, selector: int) -> Lanes:
    """Emit shifts and masks; bytes with the same shift share them."""
    moves: dict[tuple, int] = {}
    signs = []
    for place in range(4):
        nibble = selector >> 4 * place & 15
        source, byte = nibble >> 2 & 1, nibble & 3
        if nibble & 8:
            signs.append((place, source, byte))
        else:
            key = (source, place - byte)
            moves[key] = moves.get(key, 0) | 255 << 8 * place
    result = None
    for (source, distance), mask in moves.items():
        x = (a, b)[source]
        reach = 0xFFFFFFFF
        if distance > 0:
            x, reach = x << 8 * distance, reach << 8 * distance & reach
        elif distance < 0:
            x, reach = x >> -8 * distance, reach >> -8 * distance
        x = x if mask == reach else x & mask
        result = x if result is None else result | x
    for place, source, byte in signs:
        x = (a, b)[source].seen_as(S32)
        x = (x << 24 - 8 * byte if byte < 3 else x) >> 31
        x = x.seen_as(U32) & (255 << 8 * place)
        result = x if result is None else result | x
    return result


def _permute_any(a, b, selector) -> Lanes:
    both = converted(a, U64) | converted(b, U64) << 32
    result = None
    for place in range(4):
        nibble = selector >> 4 * place & 15
        at = (nibble & 7) << 3
        byte = converted(both >> converted(at, U64), U32) & 255
        signs = choose(byte > 127, byte.like(255), byte.like(0))
        byte = choose(nibble > 7, signs, byte) << 8 * place
        result = byte if result is None else result | byte
    return result


def _find_nth_set(form):
    """Search upward from the base; downward means upward in the reversed word."""

    def evaluate(mask, base, offset):
        down = offset < 0
        start = choose(base < 32, base.like(31) - base, base.like(0))
        start = choose(down, start, base)
        mask = choose(down, mask.call("bitreverse"), mask)
        count = np.abs(offset).seen_as(U32)
        below = mask.like(-1) << start
        here = mask.like(1) << start
        mask = mask & choose(count == 0, here, below)
        count = np.maximum(count, 1)
        found, place = count <= mask.call("ctpop"), mask.like(0)
        for width in (16, 8, 4, 2, 1):
            low = (mask & ((1 << width) - 1)).call("ctpop")
            above = count > low
            count = choose(above, count - low, count)
            place = choose(above, place + width, place)
            mask = choose(above, mask >> width, mask)
        place = choose(down, place.like(31) - place, place)
        return choose(found, place, place.like(-1))

    return evaluate


HAND = {
    "popc": _count_ones, "clz": _leading_zeros, "brev": _reverse,
    "bfind": _find_highest, "bfe": _extract, "bfi": _insert, "shf": _funnel,
    "prmt": _permute, "fns": _find_nth_set,
}  # fmt: skip
