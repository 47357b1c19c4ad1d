"""Floating-point operations of PTX on arrays of lanes.

Most functions here are factories: they take a float type and a rounding mode, and
return the function of the lanes. A bf16 value is its 16 bits in a uint16; the x2
types are handled by `by_halves` around the function of the single type.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coursekit.simt.isa import exact
from coursekit.simt.isa.integer import parts
from coursekit.simt.isa.rounding import (
    bf16_to_f32,
    narrow,
    odd_sum,
    quiet,
    signed_zero,
    toward,
    widened,
)
from coursekit.simt.isa.syntax import DTYPES

# Arrays without dimensions: NumPy takes them faster than Python numbers.
_SPLITTER = np.array(2.0**27 + 1)
_LOST_BITS = np.array(0x1FFFFFFF)
_HALFWAY = np.array(0x10000000)
_SMALLEST_NORMAL = np.array(2.0**-126)
_TINY = np.array(2.0**-900)
_F64 = np.dtype(np.float64)
_NATIVE = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def by_halves(function: Callable, kind: str) -> Callable:
    """Apply the function of a single type to both halves of words of its x2 type."""
    half, whole = DTYPES[kind.removesuffix("x2")], DTYPES[kind]
    return lambda *words: function(*(parts(w, half) for w in words)).view(whole)


def arithmetic(name: str, kind: str, rounding: str = "rn") -> Callable:
    """Return add, sub or mul of two values of a float type."""
    native = _NATIVE[name]
    if rounding == "rn" and kind == "f64":
        return native
    if rounding == "rn" and kind in ("f32", "f16"):
        return lambda a, b: quiet(native(a, b))
    if kind == "f64":
        return _directed64(name, rounding)
    return mixed(name, (kind, kind), kind, rounding)


def _directed64(name: str, rounding: str) -> Callable:
    if name == "mul":
        return exact.lanes(exact.multiply, rounding)
    fma = exact.lanes(exact.fma, rounding)
    if name == "add":
        return lambda a, b: fma(a, np.ones_like(a), b)
    return lambda a, b: fma(a, np.ones_like(a), -b)


def mixed(name: str, kinds: tuple, result: str, rounding: str) -> Callable:
    """Return add, sub or mul through float64, of types of at most 24 bits."""
    rounded = narrow(result, rounding)

    def evaluate(a, b):
        a, b = widened(a, kinds[0]), widened(b, kinds[1])
        if name == "mul":
            return rounded(a * b)
        b = -b if name == "sub" else b
        return rounded(signed_zero(odd_sum(a, b), a, b, rounding))

    return evaluate


def fma(kind: str, rounding: str = "rn") -> Callable:
    """Return the multiply-add with one rounding."""
    if kind == "f64":
        return fma64 if rounding == "rn" else exact.lanes(exact.fma, rounding)
    if kind == "f32" and rounding == "rn":
        return fma32
    return mixed_fma((kind, kind, kind), kind, rounding)


def mixed_fma(kinds: tuple, result: str, rounding: str) -> Callable:
    """Return the multiply-add through float64, of types of at most 24 bits."""
    rounded = narrow(result, rounding)

    def evaluate(a, b, c):
        product = widened(a, kinds[0]) * widened(b, kinds[1])
        c = widened(c, kinds[2])
        return rounded(signed_zero(odd_sum(product, c), product, c, rounding))

    return evaluate


def fma32(a, b, c):
    """Compute a * b + c in f32.

    The float64 product is exact. Rounding the float64 sum again is wrong only where
    the first rounding made it a tie: halfway between two f32 values, or subnormal.
    """
    product, addend = a.astype(_F64) * b.astype(_F64), c.astype(_F64)
    total = product + addend
    small = np.count_nonzero(np.abs(total) < _SMALLEST_NORMAL)
    if small:
        small += np.count_nonzero(total) - total.size
    if small or np.count_nonzero((total.view(np.int64) & _LOST_BITS) == _HALFWAY):
        total = odd_sum(product, addend)
    return quiet(total.astype(np.float32))


def _two_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _halves(x):
    high = x * _SPLITTER
    high = high - (high - x)
    return high, x - high


def _two_product(a, b):
    """Return the rounded product and its error (Dekker 1971)."""
    product = a * b
    (a1, a0), (b1, b0) = _halves(a), _halves(b)
    return product, a0 * b0 - (((product - a1 * b1) - a0 * b1) - a1 * b0)


def fma64(a, b, c):
    """Compute a * b + c in f64 (Boldo and Melquiond 2008).

    Lanes whose product or addend is so large or small that an intermediate step
    might overflow or underflow, and lanes that are not finite, are done exactly.
    """
    product, error = _two_product(a, b)
    high, low = _two_sum(c, error)
    top, rest = _two_sum(product, high)
    total = top + odd_sum(rest, low)
    if np.count_nonzero(total) < total.size:
        total = np.where(total == 0, product + c, total)
    if not _moderate(a, b, c, product):
        for i in np.flatnonzero(~_safe(a, b, c, product)):
            total[i] = exact.fma(float(a[i]), float(b[i]), float(c[i]))
    return total


def _moderate(a, b, c, product) -> bool:
    """Whether all lanes are certainly safe; False may be a false alarm."""
    small = np.count_nonzero(np.abs(product) < _TINY)
    if small:
        small -= np.count_nonzero((a == 0) | (b == 0))
    return not small and float(a.dot(a)) + float(b.dot(b)) + float(c.dot(c)) < 2.0**900


def _safe(a, b, c, product):
    """Return the lanes in which no step of `fma64` can overflow or underflow."""
    size = np.abs(product)
    largest = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(size, np.abs(c)))
    return (largest < 2.0**900) & ((size >= 2.0**-900) | (a == 0) | (b == 0))


def divide(kind: str, rounding: str = "rn") -> Callable:
    """Return the quotient of f32 or f64, correctly rounded."""
    if kind == "f64":
        if rounding == "rn":
            return np.divide
        return exact.lanes(exact.divide, rounding)
    if rounding == "rn":
        return lambda a, b: quiet(a / b)

    def evaluate(a, b):
        quotient = a / b
        # The remainder of a nearest quotient is exact in float64; its sign says on
        # which side of the quotient the true one lies.
        wide = quotient.astype(np.float64)
        wide = np.where(np.isinf(wide), np.copysign(2.0**128, wide), wide)
        rest = a.astype(np.float64) - wide * b
        exactly = wide + np.sign(rest) * np.sign(b) * _ulp_part(wide)
        finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
        return quiet(toward(np.where(finite, exactly, quotient), quotient, rounding))

    return evaluate


def _ulp_part(wide):
    """Return an amount far below the f32 spacing at `wide`, visible in float64."""
    return np.maximum(np.abs(wide) * 2.0**-40, 2.0**-200)


def reciprocal(kind: str, rounding: str = "rn") -> Callable:
    """Return 1 / x, correctly rounded."""
    quotient = divide(kind, rounding)
    return lambda a: quotient(np.ones_like(a), a)


def square_root(kind: str, rounding: str = "rn") -> Callable:
    """Return the square root of f32 or f64, correctly rounded."""
    if kind == "f64":
        return np.sqrt if rounding == "rn" else exact.lanes(exact.square_root, rounding)
    if rounding == "rn":
        return lambda a: quiet(np.sqrt(a))

    def evaluate(a):
        root = np.sqrt(a)
        wide = root.astype(np.float64)
        rest = a.astype(np.float64) - wide * wide
        exactly = wide + np.sign(rest) * _ulp_part(wide)
        finite = np.isfinite(a) & (a > 0)
        return quiet(toward(np.where(finite, exactly, root), root, rounding))

    return evaluate


def absolute(kind: str) -> Callable:
    """Return the function that clears the sign bit; an H200 makes NaNs canonical."""
    if kind == "bf16":
        return lambda a: _canonical_bf16(a & np.uint16(0x7FFF))
    return lambda a: quiet(np.abs(a))


def negate(kind: str) -> Callable:
    """Return the function that flips the sign bit; an H200 makes NaNs canonical."""
    if kind == "bf16":
        return lambda a: _canonical_bf16(a ^ np.uint16(0x8000))
    return lambda a: quiet(np.negative(a))


def _canonical_bf16(a: np.ndarray) -> np.ndarray:
    """Give bf16 NaNs their canonical bits."""
    missing = (a & np.uint16(0x7FFF)) > np.uint16(0x7F80)
    return np.where(missing, np.uint16(0x7FFF), a)


# Of two equal values only zeros differ in bits; then -0 is the lower.
_EXTREMES = {
    "min": (np.fmin, np.minimum, np.bitwise_or),
    "max": (np.fmax, np.maximum, np.bitwise_and),
}


def extreme(name: str, kind: str, propagate_nan: bool = False) -> Callable:
    """Return min or max: of a number and NaN the number, or with `.NaN` the NaN."""
    if kind == "bf16":
        compare = extreme(name, "f32", propagate_nan)
        to_bf16 = narrow("bf16")
        return lambda *x: to_bf16(compare(*map(bf16_to_f32, x)))
    ignore_nan, keep_nan, join = _EXTREMES[name]
    choose = keep_nan if propagate_nan else ignore_nan
    word = {2: np.uint16, 4: np.uint32, 8: np.uint64}[DTYPES[kind].itemsize]

    def evaluate(a, b):
        best = choose(a, b)
        if np.count_nonzero(best) < best.size:
            zeros = join(a.view(word), b.view(word)).view(a.dtype)
            best = np.where((a == 0) & (b == 0), zeros, best)
        return quiet(best)

    return evaluate


def of_three(function: Callable) -> Callable:
    """Extend a function of two values to three."""
    return lambda a, b, c: function(function(a, b), c)


def of_magnitudes(function: Callable, kind: str) -> Callable:
    """Apply a function to absolute values."""
    size = absolute(kind)
    return lambda *x: function(*map(size, x))


def with_product_sign(function: Callable, kind: str) -> Callable:
    """Apply to absolute values and set the sign of a * b, `.xorsign.abs`."""
    size, flip = absolute(kind), negate(kind)

    def negative(x):
        return x >= 0x8000 if kind == "bf16" else np.signbit(x)

    def evaluate(a, b):
        best = function(size(a), size(b))
        unlike = negative(a) != negative(b)
        if kind == "bf16":
            return np.where(unlike & (best != 0x7FFF), flip(best), best)
        return quiet(np.where(unlike, flip(best), best))

    return evaluate


def copy_sign(a, b):
    """Return b with the sign of a."""
    return np.copysign(b, a)


_TESTS = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    # Zeros are normal to an H200.
    "normal": lambda a: (
        np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0))
    ),
    "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
}


def property_test(name: str) -> Callable:
    """Return the test of `testp`."""
    return _TESTS[name]
