"""Questions before the answer: `ck.guess` for a prediction, `ck.quiz` for several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar

import traitlets

from coursekit.display.listing import panel
from coursekit.errors import ArgumentError
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.question import Question

_CODE = re.compile(r"`([^`]+)`")


def guess(
    question: str,
    options: Sequence[Any] | None = None,
    *,
    answer: Any = None,
    because: str = "",
    tolerance: float = 0.0,
) -> Guess:
    """Ask for a prediction; the answer is shown after the reader has committed.

    Parameters
    ----------
    question : str
        What to predict; `code` between backticks is set as code.
    options : sequence, optional
        What may be chosen, two or more. Without them a number is asked for, or True
        or False if the answer is one of those.
    answer : optional
        The right option itself (not its position), or the right number. Without it
        the reader commits, and the cells that follow tell.
    because : str
        Why, shown with the answer.
    tolerance : float
        The largest error of a right number, in its own unit.

    Returns
    -------
    Guess
        The question as a widget. Unanswered it is a text and no error: a notebook
        that nobody answers runs to its end.

    Raises
    ------
    ArgumentError
        If the answer is none of the options.

    Examples
    --------
    >>> guess("How many threads has a warp?", [16, 32, 64], answer=32)
    Predict first: How many threads has a warp?
      ( ) 16
      ( ) 32
      ( ) 64
    """
    return Guess(
        Question(question, options, answer=answer, because=because, tolerance=tolerance)
    )


def quiz(questions: Sequence[Question]) -> Quiz:
    """Ask several questions; each is explained once it is answered.

    Parameters
    ----------
    questions : sequence of Question
        From `coursekit.widgets`; each needs its answer.

    Returns
    -------
    Quiz
        The questions as a widget; unanswered it is a text and no error.

    Raises
    ------
    ArgumentError
        If there is no question, or one without an answer.

    Examples
    --------
    >>> quiz([Question("A block has at most 1024 threads.", answer=True)])
    Quiz
    1. A block has at most 1024 threads.
         ( ) True
         ( ) False
    """
    return Quiz(questions)


class Quiz(CourseWidget, files="questions"):
    """Several questions, the answers so far, and the score.

    Attributes
    ----------
    answers : list
        For each question the position of the chosen option or the number given;
        None until the reader commits.
    """

    needs_answers: ClassVar[bool] = True

    heading = traitlets.Unicode("Quiz").tag(sync=True)
    numbered = traitlets.Bool(True).tag(sync=True)
    questions = traitlets.List(traitlets.Dict()).tag(sync=True)
    answers = traitlets.List().tag(sync=True)

    def __init__(self, questions: Sequence[Question], **traits: Any) -> None:
        self._asked = tuple(questions)
        _check(self._asked, needs_answers=self.needs_answers)
        super().__init__(
            questions=[question.as_state() for question in self._asked],
            answers=[None] * len(self._asked),
            **traits,
        )

    @property
    def given(self) -> tuple[Any, ...]:
        """The options or numbers that the reader chose; None where not answered."""
        return tuple(
            answer
            if answer is None or question.options is None
            else question.options[answer]
            for question, answer in zip(self._asked, self.answers, strict=True)
        )

    @property
    def score(self) -> int:
        """The number of right answers so far."""
        return sum(
            given is not None and question.accepts(given) is True
            for question, given in zip(self._asked, self.given, strict=True)
        )

    def __repr__(self) -> str:
        lines = [
            f"{number}. {question.as_text(given, indent='   ')}"
            for number, (question, given) in enumerate(
                zip(self._asked, self.given, strict=True), 1
            )
        ]
        return "\n".join([self.heading, *lines])

    def static_html(self) -> str:
        parts = [_question_html(question) for question in self._asked]
        if self.numbered:
            parts = ["<ol>" + "".join(f"<li>{part}</li>" for part in parts) + "</ol>"]
        return panel(f"<b>{escape(self.heading)}</b>" + "".join(parts))


class Guess(Quiz):
    """One question, which the reader answers before the answer is shown."""

    needs_answers = False

    def __init__(self, question: Question) -> None:
        super().__init__([question], heading="Predict first", numbered=False)

    @property
    def right(self) -> bool | None:
        """Whether the guess is right; None before it, or without an answer."""
        given = self.given[0]
        return None if given is None else self._asked[0].accepts(given)

    def __repr__(self) -> str:
        return f"{self.heading}: {self._asked[0].as_text(self.given[0])}"


def _check(questions: tuple[Question, ...], *, needs_answers: bool) -> None:
    if not questions:
        raise ArgumentError.explained(
            "quiz got no question.", cure="Give a list of Question(...)."
        )
    for question in questions:
        if not isinstance(question, Question):
            raise ArgumentError.explained(
                f"quiz got {type(question).__name__} where a Question belongs.",
                cure="Write `from coursekit.widgets import Question`, then "
                "`Question(text, options, answer=...)`.",
            )
        if needs_answers and question.answer is None:
            raise ArgumentError.explained(
                f"quiz got {question.text!r} without an answer.",
                cure="Give answer=, or ask it with ck.guess.",
            )


def _question_html(question: Question) -> str:
    text = f'<p style="margin:4px 0">{_rich(question.text)}</p>'
    if question.labels is None:
        return text + '<p style="margin:4px 0">Answer with a number.</p>'
    items = "".join(f"<li>{_rich(label)}</li>" for label in question.labels)
    return f'{text}<ul style="margin:4px 0">{items}</ul>'


def _rich(text: str) -> str:
    return _CODE.sub(
        r'<code style="color:inherit;background:none">\1</code>', escape(text)
    )
