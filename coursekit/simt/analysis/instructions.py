"""Properties of one instruction's memory accesses, read from its modifiers."""

from __future__ import annotations

from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import COPY, LOAD

_POLLING = {"volatile", "relaxed", "acquire", "mmio"}
# Bytes that one thread may copy, by the cache that the copy goes through.
SIZES = {"ca": (4, 8, 16), "cg": (16,)}
_SPACES = ({"shared", "global"}, {"shared::cta", "global"})


def polls(instruction) -> bool:
    """Whether an instruction reads memory that other threads may be writing."""
    row = traits.of(instruction)
    return row.polls or (
        row.memory == LOAD and not _POLLING.isdisjoint(instruction.modifiers)
    )


def is_bulk(instruction) -> bool:
    """Whether an instruction is a bulk copy (TMA), or groups or awaits such copies."""
    return instruction.opcode == "cp" and "bulk" in instruction.modifiers


def copied_bytes(instruction) -> int | None:
    """Return the size of an asynchronous copy; None for any other instruction.

    Parameters
    ----------
    instruction : ir.Instruction
    """
    if traits.of(instruction).memory != COPY:
        return None
    words = [m for m in instruction.modifiers if not m.startswith("L2::")]
    if len(words) != 4 or words[0] != "async":
        return None
    size = getattr(dict(enumerate(instruction.operands)).get(2), "value", None)
    known = words[1] in SIZES and set(words[2:]) in _SPACES
    return size if known and size in SIZES[words[1]] else None
