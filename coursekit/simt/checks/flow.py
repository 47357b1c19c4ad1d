"""Uses of a loaded value: it is copied to other places, or computed with."""

from __future__ import annotations

from collections import defaultdict

from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import STORE
from coursekit.simt.ptx.ir import BYTES, Address, Register, Vector

# Nobody reads it; it is only copied on chip or within device memory; it is copied
# to device memory from elsewhere; something is computed from it.
UNUSED, COPY, LEAVES, USED = "unused", "copy", "leaves", "used"
_RANK = {UNUSED: 0, COPY: 1, LEAVES: 2, USED: 3}
_ON_CHIP = {"shared", "shared::cta", "local"}


class Uses:
    """The instructions of a function that read each register."""

    def __init__(self, function):
        self.function = function
        self.readers = defaultdict(list)
        for instruction in function.instructions:
            for index in set(registers_of(instruction)[1]):
                self.readers[index].append(instruction)

    def of(self, register, space: str) -> str:
        """Return the uses of a value that was loaded from a state space."""
        return self._worst(register.index, space, frozenset())

    def _worst(self, index: int, space: str, seen: frozenset) -> str:
        if index in seen:
            return UNUSED
        kinds = [
            self._use(one, index, space, seen | {index}) for one in self.readers[index]
        ]
        return max(kinds, key=_RANK.get, default=UNUSED)

    def _use(self, instruction, index: int, space: str, seen: frozenset) -> str:
        if instruction.guard is not None and instruction.guard.register.index == index:
            return USED
        if traits.of(instruction).memory == STORE:
            if "param" not in instruction.modifiers:
                return _stored(instruction, index, space)
            return COPY if self._is_member(instruction) else USED
        if instruction.opcode in ("mov", "selp"):
            target, *sources = instruction.operands
            chooses = instruction.opcode == "selp" and _is(sources[-1], index)
            if isinstance(target, Register) and not chooses:
                return self._worst(target.index, space, seen)
        return USED

    def _is_member(self, instruction) -> bool:
        """Whether a store fills only a part of a call's argument."""
        address, value = instruction.operands
        variable = self.function.variables.get(getattr(address.base, "name", None))
        count = len(value.elements) if isinstance(value, Vector) else 1
        width = count * BYTES[instruction.type]
        return variable is not None and variable.nbytes > width


def _stored(instruction, index: int, space: str) -> str:
    address = next(o for o in instruction.operands if isinstance(o, Address))
    if _is(address.base, index):
        return USED
    on_chip = bool(_ON_CHIP & set(instruction.modifiers))
    return COPY if on_chip or space == "global" else LEAVES


def _is(operand, index: int) -> bool:
    if isinstance(operand, Vector):
        return any(_is(one, index) for one in operand.elements)
    return isinstance(operand, Register) and operand.index == index
