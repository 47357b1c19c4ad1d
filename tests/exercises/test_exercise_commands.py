"""`python -m coursekit grade`, `reset` and `new-exercise`."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
import tiny_host_exercise
from tiny_exercises import TURN, add_ten

from coursekit import __main__
from coursekit.errors import ArgumentError
from coursekit.exercises import catalogue, saved, skeleton
from coursekit.exercises.checking import examine

pytest_plugins = ("exercise_folder",)

OLD_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0"}
SOLUTION = add_ten("if (i < n) out[i] = a[i] + 10;")


def command(capsys, *words):
    """Run a command; return its exit code and what it wrote."""
    code = __main__.main([str(word) for word in words])
    return code, "".join(capsys.readouterr())


def notebook(path, *cells):
    """Write a notebook of these code cells."""
    content = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    nbformat.write(content, path)
    return path


# ---------------------------------------------------------------- grade


def test_solved_exercises_are_graded_with_exit_code_0(folder, capsys):
    saved.save(catalogue.find("42.1"), SOLUTION)
    saved.save(catalogue.find("42.2"), TURN)
    code, shown = command(capsys, "grade")
    assert (code, shown.splitlines()[-1]) == (0, "2 of 2 exercises solved")


def test_unsolved_exercise_is_graded_with_exit_code_1(folder, capsys):
    saved.save(catalogue.find("42.1"), add_ten(""))
    code, shown = command(capsys, "grade")
    assert code == 1
    assert "stage 2 of 5: The small problem: 8 of 8 elements of out were" in shown


def test_cells_of_a_notebook_are_graded(folder, capsys, tmp_path):
    path = notebook(
        tmp_path / "a.ipynb", "x = 1", "%%cuda --exercise 42.1\n" + SOLUTION
    )
    assert command(capsys, "grade", path)[0] == 0


def test_text_that_does_not_compile_is_graded(folder, capsys, tmp_path):
    path = notebook(tmp_path / "a.ipynb", "%%cuda --exercise 42.1\nvoid f( {")
    code, shown = command(capsys, "grade", path)
    assert code == 1
    assert "stage 1 of 5: CompileError" in shown


def test_cell_without_code_is_graded(folder, capsys, tmp_path):
    path = notebook(tmp_path / "a.ipynb", "%%cuda --exercise 42.1")
    assert "The cell is empty: below" in command(capsys, "grade", path)[1]


def test_folder_of_a_chapter_is_graded(folder, capsys):
    saved.save(catalogue.find("42.1"), SOLUTION)
    assert command(capsys, "grade", saved.folder() / "42_tests")[0] == 0


def test_backups_are_not_graded(folder, capsys):
    entry = catalogue.find("42.1")
    saved.save(entry, SOLUTION)
    saved.reset(entry)
    assert "0 of 1 exercises solved" in command(capsys, "grade")[1]


def test_verbose_grade_shows_the_cards(folder, capsys):
    saved.save(catalogue.find("42.1"), add_ten(""))
    assert "stopped  a small problem" in command(capsys, "grade", "-v")[1]


def test_escape_sequences_of_a_source_do_not_reach_the_terminal(folder, capsys):
    wrong = add_ten("out[i] = a[i] + 10; // \x1b[2J \x9b1m \u202e")
    saved.save(catalogue.find("42.1"), wrong)
    shown = command(capsys, "grade", "-v")[1]
    assert r"// \x1b[2J \x9b1m \u202e" in shown
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown)


def test_escape_sequences_of_a_file_name_do_not_reach_the_terminal(folder, capsys):
    shown = command(capsys, "grade", "\x1b[2J.ipynb")[1]
    assert r"\x1b[2J.ipynb" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "ascii"}, OLD_LOCALE])
def test_letters_that_the_locale_lacks_are_graded_too(folder, variables):
    wrong = add_ten("out[i] = a[i] + 10; // caf\u00e9 \u2192")
    saved.save(catalogue.find("42.1"), wrong)
    graded = subprocess.run(
        [sys.executable, "-m", "coursekit", "grade", "-v"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert graded.stderr == ""
    assert r"// caf\xe9 \u2192" in graded.stdout


def test_grading_leaves_the_progress_alone(folder, capsys):
    saved.save(catalogue.find("42.1"), SOLUTION)
    command(capsys, "grade")
    assert not (folder.state / "progress.json").exists()


@pytest.mark.parametrize("name", ["nothing.ipynb", "empty", "damaged.ipynb"])
def test_nothing_to_grade_is_an_error(folder, capsys, tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged.ipynb").write_text("{")
    code, shown = command(capsys, "grade", tmp_path / name)
    assert code == 1
    assert name in shown


HOSTILE = {
    "ends the process": ("import os; os._exit(0)", "it ended with exit code 0 before"),
    "kills the process": ("import os; os.kill(os.getpid(), 11)", "signal SIGSEGV"),
    "takes all memory": ("x = bytearray(1 << 40)", "The cell raised MemoryError"),
    "exits": ("raise SystemExit(0)", "SystemExit"),
    "claims success": (
        "import json, sys; open('verdict', 'w').write('{\"passed\": true}')\n"
        "import os; os._exit(0)",
        "it ended with exit code 0",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_answer_that_does_not_let_itself_be_judged_is_a_row(
    folder, capsys, tmp_path, case
):
    text, words = HOSTILE[case]
    tiny_host_exercise.fill(folder.exercises)
    path = notebook(tmp_path / "a.ipynb", "%%host --exercise 42.3\n" + text)
    code, shown = command(capsys, "grade", path)
    assert code == 1
    assert words in shown


def test_endless_answer_is_ended_by_its_computing_time(folder, capsys, tmp_path):
    tiny_host_exercise.fill(folder.exercises)
    path = notebook(tmp_path / "a.ipynb", "%%host --exercise 42.3\nwhile True: pass")
    code, shown = command(capsys, "grade", path, "--seconds", "0.5")
    assert code == 1
    assert "it took more than 0.5 s of computing" in shown


def test_thread_that_an_answer_leaves_behind_does_not_delay_its_verdict(
    folder, capsys, tmp_path
):
    tiny_host_exercise.fill(folder.exercises)
    text = (
        "import threading\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "def double(x): return 2 * x"
    )
    path = notebook(tmp_path / "a.ipynb", "%%host --exercise 42.3\n" + text)
    assert command(capsys, "grade", path)[0] == 0


def test_what_an_answer_prints_stays_out_of_the_table(folder, capfd, tmp_path):
    tiny_host_exercise.fill(folder.exercises)
    text = "print('noise' * 999)\ndef double(x): return 2 * x"
    path = notebook(tmp_path / "a.ipynb", "%%host --exercise 42.3\n" + text)
    assert __main__.main(["grade", str(path)]) == 0
    assert "noise" not in capfd.readouterr().out


DAMAGED = ["{", "[]", '{"cells": 3}', '{"cells": [4]}', "[" * 100_000, "\udcff"]


@pytest.mark.parametrize("content", DAMAGED, ids=lambda text: repr(text[:12]))
def test_damaged_notebook_leaves_the_others_to_be_graded(
    folder, capsys, tmp_path, content
):
    (tmp_path / "a.ipynb").write_text(content, errors="surrogateescape")
    notebook(tmp_path / "b.ipynb", "%%cuda --exercise 42.1\n" + SOLUTION)
    code, shown = command(capsys, "grade", tmp_path)
    assert (code, shown.splitlines()[-1]) == (
        1, "1 of 2 exercises solved, 1 not judged",
    )  # fmt: skip


def test_unknown_exercise_leaves_the_others_to_be_graded(folder, capsys, tmp_path):
    path = notebook(
        tmp_path / "a.ipynb",
        "%%cuda --exercise 99.9\n",
        "%%cuda --exercise 42.1\n" + SOLUTION,
    )
    code, shown = command(capsys, "grade", path)
    assert (code, shown.splitlines()[-1]) == (
        1, "1 of 2 exercises solved, 1 not judged",
    )  # fmt: skip


# ---------------------------------------------------------------- reset


def test_reset_of_an_exercise_puts_the_starter_back(folder, capsys):
    entry = catalogue.find("42.1")
    saved.save(entry, SOLUTION)
    code, shown = command(capsys, "reset", "42.1")
    assert code == 0
    assert "Your text is kept: " in shown
    assert saved.file(entry).read_text() == entry.starter.read_text()


def test_reset_of_an_unknown_id_is_an_error(folder, capsys):
    code, shown = command(capsys, "reset", "42.9")
    assert code == 1
    assert "42.1 Add ten" in shown


# ---------------------------------------------------------------- new-exercise


def test_new_exercise_of_a_known_chapter_is_found(folder, capsys):
    assert command(capsys, "new-exercise", "42.3", "zip")[0] == 0
    assert [entry.id for entry in catalogue.entries()] == ["42.1", "42.2", "42.3"]


@pytest.mark.parametrize("name", ["double", "class", "lambda"])
def test_new_exercise_refuses_a_keyword_as_name(folder, name):
    with pytest.raises(ArgumentError, match="is a keyword"):
        skeleton.create("42.3", name)


def test_new_exercise_opens_a_chapter(folder, capsys):
    command(capsys, "new-exercise", "77.1", "zip", "--topic", "late")
    assert catalogue.find("77.1").topic == "77_late"


def test_skeletons_starter_compiles_and_fails(folder):
    skeleton.create("42.3", "zip")
    entry = catalogue.find("42.3")
    verdict = examine(entry, entry.starter.read_text())
    assert verdict.passed_stages == 1


def test_skeletons_solution_fails_until_it_is_written(folder):
    skeleton.create("42.3", "zip")
    entry = catalogue.find("42.3")
    assert not examine(entry, entry.solution.read_text())


def test_skeleton_has_its_mutant(folder):
    skeleton.create("42.3", "zip")
    entry = catalogue.find("42.3")
    assert list(entry.exercise.mutants) == ["todo"]
    assert "TODO" in entry.mutant("todo")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""Words."""\n\nX = ()\n', '"""Words."""\n\nfrom a.b import y\n\nX = ()\n'),
        ("import re\n", "import re\nfrom a.b import y\n"),
        ("from a.b import (\n    x,\n    z,\n)\n", "from a.b import x, y, z\n"),
        ("from a.b import y\n", "from a.b import y\n"),
        ("from a.c import x\n", "from a.b import y\nfrom a.c import x\n"),
    ],
)
def test_skeleton_imports_where_imports_stand(before, after):
    assert skeleton.importing(before, "a.b", ("y",)) == after


@pytest.mark.parametrize("language", ["cuda", "host", "cpp"])
def test_two_skeletons_import_once(folder, language):
    spec = skeleton.create("77.1", "zip", "late", language=language)[0]
    skeleton.create("77.2", "zap", language=language)
    assert spec.read_text().count("import CheckFailed") == 1


def test_skeleton_marks_what_is_to_do(folder):
    written = skeleton.create("42.3", "zip")
    assert all("TODO" in path.read_text() for path in written)


@pytest.mark.parametrize(
    ("id", "name", "words"),
    [
        ("42.1", "zip", "42.1 exists: Add ten"),
        ("5", "zip", "'5' is no id"),
        ("42.3", "Zip", "'Zip' is no name"),
        ("77.1", "zip", "neither a notebook nor exercises"),
    ],
)
def test_new_exercise_refuses(folder, id, name, words):
    with pytest.raises(ArgumentError, match=words):
        skeleton.create(id, name)
