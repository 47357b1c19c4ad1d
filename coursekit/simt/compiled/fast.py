"""The fast tier: code for warps whose 32 lanes are all active and agree on branches.

Registers are LLVM values. The tier's assumptions are checked where a stretch begins; if
one does not hold, the live registers go to the warp's record and the general tier
continues.
"""

from __future__ import annotations

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import request_of
from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.tier import TO_GENERAL, WAITS, listed, splat, vector
from coursekit.simt.compiled.unit import RESUME
from coursekit.simt.compiled.values import Value
from coursekit.simt.compiled.warp_code import WarpCode, register_type
from coursekit.simt.isa import traits

# Where a warp resumes whose registers have the form of this tier.
OWN_FORM = 1 << 20


class FastTier(WarpCode):
    """Generates the function @fast."""

    fast, name, own_fields = True, "fast", (Context.SITES, Context.OWN)

    def body(self) -> None:
        out = self.out
        self.missed: dict[int, int] = {}
        for index in self.unit.places:
            register = self.unit.function.registers[index]
            if index in self.affine.registers:
                out.line(f"%r{index} = alloca {self.held(register)}")
        resume = self.field("%record", RESUME, "i32")
        entries = sorted(self._entries())
        cases = " ".join(f"i32 {n + 1}, label %from{n}" for n in entries)
        after = sorted(self._after_barriers())
        cases += "".join(f" i32 {OWN_FORM + n}, label %back{n}" for n in after)
        out.line(f"switch i32 {resume}, label %lost [ i32 0, label %start {cases} ]")
        out.label("lost")
        out.line(f"ret i32 {TO_GENERAL}")
        self._start()
        for number in entries:
            self._enter(self.flow.stretches[number])
        for number in after:
            self._come_back(self.flow.stretches[number])
        for stretch in self.flow.stretches:
            if stretch.leads:
                self.forget()
                self.agreed = {}
            out.label(f"s{stretch.number}")
            self.block = stretch.block
            self.checked: dict[int, tuple] = {}
            self._check(stretch)
            self.count_block(stretch, self.unit.fast_runs)
            self.instructions(stretch)

    def _entries(self) -> set[int]:
        """Return the stretches at which this tier may take over."""
        found = self._after_barriers()
        for number, block in enumerate(self.flow.blocks):
            if (
                len(self.unit.code.successors[number]) > 1
                and block.reconvergence != EXIT
            ):
                found.add(self.flow.stretch_of(block.reconvergence))
        return found

    def _after_barriers(self) -> set[int]:
        found = set()
        for number, block in enumerate(self.flow.blocks[:-1]):
            last = self.flow.instructions[block.start + block.length - 1]
            if traits.of(last).barrier:
                found.add(self.flow.stretch_of(number + 1))
        return found

    # -- between the tiers -------------------------------------------------------------

    def _start(self) -> None:
        """Set registers that are read before they are written to 0."""
        self.out.label("start")
        self.clear_queue()
        for index in sorted(self.flow.stretches[0].live):
            register = self.unit.function.registers[index]
            zero = "zeroinitializer"
            self.out.line(f"store {self.held(register)} {zero}, ptr %r{index}")
        self.out.line("br label %s0")

    def _enter(self, stretch) -> None:
        """Load registers from the record; leave if they do not fit their patterns."""
        out = self.out
        out.label(f"from{stretch.number}")
        fits: list[str] = []
        for index in sorted(stretch.live):
            register = self.unit.function.registers[index]
            value = self._read(register, fits)
            out.line(f"store {self.held(register)} {value}, ptr %r{index}")
        if not fits:
            out.line(f"br label %s{stretch.number}")
            return
        all_fit = fits[0]
        for one in fits[1:]:
            all_fit = out.op(f"and i1 {all_fit}, {one}")
        out.line(f"br i1 {all_fit}, label %s{stretch.number}, label %lost")

    def _read(self, register, fits: list[str]) -> str:
        out, pattern = self.out, self.pattern(register)
        one, place = register_type(register), self.unit.places[register.index]
        if self.flow.general.registers[register.index].divergent:
            if one == "i1":
                found = self.lanes_bits(self.field("%record", place, "i32"))
            else:
                found = self.field("%record", place, vector(one))
            if pattern.divergent:
                return found
            base = self._base_of(one, found, pattern)
            expected = self.spread(one, Value.following(base, pattern))
            same = out.op(f"icmp eq {vector(one)} {found}, {expected}")
            same = out.op(f"icmp eq i32 {self.as_bits(same)}, -1")
            fits.append(same)
            return base
        return self.field("%record", place, one)

    def _come_back(self, stretch) -> None:
        """Load registers from the record in this tier's form, after a barrier."""
        self.out.label(f"back{stretch.number}")
        for index in sorted(stretch.live):
            register = self.unit.function.registers[index]
            type_, place = self.held(register), self.unit.places[index]
            if type_ == vector("i1"):
                value = self.lanes_bits(self.field("%record", place, "i32"))
            else:
                value = self.field("%record", place, type_)
            self.out.line(f"store {type_} {value}, ptr %r{index}")
        self.out.line(f"br label %s{stretch.number}")

    def _park(self, stretch) -> None:
        """Save registers in this tier's form, and wait for the other warps."""
        for index in sorted(stretch.live):
            register = self.unit.function.registers[index]
            type_, value = self.held(register), self.value(register).name
            if type_ == vector("i1"):
                type_, value = "i32", self.as_bits(value)
            self.set_field("%record", self.unit.places[index], type_, value)
        self.set_field("%record", RESUME, "i32", OWN_FORM + stretch.number)
        self.out.line(f"ret i32 {WAITS}")

    def _base_of(self, one: str, found: str, pattern) -> str:
        """Return the base, or bases, of a vector that should follow a pattern."""
        out = self.out
        if pattern.groups == 1:
            base = out.op(f"extractelement {vector(one)} {found}, i32 0")
            if pattern.offsets[0]:
                base = out.op(f"sub {one} {base}, {pattern.offsets[0]}")
            return base
        size = LANES // pattern.groups
        starts = range(0, LANES, size)
        some = f"<{pattern.groups} x {one}>"
        text = ", ".join(f"i32 {lane}" for lane in starts)
        base = out.op(
            f"shufflevector {vector(one)} {found}, {vector(one)} poison, "
            f"<{pattern.groups} x i32> <{text}>"
        )
        offsets = listed(one, [pattern.offsets[lane] for lane in starts])
        return out.op(f"sub {some} {base}, {offsets}")

    def _save(self, registers) -> None:
        """Write registers to the record, in the form of the general tier."""
        for index in sorted(registers):
            register = self.unit.function.registers[index]
            one, place = register_type(register), self.unit.places[index]
            if not self.flow.general.registers[index].divergent:
                self.set_field("%record", place, one, self.value(register).name)
                continue
            name = self.wide(register)
            if one == "i1":
                self.set_field("%record", place, "i32", self.as_bits(name))
            else:
                self.set_field("%record", place, vector(one), name)

    def _leave(self, stretch, answer: int, registers) -> None:
        known, vectors = dict(self.known), dict(self.vectors)
        self._save(registers)
        self.known, self.vectors = known, vectors
        self.set_field("%record", RESUME, "i32", stretch.number + 1)
        self.out.line(f"ret i32 {answer}")

    def keep(self, register, value) -> None:
        """Record a register's new value; facts about the old one become void."""
        self.agreed.pop(register.index, None)
        super().keep(register, value)

    def load(self, register) -> Value:
        """Load a register from its variable."""
        type_, pattern = self.held(register), self.pattern(register)
        if register.index not in self.unit.places:  # nobody reads it
            return Value.following("zeroinitializer", pattern)
        name = self.out.op(f"load {type_}, ptr %r{register.index}")
        return Value.following(name, pattern)

    def store(self, register, value) -> None:
        """Store a register to its variable, if another block reads it."""
        if register.index in self.unit.places:
            self.out.line(
                f"store {self.held(register)} {value.name}, ptr %r{register.index}"
            )

    # -- checks ------------------------------------------------------------------------

    def _check(self, stretch) -> None:
        if not stretch.checks:
            return
        out = self.out
        for index in sorted(stretch.live):
            self.value(self.unit.function.registers[index])
        holds = [self._holds(check) for check in sorted(stretch.checks, key=_order)]
        holds = [one for group in holds for one in group if one != "true"]
        if not holds:
            return
        together = holds[0]
        for one in holds[1:]:
            together = out.op(f"and i1 {together}, {one}")
        good, slow = f"good{stretch.number}", f"slow{stretch.number}"
        out.line(f"br i1 {together}, label %{good}, label %{slow}, !prof !7")
        out.label(slow)
        if not stretch.leads:
            number = self.missed.setdefault(stretch.number, self.unit.take(1))
            self.count(number)
        self._leave(stretch, TO_GENERAL, stretch.live)
        out.label(good)

    def _holds(self, check) -> list[str]:
        out, register = self.out, check.register
        if check.what == "agree":
            return [self._agrees(register)]
        if check.what == "all":
            value = self.value(register)
            if value.uniform:
                return [out.op(f"icmp eq i32 {value.name}, -1")]
            same = out.op(
                f"icmp eq {vector('i32')} {self.wide(register)}, {splat('i32', -1)}"
            )
            return [out.op(f"icmp eq i32 {self.as_bits(same)}, -1")]
        if check.what == "widen":
            return [fits(self, register, extends_sign(i)) for i in check.instructions]
        if check.what == "divisor":
            return [self._not_zero(register)]
        return self._in_range(check)

    def _agrees(self, register) -> str:
        """Return whether all lanes have one value, which the branch reuses."""
        out = self.out
        if register.type == "pred":
            mask = self.as_bits(self.wide(register))
            none = out.op(f"icmp eq i32 {mask}, 0")
            every = out.op(f"icmp eq i32 {mask}, -1")
            self.agreed[register.index] = every
            return out.op(f"or i1 {none}, {every}")
        one = register_type(register)
        name = self.wide(register)
        first = out.op(f"extractelement {vector(one)} {name}, i32 0")
        same = out.op(f"icmp eq {vector(one)} {name}, {self.broadcast(one, first)}")
        self.agreed[register.index] = first
        return out.op(f"icmp eq i32 {self.as_bits(same)}, -1")

    def _not_zero(self, register) -> str:
        out, one = self.out, register_type(register)
        value = self.value(register)
        if value.uniform:
            return out.op(f"icmp ne {one} {value.name}, 0")
        zero = out.op(f"icmp eq {vector(one)} {self.wide(register)}, zeroinitializer")
        return out.op(f"icmp eq i32 {self.as_bits(zero)}, 0")

    def _in_range(self, check) -> list[str]:
        """Emit one bounds check for all accesses from one base in a stretch."""
        groups: dict[tuple, list] = {}
        for instruction in check.instructions:
            request = request_of(self, instruction)
            guard = instruction.guard
            under = (guard.register.index, guard.negated) if guard else None
            groups.setdefault((request.space, request.width, under), []).append(request)
        holds = []
        for (_, _, under), requests in groups.items():
            first = requests[0]
            low = min(r.reach[0] for r in requests)
            high = max(r.reach[1] for r in requests)
            loads = all(r.loads for r in requests)
            bases = self.group_bases(first)
            legal, distance = self.within_bounds(first, bases, (low, high), loads)
            if any((r.constant - first.constant) % first.width for r in requests):
                legal = "false"
            for request in requests:
                self.checked[request.instruction.index] = bases, distance, (low, high)
            if under is not None:
                runs = self.condition(first.instruction)
                skipped = self.out.op(f"xor i1 {runs}, true")
                legal = self.out.op(f"or i1 {legal}, {skipped}")
            holds.append(legal)
        return holds

    # -- memory ------------------------------------------------------------------------

    def condition(self, instruction) -> str:
        """Return the guard of an instruction as one i1, equal in all lanes."""
        guard = instruction.guard
        known = self.agreed.get(guard.register.index)
        name = known or self.value(guard.register).name
        if guard.negated:
            name = self.out.op(f"xor i1 {name}, true")
        return name

    def load_memory(self, request) -> None:
        """Emit a load of all lanes, which a guard may skip."""
        self._guarded(request, self._load_all)

    def store_memory(self, request) -> None:
        """Emit a store of all lanes, which a guard may skip."""
        values = self.stored(request)
        self._guarded(request, lambda r: self._store_all(r, values))

    def _guarded(self, request, act) -> None:
        instruction, out = request.instruction, self.out
        if instruction.guard is None:
            values = act(request)
            if values is not None:
                self.finish_load(request, values)
            return
        runs = self.condition(instruction)
        targets = (
            [r for r in request.elements if hasattr(r, "index")]
            if request.loads
            else []
        )
        before = [self.value(r).name for r in targets]
        here, work, after = out.fresh("here"), out.fresh("work"), out.fresh("after")
        out.line(f"br label %{here}")
        out.label(here)
        out.line(f"br i1 {runs}, label %{work}, label %{after}")
        out.label(work)
        kept = dict(self.known), dict(self.vectors)
        values = act(request)
        if values is not None:
            self.finish_load(request, values)
        made = [self.value(r).name for r in targets]
        self.known, self.vectors = kept
        end = out.fresh("end")
        out.line(f"br label %{end}")
        out.label(end)
        out.line(f"br label %{after}")
        out.label(after)
        joined = [
            out.op(f"phi {self.held(r)} [ {new}, %{end} ], [ {old}, %{here} ]")
            for r, new, old in zip(targets, made, before, strict=True)
        ]
        for register, name in zip(targets, joined, strict=True):
            pattern = self.pattern(register)
            self.keep(register, Value.following(name, pattern))

    def _load_all(self, request):
        place = self._place(request)
        if place is None:
            addresses = self.lane_addresses(request)
            hosts = self.host_addresses(request, addresses, "-1")
            self.count_lanes_reached(request, addresses, "-1")
            return self.load_lanes(request, hosts, "splat (i1 true)")
        self._count(request, place[0])
        return self.load_pattern(request, *place)

    def _store_all(self, request, values) -> None:
        place = self._place(request)
        if place is None:
            addresses = self.lane_addresses(request)
            hosts = self.host_addresses(request, addresses, "-1")
            self.count_lanes_reached(request, addresses, "-1")
            self.store_lanes(request, hosts, "splat (i1 true)", values)
            return
        self._count(request, place[0])
        self.store_pattern(request, *place[:2], values)

    def _place(self, request) -> tuple | None:
        """Return a patterned access's bases, distance to host memory, legal bytes."""
        if request.pattern.divergent:
            return None
        checked = self.checked.get(request.instruction.index)
        if checked is not None:
            return checked
        bases = self.group_bases(request)
        legal, distance = self.within(request, bases)
        self.require(legal)
        return bases, distance, request.reach

    def _count(self, request, bases: list[str]) -> None:
        if self.uncounted(request):
            return
        fixed = self.fixed_counts(request)
        counts = self.unit.counts[request.key]
        if fixed is None and request.space == "shared":
            self.count_lanes_reached(request, self.lane_addresses(request), "-1")
        elif fixed is None:
            self.count_pattern(request, bases)
        elif request.instruction.guard is None:
            missed = [
                number for other, number in self.missed.items()
                if self.flow.stretches[other].block == self.block
            ]  # fmt: skip
            counts.fixed = (*fixed, self.block, missed)
        else:
            for number, amount in enumerate(fixed):
                if amount:
                    self.count(counts.slots + number, str(amount))

    # -- lanes -------------------------------------------------------------------------

    def active(self, lanes: str) -> str:
        """Return the active lanes of a mask. In this tier every lane is active."""
        return lanes

    def active_mask(self, guard) -> str:
        """Return the lanes that execute an instruction."""
        if guard is None:
            return "-1"
        return self.as_bits(self.spread("i1", guard))

    def members(self, member) -> str:
        """Return all lanes; leave this tier if a constant member mask names fewer."""
        value = getattr(member, "value", None)
        if value is not None and int(value) & 0xFFFFFFFF != 0xFFFFFFFF:
            self.require("false")
        return "-1"

    def check_divisor(self, instruction, operation, sources, scalar) -> None:
        """Emit nothing: the check stands where the stretch begins."""

    # -- where blocks go ---------------------------------------------------------------

    def next_stretch(self, stretch) -> None:
        """Continue with the rest of the block."""
        self.out.line(f"br label %s{stretch.number + 1}")

    def go(self, stretch, target: int) -> None:
        """Jump to another block."""
        if target == EXIT:
            self.done()
            return
        if target <= stretch.block:
            self.burn()
        self.out.line(f"br label %s{self.flow.stretch_of(target)}")

    def barrier(self, stretch) -> None:
        """Wait for the other warps."""
        self._park(self.flow.stretches[self.flow.stretch_of(stretch.block + 1)])

    def branch(self, instruction, stretch) -> None:
        """Emit a branch that all lanes take in the same direction."""
        out = self.out
        taken = self.condition(instruction)
        jump, stay = out.fresh("jump"), out.fresh("stay")
        out.line(f"br i1 {taken}, label %{jump}, label %{stay}")
        kept = dict(self.known), dict(self.vectors)
        out.label(jump)
        row = traits.of(instruction)
        if row.traps:
            self.require("false")
        self.go(stretch, self.jump_target(instruction) if row.jumps else EXIT)
        self.known, self.vectors = kept
        out.label(stay)
        self.go_on(stretch)

    def agreed_index(self, register) -> str:
        """Return a number that is the same in all lanes."""
        return self.agreed.get(register.index) or self.value(register).name


