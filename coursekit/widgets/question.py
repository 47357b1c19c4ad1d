"""A question of a quiz: true or false, one of several options, or a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from coursekit.errors import ArgumentError


@dataclass(frozen=True)
class Question:
    """A question, and the rule that judges its answer.

    Parameters
    ----------
    text : str
        The question; `code` between backticks is set as code.
    options : sequence, optional
        What may be chosen, two or more; each is shown as its `str`. Without options
        the answer decides: True or False makes a true-or-false question, anything
        else asks for a number.
    answer : optional
        The right option itself as it stands in `options` (never its position), or
        the right number. None where what comes later in the notebook answers it.
    because : str
        Why, in a sentence or two; shown after the reader has answered.
    tolerance : float
        The largest error of a right number, in its own unit.

    Raises
    ------
    ArgumentError
        If the answer is none of the options, or options are missing or repeated.

    Examples
    --------
    >>> Question("Has a warp 32 threads?", answer=True).labels
    ('True', 'False')
    >>> Question("How many bytes has a sector?", answer=32).accepts(32.0)
    True
    """

    text: str
    options: Sequence[Any] | None = None
    answer: Any = None
    because: str = ""
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        _check_text(self)
        if self.options is None and isinstance(self.answer, bool):
            object.__setattr__(self, "options", (True, False))
        if self.options is not None:
            _check_options(self)
            object.__setattr__(self, "options", tuple(self.options))
        elif self.answer is not None:
            _check_number(self)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The options as texts; None for a number."""
        return None if self.options is None else tuple(map(str, self.options))

    @property
    def position(self) -> int | None:
        """The position of the right option, from 0; None without one."""
        return _find(self.options, self.answer)

    def accepts(self, given: Any) -> bool | None:
        """Tell whether an option, or a number, is right; None without an answer."""
        if self.answer is None:
            return None
        if self.options is not None:
            return _find(self.options, given) == self.position
        return abs(float(given) - self.answer) <= self.tolerance

    def as_text(self, given: Any = None, indent: str = "") -> str:
        """Return the question and its options as text, without the answer."""
        if self.options is None:
            blank = "____" if given is None else f"{given:.15g}"
            return f"{self.text}\n{indent}  a number: {blank}"
        chosen = _find(self.options, given)
        lines = (
            f"{indent}  ({'x' if i == chosen else ' '}) {label}"
            for i, label in enumerate(self.labels)
        )
        return "\n".join([self.text, *lines])

    def as_state(self) -> dict[str, Any]:
        """Return the question as JSON data for the view."""
        number = self.answer if self.options is None else None
        return {
            "text": self.text,
            "labels": None if self.options is None else list(self.labels),
            "answer": self.position if number is None else float(number),
            "because": self.because,
            "tolerance": float(self.tolerance),
        }


def _find(options: Sequence[Any] | None, answer: Any) -> int | None:
    """Return the position of an option; True is not 1 here."""
    for position, option in enumerate(options or ()):
        same_kind = isinstance(option, bool) == isinstance(answer, bool)
        if same_kind and option == answer:
            return position
    return None


def _check_text(question: Question) -> None:
    if not isinstance(question.text, str) or not question.text.strip():
        raise ArgumentError.explained(
            f"A question got text={question.text!r}.",
            "The first argument is what the student reads.",
            'Write for example ck.guess("How many blocks?", [2, 4, 8]).',
        )


def _check_options(question: Question) -> None:
    if isinstance(question.options, str) or len(question.options) < 2:
        raise _refused(
            question, f"options={question.options!r}", "Give two options or more."
        )
    labels = list(map(str, question.options))
    if len(set(labels)) < len(labels):
        raise _refused(question, f"the options {labels}", "Give each option once.")
    if question.answer is not None and question.position is None:
        raise _refused(
            question,
            f"answer={question.answer!r}, which is none of its options",
            f"Give one of {', '.join(map(repr, question.options))} itself, "
            "not its position.",
        )
    if question.tolerance:
        raise _refused(
            question, f"tolerance={question.tolerance!r}", "Only numbers have one."
        )


def _check_number(question: Question) -> None:
    answer = question.answer
    if not isinstance(answer, Real) or not math.isfinite(answer):
        raise _refused(
            question, f"answer={answer!r} without options", "Give options, or a number."
        )
    if not question.tolerance >= 0:
        raise _refused(question, f"tolerance={question.tolerance!r}", "Give 0 or more.")


def _refused(question: Question, what: str, cure: str) -> ArgumentError:
    return ArgumentError.explained(f"{question.text!r} got {what}.", cure=cure)
