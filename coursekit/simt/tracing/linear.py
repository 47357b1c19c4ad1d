"""Linear forms for the indices of a kernel: 256 * blockIdx.x + threadIdx.x.

An index is a constant plus multiples of *atoms*. An atom is a value from elsewhere in
the program, or an operation other than plus and times. Its 32 values are known, because
the program has run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Atom:
    """A value with a name, or an operation on sums.

    Attributes
    ----------
    parts : tuple of str, Linear or Leaf
        How it is written; a leaf stands for its own value.
    values : numpy.ndarray of int64
        One for each lane.
    base : bool
        Whether it is the address at which an array begins.
    key : str
        Equal for atoms that are the same thing.
    """

    parts: tuple
    values: np.ndarray
    key: str
    base: bool = False


@dataclass(frozen=True, eq=False)
class Leaf:
    """A name and its 32 values."""

    name: str
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """``constant + sum of factor * atom``; at most a handful of terms."""

    terms: tuple[tuple[int, Atom], ...] = ()
    constant: int = 0

    @property
    def values(self) -> np.ndarray:
        """The 32 values of the sum."""
        total = np.full(32, self.constant, np.int64)
        for factor, atom in self.terms:
            total = total + np.int64(factor) * atom.values
        return total

    @property
    def key(self) -> str:
        """Equal for equal sums."""
        return f"{[(f, a.key) for f, a in self.terms]}+{self.constant}"

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        """Return the sum, or with `sign` -1 the difference."""
        factors = {atom.key: [factor, atom] for factor, atom in self.terms}
        for factor, atom in other.terms:
            factors.setdefault(atom.key, [0, atom])[0] += sign * factor
        terms = tuple((f, atom) for f, atom in factors.values() if f)
        return Linear(terms, self.constant + sign * other.constant)

    def times(self, other: Linear) -> Linear:
        """Return the product: a multiple where one is constant, else an atom."""
        if not other.terms:
            factor = other.constant
            terms = tuple((f * factor, atom) for f, atom in self.terms if factor)
            return Linear(terms, self.constant * factor)
        if not self.terms:
            return other.times(self)
        return operation(self, " * ", other, self.values * other.values)

    def divided(self, divisor: int) -> Linear | None:
        """Return the quotient if every part is a multiple of the divisor."""
        parts = [self.constant, *(factor for factor, _ in self.terms)]
        if any(part % divisor for part in parts):
            return None
        terms = tuple((factor // divisor, atom) for factor, atom in self.terms)
        return Linear(terms, self.constant // divisor)

    def tokens(self) -> Iterator[str | Leaf]:
        """Yield the tokens from left to right: texts, and leaves in between."""
        first = True
        ordered = sorted(self.terms, key=lambda term: term[0] < 0)
        leads = bool(ordered) and ordered[0][0] < 0 < self.constant
        if leads:
            yield str(self.constant)
            first = False
        alone = len(ordered) == 1 and not self.constant
        for factor, atom in ordered:
            yield _joint(factor, first)
            if abs(factor) != 1:
                yield f"{abs(factor)} * "
            if _needs_brackets(atom, factor, alone):
                yield from ("(", *_atom_tokens(atom), ")")
            else:
                yield from _atom_tokens(atom)
            first = False
        if not leads and (self.constant or first):
            yield _joint(self.constant, first) + str(abs(self.constant))


def constant(value: int) -> Linear:
    """Return a sum of nothing but a constant."""
    return Linear((), int(value))


def leaf(name: str, values: np.ndarray, *, base: bool = False, key: str = "") -> Linear:
    """Return a sum of one named value."""
    found = Leaf(name, values)
    return Linear(((1, Atom((found,), values, key or name, base)),))


def operation(left: Linear, sign: str, right: Linear, values: np.ndarray) -> Linear:
    """Return a sum of one operation on two others."""
    key = f"({left.key}{sign}{right.key})"
    return Linear(((1, Atom((left, sign, right), values, key)),))


def _joint(factor: int, first: bool) -> str:
    if first:
        return "-" if factor < 0 else ""
    return " - " if factor < 0 else " + "


def _needs_brackets(atom: Atom, factor: int, alone: bool) -> bool:
    """Tell whether C needs brackets around the operation in its context."""
    sign = atom.parts[1] if len(atom.parts) > 1 else " * "
    if sign == " * " or (alone and factor == 1):
        return False
    return factor != 1 or sign not in (" / ", " % ")


def _atom_tokens(atom: Atom) -> Iterator[str | Leaf]:
    if len(atom.parts) == 1:
        yield atom.parts[0]
        return
    left, sign, right = atom.parts
    for side in (left, sign, right):
        if isinstance(side, str):
            yield side
        elif sign == " * " and _is_product(side):
            yield from side.tokens()
        else:
            yield from _bracketed(side)


def _is_product(side: Linear) -> bool:
    return len(side.terms) == 1 and not side.constant and side.terms[0][0] > 0 and (
        len(side.terms[0][1].parts) == 1 or side.terms[0][1].parts[1] == " * "
    )  # fmt: skip


def _bracketed(side: Linear) -> Iterator[str | Leaf]:
    simple = not side.terms or (
        len(side.terms) == 1
        and not side.constant
        and side.terms[0][0] == 1
        and len(side.terms[0][1].parts) == 1
    )
    if simple:
        yield from side.tokens()
        return
    yield "("
    yield from side.tokens()
    yield ")"
