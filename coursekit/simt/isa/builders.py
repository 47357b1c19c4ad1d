"""Builders of the instruction table: from a matched form to the lanes' function.

They put together a function of `integer`, `bits`, `floating`, `comparison` or
`approximate` with what the modifiers ask for: .ftz around it, .sat and .relu behind
it, and the two halves of an x2 type.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.isa import comparison as cp
from coursekit.simt.isa import floating as fl
from coursekit.simt.isa import integer as it
from coursekit.simt.isa.rounding import (
    flushing,
    followed_by,
    narrow,
    rectify,
    saturate,
    widened,
)
from coursekit.simt.isa.syntax import Form


def always(function):
    """Build the same function for every form."""
    return lambda form: function


def same(a):
    """Return the source unchanged."""
    return a


def _float_kind(form: Form) -> str:
    return next(form[k] for k in ("REAL", "BRAIN", "HALF", "F") if k in form)


def real(make):
    """Build a float function of `make(kind, form)` with .ftz, .sat, .relu and x2."""

    def build(form: Form):
        kind = _float_kind(form)
        function = make(kind.removesuffix("x2"), form)
        if "sat" in form:
            function = followed_by(saturate, function)
        if "relu" in form:
            function = followed_by(rectify, function)
        if "ftz" in form:
            function = flushing(function)
        return fl.by_halves(function, kind) if kind.endswith("x2") else function

    return build


def arithmetic(name: str):
    """Build add, sub or mul of a float type."""
    return real(lambda kind, form: fl.arithmetic(name, kind, form.rounding))


def mixed(name: str):
    """Build add or sub of a 16-bit float and an f32 into f32."""

    def build(form: Form):
        kinds = (form["SMALL"], "f32")
        function = fl.mixed(name, kinds, "f32", form.rounding)
        return followed_by(saturate, function) if "sat" in form else function

    return build


def mixed_fma(form: Form):
    """Build fma of two 16-bit floats and an f32 into f32."""
    kinds = (form["SMALL"], form["SMALL"], "f32")
    function = fl.mixed_fma(kinds, "f32", form.rounding)
    return followed_by(saturate, function) if "sat" in form else function


def two_floats(name: str):
    """Build a function of both f32 halves of 64-bit words, `.f32x2`."""

    def build(form: Form):
        if name == "fma":
            function = fl.fma("f32", form.rounding)
        else:
            function = fl.arithmetic(name, "f32", form.rounding)
        if "ftz" in form:
            function = flushing(function)
        return lambda *words: function(
            *(it.parts(word, np.float32) for word in words)
        ).view(np.uint64)

    return build


def plain32(function):
    """Build an f32 function, with .ftz."""
    return lambda form: flushing(function) if "ftz" in form else function


def small(function):
    """Build a function of a 16-bit float type out of one of float64."""

    def make(kind, form):
        rounded = narrow(kind)
        return lambda a: rounded(function(widened(a, kind)))

    return real(make)


FMA = real(lambda kind, form: fl.fma(kind, form.rounding))


def extreme(name: str, inputs: int = 2):
    """Build min or max of a float type."""

    def make(kind, form):
        function = fl.extreme(name, kind, "NaN" in form)
        if "xorsign" in form:
            return fl.with_product_sign(function, kind)
        if inputs == 3:
            function = fl.of_three(function)
        return fl.of_magnitudes(function, kind) if "abs" in form else function

    return real(make)


def integer_extreme(function):
    """Build min or max of integers, with .relu."""

    def build(form: Form):
        built = it.not_negative(function) if "relu" in form else function
        return it.by_halves(built, form["PACKED"]) if "PACKED" in form else built

    return build


def _compared(form: Form) -> tuple:
    names = ("FROM", "INT", "BITS", "REAL", "BRAIN", "F")
    kind = next(form[name] for name in names if name in form)
    name = next(form[k] for k in ("CMP", "FCMP", "EQ") if k in form)
    return cp.comparison(name, kind.removesuffix("x2"), "ftz" in form), kind


def compare(form: Form):
    """Build `setp` with one predicate."""
    return cp.combined(_compared(form)[0], form.get("BOOL"))


def compare_both(form: Form):
    """Build `setp p|q`."""
    function, kind = _compared(form)
    if kind.endswith("x2"):
        return cp.each_half(function, kind, form.get("BOOL"))
    return cp.both_ways(function, form.get("BOOL"))


def as_mask(form: Form):
    """Build `set`."""
    function, kind = _compared(form)
    if kind.endswith("x2"):
        return cp.half_masks(function, kind, form["TO"], form.get("BOOL"))
    return cp.as_mask(cp.combined(function, form.get("BOOL")), form["TO"])


def shift(make):
    """Build a shift of the matched type."""
    return lambda form: make(form.get("BITS") or form["INT"])


def multiply(combine, part: str | None = None):
    """Build `mul` or, with a combination, `mad`."""
    return lambda form: combine(
        it.product(form.get("INT") or form["WIDENS"], part or form["PART"])
    )


def carry(make, reads: bool):
    """Build an operation with carry."""
    return lambda form: make(reads, "cc" in form)