def _order(check) -> int:
    """Return a sort key that puts range checks last: they use results of the others."""
    return check.what == "range"


def extends_sign(instruction) -> bool:
    """Whether an instruction sign-extends."""
    types = [m for m in instruction.modifiers if m[0] in "us" and m[1:].isdigit()]
    return types[-1][0] == "s"


def fits(tier, register, signed: bool) -> str:
    """Return whether a register plus any of its offsets stays within 32 bits."""
    out, pattern = tier.out, tier.pattern(register)
    verb = "sext" if signed else "zext"
    if pattern.groups > 1:
        return _groups_fit(tier, register, signed)
    wide = out.op(f"{verb} i32 {tier.value(register).name} to i64")
    low = out.op(f"add i64 {wide}, {pattern.low}")
    high = out.op(f"add i64 {wide}, {pattern.high}")
    least, most = (-(2**31), 2**31 - 1) if signed else (0, 2**32 - 1)
    above = out.op(f"icmp sge i64 {low}, {least}")
    below = out.op(f"icmp sle i64 {high}, {most}")
    return out.op(f"and i1 {above}, {below}")


def _groups_fit(tier, register, signed: bool) -> str:
    """Return whether all groups' bases plus their offsets stay within 32 bits."""
    out, pattern = tier.out, tier.pattern(register)
    some, verb = f"<{pattern.groups} x i64>", "sext" if signed else "zext"
    base = tier.value(register).name
    wide = out.op(f"{verb} <{pattern.groups} x i32> {base} to {some}")
    low = out.op(f"add {some} {wide}, {splat('i64', pattern.low)}")
    high = out.op(f"add {some} {wide}, {splat('i64', pattern.high)}")
    least, most = (-(2**31), 2**31 - 1) if signed else (0, 2**32 - 1)
    above = out.op(f"icmp sge {some} {low}, {splat('i64', least)}")
    below = out.op(f"icmp sle {some} {high}, {splat('i64', most)}")
    flags = f"<{pattern.groups} x i1>"
    both = out.op(f"and {flags} {above}, {below}")
    name = f"llvm.vector.reduce.and.v{pattern.groups}i1"
    out.declare(f"declare i1 @{name}({flags})")
    return out.op(f"call i1 @{name}({flags} {both})")
