"""Nondeterministic counts: those that depend on the order of threads, as behind a lock.

The result of an atomic, or of a volatile load, depends on which thread came first. A
loop that waits for such a value to be right runs as often as the schedule decides, and
so does code behind a branch on such a value. Tickets drawn by atomicAdd or atomicInc
are better: which thread gets which is unknown, but each is drawn once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.analysis.instructions import polls
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import ATOMIC, LOAD, STORE
from coursekit.simt.ptx.ir import Address, Call, Register, Special, Symbol, Vector

_TIMES = ("clock", "globaltimer", "smid", "warpid")
_SHARED = {"shared", "shared::cta"}
_ON_CHIP = ("shared", "local")


class Dependence(IntEnum):
    """How a value depends on the order of threads.

    NONE; CHOSEN: true for one thread, whichever; RANKED: true for so many threads;
    TICKET: another number for each thread; ANY: anything.
    """

    NONE = 0
    CHOSEN = 1
    RANKED = 2
    TICKET = 3
    ANY = 4


@dataclass(frozen=True)
class Doubts:
    """The counts of a function that depend on the order of threads.

    The `instructions`, by index, run as often as the schedule decides; the addresses of
    the accesses `scattered` depend on it. `ranked` instructions run for a fixed number
    of threads, and so of warps where lanes draw the `tickets` one at a time. `calls`
    says whether doubtful instructions call functions.
    """

    instructions: frozenset[int] = frozenset()
    scattered: frozenset[int] = frozenset()
    ranked: frozenset[int] = frozenset()
    tickets: frozenset[int] = frozenset()
    calls: bool = False


def doubts(code, unsteady: frozenset[str]) -> Doubts:
    """Find the schedule-dependent counts of a decoded function.

    Parameters
    ----------
    code : decode.Code
    unsteady : frozenset of str
        Names of functions whose results may depend on it.
    """
    instructions = code.function.instructions
    if not any(polls(one) or _called(one) in unsteady for one in instructions):
        return Doubts()
    return _Search(code, unsteady).run()


def unsteady_functions(functions) -> frozenset[str]:
    """Return the functions that poll or use atomics, directly or in a call."""
    found = {f.name for f in functions if any(polls(i) for i in f.instructions)}
    grown = True
    while grown:
        more = {
            f.name
            for f in functions
            if f.name not in found and any(_called(i) in found for i in f.instructions)
        }
        found |= more
        grown = bool(more)
    return frozenset(found)


def _called(instruction) -> str | None:
    for operand in instruction.operands:
        if isinstance(operand, Call) and isinstance(operand.function, Symbol):
            return operand.function.name
    return None


class _Search:
    """Propagates dependence through registers, on-chip memory and branches."""

    def __init__(self, code, unsteady):
        self.code, self.function, self.unsteady = code, code.function, unsteady
        self.registers: dict[int, Dependence] = {}
        self.memory = dict.fromkeys(_ON_CHIP, Dependence.NONE)
        self.blocks: set[int] = set()
        self.ranked: set[int] = set()
        self.returns = any(_called(i) in unsteady for i in code.function.instructions)

    def run(self) -> Doubts:
        """Repeat the propagation until a fixed point is reached."""
        before = None
        while before != (state := self._state()):
            before = state
            for number, block in enumerate(self.code.blocks):
                for one in self._instructions(block):
                    self._follow(one, number in self.blocks)
                self._branch(number)
        return self._found()

    def _state(self) -> tuple:
        return len(self.blocks), dict(self.registers), dict(self.memory)

    def _instructions(self, block):
        return self.function.instructions[block.start : block.start + block.length]

    def _follow(self, one, doubtful: bool) -> None:
        """Record the dependence of an instruction's results on its sources."""
        if traits.of(one).memory == STORE:
            self._store(one)
            return
        level = Dependence.ANY if doubtful else self._result(one)
        level = max(level, self._guard(one))
        for index in registers_of(one)[0]:
            self.registers[index] = max(
                level, self.registers.get(index, Dependence.NONE)
            )

    def _result(self, one) -> Dependence:
        memory = traits.of(one).memory
        if memory == ATOMIC:
            return Dependence.TICKET if _draws(one) else Dependence.ANY
        if memory == LOAD:
            return self._load(one)
        sources = [self._of(operand) for operand in one.operands[1:]]
        level = max(sources, default=Dependence.NONE)
        if one.opcode == "setp" and level == Dependence.TICKET and not min(sources):
            equal = {"eq", "ne"} & set(one.modifiers)
            return Dependence.CHOSEN if equal else Dependence.RANKED
        return level

    def _load(self, one) -> Dependence:
        if polls(one):
            return Dependence.ANY
        address = one.operands[1]
        if "param" in one.modifiers:
            own = {variable.name for variable in self.function.parameters}
            mine = getattr(address.base, "name", None) in own
            return Dependence.ANY if self.returns and not mine else Dependence.NONE
        level = self._of(address)
        if level >= Dependence.TICKET:
            return Dependence.ANY
        return max(level, self.memory.get(_space(one), Dependence.NONE))

    def _store(self, one) -> None:
        space = _space(one)
        if space in self.memory:
            address = next(o for o in one.operands if isinstance(o, Address))
            level = max(self._of(o) for o in one.operands if o is not address)
            if self._of(address) >= Dependence.TICKET:
                level = Dependence.ANY
            self.memory[space] = max(level, self.memory[space])

    def _of(self, operand) -> Dependence:
        if isinstance(operand, Vector):
            return max(map(self._of, operand.elements), default=Dependence.NONE)
        if isinstance(operand, Address):
            return self._of(operand.base)
        if isinstance(operand, Special):
            timed = operand.name.lstrip("%").startswith(_TIMES)
            return Dependence.ANY if timed else Dependence.NONE
        register = getattr(operand, "register", operand)
        if isinstance(register, Register):
            return self.registers.get(register.index, Dependence.NONE)
        return Dependence.NONE

    def _guard(self, one) -> Dependence:
        if one.guard is None:
            return Dependence.NONE
        return self.registers.get(one.guard.register.index, Dependence.NONE)

    def _branch(self, number: int) -> None:
        """Mark the blocks that are control dependent on a schedule-dependent branch."""
        block = self.code.blocks[number]
        last = self.code.last_instruction(number)
        level = self._guard(last)
        if traits.of(last).indexed:
            level = max(level, self._of(last.operands[0]))
        if level == Dependence.NONE:
            return
        decided = self._reached(self.code.successors[number], block.reconvergence)
        if level >= Dependence.TICKET or number in decided:
            self.blocks |= decided
        elif level == Dependence.RANKED:
            self.ranked |= decided

    def _reached(self, first, end: int) -> set[int]:
        """Return the blocks that follow, up to the reconvergence point."""
        pending, seen = list(first), set()
        while pending:
            one = pending.pop()
            if one not in (EXIT, end) and one not in seen:
                seen.add(one)
                pending += self.code.successors[one]
        return seen

    def _found(self) -> Doubts:
        instructions = self.function.instructions
        doubtful = self._within(self.blocks) | {
            i.index for i in instructions if self._guard(i) >= Dependence.TICKET
        }
        scattered = {
            one.index
            for one in instructions
            for operand in one.operands
            if isinstance(operand, Address) and self._of(operand) >= Dependence.TICKET
        }
        return Doubts(
            frozenset(doubtful),
            frozenset(scattered),
            frozenset(self._within(self.ranked)),
            frozenset(i.index for i in instructions if _draws(i)),
            any(_called(instructions[index]) is not None for index in doubtful),
        )

    def _within(self, numbers) -> set[int]:
        blocks = [self.code.blocks[number] for number in numbers]
        return {one.index for block in blocks for one in self._instructions(block)}


def _draws(instruction) -> bool:
    """Whether an atomic returns another number to each thread; adding 0 does not."""
    counts = instruction.opcode == "atom" and {"add", "inc"} & set(
        instruction.modifiers
    )
    return bool(counts) and getattr(instruction.operands[2], "value", 1) != 0


def _space(instruction) -> str | None:
    words = set(instruction.modifiers)
    if words & _SHARED:
        return "shared"
    return "local" if "local" in words else None
