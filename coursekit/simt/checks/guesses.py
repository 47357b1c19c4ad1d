"""Benign races: plain reads that guess a value which an atomic then confirms."""

from __future__ import annotations

from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Address, Register, Vector


def only_guesses(access, earlier) -> bool:
    """Whether an atomic on the same address confirms the value of a plain read.

    That is how loops around atomicCAS begin: the value read is what the first
    atomicCAS compares with. A test that decides whether an atomic runs at all is no
    guess in this sense, since nothing confirms it where the atomic does not run.
    """
    pair = {access.verb: access, earlier.verb: earlier}
    if set(pair) != {"reads", "updates"}:
        return False
    read = pair["reads"]
    function, instruction = read.function, read.instruction
    guessed = _copies_of(function, instruction.operands[0])
    place = _place(function, instruction)
    return any(
        one.opcode == "atom"
        and "cas" in one.modifiers
        and _place(function, one) == place
        and getattr(one.operands[2], "index", None) in guessed
        for one in function.instructions
    )


def _copies_of(function, loaded) -> set[int]:
    """Return the registers that may hold a loaded value unchanged."""
    parts = loaded.elements if isinstance(loaded, Vector) else (loaded,)
    found = {one.index for one in parts if isinstance(one, Register)}
    known = 0
    while known != len(found):
        known = len(found)
        for one in function.instructions:
            if one.opcode == "mov" and _first_source(one) in found:
                target = one.operands[0]
                if isinstance(target, Register):
                    found.add(target.index)
    return found


def _place(function, instruction) -> tuple:
    """Return an access's address as (base register, offset)."""
    address = next(o for o in instruction.operands if isinstance(o, Address))
    base = address.base
    if not isinstance(base, Register):
        return base, address.offset
    makers: dict[int, list] = {}
    for one in function.instructions:
        target = one.operands[0] if one.operands else None
        if isinstance(target, Register) and not traits.of(one).no_result:
            makers.setdefault(target.index, []).append(one)
    index, seen = base.index, set()
    while index not in seen:
        seen.add(index)
        made = makers.get(index, [])
        if len(made) == 1 and traits.of(made[0]).copies:
            source = made[0].operands[1]
            if not isinstance(source, Register):
                return source, address.offset
            index = source.index
    return index, address.offset


def _first_source(instruction) -> int | None:
    """Return the register that an instruction copies."""
    source = instruction.operands[1]
    return source.index if isinstance(source, Register) else None
