"""LLVM IR of each NumPy ufunc, whose operands already have one type."""

from __future__ import annotations

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.casts import (
    PREDICATES,
    compared,
    converted,
    f16_to_f32,
    float_compared,
    half,
)
from coursekit.simt.compiled.remainder import Remainder
from coursekit.simt.compiled.tracing import BOOL, F16, F64, U64, Lanes, choose, splat

# -- arithmetic ------------------------------------------------------------------------


def through_f32(function):
    """Compute f16 operations as NumPy does: in f32, then rounded."""

    def evaluate(*sources):
        if sources[0].dtype != F16:
            return function(*sources)
        return half(function(*map(f16_to_f32, sources)))

    return evaluate


def _simple(whole: str | None, real: str | None):
    """Return a ufunc from an instruction of integers and one of floats."""

    def evaluate(a, b):
        if a.dtype.kind == "f":
            return a.of_number(f"{real} {a.float_type} {a.number}, {b.number}")
        if a.dtype == BOOL and whole not in ("and", "or", "xor"):
            raise UnsupportedError(f"{whole} of predicates")
        return a.of_bits(f"{whole} {a.type} {a.bits}, {b.bits}")

    return through_f32(evaluate)


def _divide(a, b):
    if a.dtype.kind != "f":
        raise UnsupportedError("division of integers")
    return a.of_number(f"fdiv {a.float_type} {a.number}, {b.number}")


def _remainder(a, b):
    if a.dtype.kind != "f":
        raise UnsupportedError("remainder of integers")
    return Remainder(a, b)


def _negative(a):
    if a.dtype == F16:
        return (a.view(np.uint16) ^ 0x8000).view(np.float16)
    if a.dtype.kind == "f":
        return a.of_number(f"fneg {a.float_type} {a.number}")
    return a.of_bits(f"sub {a.type} {a.like(0).bits}, {a.bits}")


def _absolute(a):
    if a.dtype == F16:
        return (a.view(np.uint16) & 0x7FFF).view(np.float16)
    if a.dtype.kind == "f":
        return a.call("fabs")
    return a.call("abs", extra="i1 false") if a.dtype.kind == "i" else a


def _extreme(name: str, real: str):
    """Return minimum or maximum; for floats the intrinsic that orders -0 and +0."""
    of_floats = through_f32(lambda a, b: a.call(real, b))

    def evaluate(a, b):
        if a.dtype.kind != "f":
            sign = "s" if a.dtype.kind == "i" else "u"
            return a if _is_no_limit(name, a, b) else a.call(sign + name, b)
        best = of_floats(a, b)
        best.zeros_are_right = True
        return best

    return evaluate


def _is_no_limit(name: str, a: Lanes, b: Lanes) -> bool:
    """Whether `b` is the end of the type's range, so that it limits nothing."""
    limits = np.iinfo(a.dtype)
    end = limits.max if name == "min" else limits.min
    return b.constant == int(end) & ((1 << limits.bits) - 1)


def _intrinsic(name: str):
    return through_f32(lambda a: a.call(name))


def _integral(name: str):
    """Round to integral values; integers already are."""
    rounded = _intrinsic(name)
    return lambda a: rounded(a) if a.dtype.kind == "f" else a


# -- parts of floats -------------------------------------------------------------------


def _as_word(x: Lanes) -> Lanes:
    return x.seen_as(f"u{x.dtype.itemsize}")


def _sign_bit(x: Lanes) -> Lanes:
    signed = x.seen_as(f"i{x.dtype.itemsize}")
    return compared("less", signed, signed.like(0))


def _copysign(a, b):
    if a.dtype != F16:
        return a.call("copysign", b)
    size, sign = _as_word(a) & 0x7FFF, _as_word(b) & 0x8000
    return (size | sign).view(np.float16)


def _finite(x):
    x = f16_to_f32(x) if x.dtype == F16 else x
    return float_compared("olt", np.abs(x), x.like(np.inf))


def _infinite(x):
    x = f16_to_f32(x) if x.dtype == F16 else x
    return float_compared("oeq", np.abs(x), x.like(np.inf))


def _sign(x):
    found = np.where(x == 0, x.like(0), x)
    found = np.where(x < 0, x.like(-1), found)
    return np.where(x > 0, x.like(1), found)


