"""Conversions of floats, `cvt`, as hand-written LLVM IR.

`convert` makes the function of the lanes out of a form, or None where the form is left
to tracing.
"""

from __future__ import annotations

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.casts import (
    converted,
    cut,
    f16_to_f32,
    float_compared,
    half,
)
from coursekit.simt.compiled.floats import (
    flush,
    narrowed,
    quiet,
    rectify,
    saturate,
    widened,
)
from coursekit.simt.compiled.tracing import F16, F32, F64, S32, U16, U32, Lanes, choose
from coursekit.simt.isa.syntax import DTYPES

_ROUNDERS = {"rni": "rint", "rzi": None, "rmi": "floor", "rpi": "ceil"}


def _to_integer(form):
    """Clamp to the range; NaN gives 0, or the top bit for 64-bit types."""
    source, target = form["FLOAT"], form["CAST"]
    dtype, rounder = DTYPES[target], _ROUNDERS[form["IRND"]]
    limits = np.iinfo(dtype)
    nan = 1 << limits.bits - 1 if "64" in source + target else 0
    nan_is_lowest = nan == int(limits.min) & ((1 << limits.bits) - 1)

    def evaluate(a):
        a = widened(flush(a) if "ftz" in form else a, source)
        result = _clamped(a.call(rounder) if rounder else a, dtype, limits)
        if nan_is_lowest:
            return result
        nans = result.like(np.array(nan, np.uint64).astype(dtype))
        return choose(float_compared("ord", a, a), result, nans)

    return evaluate


def _clamped(x: Lanes, dtype: np.dtype, limits) -> Lanes:
    """Convert f32 or f64 to the nearest integer in range; NaN gives the lowest."""
    lowest = x.like(limits.min)
    x = choose(x > lowest, x, lowest)
    if limits.bits < (32 if x.dtype == F32 else 64):
        highest = x.like(limits.max)
        x = choose(x < highest, x, highest)
        return converted(converted(x, dtype if limits.bits == 32 else S32), dtype)
    inside = x < x.like(2.0 ** (limits.bits - (dtype.kind == "i")))
    return choose(inside, cut(x, dtype), x.like(limits.max, dtype))


def _from_integer(form):
    target = form["FLOAT"]
    if form.rounding != "rn" or target == "bf16":
        return None

    def evaluate(a):
        a = converted(a, F64 if target == "f64" else F32)
        return narrowed(saturate(a) if "sat" in form else a, target)

    return evaluate


def _between_floats(form):
    source, target = form["FLOAT2"], form["FLOAT"]
    if "IRND" in form and source != target:
        raise UnsupportedError(f"rounding of {source} to integral {target}")
    if {"IRND", "relu", "satfinite"} & set(form) or form.rounding != "rn":
        return None
    if source == target or {source, target} in ({"f64", "f16"}, {"f64", "bf16"}):
        return None
    if target == "bf16" and "sat" in form:
        return None

    def evaluate(a):
        if "ftz" in form and source == "f32":
            a = flush(a)
        a = converted(widened(a, source), F64 if target == "f64" else F32)
        a = narrowed(saturate(a) if "sat" in form else a, target)
        if "ftz" in form and target == "f32":
            a = flush(a)
        return a if (source, target) == ("bf16", "f32") else quiet(a)

    return evaluate


def _pair(form):
    """Convert two f32 to f16x2 or bf16x2, the first in the upper half."""
    if form.rounding != "rn" or {"relu", "satfinite"} & set(form):
        return None
    kind = "f16" if "f16x2" in form else "bf16"

    def evaluate(a, b):
        upper, lower = (quiet(narrowed(x, kind)).seen_as(U16) for x in (a, b))
        return converted(upper, U32) << 16 | converted(lower, U32)

    return evaluate


# -- eight bits ------------------------------------------------------------------------

# Bits of the fraction, bias of the exponent, the largest finite code.
_FP8 = {"e4m3x2": (3, 7, 0x7E), "e5m2x2": (2, 15, 0x7B)}


def _encode(x: Lanes, kind: str, relu: bool) -> Lanes:
    """Round f32 to eight bits, in u32; values too large give the largest finite."""
    fraction, bias, last = _FP8[kind]
    x = rectify(x) if relu else x
    size, dropped = np.abs(x), 23 - fraction
    word = size.seen_as(U32)
    rounded = (word + ((1 << dropped - 1) - 1) + (word >> dropped & 1)) >> dropped
    code = rounded - (127 - bias << fraction)
    steps = converted((size * 2.0 ** (bias - 1 + fraction)).call("rint"), U32)
    code = np.minimum(choose(size < 2.0 ** (1 - bias), steps, code), last)
    code = code | (x.seen_as(U32) >> 24 & 128)
    return choose(float_compared("ord", x, x), code, code.like(0x7F))


def _to_fp8(form):
    kind, relu = form["FP8"], "relu" in form

    def from_floats(a, b):
        upper, lower = (_encode(x, kind, relu) for x in (a, b))
        return converted(upper << 8 | lower, U16)

    def from_halves(a):
        halves = (converted(x, U16).seen_as(F16) for x in (a >> 16, a))
        return from_floats(*map(f16_to_f32, halves))

    return from_halves if "f16x2" in form else from_floats


def _decode(code: Lanes, kind: str, relu: bool) -> Lanes:
    """Widen eight bits, in u16, to f16 bits, in u16."""
    fraction, bias, last = _FP8[kind]
    size = code & 127
    number = (size << 10 - fraction).seen_as(F16)
    if bias != 15:
        number = half(f16_to_f32(number) * 2.0 ** (15 - bias))
    number = number.seen_as(U16) | (code & 128) << 8
    if relu:
        number = choose((code & 128) != 0, code.like(0), number)
    nan = size > last + (1 if kind == "e5m2x2" else 0)
    return choose(nan, code.like(0x7FFF), number)


def _from_fp8(form):
    def evaluate(a):
        low, high = (
            _decode(code, form["FP8"], "relu" in form) for code in (a & 255, a >> 8)
        )
        return converted(low, U32) | converted(high, U32) << 16

    return evaluate


def convert(form, _canonical):
    """Return the function of a `cvt`."""
    if "FLOAT" in form and "CAST" in form:
        return _to_integer(form) if "IRND" in form else _from_integer(form)
    if "FLOAT2" in form:
        return _between_floats(form)
    if "FP8" in form:
        return _to_fp8(form) if "satfinite" in form else _from_fp8(form)
    if {"f16x2", "bf16x2"} & set(form) and "f32" in form:
        return _pair(form)
    return None
