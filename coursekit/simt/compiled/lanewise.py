"""Lane-wise instructions as LLVM IR.

Frequent forms are written out by hand (`integers`, `bitwise`, `choices`, `floats`,
`float_conversions`); for all others the interpreter's own function is traced
(`tracing`). Where one instruction would become many, they are a function of the
module, and the instruction is a call.
"""

from __future__ import annotations

import functools

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import (
    bitwise,
    choices,
    float_conversions,
    floats,
    integers,
)
from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.tracing import Lanes, constant_of, vector, word
from coursekit.simt.isa import table, traits
from coursekit.simt.isa.syntax import DTYPES, Form
from coursekit.simt.isa.traits import ATOMIC
from coursekit.simt.ptx.ir import Pair

_WHOLE = {**integers.HAND, **bitwise.HAND, **choices.HAND}
_REAL = {**floats.HAND, "cvt": float_conversions.convert}
_LONGEST = 24  # lines of an instruction that is not worth a function
# Instructions that constant operands make short.
_SHORTENED = {"bfe", "bfi", "bmsk", "div", "fns", "lop3", "prmt", "rem", "shf", "szext"}


def emit(builder, instruction, operation, sources, width, canonical=True) -> list[str]:
    """Append an instruction; return the operands that hold its results.

    NaN results of f64 arithmetic are NaNs, but may have other payloads than the
    interpreter's. A divisor of 0 gives some number.

    Parameters
    ----------
    builder : Builder
    instruction : ir.Instruction
    operation : isa.Operation
        Of `isa.operation` or `isa.atomic`.
    sources : list of str
        IR operands: integers as wide as the types of the operation, i1 for predicates.
        The carry is the last.
    width : int
        1 for scalars, 32 for vectors of all lanes.
    canonical : bool
        Whether NaN results of f32, f16 and bf16 arithmetic need their canonical bits.

    Returns
    -------
    list of str
        One name a result, and the carry, of types as the sources'.

    Raises
    ------
    UnsupportedError
        When only the interpreter can do it.
    """
    return plan_of(instruction, operation, canonical).emit(builder, sources, width)


def plan_of(instruction, operation, canonical=True) -> Plan:
    """Return how an instruction is emitted."""
    if traits.of(instruction).memory == ATOMIC:
        flushes = "global" in instruction.modifiers and instruction.type == "f32"
        return _atomic_plan(operation, flushes, canonical)
    operands = instruction.operands
    both = bool(operands) and isinstance(operands[0], Pair)
    return _plan(instruction.opcode, instruction.modifiers, both, operation, canonical)


class Words(Form):
    """The modifiers of a form, and whether it writes two predicates."""

    both = False


class Plan:
    """The plan for emitting one form of an instruction.

    Parameters
    ----------
    name : str
        For the function, if it becomes one.
    operation : isa.Operation
    hand, traced : callable or None
        Functions of the lanes; the second where the first is None or returns None.
    half : str or None
        The single type whose lanes, twice as many, the functions take.
    """

    def __init__(self, name, operation, hand, traced, half):
        self.name, self.hand, self.traced, self.half = name, hand, traced, half
        self.opcode = name.split(".")[0]
        self.sources = (*operation.sources, *["pred"] * operation.reads_carry)
        self.results = (*operation.results, *["pred"] * operation.writes_carry)

    def emit(self, builder, sources, width) -> list[str]:
        if self.opcode in _SHORTENED and any(
            constant_of(text, 64) is not None for text in sources
        ):
            return self.inline(builder, sources, width)
        text, declarations = _function(self, width)
        if text is None:
            return self.inline(builder, sources, width)
        for declaration in declarations:
            builder.declare(declaration)
        builder.declare(text)
        return self._call(builder, sources, width)

    def inline(self, builder, sources, width) -> list[str]:
        """Append the instructions without a call."""
        lanes = [
            self._operand(builder, text, kind, width)
            for text, kind in zip(sources, self.sources, strict=True)
        ]
        found = self.hand(*lanes) if self.hand else None
        if found is None:
            found = self.traced(*lanes)
        found = found if isinstance(found, tuple) else (found,)
        return [
            self._result(builder, value, kind, width)
            for value, kind in zip(found, self.results, strict=True)
        ]

    def _operand(self, builder, text, kind, width) -> Lanes:
        dtype = DTYPES[kind]
        if self.half is None:
            return Lanes(builder, width, dtype, text)
        half = DTYPES[self.half]
        whole, part = vector(word(dtype), width), vector(word(half), 2 * width)
        name = builder.op(f"bitcast {whole} {text} to {part}")
        return Lanes(builder, 2 * width, half, name)

    def _result(self, builder, value, kind, width) -> str:
        wanted = DTYPES[self.half or kind]
        if not isinstance(value, Lanes) or value.dtype != wanted:
            raise UnsupportedError(f"{self.name} gives something else than {kind}")
        if self.half is None:
            return value.bits
        whole = vector(word(DTYPES[kind]), width)
        return builder.op(f"bitcast {value.type} {value.bits} to {whole}")

    # -- as a function -----------------------------------------------------------------

    def _symbol(self, width) -> str:
        return f"@lanes_{self.name}_{width}"

    def _types(self, kinds, width) -> list[str]:
        return [vector(word(DTYPES[kind]), width) for kind in kinds]

    def _returned(self, width) -> str:
        types = self._types(self.results, width)
        return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"

    def _call(self, builder, sources, width) -> list[str]:
        types = self._types(self.sources, width)
        arguments = ", ".join(f"{t} {s}" for t, s in zip(types, sources, strict=True))
        returned = self._returned(width)
        found = builder.op(f"call {returned} {self._symbol(width)}({arguments})")
        if len(self.results) == 1:
            return [found]
        return [
            builder.op(f"extractvalue {returned} {found}, {number}")
            for number in range(len(self.results))
        ]

    def define(self, width) -> tuple[str | None, tuple[str, ...]]:
        """Return the text of a function, if one pays off, and its declarations."""
        builder = Builder()
        names = [f"%a{number}" for number in range(len(self.sources))]
        try:
            found = self.inline(builder, names, width)
        except UnsupportedError:
            return None, ()  # with constants, it may do
        if len(builder.lines) <= _LONGEST:
            return None, ()
        returned, value = self._returned(width), found[0]
        if len(found) > 1:
            value = "poison"
            types = self._types(self.results, width)
            for number, (type_, name) in enumerate(zip(types, found, strict=True)):
                value = builder.op(
                    f"insertvalue {returned} {value}, {type_} {name}, {number}"
                )
        types = self._types(self.sources, width)
        listed = ", ".join(f"{t} {n}" for t, n in zip(types, names, strict=True))
        head = f"define internal {returned} {self._symbol(width)}({listed}) {{"
        text = "\n".join([head, *builder.lines, f"  ret {returned} {value}", "}"])
        return text, tuple(builder.declarations)


