"""Stretches: parts of basic blocks between which the two tiers can alternate.

The fast tier makes assumptions (that all lanes agree on a branch, that an access is
within its array) and checks them where a stretch begins. If a check fails, nothing of
the stretch has been executed yet, so the general tier executes it instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.compiled.affine import (
    AffineAnalysis,
    integral,
    rows_of,
    rows_of_traits,
)
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import ATOMIC, COPY, LOAD, STORE
from coursekit.simt.ptx.ir import BYTES, Address, Immediate, Register


@dataclass(slots=True)
class Check:
    """A condition that the fast tier verifies before a stretch.

    `what` is "agree" (the predicate or number is the same in all lanes), "widen"
    (adding the offsets does not wrap in 32 bits), "range" (an access lies in one
    array), "all" (a member mask names all lanes) or "divisor" (is not zero).
    """

    what: str
    register: Register
    instructions: list = field(default_factory=list)


@dataclass(slots=True)
class Stretch:
    """Instructions [start, stop) of a basic block; `leads` if it starts the block."""

    number: int
    block: int
    start: int
    stop: int
    leads: bool
    checks: list[Check] = field(default_factory=list)
    live: frozenset[int] = frozenset()


class Flow:
    """The stretches, liveness and affine analysis of a decoded kernel."""

    def __init__(self, code, shape):
        self.code, self.shape = code, shape
        self.instructions = code.function.instructions
        self.blocks = code.blocks
        self.live_in, self.live_out = liveness(code)
        undefined = self.live_in[0] if self.blocks else ()
        self._rows = rows = rows_of_traits(code.function)
        self.fast = AffineAnalysis(
            code.function, shape, undefined=undefined, groups=rows_of(shape), rows=rows
        )
        self.general = self._general_analysis(undefined)
        self.stretches: list[Stretch] = []
        self.first: dict[int, int] = {}
        for number in range(len(self.blocks)):
            self._divide(number)
        self._find_live()

    def stretch_of(self, block: int) -> int:
        """Return the first stretch of a basic block; EXIT stays EXIT."""
        return EXIT if block == EXIT else self.first[block]

    # -- stretches ---------------------------------------------------------------------

    def _divide(self, number: int) -> None:
        block = self.blocks[number]
        stop = block.start + block.length
        current = self._begin(number, block.start, leads=True)
        written: set[int] = set()
        for index in range(block.start, stop):
            instruction = self.instructions[index]
            checks = list(self.checks(instruction))
            if any(check.register.index in written for check in checks):
                current.stop = index
                current = self._begin(number, index, leads=False)
                written = set()
            for check in checks:
                _add_check(current.checks, check)
            written.update(registers_of(instruction)[0])
        current.stop = stop

    def _begin(self, block: int, start: int, *, leads: bool) -> Stretch:
        stretch = Stretch(len(self.stretches), block, start, start, leads)
        if leads:
            self.first[block] = stretch.number
        self.stretches.append(stretch)
        return stretch

    def checks(self, instruction):
        """Yield the conditions on which the fast code of an instruction relies."""
        analysis, row = self.fast, traits.of(instruction)
        guard = instruction.guard
        effect = row.leads_elsewhere or row.memory in (LOAD, STORE)
        if guard is not None and effect and not analysis.of(guard.register).uniform:
            yield Check("agree", guard.register, [instruction])
        if row.indexed:
            index = instruction.operands[0]
            if not analysis.of(index).uniform:
                yield Check("agree", index, [instruction])
        if row.waits and not row.barrier and "sync" in instruction.modifiers:
            member = instruction.operands[-1]
            if isinstance(member, Register):
                yield Check("all", member, [instruction])
        widened = widening_source(instruction)
        if widened is not None:
            pattern = analysis.of(widened)
            if not pattern.divergent and not pattern.uniform:
                yield Check("widen", widened, [instruction])
        operation = self.code.operations.get(instruction.index)
        if operation is not None and operation.divisor is not None:
            divisor = instruction.operands[1 + operation.divisor]
            if isinstance(divisor, Register):
                yield Check("divisor", divisor, [instruction])
        base = address_base(instruction)
        if base is not None and row.memory != ATOMIC and not row.consumes:
            pattern = analysis.of(base)
            if not pattern.divergent and (
                pattern.groups == 1 or in_device_memory(instruction)
            ):
                yield Check("range", base, [instruction])

    def _find_live(self) -> None:
        for number in range(len(self.blocks)):
            live = set(self.live_out[number])
            own = [s for s in self.stretches if s.block == number]
            for stretch in reversed(own):
                for index in reversed(range(stretch.start, stretch.stop)):
                    _step_back(self.instructions[index], live)
                stretch.live = frozenset(live)

    # -- analysis under divergence -----------------------------------------------------

    def _general_analysis(self, undefined) -> AffineAnalysis:
        """Return the patterns that hold in divergent warps, too.

        A register that some lanes may write alone, and that another block reads, is
        divergent.
        """
        divergent: set[int] = set()
        while True:
            analysis = AffineAnalysis(
                self.code.function,
                self.shape,
                frozenset(divergent),
                undefined,
                rows=self._rows,
            )
            before = len(divergent)
            for block in self._partly_run(analysis):
                start = self.blocks[block].start
                for index in range(start, start + self.blocks[block].length):
                    for register in registers_of(self.instructions[index])[0]:
                        if register in self.live_out[block]:
                            divergent.add(register)
            if len(divergent) == before:
                return analysis

    def _partly_run(self, analysis) -> set[int]:
        """Return the blocks that may run while lanes of their warp are elsewhere."""
        found: set[int] = set()
        for number, block in enumerate(self.blocks):
            last = self.instructions[block.start + block.length - 1]
            successors = self.code.successors[number]
            if len(successors) < 2 or not _decides_by_lane(last, analysis):
                continue
            sides = [self._side(s, block.reconvergence) for s in successors]
            row = traits.of(last)
            if row.jumps and not row.indexed and block.reconvergence == EXIT:
                sides = self._without_leavers(successors, sides)
            found.update(*sides)
        return found

    def _side(self, start: int, point: int) -> set[int]:
        found: set[int] = set()
        pending = [start]
        while pending:
            block = pending.pop()
            if block not in (EXIT, point) and block not in found:
                found.add(block)
                pending += self.code.successors[block]
        return found

    def _without_leavers(self, successors, sides) -> list[set[int]]:
        """Leave out lanes that only exit, since they do not disturb the others."""
        a, b = sides
        for leaver, entry, stayer in ((a, successors[0], b), (b, successors[1], a)):
            needs = self.live_in[entry] if entry != EXIT else set()
            writes = {
                register
                for block in stayer
                for index in range(
                    self.blocks[block].start,
                    self.blocks[block].start + self.blocks[block].length,
                )
                for register in registers_of(self.instructions[index])[0]
            }
            if not leaver & stayer and not needs & writes:
                return [leaver]
        return sides


def _add_check(checks: list[Check], new: Check) -> None:
    for check in checks:
        if check.what == new.what and check.register == new.register:
            check.instructions += new.instructions
            return
    checks.append(new)


def _decides_by_lane(last, analysis) -> bool:
    if traits.of(last).indexed:
        return not analysis.of(last.operands[0]).uniform
    return last.guard is not None and not analysis.of(last.guard.register).uniform


def widening_source(instruction) -> Register | None:
    """Return the 32-bit register that an instruction widens, if any."""
    modifiers = instruction.modifiers
    if instruction.opcode == "cvt" and integral(instruction):
        target, source = [m for m in modifiers if m in BYTES][-2:]
        if (BYTES[target], BYTES[source]) == (8, 4):
            operand = instruction.operands[1]
            return operand if isinstance(operand, Register) else None
    if instruction.opcode in ("mul", "mad") and "wide" in modifiers:
        for operand, other in ((1, 2), (2, 1)):
            if isinstance(instruction.operands[other], Immediate):
                found = instruction.operands[operand]
                return found if isinstance(found, Register) else None
    return None


def address_base(instruction) -> Register | None:
    """Return the base register of a memory instruction's address, if any."""
    memory = traits.of(instruction).memory
    if memory in ("", COPY) or "param" in instruction.modifiers:
        return None
    for operand in instruction.operands:
        if isinstance(operand, Address):
            base = operand.base
            return base if isinstance(base, Register) else None
    return None


def in_device_memory(instruction) -> bool:
    """Whether an access names global memory."""
    return "global" in instruction.modifiers


def _step_back(instruction, live: set[int]) -> None:
    """Update liveness from after an instruction to before it."""
    written, read = registers_of(instruction)
    if instruction.guard is None:
        live.difference_update(written)
    live.update(read)


def liveness(code) -> tuple[list[set[int]], list[set[int]]]:
    """Return the registers that are live at the start and end of each block."""
    count = len(code.blocks)
    live_in: list[set[int]] = [set() for _ in range(count)]
    live_out: list[set[int]] = [set() for _ in range(count)]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(count)):
            block = code.blocks[number]
            after = set()
            for successor in code.successors[number]:
                if successor != EXIT:
                    after |= live_in[successor]
            live = set(after)
            for index in reversed(range(block.start, block.start + block.length)):
                _step_back(code.function.instructions[index], live)
            if live != live_in[number] or after != live_out[number]:
                live_in[number], live_out[number] = live, after
                changed = True
    return live_in, live_out
