"""PTX arithmetic on Python integers and fractions: what the table is tested against.

Floats are bit patterns here, so nothing of NumPy's or the C library's rounding can
leak into the expected values.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

# Exponent bits and fraction bits.
FORMATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "f32": (8, 23),
    "f64": (11, 52),
    "tf32": (8, 10),
}
NAN, INF = "nan", "inf"


def canonical_nan(kind: str) -> int:
    exponent, fraction = FORMATS[kind]
    return (1 << (exponent + fraction)) - 1


def decode(bits: int, kind: str):
    """Return (sign, magnitude); the magnitude is a Fraction, INF or NAN."""
    exponent_bits, fraction_bits = FORMATS[kind]
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    sign = bits >> (exponent_bits + fraction_bits) & 1
    if exponent == (1 << exponent_bits) - 1:
        return sign, NAN if fraction else INF
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent:
        fraction |= 1 << fraction_bits
    scale = max(exponent, 1) - bias - fraction_bits
    return sign, Fraction(fraction) * Fraction(2) ** scale


def encode(sign: int, magnitude, kind: str, rounding: str = "rn") -> int:
    """Round a magnitude once and return the bits."""
    exponent_bits, fraction_bits = FORMATS[kind]
    if magnitude == NAN:
        return canonical_nan(kind)
    top = sign << (exponent_bits + fraction_bits)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if magnitude == INF:
        return top | infinity
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = 1 - bias
    if magnitude:
        size = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** size > magnitude:
            size -= 1
        exponent = max(exponent, size)
    units = magnitude / Fraction(2) ** (exponent - fraction_bits)
    whole = rounded(units, rounding, sign)
    # The leading bit carries into the exponent field by itself.
    bits = whole + ((exponent + bias - 1) << fraction_bits)
    if bits >= infinity:
        outward = rounding in ("rn", "rna", "rm" if sign else "rp")
        bits = infinity if outward else infinity - 1
    return top | bits


def rounded(value: Fraction, rounding: str, sign: int = 0) -> int:
    """Round a magnitude to an integer."""
    whole, rest = divmod(value.numerator, value.denominator)
    double = 2 * rest
    if rounding in ("rn", "rni"):
        return whole + (
            double > value.denominator or (double == value.denominator and whole & 1)
        )
    if rounding == "rna":
        return whole + (double >= value.denominator)
    away = (rounding[:2] == "rm") if sign else (rounding[:2] == "rp")
    return whole + bool(rest and away)


def fma(a: int, b: int, c: int, kind: str, rounding: str = "rn") -> int:
    (sa, x), (sb, y), (sc, z) = (decode(v, kind) for v in (a, b, c))
    return encode(*fma_values((sa, x), (sb, y), (sc, z), rounding), kind, rounding)


def fma_values(a, b, c, rounding: str = "rn"):
    """Return sign and magnitude of a * b + c, exactly."""
    (sa, x), (sb, y), (sc, z) = a, b, c
    if NAN in (x, y, z):
        return 0, NAN
    sign = sa ^ sb
    if INF in (x, y):
        if 0 in (x, y) or (z == INF and sc != sign):
            return 0, NAN
        return sign, INF
    if z == INF:
        return sc, INF
    total = (-1) ** sign * x * y + (-1) ** sc * z
    if total:
        return int(total < 0), abs(total)
    if sign == sc:
        return sign, Fraction(0)
    return int(rounding == "rm"), Fraction(0)


def one(kind: str) -> int:
    exponent, fraction = FORMATS[kind]
    return ((1 << (exponent - 1)) - 1) << fraction


def negated(bits: int, kind: str) -> int:
    return bits ^ (1 << sum(FORMATS[kind]))


def add(a, b, kind, rounding="rn"):
    return fma(a, one(kind), b, kind, rounding)


def sub(a, b, kind, rounding="rn"):
    # A NaN stays a NaN whatever its sign.
    return fma(a, one(kind), negated(b, kind), kind, rounding)


def mul(a, b, kind, rounding="rn"):
    sign = decode(a, kind)[0] ^ decode(b, kind)[0]
    return fma(a, b, sign << sum(FORMATS[kind]), kind, rounding)


def div(a, b, kind, rounding="rn"):
    (sa, x), (sb, y) = decode(a, kind), decode(b, kind)
    sign = sa ^ sb
    if NAN in (x, y) or (x == INF and y == INF) or (x == 0 and y == 0):
        return canonical_nan(kind)
    if x == INF or y == 0:
        return encode(sign, INF, kind)
    if y == INF:
        return encode(sign, Fraction(0), kind)
    return encode(sign, x / y, kind, rounding)


def sqrt(a, kind, rounding="rn"):
    sign, x = decode(a, kind)
    if x == NAN or (sign and x):
        return canonical_nan(kind)
    if x == INF or x == 0:
        return a
    scaled = x * Fraction(4) ** 700
    whole = scaled.numerator // scaled.denominator
    root = isqrt(whole)
    exact = root * root == scaled
    return encode(0, Fraction(2 * root + (not exact), 2) / 2**700, kind, rounding)


def extreme(a, b, kind, *, largest: bool, nan: bool = False):
    (sa, x), (sb, y) = decode(a, kind), decode(b, kind)
    if NAN in (x, y):
        if nan or x == y:
            return canonical_nan(kind)
        return b if x == NAN else a

    def place(bits, sign, size):
        size = Fraction(2) ** 2000 if size == INF else size
        return (-size if sign else size), -sign

    first, second = place(a, sa, x), place(b, sb, y)
    return a if (first > second) == largest else b


def flush(bits: int, kind: str) -> int:
    exponent_bits, fraction_bits = FORMATS[kind]
    if bits >> fraction_bits & ((1 << exponent_bits) - 1):
        return bits
    return bits & 1 << (exponent_bits + fraction_bits)


def saturate(bits: int, kind: str) -> int:
    sign, size = decode(bits, kind)
    if sign or size == NAN:
        return 0
    return one(kind) if size == INF or size > 1 else bits


def compare(name: str, a, b, kind) -> bool:
    (sa, x), (sb, y) = decode(a, kind), decode(b, kind)
    if name in ("num", "nan"):
        return (NAN in (x, y)) == (name == "nan")
    if NAN in (x, y):
        return name.endswith("u")
    left, right = ((-1) ** s * (2**2000 if v == INF else v) for s, v in
                   ((sa, x), (sb, y)))  # fmt: skip
    return order(name.removesuffix("u"), left, right)


def order(name: str, left, right) -> bool:
    return {
        "eq": left == right, "ne": left != right, "lt": left < right,
        "le": left <= right, "gt": left > right, "ge": left >= right,
        "lo": left < right, "ls": left <= right, "hi": left > right,
        "hs": left >= right,
    }[name]  # fmt: skip


def to_integer(bits: int, kind: str, target: str, rounding: str) -> int:
    """Convert to an integer type, clamping; NaN by the rule of the PTX manual."""
    width = int(target[1:])
    low = -(1 << (width - 1)) if target[0] == "s" else 0
    high = (1 << (width - 1)) - 1 if target[0] == "s" else (1 << width) - 1
    sign, size = decode(bits, kind)
    if size == NAN:
        special = kind == "f64" or width == 64
        return wrapped(1 << (width - 1), target) if special else 0
    if size == INF:
        return low if sign else high
    value = (-1) ** sign * rounded(size, rounding, sign)
    return min(max(value, low), high)


def wrapped(value: int, kind: str) -> int:
    """Reduce a Python integer to an integer type."""
    width = int(kind[1:])
    value &= (1 << width) - 1
    if kind[0] == "s" and value >> (width - 1):
        value -= 1 << width
    return value


def limits(kind: str) -> tuple[int, int]:
    width = int(kind[1:])
    if kind[0] == "s":
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1
