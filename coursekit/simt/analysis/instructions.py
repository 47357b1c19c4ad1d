"""What one instruction does with memory, told from its words."""

from __future__ import annotations

_POLLING = {"volatile", "relaxed", "acquire", "mmio"}
# Bytes that one thread may copy, by the cache that the copy goes through.
SIZES = {"ca": (4, 8, 16), "cg": (16,)}
_SPACES = ({"shared", "global"}, {"shared::cta", "global"})


def polls(instruction) -> bool:
    """Whether an instruction looks at memory that other threads may be writing."""
    return instruction.opcode in ("atom", "mbarrier") or (
        instruction.opcode == "ld" and bool(_POLLING & set(instruction.modifiers))
    )


def copied_bytes(instruction) -> int | None:
    """Size of a copy that the simulator knows; None for anything else.

    Parameters
    ----------
    instruction : ir.Instruction
    """
    if instruction.opcode != "cp":
        return None
    words = [m for m in instruction.modifiers if not m.startswith("L2::")]
    if len(words) != 4 or words[0] != "async":
        return None
    size = getattr(instruction.operands[2], "value", None)
    known = words[1] in SIZES and set(words[2:]) in _SPACES
    return size if known and size in SIZES[words[1]] else None
