"""Data flow: the registers of an instruction, and results that can be moved."""

from __future__ import annotations

from collections import defaultdict

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Address, Not, Pair, Register, Vector


def movable_results(code) -> set[int]:
    """Return instructions whose results only other, partly conditional, blocks use.

    The machine code may compute such a result where it is used, for fewer threads:
    on an H200 the last addition of a warp's sum runs in lane 0 alone.
    """
    readers: dict[int, set[int]] = defaultdict(set)
    for number, block in enumerate(code.blocks):
        stop = block.start + block.length
        for instruction in code.function.instructions[block.start : stop]:
            for index in registers_of(instruction)[1]:
                readers[index].add(number)
    found = set()
    for number, block in enumerate(code.blocks):
        always = _always_after(code, number)
        for index in range(block.start, block.start + block.length):
            written, _ = registers_of(code.function.instructions[index])
            users = set().union(*(readers[w] for w in written)) if written else set()
            if users and number not in users and not users <= always:
                found.add(index)
    return found


def _always_after(code, number: int) -> set[int]:
    """Return the blocks that every lane of a block reaches later."""
    found, point = set(), code.blocks[number].reconvergence
    while point != EXIT and point not in found:
        found.add(point)
        point = code.blocks[point].reconvergence
    return found


def registers_of(instruction) -> tuple[list[int], list[int]]:
    """Return the indices of the registers that an instruction writes and reads."""
    written: list[int] = []
    read: list[int] = []
    row = traits.of(instruction)
    for position, operand in enumerate(instruction.operands):
        boxed = isinstance(operand, tuple)
        into = read if position or row.no_result or boxed else written
        for part in _parts(operand):
            if isinstance(part, Register):
                into.append(part.index)
            elif isinstance(part, Address):
                read.extend(p.index for p in (part.base,) if isinstance(p, Register))
    if row.adds_to_result:
        read.extend(written)
    if instruction.guard is not None:
        read.append(instruction.guard.register.index)
    return written, read


def _parts(operand) -> tuple:
    if isinstance(operand, Vector):
        return operand.elements
    if isinstance(operand, Pair):
        return (operand.first, operand.second)
    if isinstance(operand, Not):
        return (operand.register,)
    if isinstance(operand, tuple):  # the address and the coordinates of a box
        address, place = operand
        return (address, *place.elements)
    return (operand,)
