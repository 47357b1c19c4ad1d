"""Comparison and selection as hand-written LLVM IR: setp, set, selp, slct, mov.

Each entry of HAND makes the function of the lanes out of a form, or None where the
form is left to tracing.
"""

from __future__ import annotations

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.casts import compared, converted, float_compared
from coursekit.simt.compiled.floats import flush, widened
from coursekit.simt.compiled.tracing import F32, U16, U32, Lanes, choose
from coursekit.simt.isa.syntax import DTYPES

_WHOLE = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
          "gt": "greater", "ge": "greater_equal", "lo": "less", "ls": "less_equal",
          "hi": "greater", "hs": "greater_equal"}  # fmt: skip
_REAL = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge",
         "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt",
         "geu": "uge", "num": "ord", "nan": "uno"}  # fmt: skip
_COMBINE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def _comparison(form, kind: str):
    """Return the comparison of two values of a single type."""
    name = next(form[k] for k in ("CMP", "FCMP", "EQ") if k in form)
    if "FCMP" not in form:
        return lambda a, b: compared(_WHOLE[name], a, b)

    def evaluate(a, b):
        if "ftz" in form and kind != "bf16":
            a, b = flush(a), flush(b)
        return float_compared(_REAL[name], widened(a, kind), widened(b, kind))

    return evaluate


def _kind(form) -> str:
    kinds = ("FROM", "INT", "BITS", "REAL", "BRAIN", "F")
    return next(form[k] for k in kinds if k in form)


def _combined(form):
    """Combine a comparison with a predicate, if there is one."""
    combine = _COMBINE.get(form.get("BOOL"))
    return lambda found, p: found if combine is None else combine(found, p)


def _set_predicate(form):
    kind, join = _kind(form), _combined(form)
    compare = _comparison(form, kind.removesuffix("x2"))
    if kind.endswith("x2"):
        if not form.both:
            return None  # no such instruction; the interpreter's function is plain
        return lambda a, b, p=None: tuple(
            join(compare(x, y), p) for x, y in _halves(kind, a, b)
        )

    def evaluate(a, b, p=None):
        found = compare(a, b)
        first = join(found, p)
        return (first, join(~found, p)) if form.both else first

    return evaluate


def _halves(kind: str, *words: Lanes):
    """Return the low and the high halves of words of an x2 type."""
    half = DTYPES[kind.removesuffix("x2")]
    for shift in (0, 16):
        yield tuple(
            converted(w >> shift if shift else w, U16).seen_as(half) for w in words
        )


def _set_number(form):
    """Return `set` of both halves of an x2 type: 1.0 or, for integers, 16 bits each."""
    kind, target, join = _kind(form), form["TO"], _combined(form)
    if not kind.endswith("x2"):
        return None
    dtype = DTYPES[target]
    if dtype.itemsize != 4:
        raise UnsupportedError(f"set of two halves as {target}")
    one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(target, 0xFFFF)
    compare = _comparison(form, kind.removesuffix("x2"))

    def evaluate(a, b, p=None):
        low, high = (join(compare(x, y), p) for x, y in _halves(kind, a, b))
        zero = a.like(0, U32)
        word = choose(low, zero.like(one), zero) | choose(
            high, zero.like(one << 16), zero
        )
        return word.seen_as(dtype)

    return evaluate


def _chosen(condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """Select between bits."""
    as_word = f"u{a.dtype.itemsize}"
    return choose(condition, a.seen_as(as_word), b.seen_as(as_word)).seen_as(a.dtype)


def _select(form):
    return lambda a, b, p: _chosen(p, a, b)


def _select_by_sign(form):
    def evaluate(a, b, c):
        if c.dtype != F32:
            return _chosen(compared("greater_equal", c, c.like(0)), a, b)
        c = flush(c) if "ftz" in form else c
        return _chosen(float_compared("oge", c, c.like(0)), a, b)

    return evaluate


def _same(form):
    return lambda a: a


HAND = {
    "setp": _set_predicate, "set": _set_number, "selp": _select,
    "slct": _select_by_sign, "mov": _same,
}  # fmt: skip
