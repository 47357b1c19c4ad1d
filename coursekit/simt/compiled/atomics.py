"""Atomics of compiled code, executed lane by lane."""

from __future__ import annotations

from coursekit.simt.compiled import lanewise
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import request_of
from coursekit.simt.compiled.tier import DATA, OWN, vector
from coursekit.simt.compiled.unit import bits
from coursekit.simt.compiled.values import Value
from coursekit.simt.isa import lookup, traits
from coursekit.simt.ptx.ir import Register


class Atomics:
    """The atomics of `WarpCode`."""

    def emit_atom(self, instruction) -> None:
        """Emit `atom` and `red`, lane by lane."""
        operation = lookup.atomic(instruction)
        operands = list(instruction.operands)
        target = None if traits.of(instruction).no_result else operands.pop(0)
        request = request_of(self, instruction)
        type_ = operation.results[0]
        size = bits(type_) // 8
        operands.pop(0)
        out, one = self.out, f"i{8 * size}"
        sources = [
            self.source(o, t, LANES)
            for o, t in zip(operands, operation.sources[1:], strict=False)
        ]
        guard = self.guard(instruction)
        mask = self.active_mask(guard)
        lanes = out.op(f"icmp ne i32 {mask}, 0")
        work, after = out.fresh("work"), out.fresh("after")
        wide = vector(one)
        out.line(f"store {wide} zeroinitializer, ptr %before, align 64, {OWN}")
        out.line(f"br i1 {lanes}, label %{work}, label %{after}")
        out.label(work)
        kept = dict(self.known), dict(self.vectors)
        addresses = self.lane_addresses(request)
        hosts = self.host_addresses(request, addresses, mask)
        self._count_atomic(request, addresses, mask)
        out.line(f"store {vector('i64')} {hosts}, ptr %found, align 64, {OWN}")
        for number, source in enumerate(sources):
            out.line(f"store {wide} {source}, ptr %value{number}, align 64, {OWN}")
        self._each_lane(instruction, operation, mask, one, len(sources))
        out.line(f"br label %{after}")
        out.label(after)
        self.known, self.vectors = kept
        if isinstance(target, Register):
            before = out.op(f"load {wide}, ptr %before, align 64, {OWN}")
            self.give(target, type_, Value(before), guard)
        self.count_guarded(instruction)

    emit_red = emit_atom

    def _each_lane(self, instruction, operation, mask, one, count) -> None:
        out = self.out
        start, loop, done = out.fresh("start"), out.fresh("lane"), out.fresh("done")
        out.line(f"br label %{start}")
        out.label(start)
        out.line(f"br label %{loop}")
        out.label(loop)
        left, next_name = f"%{out.fresh('left')}", f"%{out.fresh('rest')}"
        body = out.fresh("body")
        out.line(f"{left} = phi i32 [ {mask}, %{start} ], [ {next_name}, %{body} ]")
        out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        lane = out.op(f"call i32 @llvm.cttz.i32(i32 {left}, i1 true)")
        lane = out.op(f"zext i32 {lane} to i64")
        at = out.op(f"getelementptr i64, ptr %found, i64 {lane}")
        pointer = out.op(f"inttoptr i64 {out.op(f'load i64, ptr {at}, {OWN}')} to ptr")
        old = out.op(f"load {one}, ptr {pointer}, align {int(one[1:]) // 8}, {DATA}")
        sources = [old]
        for number in range(count):
            at = out.op(f"getelementptr {one}, ptr %value{number}, i64 {lane}")
            sources.append(out.op(f"load {one}, ptr {at}, {OWN}"))
        (new,) = lanewise.emit(out, instruction, operation, sources, 1)
        out.line(f"store {one} {new}, ptr {pointer}, align {int(one[1:]) // 8}, {DATA}")
        at = out.op(f"getelementptr {one}, ptr %before, i64 {lane}")
        out.line(f"store {one} {old}, ptr {at}, {OWN}")
        less = out.op(f"sub i32 {left}, 1")
        out.line(f"br label %{body}")
        out.label(body)
        out.line(f"{next_name} = and i32 {left}, {less}")
        more = out.op(f"icmp ne i32 {next_name}, 0")
        out.line(f"br i1 {more}, label %{loop}, label %{done}")
        out.label(done)

    def _count_atomic(self, request, addresses, mask) -> None:
        if self.uncounted(request):
            return
        out, counts = self.out, self.unit.counts[request.key]
        out.line(f"store {vector('i64')} {addresses}, ptr %lanes, align 64, {OWN}")
        name = (
            "ck_atomic_wavefronts" if request.space == "shared" else "ck_atomic_sectors"
        )
        out.declare(f"declare i32 @{name}(ptr, i32)")
        number = out.op(f"call i32 @{name}(ptr %lanes, i32 {mask})")
        self.count(counts.slots)
        self.count(counts.slots + 1, out.op(f"zext i32 {number} to i64"))
