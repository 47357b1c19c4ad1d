"""Facts about `%%cuda --exercise` cells."""

from __future__ import annotations

import re
from html import unescape

import pytest
from tiny_exercises import add_ten

import coursekit as ck
from coursekit.errors import ArgumentError, CompileError

pytest_plugins = ("exercise_folder", "notebook_shell")

CELL = "%%cuda --exercise 42.1\n"
SOLUTION = add_ten("if (i < n) out[i] = a[i] + 10;")
STARTER = add_ten("// Your code here.")


def test_starter_compiles_and_the_check_shows_what_is_missing(folder, session):
    session.run(CELL + STARTER)
    assert "never written" in session.run('ck.check("42.1")')


def test_only_a_changed_text_shows_warnings_of_the_compiler(folder, session):
    assert "warning" not in session.run(CELL + STARTER)
    assert "warning" in session.run(CELL + add_ten("int unused;"))


def test_solution_in_the_cell_passes_the_check(folder, session):
    session.run(CELL + SOLUTION)
    assert "solved" in session.run('ck.check("42.1")')


def test_cell_binds_the_kernel_and_a_name(folder, session):
    session.run("%%cuda mine --exercise 42.1\n" + SOLUTION)
    assert session["mine"].name == "exercise_42.1.cu"
    assert session["add_ten"].name == "add_ten"


def test_text_of_each_run_is_saved(folder, session):
    session.run(CELL + STARTER)
    session.run(CELL + SOLUTION)
    saved = folder.work / "exercises" / "42_tests" / "1_map.cu"
    assert saved.read_text() == SOLUTION


def test_text_that_does_not_compile_is_saved_too(folder, session):
    session.fail(CELL + "void f( {\n")
    saved = folder.work / "exercises" / "42_tests" / "1_map.cu"
    assert saved.read_text() == "void f( {\n"


def test_check_after_a_failed_cell_does_not_see_the_older_kernel(folder, session):
    session.run(CELL + SOLUTION)
    session.fail(CELL + SOLUTION.replace("10;", "10"))
    assert "stopped  compiles" in session.run('ck.check("42.1")')


def test_compile_error_names_the_line_that_the_editor_shows(folder, session):
    _, error = session.fail(CELL + SOLUTION.replace("10;", "10"))
    assert isinstance(error, CompileError)
    assert "exercise_42.1.cu:7" in str(error)


def test_defines_come_from_the_spec(folder, session):
    session.run("%%cuda --exercise 42.2\n__global__ void turn(int* a) { *a = STEP; }")
    assert session["turn"].name == "turn"


def test_define_of_the_cell_wins(folder, session):
    cell = "%%cuda --exercise 42.2 -D STEP=7\n"
    session.run(cell + '#if STEP != 7\n#error "no"\n#endif\n__global__ void turn() {}')
    assert session["turn"].name == "turn"


@pytest.mark.parametrize("spelling", ["--exercise 42.9", "--exercise=42.9"])
def test_unknown_id_names_those_near_it(folder, session, spelling):
    _, error = session.fail(f"%%cuda {spelling}\n" + SOLUTION)
    assert isinstance(error, ArgumentError)
    assert "42.1 Add ten; 42.2 Transpose" in str(error)


def test_option_without_an_id_is_refused(folder, session):
    _, error = session.fail("%%cuda --exercise\n" + SOLUTION)
    assert "needs a value after --exercise" in str(error)


def test_empty_cell_does_not_replace_what_was_saved(folder, session):
    session.run(CELL + SOLUTION)
    session.fail(CELL)
    saved = folder.work / "exercises" / "42_tests" / "1_map.cu"
    assert saved.read_text() == SOLUTION


def test_reset_shows_the_starter_for_the_cell(folder, session):
    session.run(CELL + SOLUTION)
    shown = session.run('ck.reset("42.1")')
    assert "%%cuda --exercise 42.1" in shown
    assert "// Your code here." in shown
    assert "Your text is kept in" in shown


def test_reset_asks_for_a_new_cell_with_the_starter(folder, session):
    session.run(CELL + SOLUTION)
    shown = session.run('ck.reset("42.1")')
    assert session.shell.rl_next_input == (CELL + STARTER).rstrip("\n")
    assert "A new cell below this one has it too." in shown
    assert "the old one, which still has your text." in shown


def test_reset_does_not_say_that_the_cell_is_as_it_was(folder, session):
    session.run(CELL + SOLUTION)
    shown = session.run('ck.reset("42.1")')
    assert "\nExercise 42.1: the starter:\n" in shown
    assert "42_tests/1_map.cu again." in shown
    assert "is as it was" not in shown


def test_reset_has_a_button_that_copies_the_starter(folder, session):
    html = ck.reset("42.1")._repr_html_()
    button, text = re.findall(r"<button.*?</button>|<pre.*?</pre>", html, re.S)[1:]
    assert "navigator.clipboard.writeText(" in button
    assert html.index(text) == html.index(button) + len(button)
    assert (CELL + STARTER).rstrip("\n") in unescape(text)


def test_passed_check_names_what_comes_next(folder, session):
    session.run(CELL + SOLUTION)
    shown = session.run('ck.check("42.1")')
    assert 'ck.progress("42") shows what is left' in shown
    assert "`.venv/bin/python -m coursekit grade`" in shown


@pytest.mark.parametrize(
    ("text", "cause", "cure"),
    [
        (
            "template <class T>\n" + SOLUTION,
            "The exercise fixes the types of the parameters.",
            "Remove the line template<...>, and write the types out",
        ),
        (
            SOLUTION.replace("__global__", "__device__"),
            "A kernel is a function that begins with __global__.",
            "Write `__global__ void add_ten(` before its parameters",
        ),
    ],
)
def test_cell_without_the_kernel_gets_the_advice_of_the_check(
    folder, session, text, cause, cure
):
    shown, _ = session.fail(CELL + text)
    checked = session.run('ck.check("42.1")')
    assert cause in shown and cause in checked
    assert cure in shown and cure in checked


def test_check_after_a_reset_asks_for_the_cell(folder, session):
    session.run(CELL + SOLUTION)
    session.run('ck.reset("42.1")')
    assert "has not run yet" in session.run('ck.check("42.1")')


def test_loading_the_extension_again_keeps_the_exercise(folder, session):
    session.run(CELL + SOLUTION)
    session.run("%reload_ext coursekit")
    assert "solved" in session.run('ck.check("42.1")')


def test_running_the_set_up_again_says_nothing_and_keeps_the_exercise(folder, session):
    session.run(CELL + SOLUTION)
    set_up = "import coursekit as ck\n%load_ext coursekit"
    assert session.run(set_up) + session.run(set_up) == ""
    assert "solved" in session.run('ck.check("42.1")')
