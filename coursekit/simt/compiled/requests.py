"""Memory instructions of compiled code: base, pattern, offset and type."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.affine import DIVERGENT, SAME, LanePattern
from coursekit.simt.compiled.flow import in_device_memory
from coursekit.simt.interpreter.access import READS
from coursekit.simt.ptx.ir import BYTES, Address, Register, Vector


@dataclass
class Request:
    """One memory instruction, split into the parts of its address.

    The address of a lane is `base` (a register, a variable or a number), which follows
    `pattern`, plus `constant`. `key` finds its counts.
    """

    instruction: object
    access: object
    space: str
    base: object
    constant: int
    element: int
    elements: tuple
    type_: str
    pattern: LanePattern
    key: int

    @property
    def width(self) -> int:
        return self.access.width

    @property
    def loads(self) -> bool:
        return self.access.verb == READS

    @property
    def reach(self) -> tuple[int, int]:
        """The first byte and the end of the access, relative to the base."""
        return (
            self.pattern.low + self.constant,
            self.pattern.high + self.constant + self.width,
        )


def request_of(tier, instruction) -> Request:
    """Split a memory instruction into a request."""
    access = tier.unit.accesses.get(instruction.index)
    if access is None:
        raise UnsupportedError(instruction.name)
    operands = instruction.operands
    place = next(o for o in operands if isinstance(o, Address))
    other = next((o for o in operands if not isinstance(o, Address)), None)
    elements = other.elements if isinstance(other, Vector) else (other,)
    type_ = instruction.type
    pattern = pattern_of(
        tier, place.base, "global" if in_device_memory(instruction) else ""
    )
    return Request(
        instruction, access, access.space or "global", place.base, place.offset,
        BYTES[type_], elements, type_, pattern, instruction.index,
    )  # fmt: skip


def pattern_of(tier, base, space: str) -> LanePattern:
    """Return the pattern of an address's base; only device memory has bases per row."""
    pattern = tier.affine.of(base) if isinstance(base, Register) else LanePattern(SAME)
    return DIVERGENT if pattern.groups > 1 and space != "global" else pattern
