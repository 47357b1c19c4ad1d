"""An exercise in Python as data: the function to write, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from coursekit.exercises.any_exercise import AnyExercise

Check = tuple[str, Callable[[Callable, Callable], Any]]


@dataclass(frozen=True, kw_only=True)
class HostExercise(AnyExercise):
    """An exercise whose answer is a Python function, which runs on the host.

    Attributes
    ----------
    function : str
        Name of the function that the starter defines.
    checks : tuple of (str, callable)
        What a stage looks at, in a few words, and (function, show) -> None. The
        callable calls the student's function as often as it likes, and raises
        `CheckFailed.explained` where the answer is wrong; what the student's code
        raises is put into such an error for it. ``show(table)`` adds a table to the
        card.
    """

    magic: ClassVar[str] = "%%host"
    suffix: ClassVar[str] = ".py"
    answer: ClassVar[str] = "function"

    function: str
    checks: tuple[Check, ...]

    def _demands(self) -> Iterator[tuple[object, str]]:
        yield from super()._demands()
        yield from self._filled("checks")
        yield self.function.isidentifier(), f"{self.function!r} is no Python name"
