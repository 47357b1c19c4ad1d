"""Instruction counts of the loops in a machine-code listing."""

from __future__ import annotations

import re
from collections import Counter

from coursekit.errors import ArgumentError

_LABEL = re.compile(r"\s*(\.L_\w+):")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)([^;]*);")
_TARGET = re.compile(r"\((\.L_\w+)\)")


def loops(listing: str) -> list[Counter[str]]:
    r"""Count the instructions of each loop, by opcode, in the order of their ends.

    A loop is what lies between a branch and the earlier place that it goes to; the
    loops inside it belong to it.

    Parameters
    ----------
    listing : str
        Machine code, as in ``module.sass``.

    Examples
    --------
    >>> text = "/*0000*/ MOV R1, R2 ;\n.L_x_0:\n/*0010*/ FFMA R1, R1, R1, R2 ;\n"
    >>> loops(text + "/*0020*/ @P0 BRA `(.L_x_0) ;")
    [Counter({'FFMA': 1, 'BRA': 1})]
    """
    check_listing(listing)
    opcodes: list[str] = []
    places: dict[str, int] = {}
    found = []
    for line in listing.split("\n"):
        if label := _LABEL.match(line):
            places[label[1]] = len(opcodes)
        elif instruction := _INSTRUCTION.search(line):
            opcodes.append(instruction[1])
            target = _TARGET.search(instruction[2])
            if instruction[1] == "BRA" and target and target[1] in places:
                found.append(Counter(opcodes[places[target[1]] :]))
    return found


def check_listing(listing: object) -> None:
    """Refuse what is no text of machine code."""
    if not isinstance(listing, str):
        raise ArgumentError.explained(
            f"Expected machine code as text, got {type(listing).__name__}.",
            "Its instructions are read from the text that a disassembler writes.",
            "Pass module.sass.",
        )


def busiest_loop(listing: str, opcode: str) -> Counter[str]:
    """Return the smallest of the loops that have the most instructions of an opcode.

    Raises
    ------
    ArgumentError
        No loop has such an instruction.

    Examples
    --------
    ``busiest_loop(module.sass, "FFMA")``: the loop in which a product is computed.
    """
    found = [loop for loop in loops(listing) if loop[opcode]]
    if not found:
        raise ArgumentError.explained(
            f"No loop of this machine code has {opcode}.",
            "The compiler has unrolled the loop, or uses another instruction.",
            "Look at the listing, module.sass.",
        )
    most = max(loop[opcode] for loop in found)
    return min((loop for loop in found if loop[opcode] == most), key=Counter.total)
