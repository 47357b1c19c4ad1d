"""Comparison and selection of PTX on arrays of lanes: setp, set, selp, slct."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coursekit.simt.isa.integer import parts
from coursekit.simt.isa.rounding import bf16_to_f32, flush
from coursekit.simt.isa.syntax import DTYPES


def _ordered_ne(a, b):
    return (a < b) | (a > b)


# Comparisons: those of integers, then those that are true for NaN.
_COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal,
    "hi": np.greater, "hs": np.greater_equal,
    "equ": lambda a, b: ~_ordered_ne(a, b), "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b), "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}  # fmt: skip
COMBINES = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def comparison(name: str, kind: str, ftz: bool = False) -> Callable:
    """Return the comparison of two values of a type, integer or float."""
    compare = _COMPARISONS[name]
    if kind[0] in "fb" and name == "ne" and kind not in ("b16", "b32", "b64"):
        compare = _ordered_ne
    if kind == "bf16":
        return lambda a, b: compare(bf16_to_f32(a), bf16_to_f32(b))
    return (lambda a, b: compare(flush(a), flush(b))) if ftz else compare


def combined(compare: Callable, name: str | None) -> Callable:
    """Combine a comparison with a predicate, `.and`, `.or`, `.xor`."""
    if name is None:
        return compare
    combine = COMBINES[name]
    return lambda a, b, p: combine(compare(a, b), p)


def both_ways(compare: Callable, name: str | None) -> Callable:
    """Return p and q of `setp p|q`: the comparison and its opposite, combined."""
    if name is None:
        return lambda a, b: ((p := compare(a, b)), ~p)
    combine = COMBINES[name]
    return lambda a, b, c: (combine(p := compare(a, b), c), combine(~p, c))


def each_half(compare: Callable, kind: str, name: str | None) -> Callable:
    """Return p and q of `setp.f16x2`: the comparison of the low and high halves."""
    half = DTYPES[kind.removesuffix("x2")]
    combine = COMBINES[name] if name else lambda p, c: p

    def evaluate(a, b, c=None):
        found = compare(parts(a, half), parts(b, half))
        return combine(found[0::2].copy(), c), combine(found[1::2].copy(), c)

    return evaluate


def as_mask(compare: Callable, kind: str) -> Callable:
    """Turn a comparison into the number that `set` writes: 1.0, or all bits."""
    dtype = DTYPES[kind]
    if kind == "bf16":
        return lambda *x: np.where(compare(*x), np.uint16(0x3F80), np.uint16(0))
    one = np.array(1 if kind in ("f16", "f32", "f64") else -1).astype(dtype)
    zero = dtype.type(0)
    return lambda *x: np.where(compare(*x), one, zero)


def half_masks(compare: Callable, source: str, target: str, name) -> Callable:
    """Return `set` of both halves of an x2 type: 1.0 or, for integers, 16 bits each."""
    half = DTYPES[source.removesuffix("x2")]
    result = target.removesuffix("x2") if target.endswith("x2") else "u16"
    function = as_mask(combined(compare, name), result)

    def evaluate(a, b, *c):
        found = function(parts(a, half), parts(b, half), *(np.repeat(p, 2) for p in c))
        return found.view(DTYPES[target])

    return evaluate


def select(a, b, p):
    """Return a where p, else b, `selp`."""
    return np.where(p, a, b)


def select_by_sign(ftz: bool) -> Callable:
    """Return a where c >= 0, else b (NaN takes b), `slct`."""
    if ftz:
        return lambda a, b, c: np.where(flush(c) >= 0, a, b)
    return lambda a, b, c: np.where(c >= 0, a, b)
