"""Matrix products by a warp, `mma.sync`, as calls of a function of the module."""

from __future__ import annotations

import functools

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import processor
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.casts import f16_to_f32
from coursekit.simt.compiled.nans import quieted
from coursekit.simt.compiled.tier import vector
from coursekit.simt.compiled.tracing import F16, Lanes
from coursekit.simt.compiled.values import Value
from coursekit.simt.interpreter.products import (
    TF32_BITS,
    Form,
    form_of,
    side_lanes,
    top_lanes,
)
from coursekit.simt.isa.integer_products import IntegerForm

_WORDS, _FLOATS = vector("i32"), vector("float")
_RESULTS = f"{{ {', '.join([_WORDS] * 4)} }}"


class Products:
    """The matrix products of both tiers."""

    def emit_mma(self, instruction) -> None:
        """Emit the product; all lanes are here."""
        if not self.fast:
            self.require(self.out.op(f"icmp eq i32 {self.mask}, -1"))
        form, (target, *sources) = form_of(instruction), instruction.operands
        if form is None:
            raise UnsupportedError(instruction.name)
        given = [
            self.source(element, kind, LANES)
            for source, kind in zip(sources, ("b32", "b32", form.result), strict=True)
            for element in source.elements
        ]
        text, declarations = _function(form)
        for declaration in (*declarations, text):
            self.out.declare(declaration)
        arguments = ", ".join(f"{_WORDS} {name}" for name in given)
        found = self.out.op(f"call {_RESULTS} {_symbol(form)}({arguments})")
        for number, register in enumerate(target.elements):
            name = self.out.op(f"extractvalue {_RESULTS} {found}, {number}")
            self.give(register, form.result, Value(name))


def _symbol(form: Form | IntegerForm) -> str:
    return f"@product_{form.kind}_{form.depth}"


@functools.cache
def _function(form: Form | IntegerForm) -> tuple[str, tuple[str, ...]]:
    """Return the text of the function, and its declarations."""
    if isinstance(form, IntegerForm):
        return _integer_function(form)
    if not processor.has("fma"):
        raise UnsupportedError("multiply-add on this processor")
    out = Builder()
    of_a, of_b = form.words
    names = [f"%a{number}" for number in range(of_a + of_b + 4)]
    a = [_parts(out, form.kind, name) for name in names[:of_a]]
    b = [_parts(out, form.kind, name) for name in names[of_a:-4]]
    d = [out.op(f"bitcast {_WORDS} {name} to {_FLOATS}") for name in names[-4:]]
    fma = f"@llvm.fma.v{LANES}f32"
    out.declare(f"declare {_FLOATS} {fma}({', '.join([_FLOATS] * 3)})")
    for k in range(form.depth):
        step, t, part = form.place(k)
        left = [_moved(out, a[2 * step + h][part], top_lanes(t)) for h in (0, 1)]
        right = [_moved(out, b[step][part], side_lanes(t, n)) for n in (0, 1)]
        for number in range(4):
            factors = left[number // 2], right[number % 2], d[number]
            given = ", ".join(f"{_FLOATS} {name}" for name in factors)
            d[number] = out.op(f"call {_FLOATS} {fma}({given})")
    results = []
    for name in d:
        bits = out.op(f"bitcast {_FLOATS} {name} to {_WORDS}")
        results.append(quieted(out, bits, LANES))
    return _text(form, out, names, results)


def _integer_function(form: IntegerForm) -> tuple[str, tuple[str, ...]]:
    """Return the function of a product of integers, and its declarations."""
    out = Builder()
    of_a, of_b = form.words
    names = [f"%a{number}" for number in range(of_a + of_b + 4)]
    a = [_bytes(out, form.left, name) for name in names[:of_a]]
    b = [_bytes(out, form.right, name) for name in names[of_a:-4]]
    sums = ["zeroinitializer"] * 4
    for k in range(form.depth):
        step, t, part = k // 16, k % 16 // 4, k % 4
        left = [
            _moved(out, a[2 * step + h][part], top_lanes(t), _WORDS) for h in (0, 1)
        ]
        right = [_moved(out, b[step][part], side_lanes(t, n), _WORDS) for n in (0, 1)]
        for number in range(4):
            factors = f"{left[number // 2]}, {right[number % 2]}"
            found = out.op(f"mul {_WORDS} {factors}")
            sums[number] = out.op(f"add {_WORDS} {sums[number]}, {found}")
    results = [_added(out, form, *pair) for pair in zip(sums, names[-4:], strict=True)]
    return _text(form, out, names, results)


def _added(out: Builder, form: IntegerForm, total: str, start: str) -> str:
    if not form.saturates:
        return out.op(f"add {_WORDS} {total}, {start}")
    name = f"@llvm.sadd.sat.v{LANES}i32"
    out.declare(f"declare {_WORDS} {name}({_WORDS}, {_WORDS})")
    return out.op(f"call {_WORDS} {name}({_WORDS} {total}, {_WORDS} {start})")


def _bytes(out: Builder, kind: str, words: str) -> list[str]:
    """Return the four elements of the words of all lanes, widened to 32 bits."""
    verb = "ashr" if kind == "s8" else "lshr"
    shifted = [out.op(f"shl {_WORDS} {words}, splat (i32 {24 - 8 * n})")
               for n in range(4)]  # fmt: skip
    return [out.op(f"{verb} {_WORDS} {word}, splat (i32 24)") for word in shifted]


def _text(form, out: Builder, names, results) -> tuple[str, tuple[str, ...]]:
    """Return the text of a function of these results, and its declarations."""
    value = "poison"
    for number, bits in enumerate(results):
        value = out.op(f"insertvalue {_RESULTS} {value}, {_WORDS} {bits}, {number}")
    listed = ", ".join(f"{_WORDS} {name}" for name in names)
    head = f"define internal {_RESULTS} {_symbol(form)}({listed}) noinline {{"
    text = "\n".join([head, *out.lines, f"  ret {_RESULTS} {value}", "}"])
    return text, tuple(out.declarations)


def _parts(out: Builder, kind: str, words: str) -> list[str]:
    """Return the elements of the words of all lanes, as floats."""
    if kind == "tf32":
        mask = TF32_BITS - (1 << 32)
        found = [out.op(f"and {_WORDS} {words}, splat (i32 {mask})")]
    elif kind == "bf16":
        low = out.op(f"shl {_WORDS} {words}, splat (i32 16)")
        found = [low, out.op(f"and {_WORDS} {words}, splat (i32 -65536)")]
    else:
        return [_half(out, words, shift) for shift in (0, 16)]
    return [out.op(f"bitcast {_WORDS} {bits} to {_FLOATS}") for bits in found]


def _half(out: Builder, words: str, shift: int) -> str:
    bits = out.op(f"lshr {_WORDS} {words}, splat (i32 {shift})")
    bits = out.op(f"trunc {_WORDS} {bits} to {vector('i16')}")
    return f16_to_f32(Lanes(out, LANES, F16, bits)).number


def _moved(out: Builder, values: str, lanes, type_: str = _FLOATS) -> str:
    """Return the values of other lanes."""
    text = ", ".join(f"i32 {lane}" for lane in lanes)
    return out.op(f"shufflevector {type_} {values}, {type_} poison, {_WORDS} <{text}>")
