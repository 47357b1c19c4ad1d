"""Conversions of PTX, `cvt`, on arrays of lanes.

Conversions to integers clamp to the range of the target. NaN becomes 0 where neither
type has 64 bits, and the top bit alone otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from coursekit.simt.isa.integer import clamped, parts
from coursekit.simt.isa.rounding import (
    bf16_to_f32,
    flush,
    followed_by,
    narrow,
    narrow_tf32,
    odd_sum,
    quiet,
    rectify,
    saturate,
    widened,
)
from coursekit.simt.isa.syntax import DTYPES, Form

ROUNDERS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_FLOATS = {"f16", "bf16", "f32", "f64"}
_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def integer_to_integer(form: Form) -> Callable:
    """Extend or cut an integer, or with `.sat` clamp it."""
    target = DTYPES[form["CAST"]]
    if "sat" in form:
        return lambda a: clamped(a, form["CAST"])
    return lambda a: a.astype(target)


def float_to_integer(form: Form) -> Callable:
    """Round a float to an integer and clamp it to the type's range."""
    source, target = form["FLOAT"], form["CAST"]
    dtype, round_to_integral = DTYPES[target], ROUNDERS[form["IRND"]]
    limits = np.iinfo(dtype)
    nan = 1 << (limits.bits - 1) if "64" in source + target else 0
    nan = np.array(nan, np.uint64).astype(dtype)
    low, past = float(limits.min), float(limits.max)
    below = np.nextafter(past, 0) if limits.bits == 64 else past

    def evaluate(a):
        value = round_to_integral(widened(flush(a) if "ftz" in form else a, source))
        inside = np.minimum(np.maximum(value, low), below).astype(dtype)
        if limits.bits == 64:
            inside = np.where(value >= past, dtype.type(limits.max), inside)
        missing = value != value
        return np.where(missing, nan, inside) if np.count_nonzero(missing) else inside

    return evaluate


def integer_to_float(form: Form) -> Callable:
    """Round an integer to a float type."""
    source, target, rounding = form["CAST"], form["FLOAT"], form.rounding
    dtype = np.float64 if target == "bf16" else DTYPES[target]
    if rounding == "rn" and (target in ("f32", "f64")):
        convert = _astype(dtype)
    elif "64" not in source:
        narrowed = narrow(target, rounding)
        convert = followed_by(narrowed, _astype(np.float64))
    elif target == "f64":
        convert = _integer_to_f64(rounding)
    else:
        narrowed = narrow(target, rounding)
        convert = followed_by(narrowed, lambda a: odd_sum(*_two_parts(a)))
    return followed_by(saturate, convert) if "sat" in form else convert


def _astype(dtype) -> Callable:
    return lambda a: a.astype(dtype)


def _two_parts(a) -> tuple[np.ndarray, np.ndarray]:
    """Split 64-bit integers into two float64 values whose sum they are."""
    low = a & a.dtype.type(0xFFFFFFFF)
    return (a - low).astype(np.float64), low.astype(np.float64)


def _integer_to_f64(rounding: str) -> Callable:
    def evaluate(a):
        high, low = _two_parts(a)
        near = high + low
        error = low - (near - high)
        # Any value on the right side of `near`, as far as float64 can tell.
        side = np.sign(error)
        if rounding == "rz":
            side = np.where(np.sign(error) == np.sign(near), 0.0, side)
        wanted = {"rz": side, "rm": np.minimum(side, 0), "rp": np.maximum(side, 0)}
        step = wanted[rounding]
        return np.where(step == 0, near, np.nextafter(near, step * np.inf))

    return evaluate


def float_to_float(form: Form) -> Callable:
    """Convert between float types, or with rni, rzi, rmi, rpi round to integral."""
    source, target = form["FLOAT2"], form["FLOAT"]
    if "IRND" in form:
        convert = _to_integral(target, ROUNDERS[form["IRND"]])
    elif source == target:
        convert = _same
    elif _BITS[target] > _BITS[source] and target in ("f32", "f64"):
        convert = _widening(source, target)
    else:
        narrowed = narrow(target, form.rounding)
        convert = followed_by(narrowed, lambda a: widened(a, source))
    return _dressed(convert, form, target)


def _same(a):
    return quiet(a.copy()) if a.dtype.kind == "f" else a


def _to_integral(kind: str, round_to_integral: Callable) -> Callable:
    if kind == "bf16":
        to_bf16 = narrow("bf16")
        return lambda a: to_bf16(round_to_integral(bf16_to_f32(a)))
    return lambda a: quiet(round_to_integral(a))


def _widening(source: str, target: str) -> Callable:
    if source == "bf16":
        if target == "f32":
            return bf16_to_f32  # a shift: NaNs keep their bits
        return lambda a: widened(a, source)
    return lambda a: quiet(a.astype(DTYPES[target]))


def _largest(kind: str) -> np.ndarray:
    """Return the bits of the largest finite value of a 16-bit float type."""
    return np.uint16(0x7BFF if kind == "f16" else 0x7F7F)