def _nextafter(x, y):
    bits = _as_word(x)
    outward = compared("equal", x < y, x > 0)
    one = bits.like(1)
    moved = np.where(outward, bits + one, bits - one).view(x.dtype)
    smallest = _copysign(one.view(x.dtype), y)
    moved = np.where(x == 0, smallest, moved)
    moved = np.where(x == y, y, moved)
    nan = (x != x) | (y != y)
    return np.where(nan, x.like(np.nan), moved)


def _ldexp(x, n):
    """Scale by 2**n in two steps, only the second of which may round."""
    if x.dtype != F64:
        raise UnsupportedError("ldexp of narrow floats")
    n = converted(n, np.dtype("i8"))
    first = n >> 1
    for part in (first, n - first):
        x = x * ((part + 1023) << 52).view(np.float64)
    return x


def _frexp(x):
    """Split normal f64 numbers; infinity and NaN give arbitrary parts."""
    if x.dtype != F64:
        raise UnsupportedError("frexp of narrow floats")
    bits = x.seen_as(U64)
    zero = x == 0
    exponent = ((bits >> 52) & 2047).astype(np.int32) - 1022
    fraction = (bits & 0x800FFFFFFFFFFFFF | 0x3FE0000000000000).view(np.float64)
    odd = np.isfinite(x) & ~zero
    return np.where(odd, fraction, x), np.where(odd, exponent, exponent.like(0))


# -- integers --------------------------------------------------------------------------


def _shift(a, n, verb: str):
    """Shift; counts of the width or more give 0, or the sign."""
    width = 8 * a.dtype.itemsize
    if n.constant is not None and n.constant < width:
        return a.of_bits(f"{verb} {a.type} {a.bits}, {n.bits}")
    count = n.seen_as(f"u{n.dtype.itemsize}")
    if verb == "ashr":
        count = count.call("umin", count.like(width - 1))
        return a.of_bits(f"ashr {a.type} {a.bits}, {count.bits}")
    shifted = a.of_bits(f"{verb} {a.type} {a.bits}, {count.bits}")
    inside = compared("less", count, count.like(width))
    return choose(inside, shifted, a.like(0))


def _shift_left(a, n):
    return _shift(a, n, "shl")


def _shift_right(a, n):
    return _shift(a, n, "ashr" if a.dtype.kind == "i" else "lshr")


def _invert(a):
    ones = "true" if a.dtype == BOOL else -1
    one = "i1" if a.dtype == BOOL else f"i{8 * a.dtype.itemsize}"
    return a.of_bits(f"xor {a.type} {a.bits}, {splat(one, ones, a.count)}")


def _count_ones(a):
    return converted(_as_word(a).call("ctpop"), np.dtype("u1"))


def _logical(name: str):
    plain = _simple(name, None)
    return lambda a, b: plain(converted(a, BOOL), converted(b, BOOL))


UFUNCS = {
    np.add: _simple("add", "fadd"), np.subtract: _simple("sub", "fsub"),
    np.multiply: _simple("mul", "fmul"), np.divide: through_f32(_divide),
    np.fmod: through_f32(_remainder), np.negative: _negative, np.absolute: _absolute,
    np.minimum: _extreme("min", "minimum"), np.maximum: _extreme("max", "maximum"),
    np.fmin: _extreme("min", "minimumnum"), np.fmax: _extreme("max", "maximumnum"),
    np.bitwise_and: _simple("and", None), np.bitwise_or: _simple("or", None),
    np.bitwise_xor: _simple("xor", None), np.invert: _invert,
    np.left_shift: _shift_left, np.right_shift: _shift_right,
    np.bitwise_count: _count_ones,
    np.sqrt: _intrinsic("sqrt"), np.rint: _integral("rint"),
    np.trunc: _integral("trunc"), np.floor: _integral("floor"),
    np.ceil: _integral("ceil"), np.sign: _sign, np.nextafter: _nextafter,
    np.ldexp: _ldexp, np.frexp: _frexp, np.copysign: _copysign,
    np.signbit: _sign_bit, np.isfinite: _finite, np.isinf: _infinite,
    np.isnan: lambda x: float_compared("uno", x, x),
    np.logical_and: _logical("and"), np.logical_or: _logical("or"),
    np.logical_xor: _logical("xor"),
    **{getattr(np, name): (lambda a, b, name=name: compared(name, a, b))
       for name in PREDICATES},
}  # fmt: skip
