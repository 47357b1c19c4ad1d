"""The common part of exercises in CUDA C++ and in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises.mutant import Failure, Mutant

# An exercise is "05.1"; a piece of "your turn", inside a section, is "05.a".
ID = re.compile(r"\d\d\.(?:[1-9]\d*|[a-z])")
FIRST_LETTER = 101


def label(id: str) -> str:
    """Return the kind and the id of an exercise, as messages name it."""
    return f"{'Your turn' if id[-1:].isalpha() else 'Exercise'} {id}"


@dataclass(frozen=True, kw_only=True)
class AnyExercise:
    """The fields and checks that exercises in both languages share.

    An id with a letter makes it a piece of "your turn": a few lines to write inside
    of a section, which has no stars, and needs fewer hints and mutants.

    Attributes
    ----------
    id, name, title : str
        "05.1" or "05.a"; "map", for its files; a few words for people.
    stars : int
        Difficulty, 1 to 3; 0 for "your turn".
    hints : tuple of str
        Of growing frankness: three or more, one or more for "your turn".
    mutants : dict of str to Mutant
        Wrong solutions by name: three or more, one or more for "your turn".
    starter : (class, str)
        How the starter fails: the class of the error, and a text in its message.
    magic, suffix, answer : str
        The magic of its cell, the suffix of its files, and the kind of answer.
    """

    magic: ClassVar[str]
    suffix: ClassVar[str]
    answer: ClassVar[str]

    id: str
    name: str
    title: str
    stars: int = 0
    hints: tuple[str, ...]
    mutants: Mapping[str, Mutant]
    starter: Failure = (CheckFailed, "")

    def __post_init__(self) -> None:
        for holds, what in self._demands():
            if not holds:
                raise ArgumentError.explained(
                    f"{self.label}: {what}.",
                    cure="Correct its entry in spec.py.",
                )

    def _demands(self) -> Iterator[tuple[object, str]]:
        yield ID.fullmatch(self.id), "the id is not like 05.1 or 05.a"
        yield (
            re.fullmatch(r"[a-z][a-z0-9_]*", self.name),
            f"the name {self.name!r} is not snake_case",
        )
        if self.your_turn:
            yield self.stars == 0, "an id with a letter has no stars"
        else:
            yield self.stars in (1, 2, 3), f"{self.stars} stars are not 1, 2 or 3"
        for name, mutant in self.mutants.items():
            yield isinstance(mutant, Mutant), f"the mutant {name} is no Mutant"
        yield from self._filled("hints")

    def _filled(self, *names: str) -> Iterator[tuple[object, str]]:
        """Refuse a field that is no tuple, or an empty one."""
        for name in names:
            value = getattr(self, name)
            yield isinstance(value, tuple), f"{name} is no tuple (a comma missing?)"
            yield value, f"{name} is empty"

    @property
    def chapter(self) -> str:
        """The two digits of the exercise's notebook, such as "05"."""
        return self.id.partition(".")[0]

    @property
    def your_turn(self) -> bool:
        """Whether it is a piece of "your turn", inside of a section."""
        return self.id[-1:].isalpha()

    @property
    def label(self) -> str:
        """The kind and the id, as messages name it."""
        return label(self.id)

    @property
    def number(self) -> int:
        """The number within its chapter; letters count from 101, behind all numbers."""
        part = self.id.partition(".")[2]
        return FIRST_LETTER + ord(part) - ord("a") if self.your_turn else int(part)

    @property
    def least(self) -> int:
        """The number of hints, and of mutants, that it has at least."""
        return 1 if self.your_turn else 3

    @property
    def file(self) -> str:
        """The name of its starter and solution files: 1_map.cu, a_map.cu."""
        return f"{self.id.partition('.')[2]}_{self.name}{self.suffix}"

    @property
    def first_line(self) -> str:
        """The first line of its cell: the magic and the id."""
        return f"{self.magic} --exercise {self.id}"