@functools.cache
def _function(plan: Plan, width: int) -> tuple[str | None, tuple[str, ...]]:
    return plan.define(width)


# -- finding the functions of an instruction -------------------------------------------


@functools.cache
def _plan(opcode, modifiers, both, operation, canonical) -> Plan:
    dotted = "".join(f".{word}" for word in modifiers)
    form, row = _form(opcode, dotted, 1 + both, len(operation.sources))
    single, traced = _one_half(row, form)
    hand = None
    if single is not None or form.get("f32x2") is None:
        hand = _by_hand(opcode, single or form, canonical)
    name = f"{opcode}{dotted}.{len(operation.sources)}"
    name += ".pair" * both + ".raw" * (not canonical)
    half = single.half if single else None
    return Plan(name, operation, hand, traced or operation.evaluate, half)


def _form(opcode, modifiers, results, sources):
    for row in table.ROWS:
        if row.opcode == opcode:
            form = row.match(modifiers, results, sources)
            if form is not None:
                form = Words(form)
                form.both = results == 2
                return form, row
    raise UnsupportedError(f"{opcode}{modifiers}")


def _one_half(row, form):
    """Return the form of an x2 type's single type, and the function to trace."""
    if "f32x2" in form:
        return _with_half(form, "f32", REAL="f32", F="f32"), None
    name = next((k for k in ("REAL", "BRAIN", "HALF", "PACKED") if k in form), None)
    if name is None or row.opcode == "setp" or not form[name].endswith("x2"):
        return None, None
    half = form[name].removesuffix("x2")
    if name != "PACKED":
        single = _with_half(form, half, **{name: half})
        return single, row.build(single)
    if row.opcode == "add":
        return _with_half(form, half), np.add
    words = {k: v for k, v in form.items() if k != "PACKED"}
    single = _with_half(words, half, INT=half)
    return single, row.build(single)


def _with_half(words, half: str, **changes) -> Words:
    single = Words({**words, **changes})
    single.half = half
    return single


def _by_hand(opcode, form, canonical):
    found = _WHOLE[opcode](form) if opcode in _WHOLE else None
    if found is None and opcode in _REAL:
        found = _REAL[opcode](form, canonical)
    return found


@functools.cache
def _atomic_plan(operation, flushes: bool, canonical: bool) -> Plan:
    kind = operation.sources[0]
    if "f" not in kind:
        return Plan("atom", operation, None, operation.evaluate, None)
    single = kind.removesuffix("x2")
    form = Form({"BRAIN" if single == "bf16" else "REAL": single})
    if flushes:
        form["ftz"] = "ftz"
    hand = floats.HAND["add"](form, canonical)
    name = f"atom.add.{kind}" + ".ftz" * flushes + ".raw" * (not canonical)
    return Plan(name, operation, hand, None, single if single != kind else None)
