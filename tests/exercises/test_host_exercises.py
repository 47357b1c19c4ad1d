"""Exercises in Python: `%%host` cells, their check, the commands."""

from __future__ import annotations

import nbformat
import pytest
import tiny_host_exercise
from tiny_host_exercise import SOLUTION, STARTER

import coursekit as ck
from coursekit import __main__
from coursekit.exercises import HostExercise, catalogue, saved, skeleton
from coursekit.exercises.checking import examine

pytest_plugins = ("exercise_folder", "notebook_shell")

CELL = "%%host --exercise 42.3\n"


@pytest.fixture(autouse=True)
def host_exercise(folder):
    """Add 42.3 to the tiny exercises."""
    tiny_host_exercise.fill(folder.exercises)


def body(line: str) -> str:
    return STARTER.replace("return x", line)


def message(text: str) -> str:
    return examine(catalogue.find("42.3"), text).message


# --------------------------------------------------------------------------- the cell


def test_solution_in_the_cell_passes_the_check(session):
    session.run(CELL + SOLUTION)
    assert "solved" in session.run('ck.check("42.3")')


def test_starter_in_the_cell_is_stopped(session):
    session.run(CELL + STARTER)
    assert "stopped  three" in session.run('ck.check("42.3")')


def test_cell_binds_its_function(session):
    session.run(CELL + SOLUTION)
    assert session["double"](4) == 8


def test_cell_sees_nothing_of_other_cells(session):
    session.run("factor = 2")
    session.run(CELL + body("return factor * x"))
    assert "raised NameError" in session.run('ck.check("42.3")')


def test_cell_has_ck(session):
    session.run(CELL + SOLUTION + "ck.Timeline\n")
    assert session["double"](4) == 8


def test_last_expression_of_the_cell_is_shown(session):
    assert "'shown'" in session.run(CELL + SOLUTION + "'sho' + 'wn'\n")


def test_text_of_each_run_is_saved(folder, session):
    session.run(CELL + STARTER)
    session.run(CELL + SOLUTION)
    kept = folder.work / "exercises" / "42_tests" / "3_double.py"
    assert kept.read_text() == SOLUTION


def test_text_that_is_no_python_is_saved_too(folder, session):
    session.fail(CELL + "def double(:\n")
    kept = folder.work / "exercises" / "42_tests" / "3_double.py"
    assert kept.read_text() == "def double(:\n"


def test_syntax_error_names_the_line_that_the_editor_shows(session):
    _, error = session.fail(CELL + "x = 1\ndef double(:\n    pass\n")
    assert isinstance(error, ck.CompileError)
    assert "exercise_42.3.py:3: invalid syntax\n    def double(:\n" in str(error)


def test_error_of_the_cell_names_the_line_that_the_editor_shows(session):
    _, error = session.fail(CELL + "x = 1\ny = 1 / 0\n")
    assert isinstance(error, ck.CheckFailed)
    assert "ZeroDivisionError: division by zero\n    line 3:  y = 1 / 0" in str(error)
    assert "The line divides by a value that is 0" in str(error)


def test_check_after_a_failed_cell_does_not_see_the_older_function(session):
    session.run(CELL + SOLUTION)
    session.fail(CELL + "def double(:\n")
    assert "stopped  runs" in session.run('ck.check("42.3")')


def test_cell_that_exits_leaves_the_session_alive(session):
    session.fail(CELL + "import sys\nsys.exit()\n")
    session.run(CELL + SOLUTION)
    assert session["double"](4) == 8


@pytest.mark.parametrize(
    "line", ["%%host", "%%host 42.3", "%%host --exercise", "%%host --exercise '42.3"]
)
def test_line_without_an_exercise_is_refused(session, line):
    _, error = session.fail(f"{line}\n{SOLUTION}")
    assert isinstance(error, ck.ArgumentError)
    assert "Usage: %%host --exercise 06.1" in str(error)


@pytest.mark.parametrize("cell", ["%%host --exercise 42.3", "%%host"])
def test_lone_line_is_refused_by_the_course(session, cell):
    _, error = session.fail(cell)
    assert isinstance(error, ck.ArgumentError)


