"""`cp.async` in compiled code: copies wait in a queue of the warp's record.

As in the interpreter, bytes move when the warp waits for their group. All live lanes
commit and wait together; where they do not, the interpreter takes over.
"""

from __future__ import annotations

from coursekit.errors import UnsupportedError
from coursekit.simt.analysis.instructions import copied_bytes
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import Request, pattern_of
from coursekit.simt.compiled.tier import COUNTER, OWN, splat, vector
from coursekit.simt.compiled.unit import (
    FUEL,
    FUEL_LEFT,
    LIVE,
    QUEUE_ENTRIES,
    QUEUE_ENTRY,
    QUEUE_HEADER,
)
from coursekit.simt.interpreter.async_copies import bypasses_l1
from coursekit.simt.ptx.ir import Not, Register


class AsyncCopies:
    """The `cp.async` instructions of `WarpCode`."""

    def emit_cp(self, instruction) -> None:
        """Emit one of the `cp.async` instructions."""
        words = instruction.modifiers
        if instruction.guard is not None and words[1] not in ("ca", "cg"):
            raise UnsupportedError(f"{instruction.name} under a predicate")
        if words == ("async", "commit_group"):
            self._commit()
        elif words == ("async", "wait_all"):
            self._commit()
            self._wait(0)
        elif words == ("async", "wait_group"):
            self._wait(int(instruction.operands[0].value))
        else:
            self._copy(instruction)

    def clear_queue(self) -> None:
        """Start the kernel with an empty queue and all of its fuel."""
        if self.unit.polls:
            self.set_field("%record", FUEL_LEFT, "i32", FUEL, COUNTER)
        if self.unit.queue is not None:
            self.set_field("%record", self.unit.queue, "i64", "0")

    # -- copies ------------------------------------------------------------------------

    def _copy(self, instruction) -> None:
        size = copied_bytes(instruction)
        if size is None:
            raise UnsupportedError(instruction.name)
        out = self.out
        mask = self.active_mask(self.guard(instruction))
        some, work, after = out.fresh("some"), out.fresh("work"), out.fresh("after")
        any_lane = out.op(f"icmp ne i32 {mask}, 0")
        out.line(f"br label %{some}")
        out.label(some)
        out.line(f"br i1 {any_lane}, label %{work}, label %{after}")
        out.label(work)
        kept = dict(self.known), dict(self.vectors)
        self._begin(instruction, size, mask)
        self.known, self.vectors = kept
        out.line(f"br label %{after}")
        out.label(after)

    def _begin(self, instruction, size: int, mask: str) -> None:
        """Check and count a copy, and put it into the queue."""
        out, wide = self.out, vector("i64")
        target, origin = (self._request(instruction, n, size) for n in range(2))
        reads = self._reading(instruction, size, mask)
        entry = self._entry(size, mask, reads)
        source, places = (self.lane_addresses(each) for each in (origin, target))
        none = out.op(f"icmp eq i32 {reads}, 0")
        load, zeros, skip = out.fresh("load"), out.fresh("zeros"), out.fresh("skip")
        out.line(f"br i1 {none}, label %{zeros}, label %{load}")
        out.label(zeros)
        out.line(f"br label %{skip}")
        out.label(load)
        hosts = self.host_addresses(origin, source, reads)
        at = out.op(f"getelementptr i8, ptr {entry}, i64 {64 + 8 * LANES}")
        out.line(f"store {wide} {hosts}, ptr {at}, align 64, {OWN}")
        if bypasses_l1(instruction):
            self.count_bypassing(origin, source, places, reads)
        else:
            self.count_lanes_reached(origin, source, reads)
        out.line(f"br label %{skip}")
        out.label(skip)
        hosts = self.host_addresses(target, places, mask)
        at = out.op(f"getelementptr i8, ptr {entry}, i64 64")
        out.line(f"store {wide} {hosts}, ptr {at}, align 64, {OWN}")
        self.count_copied(target, (source, reads), (places, mask))

    def _request(self, instruction, position: int, size: int) -> Request:
        place = instruction.operands[position]
        space, key = (
            ("shared", -instruction.index - 1),
            ("global", instruction.index),
        )[position]
        access = self.unit.accesses[key]
        pattern = pattern_of(self, place.base, space)
        return Request(
            instruction, access, space, place.base, place.offset, size, (), "b32",
            pattern, key,
        )  # fmt: skip

    def _reading(self, instruction, size: int, mask: str) -> str:
        """Return the lanes that read; the other lanes of the mask write zeros."""
        given = list(instruction.operands[3:])
        if "L2::cache_hint" in instruction.modifiers:
            given.pop()
        if not given:
            return mask
        out, (operand,) = self.out, given
        register = operand.register if isinstance(operand, Not) else operand
        if isinstance(register, Register) and register.type == "pred":
            ignored = self.as_bits(self.source(operand, "pred", LANES))
            kept = out.op(f"xor i32 {ignored}, -1")
            return out.op(f"and i32 {kept}, {mask}")
        amounts, wide = self.source(operand, "u32", LANES), vector("i32")
        whole = self.as_bits(out.op(f"icmp eq {wide} {amounts}, {splat('i32', size)}"))
        zero = self.as_bits(out.op(f"icmp eq {wide} {amounts}, zeroinitializer"))
        either = out.op(f"and i32 {out.op(f'or i32 {whole}, {zero}')}, {mask}")
        self.require(out.op(f"icmp eq i32 {either}, {mask}"))
        return out.op(f"and i32 {whole}, {mask}")

    def _entry(self, size: int, mask: str, reads: str) -> str:
        """Reserve the next place in the queue; return a pointer to it."""
        out, queue = self.out, self.unit.queue
        count = self.field("%record", queue, "i32")
        group = self.field("%record", queue + 4, "i32")
        self.require(out.op(f"icmp ult i32 {count}, {QUEUE_ENTRIES}"))
        offset = out.op(f"mul i32 {count}, {QUEUE_ENTRY}")
        offset = out.op(f"add i32 {offset}, {queue + QUEUE_HEADER}")
        entry = out.op(f"getelementptr i8, ptr %record, i32 {offset}")
        for at, value in enumerate((size, mask, reads, group)):
            self.set_field(entry, 4 * at, "i32", value)
        self.set_field("%record", queue, "i32", out.op(f"add i32 {count}, 1"))
        return entry

    # -- groups ------------------------------------------------------------------------

    def _together(self) -> None:
        """Leave compiled code unless all live lanes are here."""
        if self.fast:
            return
        live = self.field("%record", LIVE, "i32")
        self.require(self.out.op(f"icmp eq i32 {live}, {self.mask}"))

    def _commit(self) -> None:
        self._together()
        at = self.unit.queue + 4
        group = self.out.op(f"add i32 {self.field('%record', at, 'i32')}, 1")
        self.set_field("%record", at, "i32", group)

    def _wait(self, pending: int) -> None:
        self._together()
        out = self.out
        out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        out.declare(_WAIT)
        out.declare("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
        queue = out.op(f"getelementptr i8, ptr %record, i64 {self.unit.queue}")
        out.line(f"call void @finish(ptr {queue}, i32 {pending})")


_WAIT = f"""
; Move the bytes of all groups but the last {{pending}}, and close the gap in the queue.
define internal void @finish(ptr %queue, i32 %pending) noinline {{
start:
  %count = load i32, ptr %queue
  %groupp = getelementptr i8, ptr %queue, i64 4
  %group = load i32, ptr %groupp
  %limit = sub i32 %group, %pending
  %first = getelementptr i8, ptr %queue, i64 {QUEUE_HEADER}
  br label %entry
entry:
  %i = phi i32 [ 0, %start ], [ %i1, %moved ]
  %all = icmp eq i32 %i, %count
  br i1 %all, label %close, label %look
look:
  %offset = mul i32 %i, {QUEUE_ENTRY}
  %e = getelementptr i8, ptr %first, i32 %offset
  %gp = getelementptr i8, ptr %e, i64 12
  %g = load i32, ptr %gp
  %due = icmp slt i32 %g, %limit
  br i1 %due, label %move, label %close
move:
  %size = load i32, ptr %e
  %words = lshr i32 %size, 2
  %mp = getelementptr i8, ptr %e, i64 4
  %mask = load i32, ptr %mp
  %rp = getelementptr i8, ptr %e, i64 8
  %reads = load i32, ptr %rp
  %targets = getelementptr i8, ptr %e, i64 64
  %sources = getelementptr i8, ptr %e, i64 {64 + 8 * LANES}
  br label %lane
lane:
  %left = phi i32 [ %mask, %move ], [ %rest, %lane_end ]
  %n = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %tp = getelementptr i64, ptr %targets, i32 %n
  %t64 = load i64, ptr %tp
  %t = inttoptr i64 %t64 to ptr
  %sp = getelementptr i64, ptr %sources, i32 %n
  %s64 = load i64, ptr %sp
  %s = inttoptr i64 %s64 to ptr
  %bit = lshr i32 %reads, %n
  %one = and i32 %bit, 1
  %some = icmp ne i32 %one, 0
  br label %word
word:
  %k = phi i32 [ 0, %lane ], [ %k1, %word_end ]
  br i1 %some, label %read, label %word_end
read:
  %a = getelementptr i32, ptr %s, i32 %k
  %v = load i32, ptr %a, align 4
  br label %word_end
word_end:
  %value = phi i32 [ 0, %word ], [ %v, %read ]
  %b = getelementptr i32, ptr %t, i32 %k
  store i32 %value, ptr %b, align 4
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %words
  br i1 %more, label %word, label %lane_end
lane_end:
  %less = sub i32 %left, 1
  %rest = and i32 %left, %less
  %lanes = icmp ne i32 %rest, 0
  br i1 %lanes, label %lane, label %moved
moved:
  %i1 = add i32 %i, 1
  br label %entry
close:
  %kept = sub i32 %count, %i
  store i32 %kept, ptr %queue
  %from = mul i32 %i, {QUEUE_ENTRY}
  %source = getelementptr i8, ptr %first, i32 %from
  %bytes = mul i32 %kept, {QUEUE_ENTRY}
  %bytes64 = zext i32 %bytes to i64
  call void @llvm.memmove.p0.p0.i64(ptr %first, ptr %source, i64 %bytes64, i1 false)
  ret void
}}"""
