"""Ends of basic blocks: branches, returns, traps, calls and collectives."""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.analysis.control import EXIT
from coursekit.simt.interpreter import collectives
from coursekit.simt.interpreter.calls import make_call
from coursekit.simt.isa import traits
from coursekit.simt.memory import faults


def fall_through(number: int, count: int):
    """Return the `finish` of a block that ends without a branch."""
    following = number + 1 if number + 1 < count else EXIT

    def finish(warp):
        if following == EXIT:
            warp.leave()
            return None
        return following

    return finish


def ending(decoder, instruction, block, number):
    """Return the `finish` of a block that this instruction ends, or None."""
    row = traits.of(instruction)
    if row.leaves:
        return _leaving(decoder, instruction, number)
    if row.waits:
        return collectives.make(decoder, instruction, number)
    if row.calls:
        decoder.no_guard(instruction)
        return make_call(decoder, instruction, number)
    if row.jumps:
        if row.indexed:
            return _indexed_branch(decoder, instruction, block)
        return _branch(decoder, instruction, block, number)
    return None


def _branch(decoder, instruction, block, number):
    successors, target = block.successors, block.reconvergence
    jump = successors[0]
    guard = decoder.guard_slot(instruction)
    if guard is None:
        return lambda warp: _go(warp, jump)
    slot, negated = guard
    following = successors[1]
    counts = decoder.code.branch_counts.setdefault(instruction.index, [0, 0])

    def finish(warp):
        predicate = warp.slots[slot]
        if negated:
            predicate = ~predicate
        taken = predicate & warp.mask
        number = np.count_nonzero(taken)
        counts[0] += 1
        if number == 0:
            return _go(warp, following)
        if number == warp.count:
            return _go(warp, jump)
        counts[1] += 1
        stay = warp.mask & ~taken
        warp.diverge([(jump, taken), (following, stay)], target)
        return None

    return finish


def _indexed_branch(decoder, instruction, block):
    decoder.no_guard(instruction)
    index = decoder.layout.operand(instruction.operands[0], "u32")
    table = decoder.function.branch_tables[instruction.operands[1].name]
    targets = [
        decoder.starts.get(decoder.function.labels[name], EXIT) for name in table
    ]
    target = block.reconvergence

    def finish(warp):
        chosen = warp.slots[index]
        values = np.unique(chosen[warp.mask]).tolist()
        if len(values) == 1:
            return _go(warp, targets[values[0]])
        groups = [(targets[v], warp.mask & (chosen == v)) for v in values]
        warp.diverge(groups[::-1], target)
        return None

    return finish


def _leaving(decoder, instruction, number):
    guard = decoder.guard_slot(instruction)
    opcode, row = instruction.opcode, traits.of(instruction)

    def leave(warp):
        if row.traps:
            raise faults.kernel_error(
                errors.IllegalInstructionError, warp, int(np.argmax(warp.mask)),
                instruction, "{thread} executes a trap.", *_trap_advice(instruction),
            )  # fmt: skip
        if opcode == "exit":
            warp.exit(warp.mask)
        else:
            warp.leave()

    if guard is None:
        return leave
    slot, negated = guard

    def finish(warp):
        predicate = warp.slots[slot] ^ negated
        leaving = predicate & warp.mask
        if not leaving.any():
            return number + 1
        staying = warp.mask & ~leaving
        if not staying.any():
            return leave(warp)
        if opcode == "ret":
            warp.diverge([(EXIT, leaving), (number + 1, staying)], EXIT)
            return None
        if row.traps:
            warp.show_lanes(warp.split, leaving)
            return leave(warp)
        warp.drop(leaving)
        return number + 1

    return finish


def _trap_advice(instruction) -> tuple[str, str]:
    """Return the likely cause of a trap, and its cure."""
    place = instruction.location
    if place is not None and place.file.endswith("cooperative_groups.h"):
        return (
            "Blocks can wait for each other only where all of them run at once, which "
            "this launch did not ask for.",
            "Launch with kernel.launch(grid, block, ..., cooperative=True).",
        )
    return (
        "The code calls __trap(), or the compiler proved that this point cannot be "
        "reached legally, as behind the use of a null pointer.",
        "Look at the condition that leads to this line.",
    )


def _go(warp, block: int):
    if block == EXIT:
        warp.leave()
        return None
    return block
