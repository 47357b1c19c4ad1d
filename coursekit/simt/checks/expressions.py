"""Addresses and values of a function as expressions, to see which are equal."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import NamedTuple

from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import LOAD, STORE
from coursekit.simt.ptx.ir import Address, Immediate, Label, Register, Symbol, Vector

# What loads and stores of flags are called.
_SIGNALS = {"volatile", "relaxed", "acquire", "release"}


class Sum(NamedTuple):
    """A sum of terms, sorted by number, and a constant."""

    terms: tuple[int, ...]
    constant: int


class Expressions:
    """The expressions that the registers of a function hold.

    Two registers with one expression hold the same value, so that a generic address
    and the one that `cvta` makes of it are recognised as the same place. A register
    that several instructions write stands for itself.

    Parameters
    ----------
    function : ir.Function
    """

    def __init__(self, function):
        self.function = function
        self._numbers: dict[tuple, int] = {}
        self._sums: dict[int, Sum] = {}

    @functools.cached_property
    def makers(self) -> dict[int, list]:
        """The instructions that write each register."""
        found = defaultdict(list)
        for instruction in self.function.instructions:
            for index in registers_of(instruction)[0]:
                found[index].append(instruction)
        return found

    # -- addresses ---------------------------------------------------------------------

    def place(self, instruction) -> Sum:
        """Return the address of a memory instruction."""
        address = next(o for o in instruction.operands if isinstance(o, Address))
        terms, constant = self._operand(address.base)
        return Sum(terms, constant + address.offset)

    def _operand(self, operand) -> Sum:
        if isinstance(operand, Register):
            return self._register(operand.index)
        if isinstance(operand, Immediate) and operand.kind == "int":
            return Sum((), int(operand.value))
        if isinstance(operand, Symbol):
            return Sum((self._number("symbol", operand.name),), operand.offset)
        return Sum((self._number("operand", operand),), 0)

    def _register(self, index: int) -> Sum:
        if index not in self._sums:
            itself = Sum((self._number("register", index),), 0)
            self._sums[index] = itself  # for a register that depends on itself
            makers = self.makers[index]
            if len(makers) == 1:
                self._sums[index] = self._made(makers[0]) or itself
        return self._sums[index]

    def _made(self, maker) -> Sum | None:
        """Return the result of an instruction; None where only it knows."""
        row, sources = traits.of(maker), maker.operands[1:]
        if maker.guard is not None or not isinstance(maker.operands[0], Register):
            return None
        if row.copies:
            return self._operand(sources[0])
        if maker.opcode == "add" and maker.type[0] in "us":
            one, other = map(self._operand, sources)
            terms = tuple(sorted(one.terms + other.terms))
            return Sum(terms, one.constant + other.constant)
        if row.memory == LOAD and "param" not in maker.modifiers:
            return None
        if row.memory not in ("", LOAD) or row.own_result or row.waits or row.calls:
            return None
        made = tuple(map(self._source, sources))
        return Sum((self._number(maker.name, made),), 0)

    def _source(self, operand):
        if isinstance(operand, Address):
            return self._operand(operand.base), operand.offset
        return self._operand(operand)

    def _number(self, *key) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    # -- values ------------------------------------------------------------------------

    def copies_of(self, loaded) -> set[int]:
        """Return the registers that may hold a loaded value unchanged."""
        parts = loaded.elements if isinstance(loaded, Vector) else (loaded,)
        found = {one.index for one in parts if isinstance(one, Register)}
        known = 0
        while known != len(found):
            known = len(found)
            for one in self.function.instructions:
                if one.opcode == "mov" and _first_source(one) in found:
                    target = one.operands[0]
                    if isinstance(target, Register):
                        found.add(target.index)
        return found

    @functools.cached_property
    def updates(self) -> dict[int, Sum]:
        """The loads and stores that update a place without an atomic, and that place.

        The store writes what was computed from the load, or stands in a branch that
        the loaded value decides.
        """
        loads, found = defaultdict(list), {}
        for one in self._memory(LOAD):
            loads[self.place(one)].append(one)
        for store in self._memory(STORE):
            place = self.place(store)
            for load in loads[place]:
                if self._decides(load, store):
                    found[load.index] = found[store.index] = place
        return found

    def _memory(self, kind: str) -> list:
        return [
            one
            for one in self.function.instructions
            if traits.of(one).memory == kind and "param" not in one.modifiers
        ]

    @functools.cached_property
    def takes_locks(self) -> bool:
        """Whether there are atomics that locks are made of."""
        return any(
            one.opcode == "atom" and {"cas", "exch"} & set(one.modifiers)
            for one in self.function.instructions
        )

    @functools.cached_property
    def signals(self) -> bool:
        """Whether threads may tell each other by atomics, or by strong accesses."""
        return any(
            one.opcode == "atom" or _SIGNALS & set(one.modifiers)
            for one in self.function.instructions
        )

    def _decides(self, load, store) -> bool:
        given = registers_of(load)[0]
        seeds = set(registers_of(store)[1])
        for one in self.function.instructions[load.index : store.index]:
            if one.opcode == "bra" and one.guard is not None:
                label = next(o for o in one.operands if isinstance(o, Label))
                if self.function.labels[label.name] > store.index:
                    seeds.add(one.guard.register.index)
        return not self._sources(seeds).isdisjoint(given)

    def _sources(self, registers: set[int]) -> set[int]:
        """Return the registers from which others are computed, and those themselves."""
        found, pending = set(registers), list(registers)
        while pending:
            for maker in self.makers[pending.pop()]:
                new = set(registers_of(maker)[1]) - found
                found |= new
                pending += new
        return found


def _first_source(instruction) -> int | None:
    """Return the register that an instruction copies."""
    source = instruction.operands[1]
    return source.index if isinstance(source, Register) else None
