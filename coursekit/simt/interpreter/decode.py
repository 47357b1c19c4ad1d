"""Decode instructions into steps: small functions that change the state of a warp.

A basic block is a list of steps and one `finish`, which returns the block that
follows, or None when the split parted, parked or left. Lane-wise operations come
from the table in `isa`; memory, data movement and control are made here and in
`collectives`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from coursekit import errors
from coursekit.simt.analysis.control import EXIT, basic_blocks
from coursekit.simt.interpreter import (
    async_copies,
    branches,
    fused_steps,
    mbarriers,
    moves,
    products,
    transfers,
    warpgroups,
)
from coursekit.simt.interpreter.access import Access
from coursekit.simt.interpreter.layout import Layout
from coursekit.simt.interpreter.results import with_negated, write_checked, write_result
from coursekit.simt.isa import lookup, traits
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import BYTES, Function, Instruction, Not, Pair, Register

MAKERS = {
    **moves.MAKERS,
    **transfers.MAKERS,
    **async_copies.MAKERS,
    **mbarriers.MAKERS,
    **products.MAKERS,
    **warpgroups.MAKERS,
}


@dataclass(slots=True)
class CodeBlock:
    """A decoded basic block, with its executions in the current launch."""

    steps: list
    finish: object
    start: int
    length: int
    reconvergence: int = EXIT
    executions: int = 0
    lanes: int = 0


@dataclass(slots=True)
class Code:
    """A decoded function."""

    function: Function
    layout: Layout
    blocks: list[CodeBlock] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    operations: dict[int, lookup.Operation] = field(default_factory=dict)
    guarded_lanes: dict[int, int] = field(default_factory=dict)
    local_bytes: int = 0
    branch_counts: dict[int, list[int]] = field(default_factory=dict)
    successors: list[tuple[int, ...]] = field(default_factory=list)
    facts: object = None

    def last_instruction(self, block: int) -> Instruction | None:
        """Return the instruction that ends a block."""
        if not 0 <= block < len(self.blocks):
            return self.function.instructions[-1]
        code = self.blocks[block]
        return self.function.instructions[code.start + code.length - 1]

    def returns_at(self, block: int) -> bool:
        """Whether a block contains nothing but a return."""
        return (
            block != EXIT
            and self.blocks[block].length == 1
            and self.last_instruction(block).opcode == "ret"
            and self.last_instruction(block).guard is None
        )

    def leads(self, block: int, goal: int) -> bool:
        """Whether lanes that leave a block may come to another, or back to it."""
        pending, seen = [block], set()
        while pending:
            for following in self.successors[pending.pop()]:
                if following == goal:
                    return True
                if following != EXIT and following not in seen:
                    seen.add(following)
                    pending.append(following)
        return False

    def reset(self) -> None:
        """Forget the counts of earlier launches."""
        for block in self.blocks:
            block.executions = block.lanes = 0
        for access in self.accesses:
            access.sites.clear()
            access.counted = None
        for index in self.guarded_lanes:
            self.guarded_lanes[index] = 0
        for counts in self.branch_counts.values():
            counts[:] = [0, 0]

    def count_as(self, widths) -> None:
        """Set the widths by which shared accesses are counted, by instruction."""
        for access in self.accesses:
            access.counted = widths.get(access.instruction.index)


class Decoder:
    """Decodes one function into `Code`."""

    def __init__(self, program, function: Function):
        self.program, self.function = program, function
        self.layout = Layout(program)
        self.code = Code(function, self.layout)
        self._place_locals()

    def _place_locals(self) -> None:
        offset = 0
        for variable in self.function.variables.values():
            if variable.space == "local":
                offset = -(-offset // variable.align) * variable.align
                self.layout.local_offsets[variable.name] = offset
                offset += variable.nbytes
        self.code.local_bytes = offset

    def decode(self) -> Code:
        """Decode every basic block."""
        blocks = basic_blocks(self.function, self.block_starts())
        self.starts = {block.start: b for b, block in enumerate(blocks)}
        self.code.successors = [block.successors for block in blocks]
        for number, block in enumerate(blocks):
            steps = []
            finish = branches.fall_through(number, len(blocks))
            for instruction in self.function.instructions[block.start : block.stop]:
                last = instruction.index == block.stop - 1
                try:
                    ending = (
                        branches.ending(self, instruction, block, number)
                        if last
                        else None
                    )
                    if ending is not None:
                        finish = ending
                        continue
                    step = self._guarded(instruction, self._step(instruction))
                except errors.UnsupportedError as error:
                    if "the simulator has no" in str(error):
                        raise
                    raise faults.unsupported(
                        self.program, instruction, f" ({error})"
                    ) from error
                if step is not None:
                    steps.append((instruction, step))
            length = block.stop - block.start
            steps = self.joined(steps)
            self.code.blocks.append(
                CodeBlock(steps, finish, block.start, length, block.reconvergence)
            )
        return self.code

    def block_starts(self) -> tuple[int, ...]:
        """Return additional instructions at which a basic block begins."""
        return ()

    def joined(self, steps: list[tuple]) -> list:
        """Return a block's steps; a subclass or a fusion may merge several."""
        return fused_steps.joined(self.code.operations, steps)

    def no_guard(self, instruction) -> None:
        if instruction.guard is not None:
            raise faults.unsupported(self.program, instruction, " under a predicate")

    def guard_slot(self, instruction) -> tuple[int, bool] | None:
        """Return the slot of the guard predicate, and whether it is negated."""
        guard = instruction.guard
        if guard is None:
            return None
        return self.layout.register(guard.register, "pred"), guard.negated

    def _guarded(self, instruction, step):
        guard = self.guard_slot(instruction)
        if guard is None or step is None:
            return step
        slot, negated = guard
        lanes, index = self.code.guarded_lanes, instruction.index
        lanes[index] = 0

        def run(warp):
            predicate = warp.slots[slot]
            active = warp.mask & (~predicate if negated else predicate)
            count = int(np.count_nonzero(active))
            if not count:
                return
            lanes[index] += count
            kept = warp.mask, warp.all, warp.count
            warp.mask, warp.all, warp.count = active, count == 32, count
            step(warp)
            warp.mask, warp.all, warp.count = kept

        return run

    def access(self, instruction, space, width: int, verb: str) -> Access:
        """Make the object that finds and checks a memory instruction's bytes."""
        access = Access(instruction, space, width, verb)
        self.code.accesses.append(access)
        return access

    def _step(self, instruction: Instruction):
        maker = MAKERS.get(instruction.opcode)
        if maker is not None:
            step = maker(self, instruction)
            if step is not None:
                return step
        if traits.of(instruction).ignored:
            return None
        operation = lookup.operation(instruction)
        if operation is None:
            raise faults.unsupported(self.program, instruction)
        self.code.operations[instruction.index] = operation
        return self._lanewise(instruction, operation)

    def destination(self, operand, type_: str) -> int | None:
        """Return the slot for a result of `type_`; narrower ones are extended."""
        if operand is None:
            return None
        if not isinstance(operand, Register):
            raise errors.UnsupportedError("its result goes to no register")
        own = BYTES[operand.type]
        if type_ == "pred" or own == BYTES[type_]:
            return self.layout.register(operand, type_)
        kind = "s" if type_[0] == "s" else "u"
        if own < BYTES[type_]:
            raise errors.UnsupportedError(f"{type_} result in {operand.name}")
        return self.layout.register(operand, f"{kind}{8 * own}")

    def _lanewise(self, instruction, operation):
        operands = list(instruction.operands)
        results = self._results(operands, operation)
        if operation.writes_carry:
            results.append(self._carry())
        negated = [isinstance(o, Not) for o in operands]
        sources = [
            self.layout.operand(o.register if isinstance(o, Not) else o, type_)
            for o, type_ in zip(operands, operation.sources, strict=False)
        ]
        if operation.reads_carry:
            sources.append(self._carry())
            negated.append(False)
        if len(sources) < len(operation.sources):
            raise faults.unsupported(self.program, instruction, " with these operands")
        evaluate = operation.evaluate
        if any(negated):
            evaluate = with_negated(evaluate, negated)
        if operation.divisor is not None:
            evaluate = self._checked_division(instruction, operation, evaluate)
            return write_checked(evaluate, results, sources)
        return write_result(evaluate, results, sources)

    def _results(self, operands: list, operation) -> list[int | None]:
        """Remove the destinations from the front of the operands."""
        first = operands.pop(0)
        types = operation.results
        if isinstance(first, Pair):
            return [
                self.destination(first.first, types[0]),
                self.destination(first.second, types[1]),
            ]
        wanted = len(types) - bool(operation.writes_carry and len(types) > 1)
        if wanted > 1:
            return [self.destination(first, types[0]), None]
        return [self.destination(first, types[0])]

    def _carry(self) -> int:
        """Return the slot of the carry flag, a predicate register of the function."""
        registers = self.function.registers
        for register in registers:
            if register.name == "%carry flag":
                return self.layout.register(register, "pred")
        flag = Register("%carry flag", len(registers), "pred")
        registers.append(flag)
        return self.layout.register(flag, "pred")

    @staticmethod
    def _checked_division(instruction, operation, evaluate):
        index = operation.divisor

        def checked(warp, *sources):
            zero = (sources[index] == 0) & warp.mask
            if zero.any():
                raise faults.division_error(warp, int(np.argmax(zero)), instruction)
            return evaluate(*sources)

        return checked
