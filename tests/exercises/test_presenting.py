"""What the slides ask for: answers, solutions, and the mistakes to expect."""

import json

import pytest

from coursekit.errors import ArgumentError
from coursekit.exercises import catalogue, predictions, presenting


def test_the_answer_of_a_question_has_its_reason():
    guess = predictions.find_guess("05.columns")
    said = presenting.answers("05.columns")
    assert said == f"{guess.question}\n32. {guess.because}"


def test_the_answer_of_an_exercise_is_its_solution():
    entry = catalogue.find("05.1")
    said = presenting.answers("05.1")
    assert said.startswith(entry.label)
    assert said.endswith(entry.solution.read_text().rstrip())


def test_answers_of_a_quiz_are_all_there():
    (name, quiz), *_ = predictions.quizzes().items()
    said = presenting.answers(name)
    assert all(guess.said(guess.answer) in said for guess in quiz)


def test_notes_have_the_mistakes_of_an_exercise():
    (note,) = json.loads(presenting.for_notes("05.1"))
    mutants = catalogue.find("05.1").exercise.mutants.values()
    assert note["mistakes"] == [mutant.mistake for mutant in mutants]


def test_everything_that_is_asked_has_notes():
    ids = [*predictions.guesses(), *predictions.quizzes()]
    ids += [entry.id for entry in catalogue.entries()]
    notes = json.loads(presenting.for_notes(*ids))
    assert all(note["title"] and note["answer"] for note in notes)


def test_an_unknown_id_is_told():
    with pytest.raises(ArgumentError, match="no guess '05.nothing'"):
        presenting.answers("05.nothing")