def test_empty_cell_does_not_replace_what_was_saved(folder, session):
    session.run(CELL + SOLUTION)
    session.fail(CELL)
    kept = folder.work / "exercises" / "42_tests" / "3_double.py"
    assert kept.read_text() == SOLUTION


@pytest.mark.parametrize(
    ("cell", "other"),
    [
        ("%%host --exercise 42.1", "%%cuda --exercise 42.1"),
        ("%%cuda --exercise 42.3", "%%host --exercise 42.3"),
    ],
)
def test_cell_of_the_other_language_is_named(session, cell, other):
    _, error = session.fail(f"{cell}\nx = 1")
    assert isinstance(error, ck.LaunchError)
    assert f"Begin the cell with {other}." in str(error)


def test_check_before_the_cell_names_its_first_line(session):
    assert "begins with %%host --exercise 42.3" in session.run('ck.check("42.3")')


def test_reset_shows_the_starter_for_the_cell(session):
    session.run(CELL + SOLUTION)
    shown = session.run('ck.reset("42.3")')
    assert "%%host --exercise 42.3" in shown
    assert "# Your code here." in shown


def test_loading_the_extension_again_keeps_the_exercise(session):
    session.run(CELL + SOLUTION)
    session.run("%reload_ext coursekit")
    assert "solved" in session.run('ck.check("42.3")')


def test_cell_after_a_reload_is_the_one_that_is_checked(session):
    session.run(CELL + SOLUTION)
    session.run("%reload_ext coursekit")
    session.run(CELL + STARTER)
    assert "stopped" in session.run('ck.check("42.3")')


def test_solution_is_shown_with_its_keywords(session):
    listing = ck.solution("42.3")
    assert '<span class="ck-keyword"' in listing._repr_html_()


# -------------------------------------------------------------------------- the check


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("return x.missing", "double raised AttributeError: 'int' object has no"),
        ("return x.bit_lenght()", "'bit_lenght'. Did you mean bit_length?"),
        ("return x.missing", "line 4:  return x.missing"),
        ("return undefined * x", "Look for a misspelt name"),
        ("import no_such_package", "make setup EXTRAS=dsl"),
        ("return double(x)", "double raised RecursionError"),
        ("raise SystemExit", "Leave the function with return."),
        ("return divmod(x)", "Compare the call with the function's parameters"),
        ("return abs(x, x)", "Compare the call with the function's parameters"),
        ("return x / int(z=1)", "Compare the call with the function's parameters"),
        ("raise 'too small'", "raise RuntimeError("),
        ("return max(y for y in () if y)", "Ask first whether there is one"),
        ("return ''[0]", "Look at the length there"),
        ("return {1: 2}[x]", "No value stands under this key"),
        ("return range(x / 2)", "In Python / divides into a float"),
        ("return [0][x / 2]", "In Python / divides into a float"),
        ("return x + 'a'", "print them in the line above"),
        ("return 2 * x if x == 3 else None", "The check cannot use what double"),
        ("return 2 * x if x == 3 else x", "The sum is not 6."),
        ("return ck.Timeline(0, 1, 1)", "h2d_gbps=0"),
        ("return ck.Timeline(0, 1, 1)", "Raised by double\n    line 4:  return ck."),
    ],
)
def test_what_goes_wrong_is_told(line, words):
    assert words in message(body(line))


def test_what_triton_refuses_is_not_told_as_an_error_of_python():
    line = (
        "raise type('CompilationError', (Exception,), "
        "{'__module__': 'triton.compiler.errors'})('at 5:13')"
    )
    assert "refused it at the caret" in message(body(line))


@pytest.mark.parametrize(
    "said",
    [
        "input and other must have equal reduction dimensions",
        "Cannot make_shape_compatible: incompatible dimensions at index 0: 32 and 64",
    ],
)
def test_shapes_that_triton_refuses_are_told_as_shapes(said):
    line = (
        "raise type('CompilationError', (Exception,), "
        f"{{'__module__': 'triton.compiler.errors'}})('at 5:13: {said}')"
    )
    assert "shapes do not fit" in message(body(line))


