"""Pieces of "your turn" inside of sections are exercises with a letter: 42.a."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny_exercises
from tiny_exercises import add_ten

import coursekit as ck
from coursekit import __main__
from coursekit.exercises import catalogue, saved, skeleton
from coursekit.exercises.checking import examine

pytest_plugins = ("exercise_folder", "notebook_shell")

RIGHT = "if (i < n) out[i] = a[i] + 10;"


@pytest.fixture(autouse=True)
def turn(folder):
    """Put 42.a beside the exercises of the folder."""
    tiny_exercises.add_your_turn(folder.exercises)
    return catalogue.find("42.a")


def test_files_begin_with_the_letter(turn):
    assert (turn.starter.name, turn.solution.name) == ("a_plus.cu", "a_plus.cu")


def test_starter_fails_and_solution_passes(turn):
    assert not examine(turn, turn.starter.read_text())
    assert examine(turn, turn.solution.read_text())


def test_mutant_is_caught(turn):
    kind, words = turn.exercise.mutants["eleven"].fails
    verdict = examine(turn, turn.mutant("eleven"))
    assert (type(verdict.error), words in verdict.message) == (kind, True)


def test_cell_and_check_work_as_those_of_exercises(session):
    session.run("%%cuda --exercise 42.a\n" + add_ten(RIGHT))
    assert "Your turn 42.a, Add ten at once: solved" in session.run('ck.check("42.a")')


def test_check_names_it_apart_from_exercises(turn):
    shown = repr(ck.check("42.a", ck.compile(add_ten(""))))
    assert shown.startswith("Your turn 42.a, Add ten at once: not there yet")
    assert 'ck.hint("42.a") has 1 hint left.' in shown


def test_its_only_hint_is_the_last():
    shown = repr(ck.hint("42.a"))
    assert "Your turn 42.a, hint 1 of 1" in shown
    assert 'ck.solution("42.a")' in shown


def test_letters_come_behind_the_exercises_of_a_chapter():
    assert [entry.id for entry in catalogue.entries()] == ["42.1", "42.2", "42.a"]


def test_data_differ_from_those_of_every_exercise():
    numbers = [entry.exercise.number for entry in catalogue.entries()]
    assert len(set(numbers)) == len(numbers)


def test_progress_lists_it_apart():
    ck.check("42.a", ck.compile(add_ten(RIGHT)))
    shown = ck.progress()
    assert (shown.solved, shown.total) == (0, 2)
    assert shown.your_turn.rows == (("42.a", "Add ten at once", "solved"),)
    assert "Your turn, inside of the sections: 1 of 1 solved" in repr(shown)


def test_progress_without_any_has_one_table(tmp_path, monkeypatch):
    tiny_exercises.fill(tmp_path / "bare")
    monkeypatch.setenv("COURSEKIT_EXERCISES", str(tmp_path / "bare"))
    assert "Your turn" not in repr(ck.progress()) + ck.progress()._repr_html_()


def test_it_has_no_stars(turn):
    with pytest.raises(ck.ArgumentError, match="Your turn 42.a: .* has no stars"):
        replace(turn.exercise, stars=1)


def test_exercise_needs_its_stars():
    with pytest.raises(ck.ArgumentError, match="0 stars are not 1, 2 or 3"):
        replace(catalogue.find("42.1").exercise, stars=0)


def test_it_needs_one_hint_and_one_mutant(turn):
    assert (turn.exercise.least, catalogue.find("42.1").exercise.least) == (1, 3)


def test_reset_puts_its_starter_back(turn, capsys):
    saved.save(turn, add_ten(RIGHT))
    assert __main__.main(["reset", "42.a"]) == 0
    assert saved.file(turn).read_text() == turn.starter.read_text()


def test_grade_finds_it(turn, capsys):
    saved.save(turn, add_ten(RIGHT))
    assert __main__.main(["grade"]) == 0
    assert "Add ten at once" in capsys.readouterr().out


@pytest.mark.parametrize("language", ["cuda", "host", "cpp"])
def test_skeleton_is_a_piece_without_stars(language):
    skeleton.create("42.b", "zip", language=language)
    exercise = catalogue.find("42.b").exercise
    assert (exercise.stars, exercise.hints) == (0, ("TODO",))


def test_skeleton_of_a_wrong_id_says_how_ids_look(capsys):
    assert __main__.main(["new-exercise", "42.ab", "zip"]) == 1
    assert 'for "your turn" a letter, 05.a' in capsys.readouterr().err
