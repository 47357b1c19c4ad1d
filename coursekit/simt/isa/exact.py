"""Float64 operations by Python integers, lane by lane: slow and always right.

A float is an integer times a power of two, so products and sums are exact integers,
and the rounding is spelled out. The vector code calls this for the rare lanes where
its error-free transformations might overflow or underflow, and for directed rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def _split(x: float) -> tuple[int, int]:
    """Return (n, e) with x = n * 2**e."""
    fraction, exponent = math.frexp(x)
    return int(fraction * 2**53), exponent - 53


def _rounds_up(kept: int, rest: int, half: int, rounding: str, negative: bool) -> bool:
    if rounding == "rn":
        return rest > half or (rest == half and bool(kept & 1))
    return rest > 0 and rounding == ("rm" if negative else "rp")


def compose(n: int, exponent: int, rounding: str) -> float:
    """Round n * 2**exponent, n not 0, to float64."""
    negative, n = n < 0, abs(n)
    dropped = max(n.bit_length() - 53, -1074 - exponent, 0)
    kept, rest = n >> dropped, n & ((1 << dropped) - 1)
    if dropped and _rounds_up(kept, rest, 1 << (dropped - 1), rounding, negative):
        kept += 1
    exponent += dropped
    if kept.bit_length() + exponent > 1024:
        outward = rounding in ("rn", "rm" if negative else "rp")
        size = math.inf if outward else float.fromhex("0x1.fffffffffffffp+1023")
    else:
        size = math.ldexp(kept, exponent)
    return -size if negative else size


def _zero_sum(a: float, b: float, rounding: str) -> float:
    """Return the sum of two values that cancel, or are both zero."""
    if math.copysign(1, a) == math.copysign(1, b):
        return math.copysign(0.0, a)
    return -0.0 if rounding == "rm" else 0.0


def fma(a: float, b: float, c: float, rounding: str = "rn") -> float:
    """Compute a * b + c with one rounding."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c + c  # the same infinity; a signalling NaN becomes quiet
    (m, e), (n, f), (k, g) = _split(a), _split(b), _split(c)
    low = min(e + f, g)
    total = (m * n << (e + f - low)) + (k << (g - low))
    if total:
        return compose(total, low, rounding)
    sign = math.copysign(1, a) * math.copysign(1, b)
    return _zero_sum(math.copysign(0.0, sign), c, rounding)


def multiply(a: float, b: float, rounding: str = "rn") -> float:
    """Compute a * b with one rounding."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    return fma(a, b, math.copysign(0.0, sign), rounding)


def divide(a: float, b: float, rounding: str = "rn") -> float:
    """Compute a / b with one rounding; special cases as IEEE 754 has them."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.divide(a, b))
    (m, e), (n, f) = _split(a), _split(b)
    quotient, rest = divmod(abs(m) << 120, abs(n))
    quotient = quotient << 1 | bool(rest)
    return compose(-quotient if (m < 0) != (n < 0) else quotient, e - f - 121, rounding)


def square_root(a: float, rounding: str = "rn") -> float:
    """Compute the square root with one rounding."""
    if not (a > 0 and math.isfinite(a)):
        return float(np.sqrt(a))
    n, e = _split(a)
    shift = 120 + (e & 1)
    root = math.isqrt(n << shift)
    inexact = root * root != n << shift
    return compose(root << 1 | inexact, (e - shift) // 2 - 1, rounding)


def lanes(function: Callable, rounding: str) -> Callable:
    """Turn a function of floats into one of float64 arrays."""

    def evaluate(*sources):
        rows = zip(*(s.tolist() for s in sources), strict=True)
        return np.array([function(*row, rounding) for row in rows], np.float64)

    return evaluate
