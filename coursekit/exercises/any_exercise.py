"""The common part of exercises in CUDA C++ and in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises.mutant import Failure, Mutant

LEAST_HINTS = 3


@dataclass(frozen=True, kw_only=True)
class AnyExercise:
    """The fields and checks that exercises in both languages share.

    Attributes
    ----------
    id, name, title : str
        "05.1"; "map", for its files; a few words for people.
    stars : int
        Difficulty, 1 to 3.
    hints : tuple of str
        Three or more, of growing frankness.
    mutants : dict of str to Mutant
        Wrong solutions by name.
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
    stars: int
    hints: tuple[str, ...]
    mutants: Mapping[str, Mutant]
    starter: Failure = (CheckFailed, "")

    def __post_init__(self) -> None:
        for holds, what in self._demands():
            if not holds:
                raise ArgumentError.explained(
                    f"Exercise {self.id}: {what}.",
                    cure="Correct its entry in spec.py.",
                )

    def _demands(self) -> Iterator[tuple[object, str]]:
        yield re.fullmatch(r"\d\d\.[1-9]\d*", self.id), "the id is not like 05.1"
        yield (
            re.fullmatch(r"[a-z][a-z0-9_]*", self.name),
            f"the name {self.name!r} is not snake_case",
        )
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
    def number(self) -> int:
        """The number of the exercise within its chapter."""
        return int(self.id.partition(".")[2])

    @property
    def file(self) -> str:
        """The name of its starter and solution files: 1_map.cu."""
        return f"{self.number}_{self.name}{self.suffix}"

    @property
    def first_line(self) -> str:
        """The first line of its cell: the magic and the id."""
        return f"{self.magic} --exercise {self.id}"
