"""A decoder whose program reports each step to a tracer."""

from __future__ import annotations

import numpy as np

from coursekit.simt.analysis.control import ends_block
from coursekit.simt.interpreter.access import Access
from coursekit.simt.interpreter.collectives import lane_bits
from coursekit.simt.interpreter.decode import Decoder


class TracedAccess(Access):
    """A memory instruction that reports its accesses to the tracer."""

    def __init__(self, tracer, instruction, space, width, verb):
        super().__init__(instruction, space, width, verb)
        self.tracer = tracer

    def parts(self, warp, addresses):
        """Report the bytes of the active lanes to the tracer, and find them."""
        if not self.tracer.watches(warp):
            return super().parts(warp, addresses)
        self.tracer.touch(self, warp, addresses)
        before = dict(self.sites)
        found = super().parts(warp, addresses)
        added = {k: n - before.get(k, 0) for k, n in self.sites.items()}
        self.tracer.count({k: n for k, n in added.items() if n})
        return found


class TracingDecoder(Decoder):
    """Decodes a program that reports its steps to a tracer."""

    def __init__(self, tracer, program, function):
        super().__init__(program, function)
        self.tracer = tracer
        self._writes: list[tuple] = []

    def decode(self):
        """Decode every block; those with a branch report it to the tracer."""
        code = super().decode()
        for block in code.blocks:
            last = self.function.instructions[block.start + block.length - 1]
            if ends_block(last):
                block.finish = self._followed_ending(last, block.finish)
        return code

    def access(self, instruction, space, width, verb) -> Access:
        """Make an access that reports to the tracer."""
        made = TracedAccess(self.tracer, instruction, space, width, verb)
        self.code.accesses.append(made)
        return made

    def joined(self, steps: list[tuple]) -> list:
        """Keep each step separate, so that the tracer sees it."""
        return [step for _, step in steps]

    def destination(self, operand, type_: str) -> int | None:
        """Return a result's slot, which the tracer reads after the step."""
        slot = super().destination(operand, type_)
        if slot is not None:
            self._writes.append((operand.name, slot, type_))
        return slot

    def _step(self, instruction):
        self._writes = []
        return super()._step(instruction)

    def _guarded(self, instruction, step):
        run = super()._guarded(instruction, step) or (lambda warp: None)
        tracer, function, writes = self.tracer, self.function, tuple(self._writes)
        guard = self.guard_slot(instruction)

        def followed(warp):
            if tracer.watches(warp):
                mask = _guarded_lanes(warp, guard)
                tracer.begin(warp, instruction, function, writes, mask)
            run(warp)

        return followed

    def _followed_ending(self, instruction, finish):
        tracer, function, writes = self.tracer, self.function, self._endings_writes
        guard = self.guard_slot(instruction)
        written = tuple(writes(instruction))
        branches = instruction.opcode in ("bra", "brx") and guard is not None

        def followed(warp):
            if not tracer.watches(warp):
                return finish(warp)
            mask = warp.mask if branches else _guarded_lanes(warp, guard)
            draft = tracer.begin(warp, instruction, function, written, mask)
            if branches:
                draft.taken = lane_bits(_guarded_lanes(warp, guard))
            following = finish(warp)
            tracer.ended(warp)
            return following

        return followed

    def _endings_writes(self, instruction):
        """Return the registers that a collective writes."""
        if instruction.opcode in ("bra", "brx", "call", "ret", "exit", "trap"):
            return
        if instruction.opcode in ("bar", "barrier") and "red" not in (
            instruction.modifiers
        ):
            return
        first = instruction.operands[0] if instruction.operands else None
        members = (getattr(first, "first", first), getattr(first, "second", None))
        for member in members:
            if member is not None and hasattr(member, "type"):
                slot = self.layout.register(member, member.type)
                yield member.name, slot, member.type


def _guarded_lanes(warp, guard) -> np.ndarray:
    if guard is None:
        return warp.mask
    slot, negated = guard
    predicate = warp.slots[slot]
    return warp.mask & (~predicate if negated else predicate)
