"""Register-bank conflicts of float32 multiply-adds in a machine-code listing.

Registers are in two banks, even and odd numbers, and each bank gives a scheduler one
register per clock cycle. An operand that the assembler marks with `.reuse` is kept for
the next instruction that reads the same register in the same position. Measured with
patterns of registers on an H200 (2026-11-21): `tests/toolchain/test_ports.py` has the
clock cycles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coursekit.errors import ArgumentError
from coursekit.toolchain.loops import check_listing

_FFMA = re.compile(r"\bFFMA\S* R\w+, ([^;]*);")
_REGISTER = re.compile(r"[-|]*R(\d+)\|?(\.reuse)?")


def clocks_per_ffma(listing: str) -> float:
    r"""Return the least clock cycles per FFMA that register reads allow, on average.

    A read may wait one clock behind its instruction. So an instruction that needs a
    bank twice and one that does not use it balance each other.

    Parameters
    ----------
    listing : str
        Machine code, as in ``module.sass``. Instructions other than FFMA are left out.

    Raises
    ------
    ArgumentError
        There is no FFMA in it.

    Examples
    --------
    >>> f"{clocks_per_ffma('FFMA R4, R6, R8, R4 ;' * 100):.1f}"  # three of one bank
    '3.0'
    >>> f"{clocks_per_ffma('FFMA R4, R6.reuse, R9, R4 ;' * 100):.1f}"
    '1.0'
    """
    check_listing(listing)
    clock, count, free = 0, 0, [0, 0]
    for needed in _reads(listing):
        ready = clock
        for bank in (0, 1):
            if needed[bank]:
                free[bank] = max(clock, free[bank]) + needed[bank]
                ready = max(ready, free[bank])
        clock, count = max(clock + 1, ready - 1), count + 1
    if not count:
        raise ArgumentError.explained(
            "This machine code has no FFMA.",
            "It is of a kernel without float32 multiply-adds, or it is PTX.",
            "Pass what module.sass is.",
        )
    return max(clock, *free) / count


def _reads(listing: str) -> Iterator[list[int]]:
    """Yield how many registers of each bank an FFMA reads without `.reuse`."""
    kept: dict[tuple[int, int], int] = {}  # by place and bank
    for instruction in _FFMA.finditer(listing):
        needed = [0, 0]
        for place, text in enumerate(instruction[1].split(",")):
            register = _REGISTER.fullmatch(text.strip())
            if not register:
                continue  # RZ, a constant
            number = int(register[1])
            bank = number % 2
            if kept.get((place, bank)) != number:
                needed[bank] += 1
            kept[place, bank] = number if register[2] else -1
        yield needed
