"""Alignment analysis: the base and the alignment of addresses before a launch."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.ptx.ir import Address, Immediate, Register, Symbol

FULL = 4  # powers of two are followed up to 2^4 = 16 bytes, the widest access
_COPIES = {"mov", "cvt", "cvta"}
_FLOATS = {"f16", "f32", "f64"}
_SUMS = {"add", "sub", "or", "xor", "min", "max", "selp"}


@dataclass(frozen=True, slots=True)
class Place:
    """An address: `offset` bytes from a base that is a multiple of 2^exponent."""

    root: object
    offset: int
    exponent: int


class Addresses:
    """The bases and alignments of the addresses of one function.

    Parameters
    ----------
    function : ir.Function
    shared : sequence of (name, nbytes, align)
        Shared variables in the order of the program; the assembler places them one
        after another from an aligned start. Dynamic shared memory has 0 bytes.
    """

    def __init__(self, function, shared):
        self._symbols = _symbol_exponents(shared)
        self._definitions = defaultdict(list)
        for instruction in function.instructions:
            for index in registers_of(instruction)[0]:
                self._definitions[index].append(instruction)
        self._exponents = self._solve()

    def place(self, address: Address) -> Place:
        """Trace an address through constant additions to its base."""
        base, offset = address.base, address.offset
        while isinstance(base, Register):
            step = self._constant_step(base)
            if step is None:
                return Place(base.index, offset, self._exponents.get(base.index, 0))
            base, offset = step[0], offset + step[1]
        if isinstance(base, Symbol):
            exponent = self._symbols.get(base.name, 0)
            return Place(base.name, offset + base.offset, exponent)
        return Place("constant", offset + int(base.value), FULL)

    def _constant_step(self, register):
        """Return (source, bytes) for a register that is always source + bytes."""
        made = self._definitions[register.index]
        if len(made) != 1 or made[0].guard is not None:
            return None
        sources = made[0].operands[1:]
        if made[0].opcode == "mov":
            source, amount = sources[0], 0
        elif made[0].opcode == "add" and _is_whole(sources[1]):
            source, amount = sources[0], sources[1].value
        else:
            return None
        if isinstance(source, Register):
            known = len(self._definitions[source.index]) == 1
            return (source, amount) if known else None
        return (source, amount) if isinstance(source, Symbol) else None

    def _solve(self) -> dict[int, int]:
        """Compute each register's power of two: start high, lower to a fixed point."""
        found = dict.fromkeys(self._definitions, FULL)
        changed = True
        while changed:
            changed = False
            for index, made in self._definitions.items():
                low = min(self._result(one, found) for one in made)
                if low < found[index]:
                    found[index], changed = low, True
        return found

    def _result(self, instruction, found) -> int:
        opcode, words = instruction.opcode, instruction.modifiers
        if _FLOATS & set(words):
            return 0
        sources = [self._exponent(o, found) for o in instruction.operands[1:]]
        low = "lo" in words or "wide" in words
        if opcode in _COPIES:
            value = sources[0]
        elif opcode in _SUMS:
            value = min(sources[:2])
        elif opcode == "and":
            value = max(sources[:2])
        elif opcode == "mul" and low:
            value = sources[0] + sources[1]
        elif opcode == "mad" and low:
            value = min(sources[0] + sources[1], sources[2])
        elif opcode == "shl" and _is_whole(instruction.operands[2]):
            value = sources[0] + instruction.operands[2].value
        else:
            value = 0
        return min(value, FULL)

    def _exponent(self, operand, found) -> int:
        if isinstance(operand, Register):
            return found.get(operand.index, 0)
        if isinstance(operand, Symbol):
            return min(self._symbols.get(operand.name, 0), _factors(operand.offset))
        return _factors(operand.value) if _is_whole(operand) else 0


def _symbol_exponents(shared) -> dict[str, int]:
    """Return the alignment of each shared variable as a power of two."""
    found, offset = {}, 0
    for name, nbytes, align in shared:
        offset = -(-offset // align) * align
        found[name] = _factors(offset) if nbytes else _factors(align)
        offset += nbytes
    return found


def _is_whole(operand) -> bool:
    return isinstance(operand, Immediate) and operand.kind == "int"


def _factors(value: int) -> int:
    return min((value & -value).bit_length() - 1, FULL) if value else FULL
