"""The general tier: code for divergent warps, in which some lanes wait elsewhere.

Registers lie in the warp's record. Lanes that diverge are kept on a stack, as in the
interpreter: a *reconvergence* says where they come together, a *split* which lanes
still have to go where. As soon as all 32 lanes are together the fast tier takes over.
"""

from __future__ import annotations

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.fast import extends_sign, fits
from coursekit.simt.compiled.flow import widening_source
from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.stack import STACK_CODE
from coursekit.simt.compiled.tier import GIVE_UP, TO_FAST, WAITS, listed, vector
from coursekit.simt.compiled.unit import (
    DEPTH,
    LIVE,
    MASK,
    RESUME,
    TARGET,
    TIER,
    bits,
)
from coursekit.simt.compiled.values import Value, uniform
from coursekit.simt.compiled.warp_code import WarpCode, register_type
from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Immediate


class GeneralTier(WarpCode):
    """Generates the function @general."""

    fast, name, own_fields = False, "general", (Context.OWN + 1, Context.OWN + 2)

    def body(self) -> None:
        out = self.out
        out.declare(STACK_CODE)
        self._meets = {
            self.flow.stretch_of(block.reconvergence)
            for number, block in enumerate(self.flow.blocks)
            if len(self.unit.code.successors[number]) > 1
            and block.reconvergence != EXIT
        }
        resume = self.field("%record", RESUME, "i32")
        begins = out.op(f"icmp eq i32 {resume}, 0")
        out.line(f"%resume = sub i32 {resume}, 1")
        out.line(f"br i1 {begins}, label %start, label %resumes")
        out.label("start")
        self.clear_queue()
        for index in sorted(self.flow.stretches[0].live):
            self._clear(self.unit.function.registers[index])
        out.line("br label %g0")
        out.label("resumes")
        out.line("br label %dispatch")
        self._jumps: list[tuple[str, str]] = [("%resume", "resumes")]
        for stretch in self.flow.stretches:
            self._stretch(stretch)
        self._dispatch()

    def _stretch(self, stretch) -> None:
        self.forget()
        self._after = self._needed_after(stretch)
        self.out.label(f"g{stretch.number}")
        self.mask = self.field("%record", MASK, "i32")
        self.lanes = self.lanes_bits(self.mask)
        self.count_block(stretch, self.unit.general_runs)
        if stretch.leads:
            self.count_lanes(self.unit.general_lanes + stretch.block, self.mask)
        self.instructions(stretch)

    def _needed_after(self, stretch) -> frozenset[int]:
        following = stretch.number + 1
        if following < len(self.flow.stretches):
            other = self.flow.stretches[following]
            if other.block == stretch.block:
                return other.live
        return frozenset(self.flow.live_out[stretch.block])

    def _dispatch(self) -> None:
        out = self.out
        out.label("dispatch")
        arms = ", ".join(f"[ {name}, %{label} ]" for name, label in self._jumps)
        following = out.op(f"phi i32 {arms}")
        cases = " ".join(
            f"i32 {s.number}, label %g{s.number}" for s in self.flow.stretches
        )
        out.line(
            f"switch i32 {following}, label %lost "
            f"[ i32 -1, label %gone i32 -2, label %together {cases} ]"
        )
        for label, answer in (("lost", GIVE_UP), ("together", TO_FAST)):
            out.label(label)
            out.line(f"ret i32 {answer}")
        out.label("gone")
        self.done()

    def dispatch_to(self, name: str) -> None:
        """Continue with the stretch of this number."""
        label = self.out.fresh("jump")
        self.out.line(f"br label %{label}")
        self.out.label(label)
        self.out.line("br label %dispatch")
        self._jumps.append((name, label))

    # -- registers ---------------------------------------------------------------------

    def _clear(self, register) -> None:
        one, place = register_type(register), self.unit.places[register.index]
        if not self.pattern(register).divergent:
            self.set_field("%record", place, one, "false" if one == "i1" else "0")
        elif one == "i1":
            self.set_field("%record", place, "i32", "0")
        else:
            self.set_field("%record", place, vector(one), "zeroinitializer")

    def load(self, register) -> Value:
        """Load a register from the record."""
        one, pattern = register_type(register), self.pattern(register)
        place = self.unit.places.get(register.index)
        if place is None:  # nobody reads it
            return Value.following("zeroinitializer", pattern)
        if not pattern.divergent:
            return Value.following(self.field("%record", place, one), pattern)
        if one == "i1":
            return Value(self.lanes_bits(self.field("%record", place, "i32")))
        return Value(self.field("%record", place, vector(one)))

    def store(self, register, value) -> None:
        """Store the active lanes of a register to the record, if it is live."""
        if register.index not in self._after:
            return
        out, one = self.out, register_type(register)
        place = self.unit.places[register.index]
        if not self.pattern(register).divergent:
            self.set_field("%record", place, one, value.name)
            return
        if one == "i1":
            old = self.field("%record", place, "i32")
            new = out.op(f"and i32 {self.as_bits(value.name)}, {self.mask}")
            rest = out.op(f"xor i32 {self.mask}, -1")
            kept = out.op(f"and i32 {old}, {rest}")
            self.set_field("%record", place, "i32", out.op(f"or i32 {new}, {kept}"))
            return
        at = out.op(f"getelementptr i8, ptr %record, i64 {place}")
        self.merge(one, value.name, self.lanes, at)

    # -- lanes -------------------------------------------------------------------------

    def active(self, lanes: str) -> str:
        """Return the active lanes of a mask."""
        return (
            self.mask if lanes == "-1" else self.out.op(f"and i32 {lanes}, {self.mask}")
        )

    def active_mask(self, guard) -> str:
        """Return the lanes that execute an instruction."""
        if guard is None:
            return self.mask
        return self.active(self.as_bits(self.spread("i1", guard)))

    def members(self, member) -> str:
        """Return the active lanes; the interpreter handles absent members."""
        if member is None:
            return self.mask
        out = self.out
        if isinstance(member, Immediate):
            named = str(int(member.value))
        else:
            named = self._agreed(self.operand(member, "b32"))
        live = self.field("%record", LIVE, "i32")
        absent = out.op(f"and i32 {live}, {out.op(f'xor i32 {self.mask}, -1')}")
        absent = out.op(f"and i32 {absent}, {named}")
        outside = out.op(f"and i32 {self.mask}, {out.op(f'xor i32 {named}, -1')}")
        wrong = out.op(f"or i32 {absent}, {outside}")
        self.require(out.op(f"icmp eq i32 {wrong}, 0"))
        return self.mask

    def _agreed(self, value: Value) -> str:
        """Return a 32-bit value, which must be equal in all active lanes."""
        if value.uniform:
            return value.name
        out, name = self.out, self.spread("i32", value)
        out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        lane = out.op(f"call i32 @llvm.cttz.i32(i32 {self.mask}, i1 true)")
        first = out.op(f"extractelement {vector('i32')} {name}, i32 {lane}")
        other = out.op(
            f"icmp ne {vector('i32')} {name}, {self.broadcast('i32', first)}"
        )
        some = out.op(f"and i32 {self.as_bits(other)}, {self.mask}")
        self.require(out.op(f"icmp eq i32 {some}, 0"))
        return first

    def check_divisor(self, instruction, operation, sources, scalar) -> None:
        """Leave compiled code at a division by zero, which is an error."""
        if operation.divisor is None:
            return
        out, name = self.out, sources[operation.divisor]
        one = f"i{bits(operation.sources[operation.divisor])}"
        if scalar:
            self.require(out.op(f"icmp ne {one} {name}, 0"))
            return
        zero = out.op(f"icmp eq {vector(one)} {name}, zeroinitializer")
        mask = self.active_mask(self.guard(instruction))
        some = out.op(f"and i32 {self.as_bits(zero)}, {mask}")
        self.require(out.op(f"icmp eq i32 {some}, 0"))

    def lanewise(self, instruction) -> None:
        """Emit a lane-wise instruction; leave compiled code if offsets wrap."""
        widened = widening_source(instruction)
        if widened is not None:
            pattern = self.pattern(widened)
            if not pattern.divergent and not pattern.uniform:
                self.require(self.fits(widened, instruction))
        super().lanewise(instruction)

    def fits(self, register, instruction) -> str:
        """Return whether adding the offsets does not wrap."""
        return fits(self, register, extends_sign(instruction))

    def write(self, register, value, guard=None) -> None:
        """Write a register; a uniform one takes the value of any active lane."""
        if value.divergent and not self.pattern(register).divergent:
            out, one = self.out, register_type(register)
            out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
            lane = out.op(f"call i32 @llvm.cttz.i32(i32 {self.mask}, i1 true)")
            name = out.op(f"extractelement {vector(one)} {value.name}, i32 {lane}")
            value = uniform(name)
        super().write(register, value, guard)

    # -- memory ------------------------------------------------------------------------

    def load_memory(self, request) -> None:
        """Emit a load of the active lanes."""
        self._moved(request, None)

    def store_memory(self, request) -> None:
        """Emit a store of the active lanes."""
        self._moved(request, self.stored(request))

    def _moved(self, request, values) -> None:
        out = self.out
        guard = self.guard(request.instruction)
        mask = self.active_mask(guard)
        if guard is None:
            found = self._move(request, mask, values)
            if values is None:
                self.finish_load(request, found)
            return
        here, work, after = out.fresh("here"), out.fresh("work"), out.fresh("after")
        some = out.op(f"icmp ne i32 {mask}, 0")
        out.line(f"br label %{here}")
        out.label(here)
        out.line(f"br i1 {some}, label %{work}, label %{after}")
        out.label(work)
        kept = dict(self.known), dict(self.vectors)
        found = self._move(request, mask, values) or []
        one = f"i{8 * request.element}"
        made = [self.spread(one, value) for value in found]
        self.known, self.vectors = kept
        end = out.fresh("end")
        out.line(f"br label %{end}")
        out.label(end)
        out.line(f"br label %{after}")
        out.label(after)
        joined = [
            Value(
                out.op(
                    f"phi {vector(one)} [ {name}, %{end} ], "
                    f"[ zeroinitializer, %{here} ]"
                )
            )
            for name in made
        ]
        if values is None:
            self.finish_load(request, joined, guard)

    def _move(self, request, mask, values):
        """Load or store the lanes of a mask."""
        if request.pattern.divergent:
            return self._anywhere(request, mask, values)
        out = self.out
        bases = self.group_bases(request)
        legal, distance = self.within(request, bases)
        near, far, after = out.fresh("near"), out.fresh("far"), out.fresh("joined")
        out.line(f"br i1 {legal}, label %{near}, label %{far}, !prof !7")
        kept = dict(self.known), dict(self.vectors)
        out.label(near)
        first = self._patterned(request, (bases, distance), mask, values)
        ends = [self._close(after)]
        self.known, self.vectors = dict(kept[0]), dict(kept[1])
        out.label(far)
        second = self._anywhere(request, mask, values)
        ends.append(self._close(after))
        self.known, self.vectors = kept
        out.label(after)
        if values is not None:
            return None
        one = vector(f"i{8 * request.element}")
        return [
            Value(
                out.op(f"phi {one} [ {a.name}, %{ends[0]} ], [ {b.name}, %{ends[1]} ]")
            )
            for a, b in zip(first, second, strict=True)
        ]

    def _close(self, after: str) -> str:
        end = self.out.fresh("end")
        self.out.line(f"br label %{end}")
        self.out.label(end)
        self.out.line(f"br label %{after}")
        return end

    def _anywhere(self, request, mask, values):
        addresses = self.lane_addresses(request)
        hosts = self.host_addresses(request, addresses, mask)
        lanes = self.lanes_bits(mask)
        self.count_lanes_reached(request, addresses, mask)
        if values is not None:
            self.store_lanes(request, hosts, lanes, values)
            return None
        return self.load_lanes(request, hosts, lanes)

    def _patterned(self, request, place, mask, values):
        """Access all lanes at once: loads read all, stores write the mask's."""
        self._count(request, mask)
        if values is None:
            one = f"i{8 * request.element}"
            return [
                Value(self.spread(one, value))
                for value in self.load_pattern(request, *place)
            ]
        lanes = self.lanes_bits(mask)
        addresses = self.lane_addresses(request)
        wide = vector("i64")
        if request.space == "local":
            own = [lane * self.unit.local_stride for lane in range(LANES)]
            addresses = self.out.op(f"add {wide} {addresses}, {listed('i64', own)}")
        far = self.broadcast("i64", place[1])
        hosts = self.out.op(f"add {wide} {addresses}, {far}")
        self.store_lanes(request, hosts, lanes, values)
        return None

    def _count(self, request, mask) -> None:
        if self.uncounted(request):
            return
        counts = self.unit.counts[request.key]
        fixed = self.fixed_counts(request)
        width, _ = self.counted_width(request)
        alike = fixed is not None and fixed[1] == 1 and fixed[2] == 0
        if alike and (request.space != "shared" or width <= 4):
            self.count(counts.slots)
            self.count(counts.slots + 1)
            return
        self.count_lanes_reached(request, self.lane_addresses(request), mask)

    # -- where blocks go ---------------------------------------------------------------

    def next_stretch(self, stretch) -> None:
        """Continue with the rest of the block."""
        self.out.line(f"br label %g{stretch.number + 1}")

    def go(self, stretch, target: int) -> None:
        """Let the active lanes jump to another block."""
        out = self.out
        if target == EXIT:
            self.dispatch_to(out.op("call i32 @leave(ptr %record)"))
            return
        if target <= stretch.block:
            self.burn()
        number = self.flow.stretch_of(target)
        if number not in self._meets:
            out.line(f"br label %g{number}")
            return
        awaited = self.field("%record", TARGET, "i32")
        here = out.op(f"icmp eq i32 {awaited}, {number}")
        arrives = out.fresh("arrives")
        out.line(f"br i1 {here}, label %{arrives}, label %g{number}")
        out.label(arrives)
        self.dispatch_to(out.op("call i32 @arrive(ptr %record)"))

    def barrier(self, stretch) -> None:
        """Wait for the other warps; all lanes must be here that have not exited."""
        out = self.out
        for block in range(len(self.flow.blocks)):
            if self.unit.code.returns_at(block):
                self._return_early(self.flow.stretches[self.flow.stretch_of(block)])
        live = self.field("%record", LIVE, "i32")
        self.require(out.op(f"icmp eq i32 {self.mask}, {live}"))
        following = self.flow.stretch_of(stretch.block + 1)
        self.set_field("%record", RESUME, "i32", following + 1)
        whole = out.op(f"icmp eq i32 {self.mask}, -1")
        depth = self.field("%record", DEPTH, "i32")
        alone = out.op(f"icmp eq i32 {depth}, 0")
        fast = out.op(f"and i1 {whole}, {alone}")
        tier = out.op(f"select i1 {fast}, i32 0, i32 1")
        self.set_field("%record", TIER, "i32", tier)
        out.line(f"ret i32 {WAITS}")

    def _return_early(self, stretch) -> None:
        """Let lanes return that wait for the others before a plain return."""
        out = self.out
        lanes = out.op(f"call i32 @return_early(ptr %record, i32 {stretch.number})")
        some = out.op(f"icmp ne i32 {lanes}, 0")
        leaves, after = out.fresh("leaves"), out.fresh("after")
        out.line(f"br i1 {some}, label %{leaves}, label %{after}")
        out.label(leaves)
        self.count_block(stretch, self.unit.general_runs)
        self.count_lanes(self.unit.general_lanes + stretch.block, lanes)
        out.line(f"br label %{after}")
        out.label(after)

    def branch(self, instruction, stretch) -> None:
        """Emit a branch on which the active lanes may diverge."""
        out = self.out
        leaves = traits.of(instruction).leaves
        predicate = self.as_bits(self.spread("i1", self.guard(instruction)))
        taken = out.op(f"and i32 {predicate}, {self.mask}")
        stay_mask = out.op(f"and i32 {self.mask}, {out.op(f'xor i32 {predicate}, -1')}")
        some = out.op(f"icmp ne i32 {taken}, 0")
        if traits.of(instruction).traps:
            self.require(out.op(f"xor i1 {some}, true"))
            self.go_on(stretch)
            return
        takes, stay = out.fresh("takes"), out.fresh("stay")
        out.line(f"br i1 {some}, label %{takes}, label %{stay}")
        out.label(stay)
        self.go_on(stretch)
        out.label(takes)
        every = out.op(f"icmp eq i32 {stay_mask}, 0")
        jump, parts = out.fresh("jump"), out.fresh("parts")
        out.line(f"br i1 {every}, label %{jump}, label %{parts}")
        out.label(jump)
        target = EXIT if leaves else self.jump_target(instruction)
        self.go(stretch, target)
        out.label(parts)
        following = stretch.block + 1
        following = following if following < len(self.flow.blocks) else EXIT
        point = EXIT if leaves else self.flow.blocks[stretch.block].reconvergence
        if not leaves:
            self.count(self.unit.divergent[instruction.index])
        ends = [self.flow.stretch_of(b) for b in (target, following, point)]
        self.dispatch_to(
            out.op(
                f"call i32 @diverge(ptr %record, i32 {ends[0]}, i32 {taken}, "
                f"i32 {ends[1]}, i32 {stay_mask}, i32 {ends[2]})"
            )
        )

    def agreed_index(self, register) -> str:
        """Return a number equal in all active lanes; else leave compiled code."""
        return self._agreed(self.operand(register, "u32"))
