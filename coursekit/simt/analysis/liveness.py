"""Live registers: how many registers hold a value that is still needed.

A value is live from the instruction that writes it to the last one that reads it. PTX
has as many virtual registers as the compiler likes; the number of live ones at one
place, its register pressure, is what real registers have to hold.

Source: Aho, Lam, Sethi and Ullman, Compilers, 2nd ed., 9.2.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.simt.analysis.control import BasicBlock, basic_blocks
from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.ptx import parser
from coursekit.simt.ptx.ir import BYTES, Function, Instruction, Location, Register

_WORD = 4


@dataclass(frozen=True, slots=True)
class PtxLine:
    """One instruction, or one label, of a kernel's PTX.

    Attributes
    ----------
    text : str
        As it stands in the PTX; a label ends in a colon.
    places : tuple of (str, int)
        File and line of its source, innermost first, then the calls that were inlined.
    live : int or None
        Registers of 32 bits whose values are needed here or later; predicates do not
        count. None for a label.
    """

    text: str
    places: tuple[tuple[str, int], ...] = ()
    live: int | None = None


def ptx_lines(ptx: str, name: str) -> tuple[PtxLine, ...]:
    """Return a kernel's instructions and labels, with source lines and pressure.

    Parameters
    ----------
    ptx : str
    name : str
        The kernel's name in the PTX.
    """
    function = parser.parse(ptx).functions[name]
    places = range(len(function.instructions) + 1)
    labels: dict[int, list[PtxLine]] = {index: [] for index in places}
    for label, index in function.labels.items():
        labels[index].append(PtxLine(f"{label}:"))
    lines = []
    pressure = live_words(function)
    for index, instruction in enumerate(function.instructions):
        source = tuple(_places(instruction.location))
        lines += labels[index]
        lines.append(PtxLine(instruction.text, source, pressure[index]))
    return (*lines, *labels[len(function.instructions)])


def _places(location: Location | None) -> Iterator[tuple[str, int]]:
    while location is not None:
        yield location.file, location.line
        location = location.inlined_at


def live_words(function: Function) -> list[int]:
    """Return the live registers of 32 bits before each instruction of a function."""
    widths = {one.index: _words(one) for one in function.registers}
    live = live_registers(function)
    return [sum(widths[index] for index in held) for held in live]


def _words(register: Register) -> int:
    if register.type == "pred":
        return 0
    return -(-BYTES[register.type] // _WORD)


def live_registers(function: Function) -> list[set[int]]:
    """Return the registers, by index, that are live before each instruction."""
    blocks = basic_blocks(function)
    code = function.instructions
    entering: list[set[int]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            block = blocks[number]
            held = _before(code, block, _leaving(block, entering))
            first = held[0] if held else set()
            changed |= first != entering[number]
            entering[number] = first
    found = [_before(code, block, _leaving(block, entering)) for block in blocks]
    return [held for block in found for held in block]


def _leaving(block: BasicBlock, entering: list[set[int]]) -> set[int]:
    following = [entering[one] for one in block.successors if one >= 0]
    return set().union(*following)


def _before(
    code: list[Instruction], block: BasicBlock, live: set[int]
) -> list[set[int]]:
    """Return the live registers before each instruction of a block, from its end."""
    found = []
    for index in reversed(range(block.start, block.stop)):
        written, read = registers_of(code[index])
        if code[index].guard is None:  # else the old value may stay
            live = live - set(written)
        live = live | set(read)
        found.append(live)
    return found[::-1]
