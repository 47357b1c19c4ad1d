"""Guesses and quizzes are found by id in their chapter's spec."""

from __future__ import annotations

import doctest
from pathlib import Path

import nbformat
import pytest
import tiny_exercises
from execute import asked_ids

import coursekit as ck
from coursekit.exercises import catalogue, guess, predictions

pytest_plugins = ("exercise_folder",)

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "kernels"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SPEC = "exercises/42_tests/spec_turn.py"
GUESS = """
from coursekit.exercises import Guess
GUESSES = {{"{name}": Guess(question="How many?", {parts})}}
"""


@pytest.fixture
def turn(folder):
    """Put a guess and a quiz beside the exercises of the folder."""
    tiny_exercises.add_your_turn(folder.exercises)
    return folder


def test_guess_is_found_by_its_id(turn):
    expected = "Predict first: How many bytes has a sector?\n  ( ) 16\n  ( ) 32"
    assert repr(ck.guess("42.sectors")).startswith(expected)


def test_quiz_is_found_by_its_id(turn):
    assert repr(ck.quiz("42.review")).startswith("Quiz\n1. How many bytes")


@pytest.mark.parametrize(
    ("ask", "id", "message"),
    [
        (ck.guess, "42.sector", "There is no guess '42.sector'"),
        (ck.guess, "42.sector", "Near it: 42.sectors."),
        (ck.guess, "42a.sectors", "Near it: 42.sectors."),
        (ck.guess, "42.review", "Near it: 42.sectors."),
        (ck.guess, "43.none", "Its chapter has no guess at all."),
        (ck.quiz, "42.end", "Near it: 42.review."),
    ],
)
def test_unknown_id_names_those_near_it(turn, ask, id, message):
    with pytest.raises(ck.ArgumentError) as caught:
        ask(id)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parts", "message"),
    [
        ("a", "answer=3, because='So.'", "'How many?' has no hint"),
        ("a", "answer=3, hint='Count.'", "'How many?' has no because"),
        ("a", "hint='Count.', because='So.'", "'How many?' has no answer"),
        ("A b", "answer=3, hint='Count.', because='So.'", "'A b' is no name"),
        ("sectors", "answer=3, hint='Count.', because='So.'", "or is there twice"),
    ],
)
def test_guess_that_is_not_whole_is_refused(turn, name, parts, message):
    spec = turn.exercises / "exercises" / "42_tests" / "spec_more.py"
    spec.write_text(GUESS.format(name=name, parts=parts))
    with pytest.raises(ck.ArgumentError) as caught:
        ck.guess("42.sectors")
    assert message in str(caught.value)


def test_spec_of_guesses_needs_no_exercises(turn):
    spec = turn.exercises / SPEC
    spec.write_text(spec.read_text().replace("EXERCISES = ", "OTHERS = "))
    assert repr(ck.guess("42.sectors"))
    assert [entry.id for entry in catalogue.entries()] == ["42.1", "42.2"]


@pytest.mark.parametrize("text", ["GUESSES = [1]", "QUIZZES = {'a': ()}"])
def test_spec_of_another_form_is_refused(turn, text):
    (turn.exercises / SPEC).write_text(text)
    with pytest.raises(ck.ArgumentError, match="no dict of"):
        catalogue.entries()


def test_examples_in_the_documentation_hold():
    assert doctest.testmod(guess).failed == 0


@pytest.mark.parametrize("kind", ["guess", "quiz"])
def test_every_shipped_question_is_asked_once(kind):
    known = {"guess": predictions.guesses, "quiz": predictions.quizzes}[kind]
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    asked = [id for each in notebooks for id in asked_ids(each, kind)]
    assert sorted(asked) == sorted(known(SHIPPED))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_asks_the_questions_of_its_own_chapter(path):
    notebook = nbformat.read(path, as_version=4)
    asked = [*asked_ids(notebook, "guess"), *asked_ids(notebook, "quiz")]
    assert [id for id in asked if not id.startswith(path.stem[:2] + ".")] == []
