"""Floating-point instructions as hand-written LLVM IR.

Each entry of HAND makes the function of the lanes out of a form and `canonical`, or
None where the form is left to tracing. Forms of x2 types arrive as their single type.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.compiled import processor
from coursekit.simt.compiled.casts import converted, f16_to_f32, float_compared, half
from coursekit.simt.compiled.directed import directed
from coursekit.simt.compiled.tracing import F16, F32, U16, U32, Lanes, choose
from coursekit.simt.isa.syntax import Form

# -- NaN, subnormal numbers, ranges ----------------------------------------------------


def quiet(x: Lanes) -> Lanes:
    """Give NaNs of f32 and f16 their canonical bits."""
    if x.dtype == F32:
        ordered = float_compared("ord", x, x)
        return choose(ordered, x, x.like(0x7FFFFFFF, U32).seen_as(F32)).seen_as(F32)
    if x.dtype == F16:
        word = x.seen_as(U16)
        return choose((word & 0x7FFF) > 0x7C00, word.like(0x7FFF), word).seen_as(F16)
    return x


def flush(x: Lanes) -> Lanes:
    """Replace subnormal f32 and f16 values by zeros of their sign."""
    if x.dtype not in (F32, F16):
        return x
    word = x.seen_as(U32 if x.dtype == F32 else U16)
    exponent, sign = (0x7F800000, 1 << 31) if x.dtype == F32 else (0x7C00, 1 << 15)
    return choose((word & exponent) == 0, word & sign, word).seen_as(x.dtype)


def saturate(x: Lanes) -> Lanes:
    """Clamp to [0, 1]; NaN and -0 become +0."""
    zero, one = x.like(0), x.like(1)
    x = choose(x > zero, x, zero)
    return choose(x < one, x, one)


def rectify(x: Lanes) -> Lanes:
    """Replace negative values and -0 by 0, keep NaN."""
    return choose(x <= 0, x.like(0), x)


def to_bf16(x: Lanes) -> Lanes:
    """Round f32 to bf16, to nearest."""
    word = x.seen_as(U32)
    odd = word >> 16 & 1
    rounded = (word + 0x7FFF + odd) >> 16
    nan = float_compared("uno", x, x)
    return converted(choose(nan, word.like(0x7FFF), rounded), U16)


def widened(x: Lanes, kind: str) -> Lanes:
    """Return a 16-bit float as f32; other types as they are."""
    if kind == "bf16":
        return (converted(x, U32) << 16).seen_as(F32)
    return f16_to_f32(x) if x.dtype == F16 else x


def narrowed(x: Lanes, kind: str) -> Lanes:
    """Round f32 to a 16-bit float type; other types stay as they are."""
    if kind == "bf16":
        return to_bf16(x)
    return half(x) if kind == "f16" else x


def kind_of(form: Form) -> str:
    """Return the float type of a form."""
    return next(form[k] for k in ("REAL", "BRAIN", "HALF", "F") if k in form)


def dressed(compute, form: Form, canonical: bool):
    """Add .ftz, .sat, .relu and the canonical NaN to a function of f32 or f64."""
    kind = kind_of(form)

    def evaluate(*sources):
        if "ftz" in form:
            sources = [flush(x) for x in sources]
        result = compute(*(widened(x, kind) for x in sources))
        if "sat" in form:
            result = saturate(result)
        if "relu" in form:
            result = rectify(result)
        result = narrowed(result, kind)
        if "ftz" in form:
            result = flush(result)
        if kind == "bf16" or not canonical or "sat" in form:
            return result
        return quiet(result)

    return evaluate


# -- arithmetic ------------------------------------------------------------------------

_NATIVE = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def _arithmetic(name: str):
    def make(form, canonical):
        if not {"REAL", "BRAIN", "F"} & set(form):
            return None
        compute = _NATIVE[name]
        if form.rounding != "rn":
            if kind_of(form) not in ("f32", "f64"):
                return None
            compute = directed(name, form.rounding)
        return dressed(compute, form, canonical)

    return make


def _fma(form, canonical):
    if not {"HALF", "BRAIN", "F"} & set(form):
        return None
    kind = kind_of(form)
    if kind == "bf16":
        return None
    if kind == "f16":
        return dressed(_odd_fma, form, canonical)
    if not processor.has("fma"):
        return None
    if form.rounding != "rn":
        return dressed(directed("fma", form.rounding), form, canonical)
    return dressed(lambda a, b, c: a.call("fma", b, c), form, canonical)


def _odd_fma(a, b, c):
    """Return a multiply-add of f16 in f32, rounded to odd; the product is exact."""
    product = a * b
    total = product + c
    part = total - product
    lost = (product - (total - part)) + (c - part)
    inexact = float_compared("one", lost, lost.like(0))
    bits = total.seen_as(np.int32)
    past = ((bits ^ lost.seen_as(np.int32)) < 0) & inexact
    return ((bits - past) | inexact).seen_as(F32)


def _divide(form, canonical):
    if "F" not in form and "full" not in form:
        return None
    form = Form({"F": "f32", **form})
    if form.rounding != "rn":
        return dressed(directed("div", form.rounding), form, canonical)
    return dressed(np.divide, form, canonical)


def _reciprocal(form, canonical):
    if "f64" in form:
        return None
    divide = _divide(Form({"F": "f32", **form}), canonical)
    return lambda a: divide(a.like(1), a)


def _square_root(form, canonical):
    form = Form({"F": "f32", **form})
    if form.rounding != "rn":
        return dressed(directed("sqrt", form.rounding), form, canonical)
    return dressed(np.sqrt, form, canonical)


def _sign_change(function):
    """Return abs or neg; bf16 is plain bits."""

    def make(form, canonical):
        if not {"REAL", "BRAIN"} & set(form) or kind_of(form) == "bf16":
            return None

        def evaluate(a):
            a = function(flush(a) if "ftz" in form else a)
            return quiet(a) if canonical else a

        return evaluate

    return make


def _extreme(name: str):
    def make(form, canonical):
        if not {"REAL", "BRAIN", "F"} & set(form) or "xorsign" in form:
            return None
        intrinsic = name + ("imum" if "NaN" in form else "imumnum")

        def compute(a, *others):
            if "abs" in form:
                a, *others = (np.abs(x) for x in (a, *others))
            for other in others:
                a = a.call(intrinsic, other)
            return a

        return dressed(compute, form, canonical)

    return make


HAND = {
    "add": _arithmetic("add"), "sub": _arithmetic("sub"), "mul": _arithmetic("mul"),
    "fma": _fma, "mad": _fma, "div": _divide, "rcp": _reciprocal,
    "sqrt": _square_root, "abs": _sign_change(np.abs), "neg": _sign_change(np.negative),
    "min": _extreme("min"), "max": _extreme("max"),
}  # fmt: skip
