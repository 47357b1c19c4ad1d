"""An exercise in C++ for the host as data: a program, its inputs, what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from coursekit.exercises.any_exercise import AnyExercise


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run of a program, and what it has to leave.

    Attributes
    ----------
    args : tuple
        Its arguments, written as text.
    stdin : str
        What it can read.
    stdout : str
        What it has to print; spaces at the ends of lines do not count.
    returncode : int
        What main has to return.
    cause : str
        The likely mistake of a program that prints something else, as a sentence.
    causes : dict of str to str
        The same by the first line that is wrong, as it was printed, or by the kind
        of a finding: "limit", "null".
    """

    args: tuple[object, ...] = ()
    stdin: str = ""
    stdout: str
    returncode: int = 0
    cause: str = ""
    causes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ProgramExercise(AnyExercise):
    """An exercise whose answer is a C++ program with a main, which runs on the host.

    It is compiled with sanitizers, and a finding of theirs is a wrong answer.

    Attributes
    ----------
    cases : tuple of Case
        The first is shown when the cell runs; the check runs all of them.
    """

    magic: ClassVar[str] = "%%cpp"
    suffix: ClassVar[str] = ".cpp"
    answer: ClassVar[str] = "program"

    cases: tuple[Case, ...]

    def _demands(self) -> Iterator[tuple[object, str]]:
        yield from super()._demands()
        yield from self._filled("cases")
        for case in self.cases:
            yield isinstance(case, Case), f"{case!r} is no Case"
