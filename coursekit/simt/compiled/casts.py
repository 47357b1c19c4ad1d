"""Conversions and comparisons of lanes as LLVM IR."""

from __future__ import annotations

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import processor
from coursekit.simt.compiled.tracing import BOOL, F16, F32, F64, Lanes, vector

# -- conversions -----------------------------------------------------------------------


def converted(x: Lanes, dtype: np.dtype) -> Lanes:
    """Convert as `ndarray.astype` does."""
    if dtype == x.dtype:
        return x.copy()
    if dtype == BOOL:
        return compared("not_equal", x, x.like(0))
    if dtype.kind != "f":
        return _to_integer(x, dtype)
    if x.dtype.kind != "f":
        return _from_integer(x, dtype)
    if dtype == F16:
        return half(x if x.dtype == F32 else _f64_to_odd_f32(x))
    if x.dtype == F16:
        x = f16_to_f32(x)
        return x if dtype == F32 else converted(x, dtype)
    if dtype == F64:
        wide = x.of_number(f"fpext {x.float_type} {x.number} to {_real(x, F64)}", F64)
        wide.origin = x
        return wide
    if x.origin is not None:
        return x.origin.copy()
    return x.of_number(f"fptrunc {x.float_type} {x.number} to {_real(x, F32)}", F32)


def _real(x: Lanes, dtype) -> str:
    return vector("float" if dtype == F32 else "double", x.count)


def _word(x: Lanes, dtype) -> str:
    return vector(f"i{8 * np.dtype(dtype).itemsize}", x.count)


def _to_integer(x: Lanes, dtype: np.dtype) -> Lanes:
    to = _word(x, dtype)
    if x.dtype.kind == "f":
        raw = cut(f16_to_f32(x) if x.dtype == F16 else x, dtype)
        return x.of_bits(f"freeze {to} {raw.bits}", dtype)
    if x.constant is not None:
        return x.like(np.array(x.constant, f"u{x.dtype.itemsize}").view(x.dtype), dtype)
    if x.dtype != BOOL and dtype.itemsize == x.dtype.itemsize:
        return Lanes(x.builder, x.count, dtype, x.bits)
    if x.dtype == BOOL or dtype.itemsize > x.dtype.itemsize:
        verb = "sext" if x.dtype.kind == "i" else "zext"
    else:
        verb = "trunc"
    return x.of_bits(f"{verb} {x.type} {x.bits} to {to}", dtype)


def cut(x: Lanes, dtype: np.dtype) -> Lanes:
    """Truncate f32 or f64 to an integer; out of range the result is poison."""
    verb = "fptosi" if dtype.kind == "i" else "fptoui"
    to = _word(x, dtype)
    return x.of_bits(f"{verb} {x.float_type} {x.number} to {to}", dtype)


def _from_integer(x: Lanes, dtype: np.dtype) -> Lanes:
    if dtype == F16:
        return half(_from_integer(x, F32))
    verb = "sitofp" if x.dtype.kind == "i" else "uitofp"
    return x.of_number(f"{verb} {x.type} {x.bits} to {_real(x, dtype)}", dtype)


def _halves(x: Lanes) -> str:
    if not processor.has("f16c"):
        raise UnsupportedError("f16 on this processor")
    return vector("half", x.count)


def f16_to_f32(x: Lanes) -> Lanes:
    """Widen f16."""
    halves = _halves(x)
    number = x.builder.op(f"bitcast {x.type} {x.bits} to {halves}")
    return x.of_number(f"fpext {halves} {number} to {_real(x, F32)}", F32)


def half(x: Lanes) -> Lanes:
    """Round f32 to f16."""
    halves = _halves(x)
    number = x.builder.op(f"fptrunc {x.float_type} {x.number} to {halves}")
    return x.of_bits(f"bitcast {halves} {number} to {_word(x, F16)}", F16)


def _f64_to_odd_f32(x: Lanes) -> Lanes:
    """Round f64 to f32 so that rounding again to 16 bits is right."""
    if x.origin is not None:
        return x.origin
    near = converted(x, F32)
    size, exact = np.abs(converted(near, F64)), np.abs(x)
    past, short = size > exact, size < exact
    return ((near.view(np.uint32) - past) | (past | short)).view(np.float32)


# -- comparisons -----------------------------------------------------------------------

PREDICATES = {
    "equal": ("eq", "oeq"), "not_equal": ("ne", "une"), "less": ("lt", "olt"),
    "less_equal": ("le", "ole"), "greater": ("gt", "ogt"),
    "greater_equal": ("ge", "oge"),
}  # fmt: skip


def compared(name: str, a: Lanes, b: Lanes) -> Lanes:
    """Compare as the NumPy function of this name does."""
    whole, real = PREDICATES[name]
    if a.dtype.kind == "f":
        return float_compared(real, a, b)
    if whole not in ("eq", "ne"):
        whole = ("s" if a.dtype.kind == "i" else "u") + whole
    return a.of_bits(f"icmp {whole} {a.type} {a.bits}, {b.bits}", BOOL)


def float_compared(predicate: str, a: Lanes, b: Lanes) -> Lanes:
    """Compare floats with an LLVM predicate."""
    if a.dtype == F16:
        wide = f16_to_f32(a)
        a, b = wide, wide if b is a else f16_to_f32(b)
    return a.of_bits(f"fcmp {predicate} {a.float_type} {a.number}, {b.number}", BOOL)
