"""Formulas for the index that each lane computes, in the terms of the source.

The steps of a trace are read once, in order. Every integer register holds a sum of
terms that the source names: threadIdx.x, parameters, loaded values. PTX has lost the
names of local variables, so a loop's counter appears as its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import Address, Immediate, Pair, Register, Special, Symbol
from coursekit.simt.tracing.linear import Leaf, Linear, constant, leaf, operation
from coursekit.simt.tracing.steps import LANES, MemoryAccess, Step

_SPECIALS = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim",
             "nctaid": "gridDim"}  # fmt: skip
_SIGNS = {"and": " & ", "or": " | ", "xor": " ^ ", "shr": " >> ", "div": " / ",
          "rem": " % ", "min": " min ", "max": " max "}  # fmt: skip
_PASSED = {"mov", "cvta", "cvt"}
ALL = (1 << LANES) - 1
_MOST_TERMS = 6


@dataclass(frozen=True, eq=False)
class Formula:
    """The formula by which lanes compute an index.

    Attributes
    ----------
    mask : int
        The lanes that compute it like this.
    tokens : tuple of str or Leaf
        What is written, left to right; a leaf has a name and 32 values.
    in_bytes : bool
        Whether it gives bytes from the start of the array, not elements: compilers
        fold a shift into a mask where it pays.
    """

    mask: int
    tokens: tuple[str | Leaf, ...]
    in_bytes: bool = False

    def text(self) -> str:
        """The formula with names."""
        return "".join(t if isinstance(t, str) else t.name for t in self.tokens)

    def numbers(self, lane: int) -> str:
        """The formula with the numbers of one lane."""
        return "".join(
            t if isinstance(t, str) else str(int(t.values[lane])) for t in self.tokens
        )


def formulas(
    steps: Sequence[Step], parameters: Sequence[str] = ()
) -> dict[int, tuple[Formula, ...]]:
    """Return formulas for the index of every access.

    Parameters
    ----------
    steps : sequence of Step
        A whole trace.
    parameters : sequence of str
        Names of the kernel's parameters.

    Returns
    -------
    dict
        By the number of a step, one formula for each group of lanes that came to
        their index in the same way. Formulas that do not give the index that was
        used, for example because a number wrapped round, are left out.
    """
    reader, found = _Reader(tuple(parameters)), {}
    for number, step in enumerate(steps):
        if len(step.accesses) == 1:
            explained = tuple(reader.explain(step, step.accesses[0]))
            if explained:
                found[number] = explained
        reader.read(step)
    return found


class _Reader:
    """Reads steps in order, and holds each lane's formula for every register."""

    def __init__(self, parameters: tuple[str, ...]):
        self.parameters = parameters
        self.known: dict[tuple[int, str], list[tuple[int, Linear]]] = {}

    def explain(self, step: Step, access: MemoryAccess):
        """Yield a formula for each group of lanes of an access."""
        operand = next((o for o in step.instruction.operands
                        if isinstance(o, Address)), None)  # fmt: skip
        if operand is None or access.space == "local":
            return
        places = np.array([at or 0 for at in access.offsets], np.int64)
        at_base = np.full(LANES, access.base, np.int64)
        for mask, address in self._variants(step, operand.base, step.mask, at_base):
            address = address.plus(constant(operand.offset))
            bases = [atom for _, atom in address.terms if atom.base]
            if len(bases) != 1:
                continue
            terms = tuple((f, atom) for f, atom in address.terms if not atom.base)
            lead = int(bases[0].values[_first(mask)]) - access.base
            offset = Linear(terms, address.constant + lead)
            lanes = _lanes(mask)
            right = (offset.values[lanes] == places[lanes]).all()
            if right and len(terms) <= _MOST_TERMS:
                element = offset.divided(access.item_bytes)
                written = tuple((element or offset).tokens())
                yield Formula(mask, written, in_bytes=element is None)

    def read(self, step: Step) -> None:
        """Update the formulas with the results of a step."""
        for name, values in step.registers.items():
            if not any(isinstance(value, int) and not isinstance(value, bool)
                       for value in values):  # fmt: skip
                self.known.pop((step.call, name), None)
                continue
            numbers = np.array([value or 0 for value in values]).astype(np.int64)
            key = step.call, name
            kept = [(m & ~step.mask, x) for m, x in self.known.get(key, ())]
            kept += self._result(step, name, numbers)
            self.known[key] = [(mask, x) for mask, x in kept if mask]

    def _result(self, step: Step, name: str, numbers) -> list[tuple[int, Linear]]:
        one = step.instruction
        target = one.operands[0] if one.operands else None
        plain = isinstance(target, Register) and target.name == name
        opaque = [(step.mask, _opaque(step, name, numbers))]
        if not plain or isinstance(target, Pair):
            return opaque
        if one.opcode in ("ld", "ldu"):
            return [(step.mask, self._loaded(step, name, numbers))]
        rule = _RULES.get(one.opcode)
        if rule is None:
            return opaque
        groups = [(step.mask, ())]
        for operand in one.operands[1:]:
            groups = [
                (mask, (*before, value))
                for group, before in groups
                for mask, value in self._variants(step, operand, group, numbers)
            ]
        made = [(mask, rule(one, values, numbers)) for mask, values in groups]
        return [
            (mask, value if _agrees(value, numbers, mask) else opaque[0][1])
            for mask, value in made
        ]

    def _variants(self, step: Step, operand, mask: int, numbers=None):
        """Return (lanes, value) of an operand for lanes with an equal formula."""
        if isinstance(operand, Immediate) and operand.kind == "int":
            return [(mask, constant(operand.value))]
        if isinstance(operand, Special) and numbers is not None:
            return [(mask, _special(operand.name, numbers))]
        if isinstance(operand, Symbol):
            if numbers is None:
                return []
            readable = faults.readable(operand.name)
            start = leaf(readable, numbers - operand.offset, base=True)
            return [(mask, start.plus(constant(operand.offset)))]
        if not isinstance(operand, Register):
            return []
        known = self.known.get((step.call, operand.name), ())
        found = [(m & mask, x) for m, x in known if m & mask]
        covered = 0
        for m, _ in found:
            covered |= m
        return found if covered == mask else []

    def _loaded(self, step: Step, name: str, numbers) -> Linear:
        source = step.instruction.operands[1]
        if "param" in step.instruction.modifiers and isinstance(source.base, Symbol):
            symbol = source.base.name
            number = symbol.rpartition("_")[2]
            if symbol.startswith(step.function) and number.isdigit():
                position = int(number)
                if position < len(self.parameters):
                    text = self.parameters[position]
                    wide = step.instruction.name.endswith("64")
                    return leaf(text, numbers, base=wide, key=symbol)
        if len(step.accesses) == 1 and step.accesses[0].array:
            text = f"{step.accesses[0].array}[...]"
            return leaf(text, numbers, key=f"{name}@{id(step)}")
        return _opaque(step, name, numbers)


