"""Races by what was meant: a guess that an atomic confirms, an update by hand."""

from __future__ import annotations


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
    expressions, instruction = read.expressions, read.instruction
    guessed = expressions.copies_of(instruction.operands[0])
    place = expressions.place(instruction)
    return any(
        one.opcode == "atom"
        and "cas" in one.modifiers
        and expressions.place(one) == place
        and getattr(one.operands[2], "index", None) in guessed
        for one in read.function.instructions
    )


def updates_by_hand(access, earlier) -> bool:
    """Whether two accesses belong to an update of one element without an atomic.

    Such an update is a load, a computation or a comparison, and a store. In a kernel
    that may take a lock, the lock is what should order it.
    """
    expressions = access.expressions
    if access.atomic or earlier.atomic or access.function is not earlier.function:
        return False
    if expressions.takes_locks:
        return False
    updates = expressions.updates
    place = updates.get(access.instruction.index)
    return place is not None and place == updates.get(earlier.instruction.index)