def test_function_under_another_name_is_missed():
    text = SOLUTION.replace("def double", "def twice")
    assert "There is no function double; the cell defines twice." in message(text)


def test_name_that_is_no_function_is_told():
    assert "There is no function double; double is int." in message("double = 3")


def test_function_with_more_parameters_is_refused():
    text = SOLUTION.replace("double(x)", "double(x, y)")
    assert "The function is double(x, y), but the exercise calls double(x)." in (
        message(text)
    )


def test_function_with_more_optional_parameters_is_taken():
    text = SOLUTION.replace("double(x)", "double(x, y=1)")
    assert message(text) == ""


def test_function_itself_can_be_given():
    assert ck.check("42.3", lambda x: x + x).passed


def test_number_is_no_function():
    assert "check got int, which is no function." in ck.check("42.3", 7).message


def test_table_of_a_check_is_on_the_card():
    assert "of three</caption>" in ck.check("42.3", lambda x: 5)._repr_html_()


def test_card_folds_the_tables_of_a_check_away():
    shown = ck.check("42.3", lambda x: 5)._repr_html_()
    assert ">What the check saw</summary>" in shown


def test_prints_after_the_first_check_are_swallowed(capsys):
    ck.check("42.3", lambda x: print("again") or 2 * x)
    assert capsys.readouterr().out.count("again") == 2


def test_interrupt_is_not_swallowed():
    def double(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ck.check("42.3", double)


def test_strict_check_raises(monkeypatch):
    monkeypatch.setenv("COURSEKIT_STRICT", "1")
    with pytest.raises(ck.CheckFailed, match="not 6"):
        ck.check("42.3", lambda x: x)


def test_exercise_without_a_check_is_refused():
    with pytest.raises(ck.ArgumentError, match="checks is empty"):
        HostExercise(
            id="42.4", name="a", title="A", stars=1, function="a", checks=(),
            hints=("a",), mutants={},
        )  # fmt: skip


# ----------------------------------------------------------------------- the commands


def command(capsys, *words):
    code = __main__.main([str(word) for word in words])
    return code, "".join(capsys.readouterr())


def test_saved_answers_of_both_languages_are_graded(capsys):
    saved.save(catalogue.find("42.3"), SOLUTION)
    saved.save(catalogue.find("42.1"), "no kernel")
    assert "1 of 2 exercises solved" in command(capsys, "grade")[1]


def test_cells_of_a_notebook_are_graded(capsys, tmp_path):
    cells = [nbformat.v4.new_code_cell(CELL + SOLUTION)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert command(capsys, "grade", tmp_path / "a.ipynb")[0] == 0


def test_cell_without_code_is_graded(capsys, tmp_path):
    cells = [nbformat.v4.new_code_cell(CELL)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert (
        "The cell is empty: below" in command(capsys, "grade", tmp_path / "a.ipynb")[1]
    )


def test_reset_command_puts_the_starter_back(capsys):
    entry = catalogue.find("42.3")
    saved.save(entry, SOLUTION)
    assert command(capsys, "reset", "42.3")[0] == 0
    assert saved.file(entry).read_text() == STARTER


def test_progress_lists_both_languages():
    assert "Double" in repr(ck.progress())


def test_new_exercise_in_python_is_found(capsys):
    assert command(capsys, "new-exercise", "42.4", "half", "--host")[0] == 0
    assert isinstance(catalogue.find("42.4").exercise, HostExercise)


def test_skeleton_in_python_fails_until_it_is_written():
    skeleton.create("42.4", "half", language="host")
    entry = catalogue.find("42.4")
    verdict = examine(entry, entry.solution.read_text())
    assert verdict.passed_stages == 1


def test_skeleton_in_python_opens_a_chapter():
    written = skeleton.create("77.1", "half", "late", language="host")
    assert [path.name for path in written] == ["spec.py", "1_half.py", "1_half.py"]


def test_skeleton_in_python_has_its_mutant():
    skeleton.create("42.4", "half", language="host")
    assert "TODO" in catalogue.find("42.4").mutant("todo")
