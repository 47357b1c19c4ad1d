"""Run cases, and tell whether they fail in the same way as the first one."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError, CourseError

FAILS, PASSES, OTHER = "fails", "passes", "fails otherwise"


@dataclass(frozen=True)
class Failure:
    """The error with which a case fails.

    Attributes
    ----------
    kind : str
        The class of the error, or "False".
    line : int or None
        The line of the kernel's source.
    text : str
        The first line of the message.
    """

    kind: str
    line: int | None
    text: str

    def is_like(self, failure: Failure | None) -> bool:
        """Whether another failure has the same class of error on the same line."""
        return failure is not None and (self.kind, self.line) == (
            failure.kind,
            failure.line,
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


@dataclass(frozen=True)
class Attempt:
    """One case that was run.

    Attributes
    ----------
    case : dict of str to int or ndarray
    verdict : str
        "fails", "passes" or "fails otherwise".
    """

    case: Mapping[str, Any]
    verdict: str


@dataclass
class Trials:
    """The cases run so far, and the smallest one that fails.

    Attributes
    ----------
    launch : callable
    most : int
        The most cases that may be run.
    case : dict of str to int or ndarray
        The smallest that fails as the first one does.
    failure : Failure or None
        The failure of the first case.
    attempts : list of Attempt
    """

    launch: Callable[..., Any]
    most: int
    case: dict[str, Any] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    failure: Failure | None = None
    _tried: set[tuple] = field(default_factory=set)

    @property
    def count(self) -> int:
        """The number of cases run."""
        return len(self.attempts)

    @property
    def spent(self) -> bool:
        """Whether no more may be run."""
        return self.count >= self.most

    def begin(self, case: dict[str, Any]) -> None:
        """Run the first case, which has to fail."""
        self.case, self.failure = case, self._run(case)
        if self.failure is None:
            shown = ", ".join(f"{name}={value!r}" for name, value in case.items())
            raise ArgumentError.explained(
                f"minimise has nothing to shrink: the launch passes with {shown}.",
                "It fails where it raises an error of the course or an "
                "AssertionError, or returns False.",
                "Give a case that fails, and compare the result inside of the launch.",
            )
        self._note(case, FAILS)

    def accept(self, **changes: Any) -> bool:
        """Run the case with changes, and keep these if it fails in the same way."""
        case = self.case | changes
        if self._key(case) in self._tried or self.spent:
            return False  # a case that failed has already been kept
        failure = self._caught(case)
        alike = failure is not None and failure.is_like(self.failure)
        self._note(case, FAILS if alike else OTHER if failure else PASSES)
        if alike:
            self.case, self.failure = case, failure
        return alike

    def _note(self, case: dict[str, Any], verdict: str) -> None:
        self._tried.add(self._key(case))
        self.attempts.append(Attempt(case, verdict))

    @staticmethod
    def _key(case: dict[str, Any]) -> tuple:
        """Return a key that is equal for equal sizes and equal bytes of arrays."""
        return tuple(
            value.tobytes() if isinstance(value, np.ndarray) else value
            for value in case.values()
        )

    def _caught(self, case: dict[str, Any]) -> Failure | None:
        """Run a smaller case; an exception of `launch` itself is another failure."""
        try:
            return self._run(case)
        except Exception as error:
            return Failure(type(error).__name__, None, str(error))

    def _run(self, case: dict[str, Any]) -> Failure | None:
        copies = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in case.items()
        }
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                answer = self.launch(**copies)
        except (CourseError, AssertionError) as error:
            lines = str(error).strip().split("\n")
            line = getattr(error, "line", None)
            return Failure(type(error).__name__, line, lines[0])
        wrong = isinstance(answer, bool | np.bool_) and not answer
        return Failure("False", None, "the result is wrong") if wrong else None
