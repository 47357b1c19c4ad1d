"""Registers, operands and lane-wise instructions of both tiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import lanewise
from coursekit.simt.compiled.affine import LANES, SAME, folds, special_pattern
from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.nans import (
    RawRegisters,
    ignores_payload,
    keeps_raw,
    quieted,
)
from coursekit.simt.compiled.runtime import Answer, Context
from coursekit.simt.compiled.unit import THREADS, WARP, Unit, bits
from coursekit.simt.compiled.values import Value, uniform
from coursekit.simt.interpreter.layout import typed
from coursekit.simt.memory.memory import LOCAL_WINDOW, SHARED_WINDOW
from coursekit.simt.ptx.ir import (
    Immediate,
    Not,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

COUNTER, DATA, OWN = "!tbaa !4", "!tbaa !5", "!tbaa !6"
# What a warp's function returns to the scheduler.
DONE, WAITS, TO_GENERAL, TO_FAST, GIVE_UP = map(int, list(Answer)[:5])
_FIXED = {
    "nwarpid": 64, "gridid": 1, "is_explicit_cluster": 0, "cluster_ctarank": 0,
    "cluster_nctarank": 1,
    **{f"cluster_ctaid.{a}": 0 for a in "xyz"},
    **{f"cluster_nctaid.{a}": 1 for a in "xyz"},
}  # fmt: skip


def vector(type_: str) -> str:
    """Return the LLVM type of all lanes."""
    return f"<{LANES} x {type_}>"


def splat(type_: str, value) -> str:
    """Return a constant that is the same in all lanes."""
    return f"splat ({type_} {value})"


def _alike(type_: str, value: int, width: int) -> str:
    """Return a constant for a scalar (width 1) or a vector."""
    return str(value) if width == 1 else splat(type_, value)


def listed(type_: str, values) -> str:
    """Return a constant with a value for each lane."""
    width = int(type_[1:])
    texts = (f"{type_} {_signed(value, width)}" for value in values)
    return f"<{', '.join(texts)}>"


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


class Tier:
    """Generates the function of one tier, fast or general."""

    fast = True

    def __init__(self, unit: Unit):
        self.unit, self.flow = unit, unit.flow
        self.affine = self.flow.fast if self.fast else self.flow.general
        self.out = Builder()
        self.sites = 0
        self.symbols: dict[str, int] = {}
        self.tables: dict[str, str] = {}
        self.known: dict[int, Value] = {}
        self.vectors: dict[int, str] = {}
        self.carry: str | None = None
        self.agreed: dict[int, str] = {}
        self.raw = RawRegisters(unit.function)

    # -- small things ------------------------------------------------------------------

    def field(self, pointer: str, offset: int, type_: str, tag: str = OWN) -> str:
        """Load a field of the context or the record."""
        at = self.out.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        aligned = ", align 64" if type_.startswith("<") else ""
        return self.out.op(f"load {type_}, ptr {at}{aligned}, {tag}")

    def set_field(self, pointer: str, offset: int, type_: str, value, tag=OWN) -> None:
        """Store to a field of the context or the record."""
        at = self.out.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        aligned = ", align 64" if type_.startswith("<") else ""
        self.out.line(f"store {type_} {value}, ptr {at}{aligned}, {tag}")

    def count(self, number: int, amount="1") -> None:
        """Add to a counter."""
        at = self.out.op(f"getelementptr i8, ptr %counters, i64 {8 * number}")
        old = self.out.op(f"load i64, ptr {at}, {COUNTER}")
        new = self.out.op(f"add i64 {old}, {amount}")
        self.out.line(f"store i64 {new}, ptr {at}, {COUNTER}")

    def lanes_bits(self, mask: str) -> str:
        """Convert the lanes of an i32 to a vector of i1."""
        return self.out.op(f"bitcast i32 {mask} to {vector('i1')}")

    def as_bits(self, lanes: str) -> str:
        """Convert a vector of i1 to an i32."""
        return self.out.op(f"bitcast {vector('i1')} {lanes} to i32")

    def broadcast(self, type_: str, name: str) -> str:
        """Return a vector with a scalar in all lanes."""
        if not name.startswith("%"):
            return splat(type_, name)
        one = self.out.op(
            f"insertelement {vector(type_)} poison, {type_} {name}, i32 0"
        )
        return self.out.op(
            f"shufflevector {vector(type_)} {one}, {vector(type_)} poison, "
            f"{vector('i32')} zeroinitializer"
        )

    def rows(self, type_: str, name: str, groups: int) -> str:
        """Return a vector with the base of each lane's group."""
        size = LANES // groups
        mask = ", ".join(f"i32 {lane // size}" for lane in range(LANES))
        some = f"<{groups} x {type_}>"
        return self.out.op(
            f"shufflevector {some} {name}, {some} poison, {vector('i32')} <{mask}>"
        )

    def bases(self, type_: str, value: Value, groups: int, *, fold: bool) -> str:
        """Return the base of each group; `fold` adds the offsets that groups share."""
        some = f"<{groups} x {type_}>"
        name = value.name
        if value.groups == 1:
            if name.startswith("%"):
                one = self.out.op(f"insertelement {some} poison, {type_} {name}, i32 0")
                name = self.out.op(
                    f"shufflevector {some} {one}, {some} poison, "
                    f"<{groups} x i32> zeroinitializer"
                )
            else:
                name = splat(type_, name)
        if fold and any(value.offsets):
            starts = value.offsets[:: LANES // groups]
            name = self.out.op(f"add {some} {name}, {listed(type_, starts)}")
        return name

    def spread(self, type_: str, value: Value) -> str:
        """Return a value as a vector of all lanes."""
        if value.divergent:
            return value.name
        wide = (
            self.rows(type_, value.name, value.groups)
            if value.groups > 1
            else self.broadcast(type_, value.name)
        )
        if value.offsets == SAME:
            return wide
        offsets = listed(type_, value.offsets)
        return self.out.op(f"add {vector(type_)} {wide}, {offsets}")

    # -- registers ---------------------------------------------------------------------

    def pattern(self, register: Register):
        """Return the lane pattern of a register in this tier."""
        return self.affine.registers[register.index]

    def value(self, register: Register) -> Value:
        """Return a register's value in the form in which it is kept."""
        found = self.known.get(register.index)
        if found is None:
            found = self.known[register.index] = self.load(register)
        return found

    def wide(self, register: Register) -> str:
        """Return a register as a vector of all lanes."""
        found = self.vectors.get(register.index)
        if found is None:
            found = self.spread(f"i{bits(register.type)}", self.value(register))
            self.vectors[register.index] = found
        return found

    def forget(self) -> None:
        """Discard loaded registers, since other code may have run in between."""
        self.known, self.vectors, self.carry = {}, {}, None

    def write(self, register: Register, value: Value, guard=None) -> None:
        """Write a value to the active lanes of a register.

        `guard` is None, or the predicate as a value.
        """
        type_ = f"i{bits(register.type)}"
        pattern = self.pattern(register)
        shared = guard is not None and not guard.divergent and not value.divergent
        if shared and not pattern.divergent:
            old, held = self.value(register).name, self.held(register)
            name = self.out.op(
                f"select i1 {guard.name}, {held} {value.name}, {held} {old}"
            )
            self.keep(register, Value.following(name, pattern))
            return
        if pattern.divergent:
            value = Value(self.spread(type_, value))
        if guard is not None:
            lanes = self.spread("i1", guard)
            old = self.wide(register)
            value = Value(self.blended(type_, lanes, value.name, old))
        self.keep(register, value)

    def blended(self, type_: str, lanes: str, new: str, old: str) -> str:
        """Return a vector with the new value in some lanes, the old one in others."""
        wide = vector(type_)
        if type_ not in ("i32", "i64"):
            return self.out.op(
                f"select {vector('i1')} {lanes}, {wide} {new}, {wide} {old}"
            )
        self.out.line(f"store {wide} {old}, ptr %before, align 64, {OWN}")
        self.merge(type_, new, lanes, "%before")
        return self.out.op(f"load {wide}, ptr %before, align 64, {OWN}")

    def merge(self, type_: str, name: str, lanes: str, place: str) -> None:
        """Store some lanes of a vector.

        A masked store and not a select: for AVX-512, LLVM 22 gives a masked
        VPTERNLOG the wrong table when it folds a load into it.
        """
        wide, out = vector(type_), self.out
        if type_ not in ("i32", "i64"):
            old = out.op(f"load {wide}, ptr {place}, align 64, {OWN}")
            new = out.op(f"select {vector('i1')} {lanes}, {wide} {name}, {wide} {old}")
            out.line(f"store {wide} {new}, ptr {place}, align 64, {OWN}")
            return
        function = f"@llvm.masked.store.v32{type_}.p0"
        out.declare(f"declare void {function}({wide}, ptr, i32, {vector('i1')})")
        out.line(
            f"call void {function}({wide} {name}, ptr {place}, i32 64, "
            f"{vector('i1')} {lanes}), {OWN}"
        )

    def keep(self, register: Register, value: Value) -> None:
        """Record a register's new value, and store it if another block needs it."""
        self.known[register.index] = value
        self.vectors.pop(register.index, None)
        self.store(register, value)

    # -- operands ----------------------------------------------------------------------

    def operand(self, operand, type_: str, sensitive: bool = True) -> Value:
        """Return an operand as a value of `type_`, which may be narrower."""
        if isinstance(operand, Not):
            return self._negated(self.operand(operand.register, type_))
        if isinstance(operand, Register):
            return self._register_operand(operand, type_, sensitive)
        if isinstance(operand, Immediate):
            return uniform(self._immediate(operand, type_))
        if isinstance(operand, Special):
            return self.special(operand.name, type_)
        if isinstance(operand, Symbol):
            return uniform(self.symbol(operand, type_))
        raise UnsupportedError(f"operand {operand!r}")

    def _register_operand(self, register, type_, sensitive) -> Value:
        own, wanted = bits(register.type), bits(type_)
        value = self.value(register)
        if sensitive and register.index in self.raw.registers:
            name = quieted(self.out, value.name, LANES if value.divergent else 1)
            value = Value(name, value.offsets)
        if own == wanted:
            return value
        if own < wanted or wanted == 1 or own == 1:
            raise UnsupportedError(f"{register.name} of {own} bits used as {type_}")
        if not value.uniform and not value.divergent:
            value = Value(self.wide(register))
        one, other = f"i{own}", f"i{wanted}"
        if value.divergent:
            one, other = vector(one), vector(other)
        return replace(value, name=self.out.op(f"trunc {one} {value.name} to {other}"))

    def _negated(self, value: Value) -> Value:
        if value.divergent:
            name = self.out.op(f"xor {vector('i1')} {value.name}, splat (i1 true)")
            return Value(name)
        return uniform(self.out.op(f"xor i1 {value.name}, true"))

    @staticmethod
    def _immediate(operand, type_: str) -> str:
        number = typed(operand, type_)
        if type_ == "pred":
            return "true" if number else "false"
        width = bits(type_)
        raw = int(np.asarray(number).view(f"u{width // 8}"))
        return str(_signed(raw, width))

    def source(self, operand, type_: str, width: int, sensitive: bool = True) -> str:
        """Return an operand as IR text: a scalar (width 1) or a vector."""
        value = self.operand(operand, type_, sensitive)
        if width == 1:
            return value.name
        if isinstance(operand, Register) and value == self.known.get(operand.index):
            return self.wide(operand)
        return self.spread(f"i{bits(type_)}", value)

    def special(self, name: str, type_: str) -> Value:
        """Return the value of a special register."""
        if bits(type_) != 32:
            raise UnsupportedError(f"%{name} as {type_}")
        shape = self.unit.shape
        if name.startswith("tid."):
            at = THREADS + 128 * "xyz".index(name[4])
            pattern = special_pattern(name, shape)
            if pattern.divergent:
                return Value(self.field("%record", at, vector("i32")))
            return Value(self.field("%record", at, "i32"), pattern.offsets)
        if name == "laneid":
            return Value("0", special_pattern(name, shape).offsets)
        if name == "warpid":
            return uniform(self.field("%record", WARP, "i32"))
        if name.startswith("ntid."):
            return uniform(str(shape["xyz".index(name[5])]))
        if name.startswith("lanemask_"):
            from coursekit.simt.interpreter.block import lane_masks

            return Value(listed("i32", lane_masks(name[9:]).tolist()))
        if name in _FIXED:
            return uniform(str(_FIXED[name]))
        axis = {"nctaid": Context.GRID_X, "nclusterid": Context.GRID_X,
                "ctaid": Context.CTAID_X, "clusterid": Context.CTAID_X}  # fmt: skip
        first, _, letter = name.partition(".")
        if first not in axis or letter not in ("x", "y", "z"):
            raise UnsupportedError(f"%{name}")
        at = 8 * (axis[first] + "xyz".index(letter))
        return uniform(self.field("%ctx", at, "i32"))

    def symbol(self, symbol: Symbol, type_: str) -> str:
        """Return the address of a variable."""
        local = self.unit.code.layout.local_offsets.get(symbol.name)
        if local is not None:
            return str(local + symbol.offset)
        if symbol.name not in self.unit.symbols:
            raise UnsupportedError(f"the address of {symbol.name}")
        number = self.symbols.setdefault(symbol.name, len(self.symbols))
        address = self.field("%symbols", 8 * number, f"i{bits(type_)}")
        if symbol.offset:
            address = self.out.op(f"add i{bits(type_)} {address}, {symbol.offset}")
        return address

    def guard(self, instruction) -> Value | None:
        """Return the guard predicate of an instruction as a value."""
        guard = instruction.guard
        if guard is None:
            return None
        value = self.value(guard.register)
        return self._negated(value) if guard.negated else value

    # -- instructions ------------------------------------------------------------------

    def lanewise(self, instruction) -> None:
        """Emit an instruction that works on each lane alone."""
        operation = self.unit.code.operations.get(instruction.index)
        if operation is None:
            raise UnsupportedError(instruction.name)
        results = self.affine.results(instruction)
        if not results:
            return
        scalar = not any(pattern.divergent for _, pattern in results)
        if scalar and results[0][1].groups > 1:
            self._by_groups(instruction, operation, results[0][1])
            return
        operands = list(instruction.operands)
        first = operands.pop(0)
        sensitive = not ignores_payload(instruction)
        pairs = list(zip(operands, operation.sources, strict=False))
        scalar = scalar and not operation.reads_carry and not operation.writes_carry
        offsets = next((k.offsets for _, k in results), None) if scalar else None
        if scalar:
            pairs = _without_low_bits(instruction, pairs, self.affine)
        sources = [
            self.source(o, t, 1 if scalar else LANES, sensitive) for o, t in pairs
        ]
        if operation.reads_carry:
            if self.carry is None:
                raise UnsupportedError("a carry from far away")
            sources.append(self.carry)
        self.check_divisor(instruction, operation, sources, scalar)
        canonical = not self._result_raw(first)
        found = lanewise.emit(
            self.out, instruction, operation, sources, 1 if scalar else LANES, canonical
        )
        if operation.writes_carry:
            self.carry = found.pop()
        self._give(instruction, first, operation.results, found, offsets)
        self.count_guarded(instruction)

    def _by_groups(self, instruction, operation, pattern) -> None:
        """Emit an instruction on the bases of the groups of lanes."""
        first, *operands = instruction.operands
        groups, fold = pattern.groups, folds(instruction, pattern)
        sources = [
            self.bases(f"i{bits(t)}", self.operand(o, t), groups, fold=fold and n < 2)
            for n, (o, t) in enumerate(zip(operands, operation.sources, strict=False))
        ]
        (name,) = lanewise.emit(self.out, instruction, operation, sources, groups)
        guard = self.guard(instruction)
        value = Value.following(name, pattern)
        self.give(first, operation.results[0], value, guard)

    def held(self, register: Register) -> str:
        """Return the LLVM type in which a register is kept."""
        one, pattern = f"i{bits(register.type)}", self.pattern(register)
        if pattern.divergent:
            return vector(one)
        return one if pattern.groups == 1 else f"<{pattern.groups} x {one}>"

    def _result_raw(self, target) -> bool:
        return isinstance(target, Register) and target.index in self.raw.registers

    def _give(self, instruction, target, types, names, offsets) -> None:
        """Write results to registers, which may be wider."""
        targets = (
            (target.first, target.second) if isinstance(target, Pair) else (target,)
        )
        guard = self.guard(instruction)
        for register, type_, name in zip(targets, types, names, strict=False):
            if isinstance(register, Register):
                self.give(register, type_, Value(name, offsets), guard)

    def give(self, register, type_, value, guard=None) -> None:
        """Write a result of a type, extended to the register."""
        own, given = bits(register.type), bits(type_)
        if own < given or (own != given and 1 in (own, given)):
            raise UnsupportedError(f"{type_} result in {register.name}")
        if own > given:
            verb = "sext" if type_[0] == "s" else "zext"
            one, other = f"i{given}", f"i{own}"
            if not value.uniform and not value.divergent:
                value = Value(self.spread(one, value))
            if value.divergent:
                one, other = vector(one), vector(other)
            name = self.out.op(f"{verb} {one} {value.name} to {other}")
            value = replace(value, name=name)
        self.write(register, value, guard)

    def count_guarded(self, instruction) -> None:
        """Count the lanes that execute a guarded operation."""
        number = self.unit.guarded.get(instruction.index)
        if number is None:
            return
        lanes = self.as_bits(self.spread("i1", self.guard(instruction)))
        self.count_lanes(number, self.active(lanes))

    def count_lanes(self, number: int, mask: str) -> None:
        """Add the number of lanes of a mask to a counter."""
        self.out.declare("declare i32 @llvm.ctpop.i32(i32)")
        lanes = self.out.op(f"call i32 @llvm.ctpop.i32(i32 {mask})")
        self.count(number, self.out.op(f"zext i32 {lanes} to i64"))

    def emit_mov(self, instruction) -> None:
        """Emit `mov` of registers, constants, addresses, and vectors in braces."""
        target, source = instruction.operands
        type_ = instruction.type
        if isinstance(target, Vector):
            self._unpack(instruction, target, source, type_)
            return
        if isinstance(source, Vector):
            value = self._pack(source, type_)
        else:
            value = self.operand(source, type_, not keeps_raw(self.raw, target, source))
        self.give(target, type_, value, self.guard(instruction))

    def _pack(self, source, type_) -> Value:
        part = bits(type_) // len(source.elements)
        width, offsets, held = self._form(source.elements, f"u{part}")
        whole, piece, total = held(bits(type_)), held(part), None
        for number, element in enumerate(source.elements):
            name = self.source(element, f"u{part}", width)
            name = self.out.op(f"zext {piece} {name} to {whole}")
            if number:
                amount = _alike(f"i{bits(type_)}", part * number, width)
                name = self.out.op(f"shl {whole} {name}, {amount}")
                name = self.out.op(f"or {whole} {total}, {name}")
            total = name
        return Value(total, offsets)

    def _unpack(self, instruction, target, source, type_) -> None:
        part = bits(type_) // len(target.elements)
        width, offsets, held = self._form([source], type_)
        whole, piece = held(bits(type_)), held(part)
        name = self.source(source, type_, width)
        guard = self.guard(instruction)
        for number, register in enumerate(target.elements):
            if not isinstance(register, Register):
                continue
            shifted = name
            if number:
                amount = _alike(f"i{bits(type_)}", part * number, width)
                shifted = self.out.op(f"lshr {whole} {name}, {amount}")
            shifted = self.out.op(f"trunc {whole} {shifted} to {piece}")
            self.give(register, f"u{part}", Value(shifted, offsets), guard)

    def _form(self, operands, type_) -> tuple:
        """Return the form in which operands are computed: width, offsets, LLVM type."""
        values = [self.operand(operand, type_) for operand in operands]
        if all(value.uniform for value in values):
            return 1, SAME, "i{}".format
        return LANES, None, vector("i{}").format

    def emit_cvta(self, instruction) -> None:
        """Emit `cvta`: between a state space and generic addresses."""
        target, source = instruction.operands
        type_ = instruction.type
        windows = {"shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW,
                   "local": LOCAL_WINDOW}  # fmt: skip
        base = next((windows[m] for m in instruction.modifiers if m in windows), 0)
        value = self.operand(source, type_)
        if base:
            verb = "sub" if "to" in instruction.modifiers else "add"
            one, lanes = f"i{bits(type_)}", LANES if value.divergent else value.groups
            held = one if lanes == 1 else f"<{lanes} x {one}>"
            amount = str(base) if lanes == 1 else splat(one, base)
            name = self.out.op(f"{verb} {held} {value.name}, {amount}")
            value = replace(value, name=name)
        self.give(target, type_, value, self.guard(instruction))


def _without_low_bits(instruction, pairs, analysis):
    """Clear low bits of a constant, which `or` and `xor` apply to offsets."""
    if instruction.opcode not in ("or", "xor") or instruction.type == "pred":
        return pairs
    known = [analysis.of(operand) for operand, _ in pairs]
    if all(pattern.uniform for pattern in known):
        return pairs
    patterned = next(k for k in known if not k.uniform)
    below = (1 << patterned.zeros) - 1
    return [
        (Immediate(int(o.value) & ~below), t) if isinstance(o, Immediate) else (o, t)
        for o, t in pairs
    ]
