"""A question as data: true or false, one of several options, or a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from coursekit.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A question to answer before the answer is shown, and the rule that judges it.

    Attributes
    ----------
    question : str
        What the student reads; `code` between backticks is set as code.
    options : sequence, optional
        What may be chosen, two or more; each is shown as its `str`. Without options
        the answer decides: True or False makes a true-or-false question, anything
        else asks for a number.
    hint : str
        A sentence that is shown after the first miss, before a second try. Without
        one the first miss is told the answer.
    answer : optional
        The right option itself as it stands in `options` (never its position), or
        the right number. None where what comes later in the notebook answers it.
    because : str
        Why, in one sentence; shown with the answer.
    tolerance : float
        The largest error of a right number, in its own unit.

    Raises
    ------
    ArgumentError
        If the answer is none of the options, or options are missing or repeated.

    Examples
    --------
    >>> Guess(question="Has a warp 32 threads?", answer=True).labels
    ('True', 'False')
    >>> Guess(question="How many bytes has a sector?", answer=32).accepts(32.0)
    True
    """

    question: str
    options: Sequence[Any] | None = None
    hint: str = ""
    answer: Any = None
    because: str = ""
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        _check_text(self)
        if self.options is None and isinstance(self.answer, bool):
            object.__setattr__(self, "options", (True, False))
        if self.options is not None:
            _check_options(self, self.options)
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
            return f"{self.question}\n{indent}  a number: {blank}"
        chosen = _find(self.options, given)
        lines = (
            f"{indent}  ({'x' if i == chosen else ' '}) {label}"
            for i, label in enumerate(self.labels or ())
        )
        return "\n".join([self.question, *lines])

    def as_state(self) -> dict[str, Any]:
        """Return what the view may know before the reader has answered, as JSON."""
        labels = None if self.labels is None else list(self.labels)
        return {"text": self.question, "labels": labels}

    def said(self, given: Any) -> str:
        """Return an option, or a number, as it is shown."""
        return str(given) if self.options is not None else f"{given:.15g}"

    def option(self, position: Any) -> Any:
        """Return the option at a position that the view has sent, or the number."""
        return position if self.options is None else self.options[position]


def _find(options: Sequence[Any] | None, answer: Any) -> int | None:
    """Return the position of an option; True is not 1 here."""
    for position, option in enumerate(options or ()):
        same_kind = isinstance(option, bool) == isinstance(answer, bool)
        if same_kind and option == answer:
            return position
    return None


def _check_text(guess: Guess) -> None:
    if not isinstance(guess.question, str) or not guess.question.strip():
        raise ArgumentError.explained(
            f"A question got question={guess.question!r}.",
            "The first argument is what the student reads.",
            'Write for example ck.guess("How many blocks?", [2, 4, 8]).',
        )


def _check_options(guess: Guess, options: Sequence[Any]) -> None:
    if isinstance(options, str) or len(options) < 2:
        raise _refused(guess, f"options={options!r}", "Give two options or more.")
    labels = list(map(str, options))
    if len(set(labels)) < len(labels):
        raise _refused(guess, f"the options {labels}", "Give each option once.")
    if guess.answer is not None and guess.position is None:
        raise _refused(
            guess,
            f"answer={guess.answer!r}, which is none of its options",
            f"Give one of {', '.join(map(repr, options))} itself, not its position.",
        )
    if guess.tolerance:
        raise _refused(
            guess, f"tolerance={guess.tolerance!r}", "Only numbers have one."
        )


def _check_number(guess: Guess) -> None:
    answer = guess.answer
    if not isinstance(answer, Real) or not math.isfinite(answer):
        raise _refused(
            guess, f"answer={answer!r} without options", "Give options, or a number."
        )
    if not guess.tolerance >= 0:
        raise _refused(guess, f"tolerance={guess.tolerance!r}", "Give 0 or more.")


def _refused(guess: Guess, what: str, cure: str) -> ArgumentError:
    return ArgumentError.explained(f"{guess.question!r} got {what}.", cure=cure)
