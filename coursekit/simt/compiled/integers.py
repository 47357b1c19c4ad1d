"""Integer arithmetic as hand-written LLVM IR, where traced code would be long.

Each entry of HAND makes the function of the lanes out of a form, or None where the
form is left to tracing.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.compiled.casts import converted
from coursekit.simt.compiled.tracing import S32, U32, Lanes, choose


def _width(x: Lanes) -> int:
    return 8 * x.dtype.itemsize


def _multiply(form):
    """Return the upper half of a 64-bit product of single lanes."""
    kind = form.get("INT", "")
    if form.get("PART") != "hi" or kind[1:] != "64":
        return None

    def evaluate(a, b, c=None):
        if a.count > 1:
            return None
        verb = "sext" if kind[0] == "s" else "zext"
        a128, b128 = (a.builder.op(f"{verb} i64 {x.bits} to i128") for x in (a, b))
        product = a.builder.op(f"mul i128 {a128}, {b128}")
        high = a.builder.op(f"lshr i128 {product}, 64")
        result = a.of_bits(f"trunc i128 {high} to i64")
        return result if c is None else result + c

    return evaluate


def _quotient(a: Lanes, b: Lanes) -> Lanes:
    """Divide toward zero; where b is 0 the result is anything."""
    verb = "sdiv" if a.dtype.kind == "i" else "udiv"
    known = b.constant
    if known and known != (1 << _width(b)) - 1:
        return a.of_bits(f"{verb} {a.type} {a.bits}, {b.bits}")
    safe = choose(b == 0, b.like(1), b)
    if a.dtype.kind == "i":
        minus = b == -1
        safe = choose(minus, b.like(1), safe)
    quotient = _safe_quotient(a, safe, verb)
    return choose(minus, -a, quotient) if a.dtype.kind == "i" else quotient


def _safe_quotient(a, b, verb):
    """Divide in f64 or f32, whose rounding never reaches the next integer."""
    if a.count == 1 or _width(a) == 64:
        return a.of_bits(f"{verb} {a.type} {a.bits}, {b.bits}")
    real = np.dtype("f8" if _width(a) == 32 else "f4")
    return converted(converted(a, real) / converted(b, real), a.dtype)


def _divide(form):
    return _quotient if "INT" in form else None


def _remainder(form):
    return lambda a, b: a - _quotient(a, b) * b


def _dot(form):
    """Emit `dp4a` and `dp2a`."""
    a_signed, b_signed = form["W32"] == "s32", form["W322"] == "s32"
    narrow, parts = (16, 2) if "PART" in form else (8, 4)
    first = 2 if form.get("PART") == "hi" else 0

    def cut(x, place, size, signed):
        x = x.seen_as(S32 if signed else U32)
        return (x << (32 - size - place * size) >> (32 - size)).seen_as(S32)

    def evaluate(a, b, c):
        for k in range(parts):
            c = c + cut(a, k, narrow, a_signed) * cut(b, first + k, 8, b_signed)
        return c

    return evaluate


HAND = {
    "mul": _multiply, "mad": _multiply, "div": _divide, "rem": _remainder,
    "dp4a": _dot, "dp2a": _dot,
}  # fmt: skip
