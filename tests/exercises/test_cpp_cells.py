"""Exercises in C++ for the host: `%%cpp` cells, and their check."""

from __future__ import annotations

import shutil

import pytest

import coursekit as ck
from coursekit.exercises import (
    Case,
    Mutant,
    ProgramExercise,
    catalogue,
    program_stages,
    skeleton,
)
from coursekit.exercises.checking import examine, is_untouched
from coursekit.exercises.grading import command

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler: apt install g++"
)
pytest_plugins = ("exercise_folder", "notebook_shell")

SPEC = """
from coursekit.errors import CheckFailed
from coursekit.exercises import Case, ProgramExercise

EXERCISES = (
    ProgramExercise(
        id="42.4",
        name="twice",
        title="Twice",
        stars=1,
        cases=(
            Case(args=(3,), stdout="6\\n", causes={"3": "Nothing was doubled.",
                 "limit": "It counts x up for ever."}),
            Case(args=(4,), stdin="1", stdout="8\\n"),
        ),
        hints=("a", "b", "c"),
        mutants={},
        starter=(CheckFailed, "prints '3'"),
    ),
)
"""
STARTER = """// Twice: prints 2 * x.
#include <cstdio>
#include <cstdlib>
int main(int, char **words)
{
    int x = std::atoi(words[1]);
    // Your code here.
    std::printf("%d\\n", x);
}
"""
SOLUTION = STARTER.replace('", x)', '", 2 * x)')
CELL = "%%cpp --exercise 42.4\n"


@pytest.fixture(autouse=True)
def program_exercise(folder):
    """Add 42.4 to the tiny exercises."""
    for kind, text in (("exercises", STARTER), ("solutions", SOLUTION)):
        topic = folder.exercises / kind / "42_tests"
        topic.mkdir(parents=True, exist_ok=True)
        (topic / "4_twice.cpp").write_text(text)
    (folder.exercises / "exercises" / "42_tests" / "spec_cpp.py").write_text(SPEC)


def verdict(text):
    return examine(catalogue.find("42.4"), text)


def with_line(line):
    return STARTER.replace("// Your code here.", line)


# ---------------------------------------------------------------- the cell


def test_a_cell_shows_what_the_program_prints(session):
    assert "$ ./twice 3\n6" in session.run(CELL + SOLUTION)


def test_solution_in_the_cell_passes_the_check(session):
    session.run(CELL + SOLUTION)
    assert "solved" in session.run('ck.check("42.4")')


def test_starter_in_the_cell_is_stopped(session):
    session.run(CELL + STARTER)
    assert "stopped  prints what is asked: ./twice 3" in session.run('ck.check("42.4")')


def test_cause_of_a_finding_may_be_that_of_its_exercise(monkeypatch):
    monkeypatch.setattr(program_stages, "SECONDS", 0.2)
    text = with_line("volatile int more = 1;\n    while (more) x++;")
    assert "It counts x up for ever." in verdict(text).message


def test_text_of_the_cell_is_saved(folder, session):
    session.run(CELL + SOLUTION)
    kept = folder.work / "exercises" / "42_tests" / "4_twice.cpp"
    assert kept.read_text() == SOLUTION


def test_a_cell_without_an_exercise_runs_and_binds_its_run(session):
    shown = session.run('%%cpp mine --args "a b"\n' + "int main(int n, char **) {\n"
                        "    return n; }")  # fmt: skip
    assert "$ ./mine a b\nexit code 3" in shown
    assert session["mine"].returncode == 3


def test_line_numbers_are_those_of_the_editor(session):
    with pytest.raises(ck.CompileError, match="program.cpp:3: 'x' was not declared"):
        session.run("%%cpp\nint main() {\n    return x;\n}")


def test_a_compile_error_of_the_cell_is_what_the_check_reports(session):
    session.run(CELL + SOLUTION)
    with pytest.raises(ck.CompileError):
        session.run(CELL + with_line("x = ;"))
    assert "CompileError: twice.cpp:8" in session.run('ck.check("42.4")')


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%%cpp", "got a cell without code"),
        ("%%cpp --exercise 42.4", "The cell is empty"),
        ("%%cpp one two\nint x;", "cannot take 'two'"),
        ("%%cpp --args\nint x;", "needs a value after --args"),
        ("%%cpp --exercise 42.1\nint x;", "is no exercise for %%cpp"),
        ("%%cuda --exercise 42.4\nint x;", "is no exercise for %%cuda"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(session, line, words):
    with pytest.raises(ck.CourseError) as caught:
        session.run(line)
    assert words in str(caught.value)


# ---------------------------------------------------------------- the check


def test_the_cause_is_that_of_what_was_printed():
    assert "Nothing was doubled." in verdict(STARTER).message


def test_another_wrong_result_has_the_general_cause():
    text = STARTER.replace('", x)', '", 9 * x)')
    assert "The sanitizers saw no defect" in verdict(text).message


def test_a_finding_comes_before_a_wrong_result():
    message = verdict(with_line("int *p = nullptr; *p = x;")).message
    assert message.startswith("twice.cpp:7: store to null pointer")
    assert "Seen in `./twice 3`." in message


def test_a_leak_of_a_right_result_is_a_miss():
    text = SOLUTION.replace("// Your code here.", "new int[5];")
    assert "20 bytes that line 7 allocates are never freed" in verdict(text).message


def test_a_warning_of_the_compiler_is_told_with_a_miss():
    message = verdict(with_line('std::scanf("%d", x);')).message
    assert "The compiler has warned: twice.cpp:7: format '%d' expects" in message


def test_an_endless_loop_ends_the_check():
    message = verdict(with_line("volatile int i = 0; while (!i) { }")).message
    assert "The program was stopped: it had not ended" in message


def test_an_exit_code_that_is_not_asked_for_is_a_miss():
    text = SOLUTION.replace("\n}\n", "\n    return 3;\n}\n")
    assert "returns 3 from main, and should return 0" in verdict(text).message


def test_spaces_at_the_ends_of_lines_do_not_count():
    assert verdict(SOLUTION.replace("%d\\n", "%d  \\n\\n"))


def test_the_starter_is_untouched():
    entry = catalogue.find("42.4")
    assert is_untouched(entry, ck.program("\n" + STARTER, name="twice.cpp"))
    assert not is_untouched(entry, ck.program("\n" + SOLUTION, name="twice.cpp"))


def test_something_else_is_refused_by_the_check():
    with pytest.raises(ck.ArgumentError, match="which is no program"):
        raise verdict(3).error


def test_a_program_of_a_notebook_is_graded(tmp_path, capsys):
    (tmp_path / "42_tests").mkdir()
    (tmp_path / "42_tests" / "4_twice.cpp").write_text(SOLUTION)
    assert command.main([str(tmp_path)]) == 0
    assert "1 of 1 exercises solved" in capsys.readouterr().out


def test_new_exercise_in_cpp_is_found_and_fails_until_it_is_written():
    assert skeleton.main(["42.6", "half", "--cpp"]) == 0
    entry = catalogue.find("42.6")
    assert isinstance(entry.exercise, ProgramExercise)
    verdict = examine(entry, entry.solution.read_text())
    assert (verdict.passed, verdict.passed_stages) == (False, 1)


def test_cases_are_cases():
    with pytest.raises(ck.ArgumentError, match="is no Case"):
        ProgramExercise(
            id="42.5", name="x", title="X", stars=1, cases=("6",), hints=("a",) * 3,
            mutants={"m": Mutant(mistake="X.", edits=[("a", "b")],
                                 fails=(ck.CheckFailed, "words"))},
        )  # fmt: skip
    assert Case(stdout="6").args == ()
