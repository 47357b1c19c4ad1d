"""Questions before the answer: `ck.guess` for a prediction, `ck.quiz` for several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, ClassVar

import traitlets

from coursekit.display.listing import panel
from coursekit.errors import ArgumentError
from coursekit.exercises import predictions
from coursekit.exercises.guess import Guess
from coursekit.widgets.base import CourseWidget

_CODE = re.compile(r"`([^`]+)`")


def guess(
    question: str,
    options: Sequence[Any] | None = None,
    *,
    answer: Any = None,
    because: str = "",
    tolerance: float = 0.0,
) -> GuessWidget:
    """Ask for a prediction; the answer is shown after the reader has committed.

    A first miss gets a hint and a second try; a second miss gets the answer.

    Parameters
    ----------
    question : str
        The id of a question in the chapter's spec: "05.sectors". Or the question
        itself, with the parameters that follow; `code` between backticks is set as
        code.
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
    GuessWidget
        The question as a widget. Unanswered it is a text and no error: a notebook
        that nobody answers runs to its end.

    Raises
    ------
    ArgumentError
        If there is no question of this id, or the answer is none of the options.

    Examples
    --------
    >>> guess("How many threads has a warp?", [16, 32, 64], answer=32)
    Predict first: How many threads has a warp?
      ( ) 16
      ( ) 32
      ( ) 64
    """
    if predictions.is_id(question) and options is None and answer is None:
        return GuessWidget(predictions.find_guess(question))
    return GuessWidget(Question(question, options, answer, because, tolerance))


def quiz(asked: str | Sequence[Guess]) -> QuizWidget:
    """Ask several questions; each is explained once it is answered.

    Parameters
    ----------
    asked : str or sequence of Guess
        The id of a quiz in the chapter's spec, "05.review"; or the questions, each
        with its answer.

    Returns
    -------
    QuizWidget
        The questions as a widget; unanswered it is a text and no error.

    Raises
    ------
    ArgumentError
        If there is no quiz of this id, no question, or one without an answer.

    Examples
    --------
    >>> quiz([Question("A block has at most 1024 threads.", answer=True)])
    Quiz
    1. A block has at most 1024 threads.
         ( ) True
         ( ) False
    """
    return QuizWidget(predictions.find_quiz(asked) if isinstance(asked, str) else asked)


def Question(
    text: str,
    options: Sequence[Any] | None = None,
    answer: Any = None,
    because: str = "",
    tolerance: float = 0.0,
) -> Guess:
    """Return a question that stands in the notebook itself, without a hint."""
    return Guess(
        question=text,
        options=options,
        answer=answer,
        because=because,
        tolerance=tolerance,
    )


class QuizWidget(CourseWidget, files="questions"):
    """Several questions, the tries so far, and what the kernel says of them.

    The view does not have the answers: it sends each try, and gets a verdict.

    Attributes
    ----------
    answers : list of list
        For each question the tries of the reader: positions of options, or numbers.
    verdicts : list of dict
        For each question what the view may show after these tries.
    """

    needs_answers: ClassVar[bool] = True

    heading = traitlets.Unicode("Quiz").tag(sync=True)
    numbered = traitlets.Bool(True).tag(sync=True)
    questions = traitlets.List(traitlets.Dict()).tag(sync=True)
    answers = traitlets.List().tag(sync=True)
    verdicts = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, asked: Sequence[Guess], **traits: Any) -> None:
        self._asked = tuple(asked) if isinstance(asked, Iterable) else (asked,)
        _check(self._asked, needs_answers=self.needs_answers)
        super().__init__(
            questions=[guess.as_state() for guess in self._asked],
            answers=[[] for _ in self._asked],
            verdicts=[_verdict(guess, []) for guess in self._asked],
            **traits,
        )

    @traitlets.observe("answers")
    def _judge(self, change: Any) -> None:
        """Answer the view's tries with verdicts."""
        pairs = zip(self._asked, self.answers, strict=True)
        self.verdicts = [_verdict(guess, tries) for guess, tries in pairs]

    @property
    def given(self) -> tuple[Any, ...]:
        """The option or number that the reader chose last; None where not answered."""
        return tuple(
            guess.option(tries[-1]) if tries else None
            for guess, tries in zip(self._asked, self.answers, strict=True)
        )

    @property
    def score(self) -> int:
        """The number of right answers so far."""
        return sum(verdict["state"] == "right" for verdict in self.verdicts)

    def __repr__(self) -> str:
        lines = [
            f"{number}. {guess.as_text(given, indent='   ')}"
            for number, (guess, given) in enumerate(
                zip(self._asked, self.given, strict=True), 1
            )
        ]
        return "\n".join([self.heading, *lines])

    def static_html(self) -> str:
        parts = [_question_html(guess) for guess in self._asked]
        if self.numbered:
            parts = ["<ol>" + "".join(f"<li>{part}</li>" for part in parts) + "</ol>"]
        return panel(f"<b>{escape(self.heading)}</b>" + "".join(parts))


class GuessWidget(QuizWidget):
    """One question, which the reader answers before the answer is shown."""

    needs_answers = False

    def __init__(self, asked: Guess) -> None:
        super().__init__([asked], heading="Predict first", numbered=False)

    @property
    def right(self) -> bool | None:
        """Whether the last try is right; None before it, or without an answer."""
        given = self.given[0]
        return None if given is None else self._asked[0].accepts(given)

    def __repr__(self) -> str:
        return f"{self.heading}: {self._asked[0].as_text(self.given[0])}"


def _verdict(guess: Guess, tries: Sequence[Any]) -> dict[str, Any]:
    """Return what the view may show after these tries of a question."""
    told: dict[str, Any] = {"tries": len(tries), "state": "open", "done": False}
    told |= {"missed": len(tries) > 1, "right": None, "text": "", "more": ""}
    if not tries:
        return told
    given = guess.option(tries[-1])
    accepted = guess.accepts(given)
    if accepted is None:
        text = f"You have committed to {guess.said(given)}."
        return told | {"state": "committed", "done": True, "text": text}
    if not accepted and guess.hint and len(tries) == 1:
        more = f"{guess.hint} You have a second try."
        return told | {"state": "again", "missed": True, "text": "No.", "more": more}
    text = "Right." if accepted else f"No, the answer is {guess.said(guess.answer)}."
    state = {"state": "right" if accepted else "wrong", "done": True, "text": text}
    return told | state | {"right": guess.position, "more": guess.because}


def _check(asked: tuple[Guess, ...], *, needs_answers: bool) -> None:
    if not asked:
        raise ArgumentError.explained(
            "quiz got no question.", cure="Give a list of Question(...)."
        )
    for one in asked:
        if not isinstance(one, Guess):
            raise ArgumentError.explained(
                f"quiz got {type(one).__name__} where a question belongs.",
                cure="Write `from coursekit.widgets import Question`, then "
                "`Question(text, options, answer=...)`.",
            )
        if needs_answers and one.answer is None:
            raise ArgumentError.explained(
                f"quiz got {one.question!r} without an answer.",
                cure="Give answer=, or ask it with ck.guess.",
            )


def _question_html(guess: Guess) -> str:
    text = f'<p style="margin:4px 0">{_rich(guess.question)}</p>'
    if guess.labels is None:
        return text + '<p style="margin:4px 0">Answer with a number.</p>'
    items = "".join(f"<li>{_rich(label)}</li>" for label in guess.labels)
    return f'{text}<ul style="margin:4px 0">{items}</ul>'


def _rich(text: str) -> str:
    return _CODE.sub(
        r'<code style="color:inherit;background:none">\1</code>', escape(text)
    )