def finite(kind: str) -> Callable:
    """Replace infinities by the largest finite value of their sign, `.satfinite`."""
    infinity = np.uint16(0x7C00 if kind == "f16" else 0x7F80)

    def evaluate(x):
        bits = x.view(np.uint16)
        clipped = np.where((bits & 0x7FFF) == infinity, bits - np.uint16(1), bits)
        return clipped.view(x.dtype)

    return evaluate


def _dressed(convert: Callable, form: Form, target: str) -> Callable:
    """Add what .ftz, .sat, .relu and .satfinite ask for."""
    if "satfinite" in form:
        convert = followed_by(finite(target), convert)
    if "relu" in form:
        convert = followed_by(rectify, convert)
    if "sat" in form:
        convert = followed_by(saturate, convert)
    if "ftz" not in form:
        return convert
    inner = convert

    def flushed(a):
        result = inner(flush(a) if a.dtype == np.float32 else a)
        return flush(result) if target == "f32" else result

    return flushed


def pair_to_half(form: Form) -> Callable:
    """Round two f32 to f16x2 or bf16x2: the first to the upper half."""
    kind = "f16" if "f16x2" in form else "bf16"
    narrowed = narrow(kind, form.rounding)
    single = _dressed(lambda a: narrowed(a.astype(np.float64)), form, kind)

    def evaluate(a, b):
        upper, lower = single(a).view(np.uint16), single(b).view(np.uint16)
        return upper.astype(np.uint32) << 16 | lower

    return evaluate


def to_tf32(form: Form) -> Callable:
    """Round f32 to tf32, its low 13 bits zero."""
    narrowed = narrow_tf32("rna" if "rna" in form else form.rounding)
    largest = np.uint32(0x7F7FE000)

    def evaluate(a):
        bits = narrowed(a)
        if "satfinite" in form:
            infinite = (bits & 0x7FFFFFFF) == 0x7F800000
            bits = np.where(infinite, (bits & 0x80000000) | largest, bits)
        if "relu" in form:
            bits = np.where(bits >= 0x80000000, np.uint32(0), bits)
        return bits

    return evaluate


@cache
def fp8_values(kind: str) -> np.ndarray:
    """Return the 256 values of e4m3 or e5m2, by their bits, as float64."""
    fraction_bits, bias = {"e4m3": (3, 7), "e5m2": (2, 15)}[kind]
    codes = np.arange(256)
    exponent = codes >> fraction_bits & (127 >> fraction_bits)
    fraction = codes & ((1 << fraction_bits) - 1)
    leading = np.where(exponent > 0, 1 << fraction_bits, 0) + fraction
    scale = np.maximum(exponent, 1) - bias - fraction_bits
    values = np.ldexp(leading.astype(np.float64), scale)
    if kind == "e5m2":
        special = np.where(fraction == 0, np.inf, np.nan)
        values = np.where(exponent == 31, special, values)
    else:
        values[codes & 127 == 127] = np.nan
    return np.where(codes < 128, values, -values)


def _fp8_encoder(kind: str) -> Callable:
    """Round float64 to e4m3 or e5m2 bits; too large is the largest finite."""
    last = {"e4m3": 0x7E, "e5m2": 0x7B}[kind]
    values = fp8_values(kind)[: last + 1]
    middles = (values[1:] + values[:-1]) / 2

    def evaluate(x):
        size = np.abs(x)
        code = np.searchsorted(middles, size)
        tie = np.append(middles, np.nan)[code] == size
        code = code + (tie & (code & 1 > 0))
        code = np.where(np.isnan(x), 0x7F, code | np.where(np.signbit(x), 128, 0))
        return np.where(np.isnan(x), 0x7F, code).astype(np.uint8)

    return evaluate


def to_fp8(form: Form) -> Callable:
    """Round two f32, or an f16x2, to e4m3x2 or e5m2x2."""
    encode = _fp8_encoder(form["FP8"].removesuffix("x2"))
    prepare = rectify if "relu" in form else (lambda x: x)

    def from_halves(a):
        return encode(prepare(parts(a, np.float16)).astype(np.float64)).view(np.uint16)

    def from_floats(a, b):
        upper, lower = (encode(prepare(x).astype(np.float64)) for x in (a, b))
        return upper.astype(np.uint16) << np.uint16(8) | lower

    return from_halves if "f16x2" in form else from_floats


def from_fp8(form: Form) -> Callable:
    """Widen e4m3x2 or e5m2x2 to f16x2."""
    values = fp8_values(form["FP8"].removesuffix("x2")).astype(np.float16)
    values[np.isnan(values)] = np.uint16(0x7FFF).view(np.float16)

    def evaluate(a):
        halves = values[parts(a, np.uint8)]
        if "relu" in form:
            halves = rectify(halves)
        return halves.view(np.uint32)

    return evaluate


def pack_saturated(form: Form) -> Callable:
    """Clamp two s32, put them side by side, above them the low bits of c."""
    kind = form["PACK"]
    size, signed = int(kind[1:]), kind[0] == "s"
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if signed else (0, 2**size - 1)

    def evaluate(a, b, c=None):
        first, second = (
            np.clip(x, low, high).view(np.uint32) & np.uint32(2**size - 1)
            for x in (a, b)
        )
        both = first << size | second
        return both if c is None else both | c << 2 * size

    return evaluate
