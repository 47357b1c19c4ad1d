"""Rounding of float64 values to narrower types, in every direction and once only.

The trick throughout is round-to-odd (Boldo and Melquiond, "Emulation of FMA and
correctly rounded sums", 2008): an exact sum is cut to 53 bits, and the last bit set
when anything was lost. Rounding that to a type of at most 51 bits, in any direction,
gives what rounding the exact sum would.

A bf16 value is its 16 bits in a uint16.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coursekit.simt.isa.syntax import DTYPES

_QUIET = {
    np.dtype(np.float32): (np.uint32, 0x7FFFFFFF),
    np.dtype(np.float16): (np.uint16, 0x7FFF),
}
_SMALLEST_NORMAL = {
    np.dtype(np.float16): np.float16(2.0**-14),
    np.dtype(np.float32): np.float32(2.0**-126),
}


def quiet(x: np.ndarray) -> np.ndarray:
    """Give NaNs of a fresh f32 or f16 array their canonical bits, in place.

    The dot product is the fastest test: a sum of squares is NaN only through a NaN.
    """
    total = x.dot(x)
    if total != total and x.dtype in _QUIET:
        bits, canonical = _QUIET[x.dtype]
        x.view(bits)[x != x] = canonical
    return x


def flush(x: np.ndarray) -> np.ndarray:
    """Replace subnormal f32 and f16 values by zeros of their sign, `.ftz`."""
    smallest = _SMALLEST_NORMAL.get(x.dtype)
    if smallest is None:
        return x
    tiny = np.abs(x) < smallest
    if not np.count_nonzero(tiny):
        return x
    return np.where(tiny, np.copysign(x.dtype.type(0), x), x)


def saturate(x: np.ndarray) -> np.ndarray:
    """Clamp to [0, 1]; NaN and -0 become +0, `.sat`."""
    one, zero = x.dtype.type(1), x.dtype.type(0)
    return np.where(x > zero, np.minimum(x, one), zero)


def rectify(x: np.ndarray) -> np.ndarray:
    """Replace negative values and -0 by 0, keep NaN, `.relu`."""
    if x.dtype == np.uint16:
        return np.where(x & 0x8000, np.uint16(0), x)
    return np.where(x <= 0, x.dtype.type(0), x)


def bf16_to_f32(x: np.ndarray) -> np.ndarray:
    """Widen bf16 bits."""
    return (x.astype(np.uint32) << 16).view(np.float32)


def widened(x: np.ndarray, kind: str) -> np.ndarray:
    """Convert any float type to float64, exactly."""
    return (bf16_to_f32(x) if kind == "bf16" else x).astype(np.float64)


def odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Add float64 values and round to odd; the sum must not overflow."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    inexact = (lost < 0) | (lost > 0)
    if not np.count_nonzero(inexact):
        return total
    # Where the loss has the other sign, the cut-off value is the one below.
    bits = total.view(np.int64)
    past = ((bits ^ lost.view(np.int64)) < 0) & inexact
    return ((bits - past) | inexact).view(np.float64)


def signed_zero(total, a, b, rounding: str) -> np.ndarray:
    """Give exact zero sums of unlike signs their sign: -0 when rounding down."""
    if rounding != "rm":
        return total
    unlike = np.signbit(a) != np.signbit(b)
    return np.where((total == 0) & unlike, -0.0, total)


def toward(x: np.ndarray, rounded: np.ndarray, rounding: str) -> np.ndarray:
    """Move nearest values of `x` to the neighbour that a direction asks for."""
    infinity = rounded.dtype.type(np.inf)
    if rounding == "rz":
        past = np.abs(rounded) > np.abs(x)
        return np.where(past, np.nextafter(rounded, rounded.dtype.type(0)), rounded)
    if rounding == "rm":
        return np.where(rounded > x, np.nextafter(rounded, -infinity), rounded)
    if rounding == "rp":
        return np.where(rounded < x, np.nextafter(rounded, infinity), rounded)
    return rounded


def _odd_f32(x: np.ndarray) -> np.ndarray:
    """Round float64 to odd float32."""
    near = x.astype(np.float32)
    past, short = np.abs(near) > np.abs(x), np.abs(near) < np.abs(x)
    bits = (near.view(np.uint32) - past) | (past | short)
    return bits.view(np.float32)


def round_bits(bits: np.ndarray, dropped: int, rounding: str) -> np.ndarray:
    """Cut low bits off f32 bit patterns, rounding what is left.

    Parameters
    ----------
    bits : ndarray of uint32
        Bits of float32 values that are not NaN.
    dropped : int
        How many low bits go: 16 for bf16, 13 for tf32.
    rounding : str
        rn, rz, rm, rp, or rna (nearest, ties away from zero).
    """
    kept, rest = bits >> dropped, bits & ((1 << dropped) - 1)
    half = 1 << (dropped - 1)
    negative = bits >= 0x80000000
    up = {
        "rn": (rest > half) | ((rest == half) & (kept & 1 > 0)),
        "rna": rest >= half,
        "rz": np.zeros_like(negative),
        "rm": (rest > 0) & negative,
        "rp": (rest > 0) & ~negative,
    }[rounding]
    return kept + up


def _to_bf16(x: np.ndarray, rounding: str) -> np.ndarray:
    near = _odd_f32(x.astype(np.float64, copy=False))
    rounded = round_bits(near.view(np.uint32), 16, rounding).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FFF), rounded)


def narrow(kind: str, rounding: str = "rn") -> Callable:
    """Return the function that rounds exact or odd float64 values to a type."""
    if kind == "bf16":
        return lambda x: _to_bf16(x, rounding)
    dtype = DTYPES[kind]
    if rounding == "rn":
        return lambda x: quiet(x.astype(dtype))
    return lambda x: quiet(toward(x, x.astype(dtype), rounding))


def narrow_tf32(rounding: str) -> Callable:
    """Return the function that rounds f32 to tf32, the low 13 bits zero.

    On an H200 `rna` keeps the upper bits of a NaN; the others give the canonical one.
    """

    def evaluate(x):
        bits = round_bits(x.view(np.uint32), 13, rounding) << np.uint32(13)
        missing = np.uint32(0x7FFFFFFF)
        if rounding == "rna":
            missing = x.view(np.uint32) & np.uint32(0xFFFFE000)
        return np.where(np.isnan(x), missing, bits)

    return evaluate


def flushing(function: Callable) -> Callable:
    """Flush the sources and the result of a function."""
    return lambda *sources: flush(function(*map(flush, sources)))


def followed_by(last: Callable, function: Callable) -> Callable:
    """Apply `last` to the result of a function."""
    return lambda *sources: last(function(*sources))
