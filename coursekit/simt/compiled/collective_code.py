"""Warp collectives of compiled code: shuffles, votes and others.

The fast tier runs them for a whole warp. The general tier first makes sure that all
lanes of the member mask are here; where they are not, the interpreter takes over.
"""

from __future__ import annotations

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.tier import OWN, listed, splat, vector
from coursekit.simt.compiled.unit import bits
from coursekit.simt.compiled.values import Value, uniform
from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Immediate, Pair, Register

_REDUCTIONS = {"add": "add", "and": "and", "or": "or", "xor": "xor"}


class Collectives:
    """The warp collectives of both tiers."""

    def collective(self, instruction) -> None:
        """Emit a warp-wide instruction: the method `collective_...` of its opcode."""
        operands = list(instruction.operands)
        member = operands.pop() if "sync" in instruction.modifiers else None
        if instruction.guard is not None:
            raise UnsupportedError(f"{instruction.name} under a predicate")
        mask = self.members(member)
        if not traits.of(instruction).barrier:
            emit = getattr(self, f"collective_{instruction.opcode}", _not_compiled)
            emit(instruction, operands, mask)

    def emit_activemask(self, instruction) -> None:
        """Emit `activemask`: the lanes that are here."""
        mask = uniform(self.active("-1"))
        self.give(instruction.operands[0], "b32", mask, self.guard(instruction))

    def collective_shfl(self, instruction, operands, mask) -> None:
        """Emit `shfl`: the value of another lane."""
        target, value, lane, clamp = operands
        first = target.first if isinstance(target, Pair) else target
        second = target.second if isinstance(target, Pair) else None
        mode = next(
            m for m in instruction.modifiers if m in ("up", "down", "bfly", "idx")
        )
        moved = self.source(value, "b32", LANES)
        if isinstance(lane, Immediate) and isinstance(clamp, Immediate):
            sources, inside = _known_sources(mode, int(lane.value), int(clamp.value))
            text = ", ".join(f"i32 {s}" for s in sources)
            moved = self.out.op(
                f"shufflevector {vector('i32')} {moved}, {vector('i32')} poison, "
                f"{vector('i32')} <{text}>"
            )
            inside = f"<{', '.join('i1 ' + str(bool(i)).lower() for i in inside)}>"
        else:
            moved, inside = self._computed_shuffle(mode, moved, lane, clamp)
        if isinstance(first, Register):
            self.give(first, "b32", Value(moved))
        if isinstance(second, Register):
            self.give(second, "pred", Value(inside))

    def _computed_shuffle(self, mode, moved, lane, clamp) -> tuple[str, str]:
        out, wide = self.out, vector("i32")
        delta = self._masked(self.source(lane, "b32", LANES), 31)
        bound = self.source(clamp, "b32", LANES)
        segment = out.op(f"lshr {wide} {bound}, {splat('i32', 8)}")
        segment, bound = self._masked(segment, 31), self._masked(bound, 31)
        own = listed("i32", range(LANES))
        start = out.op(f"and {wide} {segment}, {own}")
        rest = out.op(f"xor {wide} {segment}, {splat('i32', -1)}")
        last = out.op(f"or {wide} {start}, {out.op(f'and {wide} {bound}, {rest}')}")
        if mode == "idx":
            source = out.op(
                f"or {wide} {start}, {out.op(f'and {wide} {delta}, {rest}')}"
            )
        else:
            verb = {"up": "sub", "down": "add", "bfly": "xor"}[mode]
            source = out.op(f"{verb} {wide} {own}, {delta}")
        order = "sge" if mode == "up" else "sle"
        inside = out.op(f"icmp {order} {wide} {source}, {last}")
        source = out.op(
            f"select {vector('i1')} {inside}, {wide} {source}, {wide} {own}"
        )
        source = self._masked(source, 31)
        out.line(f"store {wide} {moved}, ptr %lanes, align 64, {OWN}")
        out.line(f"store {wide} {source}, ptr %found, align 64, {OWN}")
        out.declare(_PERMUTE)
        out.line("call void @permute(ptr %lanes, ptr %found, ptr %before)")
        return out.op(f"load {wide}, ptr %before, align 64, {OWN}"), inside

    def _masked(self, name, mask) -> str:
        return self.out.op(f"and {vector('i32')} {name}, {splat('i32', mask)}")

    def collective_vote(self, instruction, operands, mask) -> None:
        """Emit `vote`: a combination of all members' predicates."""
        target, source = operands
        out = self.out
        votes = self.as_bits(self.source(source, "pred", LANES))
        votes = out.op(f"and i32 {votes}, {mask}")
        mode = next(m for m in instruction.modifiers
                    if m in ("all", "any", "uni", "ballot"))  # fmt: skip
        if mode == "ballot":
            self.give(target, "b32", uniform(votes))
            return
        if mode == "any":
            result = out.op(f"icmp ne i32 {votes}, 0")
        else:
            result = out.op(f"icmp eq i32 {votes}, {mask}")
            if mode == "uni":
                none = out.op(f"icmp eq i32 {votes}, 0")
                result = out.op(f"or i1 {result}, {none}")
        self.give(target, "pred", uniform(result))

    def collective_redux(self, instruction, operands, mask) -> None:
        """Emit `redux`: the members' sum, extreme or bitwise result."""
        type_ = instruction.type
        if type_ not in ("u32", "s32", "b32"):
            raise UnsupportedError("redux of floats")
        out, wide = self.out, vector("i32")
        values = self.source(operands[1], type_, LANES)
        mode = next(m for m in instruction.modifiers
                    if m in ("add", "min", "max", "and", "or", "xor"))  # fmt: skip
        signed = type_ == "s32"
        verb = _REDUCTIONS.get(mode) or f"{'s' if signed else 'u'}{mode}"
        neutral = {"add": 0, "or": 0, "xor": 0, "and": -1, "umin": -1, "umax": 0,
                   "smin": 2**31 - 1, "smax": -(2**31)}[verb]  # fmt: skip
        lanes = self.lanes_bits(mask)
        kept = out.op(
            f"select {vector('i1')} {lanes}, {wide} {values}, "
            f"{wide} {splat('i32', neutral)}"
        )
        out.declare(f"declare i32 @llvm.vector.reduce.{verb}.v32i32({wide})")
        result = out.op(f"call i32 @llvm.vector.reduce.{verb}.v32i32({wide} {kept})")
        self.give(operands[0], type_, uniform(result))

    def collective_match(self, instruction, operands, mask) -> None:
        """Emit `match`: the members with the same value."""
        target, source = operands
        out = self.out
        type_ = instruction.type
        name = self.source(source, type_, LANES)
        if bits(type_) < 64:
            name = out.op(f"zext {vector(f'i{bits(type_)}')} {name} to {vector('i64')}")
        out.line(f"store {vector('i64')} {name}, ptr %lanes, align 64, {OWN}")
        out.declare("declare i32 @ck_match_any(ptr, i32, ptr)")
        agree = out.op(f"call i32 @ck_match_any(ptr %lanes, i32 {mask}, ptr %found)")
        agree = out.op(f"icmp ne i32 {agree}, 0")
        pair = isinstance(target, Pair)
        first = target.first if pair else target
        if "all" in instruction.modifiers:
            value = out.op(f"select i1 {agree}, i32 {mask}, i32 0")
            value = self.broadcast("i32", value)
        else:
            value = out.op(f"load {vector('i32')}, ptr %found, align 64, {OWN}")
        if isinstance(first, Register):
            self.give(first, "b32", Value(value))
        if pair and isinstance(target.second, Register):
            self.give(target.second, "pred", Value(self.broadcast("i1", agree)))

    def collective_elect(self, instruction, operands, mask) -> None:
        """Emit `elect`: the lowest member."""
        (target,) = operands
        out = self.out
        out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        leader = out.op(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")
        if isinstance(target.first, Register):
            self.give(target.first, "b32", Value(self.broadcast("i32", leader)))
        if isinstance(target.second, Register):
            wide = self.broadcast("i32", leader)
            chosen = out.op(
                f"icmp eq {vector('i32')} {wide}, {listed('i32', range(LANES))}"
            )
            self.give(target.second, "pred", Value(chosen))


def _not_compiled(instruction, _operands, _mask) -> None:
    raise UnsupportedError(instruction.name)


def _known_sources(mode: str, lane: int, clamp: int):
    """Return the source lane of each lane, and whether it is in its segment."""
    delta, bound, segment = lane & 31, clamp & 31, clamp >> 8 & 31
    sources, inside = [], []
    for own in range(LANES):
        last = (own & segment) | (bound & ~segment)
        source = {
            "up": own - delta, "down": own + delta, "bfly": own ^ delta,
            "idx": (own & segment) | (delta & ~segment),
        }[mode]  # fmt: skip
        good = source >= last if mode == "up" else source <= last
        sources.append((source if good else own) & 31)
        inside.append(good)
    return sources, inside


_PERMUTE = """
define internal void @permute(ptr %values, ptr %sources, ptr %result) noinline {
start:
  br label %loop
loop:
  %lane = phi i64 [ 0, %start ], [ %next, %loop ]
  %a = getelementptr i32, ptr %sources, i64 %lane
  %s = load i32, ptr %a
  %b = getelementptr i32, ptr %values, i32 %s
  %v = load i32, ptr %b
  %c = getelementptr i32, ptr %result, i64 %lane
  store i32 %v, ptr %c
  %next = add i64 %lane, 1
  %more = icmp ult i64 %next, 32
  br i1 %more, label %loop, label %done
done:
  ret void
}"""
