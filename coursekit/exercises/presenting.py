"""What a presenter asks for: the answers of a slide, and the mistakes to expect."""

from __future__ import annotations

import contextlib
import json
import re

from coursekit.errors import ArgumentError
from coursekit.exercises import catalogue, predictions
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.guess import Guess

EXERCISE = r"\d\d\.(?:\d+|[a-z])"


def answers(*ids: str) -> str:
    """Return the answers of questions, and the solutions of exercises, as text.

    Parameters
    ----------
    *ids : str
        Of questions, "05.sectors", and of exercises, "05.1".

    Raises
    ------
    ArgumentError
        Nothing has this id.
    """
    return "\n\n".join(map(_answer, ids))


def for_notes(*ids: str) -> str:
    """Return what each id is about, its answer and the mistakes to expect, as JSON.

    Each id gives an object with `title`, `answer` and the list `mistakes`.

    Parameters
    ----------
    *ids : str
        As of `answers`. A question has no mistakes.

    Raises
    ------
    ArgumentError
        Nothing has this id.
    """
    return json.dumps([_note(id) for id in ids])


def _answer(id: str) -> str:
    note = _note(id)
    return f"{note['title']}\n{note['answer']}"


def _note(id: str) -> dict[str, object]:
    if re.fullmatch(EXERCISE, id):
        entry = catalogue.find(id)
        answer = entry.solution.read_text(encoding="utf-8").rstrip()
        return {"title": entry.label, "answer": answer, "mistakes": _mistakes(entry)}
    asked = _asked(id)
    title = "; ".join(guess.question for guess in asked)
    return {"title": title, "answer": _told(asked), "mistakes": []}


def _asked(id: str) -> tuple[Guess, ...]:
    with contextlib.suppress(ArgumentError):
        return predictions.find_quiz(id)
    return (predictions.find_guess(id),)


def _told(asked: tuple[Guess, ...]) -> str:
    return "\n".join(
        "The cells that follow tell."
        if guess.answer is None
        else f"{guess.said(guess.answer)}. {guess.because}".rstrip()
        for guess in asked
    )


def _mistakes(entry: Entry) -> list[str]:
    return [mutant.mistake for mutant in entry.exercise.mutants.values()]