def _opaque(step: Step, name: str, numbers) -> Linear:
    if len(set(numbers[_lanes(step.mask)].tolist())) == 1 and abs(numbers).max() < 64:
        return constant(int(numbers[_first(step.mask)]))
    return leaf(name, numbers, key=f"{name}@{id(step)}")


def _special(name: str, numbers) -> Linear:
    word, _, axis = name.partition(".")
    text = f"{_SPECIALS[word]}.{axis}" if word in _SPECIALS else name
    return leaf({"laneid": "lane"}.get(text, text), numbers)


def _agrees(value: Linear | None, numbers, mask: int) -> bool:
    if value is None or len(value.terms) > _MOST_TERMS:
        return False
    lanes = _lanes(mask)
    return bool((value.values[lanes] == numbers[lanes]).all())


def _lanes(mask: int) -> list[int]:
    return [lane for lane in range(LANES) if mask >> lane & 1]


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0


def _multiply_add(one, values, numbers):
    return values[0].times(values[1]).plus(values[2])


def _shift_left(one, values, numbers):
    left, right = values
    if right.terms:
        return None
    return left.times(constant(1 << right.constant))


def _combine(one, values, numbers):
    left, right = values
    if not left.terms and not right.terms:
        return None
    return operation(left, _SIGNS[one.opcode], right, numbers)


def _multiply(one, values, numbers):
    return values[0].times(values[1]) if "hi" not in one.modifiers else None


_RULES = {
    "add": lambda one, v, n: v[0].plus(v[1]),
    "sub": lambda one, v, n: v[0].plus(v[1], -1),
    "mul": _multiply,
    "mad": _multiply_add,
    "shl": _shift_left,
    "not": lambda one, v, n: constant(-1).plus(v[0], -1),
    "neg": lambda one, v, n: constant(0).plus(v[0], -1),
    **dict.fromkeys(_PASSED, lambda one, v, n: v[0]),
    **dict.fromkeys(_SIGNS, _combine),
}
