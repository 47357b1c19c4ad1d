"""`ck.check` goes in stages and says what is wrong; hints, solutions, progress."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tiny_exercises import TURN, add_ten

import coursekit as ck
from coursekit.exercises import (
    Exercise,
    Limit,
    Mutant,
    Wait,
    blank,
    catalogue,
    ramp,
    shuffled,
)
from coursekit.exercises.checking import examine
from coursekit.exercises.stages import Bench, stages
from coursekit.exercises.trial import Problem

pytest_plugins = ("exercise_folder",)

RIGHT = "if (i < n) out[i] = a[i] + 10;"
SOLUTION = add_ten(RIGHT)
STARTER = add_ten("// Your code here.")
SIZES = "passed   sizes"


def checked(body, id="42.1"):
    """Check exercise 42.1 with this body of the kernel."""
    return ck.check(id, ck.compile(add_ten(body)))


def one(**changes):
    """Examine the solution of 42.1 under a changed spec."""
    from dataclasses import replace

    entry = catalogue.find("42.1")
    return replace(entry, exercise=replace(entry.exercise, **changes))


# ---------------------------------------------------------------- the stages


def test_solution_is_solved(folder):
    assert ck.check("42.1", ck.compile(SOLUTION)).passed


def test_verdict_is_true_where_solved(folder):
    assert bool(ck.check("42.1", ck.compile(SOLUTION))) is True


def test_verdict_is_false_where_not(folder):
    assert bool(ck.check("42.1", ck.compile(STARTER))) is False


def test_message_breaks_its_lines_between_words(folder):
    shown = ck.check("42.1", ck.compile(STARTER))._repr_html_()
    assert "white-space:pre-wrap;word-break:normal" in shown


def test_verdict_reads_the_same_each_time(folder):
    first, second = (ck.check("42.1", ck.compile(STARTER)) for _ in range(2))
    assert repr(first) == repr(second)


@pytest.mark.parametrize(
    ("body", "stage", "words"),
    [
        ("", 1, "8 of 8 elements of out were never written"),
        ("if (i < n - 1) out[i] = a[i] + 10;", 1, "1 of 8 elements of out was never"),
        ("if (i < n) out[i] = a[i] + 11;", 1, "8 of 8 elements of out are wrong"),
        ("if (i < n) out[i] = a[i] / 0.0f;", 1, "wrong: not a finite number"),
        ("if (i < 32 && i < n) out[i] = a[i] + 10;", 2, "size 33, grid 1, block 256"),
        ("if (i < 32 && i < n) out[i] = a[i] + 10;", 2, "1 of 33 elements of out was"),
        (
            "if (i < n) out[i] = a[i] + 10 + (i == 300);",
            2,
            "(thread (44, 0, 0) of block (1, 0, 0))",
        ),
        (
            "if (i < n) out[i] = a[i] + 10; if (i == 2) ((float*)a)[1] = 0;",
            1,
            "changed the input a",
        ),
        (
            "if (blockDim.x < 256 && i < n) out[i] = a[i] + 10;"
            "if (blockDim.x == 256 && i < n) out[i] = a[i] + 10 - (n == 255) * 99;",
            2,
            "size 255, grid 1, block 256: 255 of 255 elements of out are wrong",
        ),
        ("if (blockDim.x != 64 && i < n) out[i] = a[i] + 10;", 2, "block 64"),
    ],
)
def test_wrong_kernel_stops_at_the_stage_with_the_words(folder, body, stage, words):
    verdict = checked(body)
    assert verdict.passed_stages == stage, verdict
    assert type(verdict.error) is ck.CheckFailed
    assert words in repr(verdict)


def test_at_most_five_mismatches_are_listed(folder):
    verdict = checked("if (i < n) out[i] = a[i] + 10 + (n > 100);")
    assert len(re.findall(r"^ *out\[\d+\]: ", repr(verdict), re.M)) == 5
    assert "and 250 more" in repr(verdict)


RACE = """\
__shared__ float ten;
    if (threadIdx.x == 0) ten = n < 9999 ? 10 : 11;  // and nobody waits
    if (i < n) out[i] = a[i] + ten;"""


def test_race_is_found_though_the_result_is_right(folder):
    verdict = checked(RACE)
    assert verdict.passed_stages == 3, verdict
    assert type(verdict.error) is ck.DataRaceError


FIRST_WARP = """\
__shared__ unsigned first;
    if (threadIdx.x == 0) first = 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicCAS(&first, 32, threadIdx.x / 32);
    __syncthreads();
    // The warp that completes a barrier goes on first: here, the last one.
    if (i < n) out[i] = a[i] + 10 + (first != (blockDim.x - 1) / 32);"""


def test_result_that_depends_on_the_order_of_warps_is_found(folder):
    verdict = checked(FIRST_WARP)
    assert verdict.passed_stages == 4, verdict
    assert "depends on the order of the warps" in repr(verdict)
    assert "The checkers see no race: an atomic," in repr(verdict)


def test_error_of_a_kernel_is_shown_with_thread_and_line(folder):
    verdict = checked("out[i] = a[i] + 10;")
    assert type(verdict.error) is ck.OutOfBoundsError
    assert "thread (8, 0, 0) of block (0, 0, 0) reads a[8]" in repr(verdict)
    assert "kernel.cu:5" in repr(verdict)
    assert "Seen with size 8, grid 1, block 256" in repr(verdict)


def test_endless_loop_is_stopped(folder, monkeypatch):
    monkeypatch.setattr("coursekit.exercises.trial.TIMEOUT_S", 0.3)
    assert type(checked("while (1) out[0] = 1;").error) is ck.DeadlockError


LOCKED = "while (atomicCAS((int *)out, 0, 1) != 0) { }"


@pytest.mark.parametrize("body", ["while (1) out[0] = 1;", LOCKED])
@pytest.mark.parametrize("stage", [2, 4])
def test_every_stage_stops_what_never_ends(folder, monkeypatch, body, stage):
    monkeypatch.setattr("coursekit.exercises.trial.TIMEOUT_S", 0.3)
    monkeypatch.setattr("coursekit.exercises.stages.TIMEOUT_S", 0.3)
    entry = catalogue.find("42.1")
    kernel = ck.compile(add_ten(body))["add_ten"]
    with pytest.raises(ck.DeadlockError) as caught:
        stages(entry)[stage - 1].run(Bench(entry, kernel, []))
    assert (caught.value.line, len(caught.value.thread)) == (5, 3)


def test_kernel_may_drop_the_const_of_an_input(folder):
    source = SOLUTION.replace("const float *a", "float *a")
    assert ck.check("42.1", ck.compile(source)).passed


def test_kernel_with_other_parameters_stops_at_the_first_stage(folder):
    source = SOLUTION.replace("int n", "long long n")
    verdict = ck.check("42.1", ck.compile(source))
    assert verdict.passed_stages == 0
    assert "add_ten(float* out, const float* a, int n)" in repr(verdict)


def test_module_without_the_kernel_is_told_its_name(folder):
    verdict = ck.check("42.1", ck.compile(SOLUTION.replace("add_ten", "add_tin")))
    assert "There is no kernel add_ten; the cell has add_tin." in repr(verdict)


def test_kernel_itself_may_be_given(folder):
    assert ck.check("42.1", ck.compile(SOLUTION)["add_ten"]).passed


def test_check_without_a_cell_says_which_to_run(folder):
    assert "%%cuda --exercise 42.1" in repr(ck.check("42.1"))


@pytest.mark.parametrize("ask", [ck.check, ck.hint, ck.solution, ck.reset])
@pytest.mark.parametrize("id", ["/etc/x", "**", "[", "\0", 5, None, "x" * 5000])
def test_id_of_any_kind_is_an_unknown_exercise(folder, ask, id):
    with pytest.raises(ck.ArgumentError, match="There is no exercise"):
        ask(id)


def test_unknown_id_names_those_near_it(folder):
    with pytest.raises(ck.ArgumentError, match=r"42\.1 Add ten; 42\.2 Transpose"):
        ck.check("42.9")


def test_defines_of_the_spec_reach_the_compiler(folder):
    assert examine(catalogue.find("42.2"), TURN).passed


def test_element_of_two_dimensions_names_row_and_column(folder):
    source = TURN.replace("a[row * cols + col]", "a[row * cols + col] + (row == 16)")
    shown = repr(examine(catalogue.find("42.2"), source))
    assert "out[0, 16]: expected" in shown


def test_student_sees_the_prints_of_the_small_problem_only(folder, capsys):
    checked('if (i < n) { out[i] = a[i] + 10; if (i == 0) printf("n %d\\n", n); }')
    assert capsys.readouterr().out == "n 8\n"


# ---------------------------------------------------------------- the judgement


def test_accumulating_output_keeps_its_values(folder):
    entry = one(
        inputs=lambda n, g: {"out": ramp(n), "a": shuffled(n, g), "n": n},
        reference=lambda v: v.out + v.a,
        accumulates=("out",),
    )
    assert examine(entry, add_ten("if (i < n) out[i] += a[i];")).passed


def test_reading_an_output_before_writing_it_shows(folder):
    entry = one(reference=lambda v: v.a)
    verdict = examine(entry, add_ten("if (i < n) out[i] += a[i];"))
    assert "not a finite number" in verdict.message
    assert "NaN until something is stored there" in verdict.message


def test_element_that_should_have_been_left_alone_is_called_so(folder):
    entry = one(
        inputs=lambda n, g: {"out": ramp(n), "a": shuffled(n, g), "n": n},
        reference=lambda v: np.where(np.arange(len(v.a)) == 5, v.out, v.a),
        accumulates=("out",),
    )
    verdict = examine(entry, add_ten("if (i < n) out[i] = a[i];"))
    assert "should stay as it was" in verdict.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "still holds what it held before the launch"),
        ("if (i < n) out[i] += 1 + a[i];", "computes another value"),
    ],
)
def test_accumulating_output_that_nobody_adds_to_is_called_so(folder, body, words):
    entry = one(
        inputs=lambda n, g: {"out": ramp(n), "a": shuffled(n, g), "n": n},
        reference=lambda v: v.out + v.a,
        accumulates=("out",),
    )
    assert words in examine(entry, add_ten(body)).message


# No element is below 0.
HELD = "while (n && a[0] == -7) out[0] = 7;\n"


@pytest.mark.parametrize("body", ["", HELD.replace("-7", "-6")])
def test_kernel_that_must_wait_and_ends_is_stopped(folder, body):
    wait = Wait(name="a", value=-7, why="It never asks.")
    verdict = examine(one(waits=(wait,)), add_ten(body + RIGHT))
    assert "a was -7 before the launch, and the kernel has ended" in verdict.message
    assert "It never asks." in verdict.message


def test_kernel_that_waits_as_it_must_passes(folder):
    wait = Wait(name="a", value=-7, why="It never asks.")
    verdict = examine(one(waits=(wait,)), add_ten(HELD + RIGHT))
    assert verdict.passed, verdict
    assert "waits while a is -7" in repr(verdict)


def test_infinity_is_right_where_it_is_expected(folder):
    entry = one(reference=lambda v: v.a / 0)
    assert examine(entry, add_ten("if (i < n) out[i] = a[i] / 0.0f;")).passed


def test_nan_is_right_where_it_is_expected(folder):
    entry = one(reference=lambda v: v.a * np.nan)
    assert examine(entry, add_ten('if (i < n) out[i] = a[i] * nanf("");')).passed


@pytest.mark.parametrize(("ulps", "passed"), [(2, True), (8, False)])
def test_tolerance_is_that_of_the_roundings(folder, ulps, passed):
    entry = one(reference=lambda v: v.a * (1 + ulps * 2.0**-24), roundings=4)
    assert examine(entry, add_ten("if (i < n) out[i] = a[i];")).passed is passed


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "float64", "float16"])
def test_untouched_element_of_any_type_is_recognised(folder, dtype):
    entry = one(inputs=lambda n, g: {"out": blank(n, dtype), "a": ramp(n), "n": n})
    problem = Problem.of(entry.exercise, 8)
    assert not np.isin(problem.given["out"], problem.expected["out"]).any()


LIMIT = Limit(counter="global_load_sectors", size=1024, most=128, why="Once is enough.")


def test_kernel_within_the_limit_passes(folder):
    assert examine(one(limits=(LIMIT,)), SOLUTION).passed


def test_kernel_beyond_the_limit_is_told_the_counts(folder):
    wasteful = add_ten("if (i < n) out[i] = a[i] + 10 + 0 * a[(i * 8) % n];")
    verdict = examine(one(limits=(LIMIT,)), wasteful)
    assert verdict.passed_stages == 5
    assert "global_load_sectors is 1152, at most 128 will do" in verdict.message


# ---------------------------------------------------------------- the card


def test_html_of_a_failure_has_a_table_with_header_cells(folder):
    html = ck.check("42.1", ck.compile(STARTER))._repr_html_()
    assert '<th scope="col"' in html
    assert "<caption" in html


def test_html_says_the_result_in_words(folder):
    assert "never written" in ck.check("42.1", ck.compile(STARTER))._repr_html_()


def test_html_shows_the_small_problem_once(folder):
    html = ck.check("42.1", ck.compile(STARTER))._repr_html_()
    assert html.count("10.25") == 1


def test_html_folds_the_small_problem_away_where_it_is_right(folder):
    html = ck.check("42.1", ck.compile(SOLUTION))._repr_html_()
    assert "<details><summary" in html


def test_html_escapes_the_students_text(folder):
    html = checked("if (i < n && i <= 3) out[i + n] = 1;")._repr_html_()
    assert "i &lt; n &amp;&amp;" in html


# ---------------------------------------------------------------- strict


def test_strict_check_raises(folder, monkeypatch):
    monkeypatch.setenv("COURSEKIT_STRICT", "1")
    with pytest.raises(ck.CheckFailed, match="never written"):
        ck.check("42.1", ck.compile(STARTER))


def test_strict_check_raises_the_error_of_the_kernel(folder, monkeypatch):
    monkeypatch.setenv("COURSEKIT_STRICT", "1")
    with pytest.raises(ck.OutOfBoundsError):
        checked("out[i] = a[i] + 10;")


def test_strict_check_of_a_solution_returns(folder, monkeypatch):
    monkeypatch.setenv("COURSEKIT_STRICT", "1")
    assert ck.check("42.1", ck.compile(SOLUTION))


def test_table_shows_four_inputs_of_an_element():
    entry = catalogue.find("10.l")
    verdict = examine(entry, entry.starter.read_text(encoding="utf-8"))
    assert re.search(r"i +max_a +sum_a +max_b +sum_b +expected", verdict.message)


# ---------------------------------------------------------------- beside the check


def test_each_call_shows_one_hint_more(folder):
    ck.hint("42.1")
    assert repr(ck.hint("42.1")) == (
        "Exercise 42.1, hint 2 of 3:\n"
        "  1. Think of one thread.\n"
        "  2. Which element is its own?"
    )


def test_last_hint_leads_to_the_solution(folder):
    for _ in range(4):
        shown = repr(ck.hint("42.1"))
    assert 'ck.solution("42.1")' in shown


def test_solution_shows_the_file(folder):
    assert "out[i] = a[i] + 10;" in repr(ck.solution("42.1"))


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ((), "not tried"),
        (("starter",), "not tried"),
        (("wrong",), "tried"),
        (("wrong", "starter"), "tried"),
        (("solved",), "solved"),
        (("solved", "starter"), "solved"),
        (("solution",), "solution seen"),
        (("solution", "solved"), "solved, solution seen"),
    ],
)
def test_progress_tells_the_state(folder, calls, state):
    actions = {
        "starter": lambda: ck.check("42.1", ck.compile(STARTER)),
        "wrong": lambda: ck.check(
            "42.1", ck.compile(add_ten("if (i < n) out[i] = 1;"))
        ),
        "solved": lambda: ck.check("42.1", ck.compile(SOLUTION)),
        "solution": lambda: ck.solution("42.1"),
    }
    for call in calls:
        actions[call]()
    assert ck.progress().table.rows[0] == ("42.1", "Add ten", "*", state)


def test_progress_counts_the_solved(folder):
    ck.check("42.1", ck.compile(SOLUTION))
    assert repr(ck.progress()).startswith("1 of 2 exercises solved\n")


@pytest.mark.parametrize("chapter", ["42", "42a"])
def test_progress_of_a_chapter_shows_its_exercises(folder, chapter):
    rows = ck.progress(chapter).table.rows
    assert [row[0] for row in rows] == ["42.1", "42.2"]


def test_progress_of_a_chapter_without_exercises_names_those_that_have_some(folder):
    with pytest.raises(ck.ArgumentError, match="Chapters with exercises: 42"):
        ck.progress("13")


def test_check_works_where_progress_cannot_be_kept(folder):
    folder.state.write_text("in the way")
    verdict = ck.check("42.1", ck.compile(SOLUTION))
    assert verdict.passed
    assert "Progress is not kept" in repr(verdict)


# ---------------------------------------------------------------- the spec


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "5.1"}, "the id is not like 05.1"),
        ({"name": "Map"}, "not snake_case"),
        ({"stars": 4}, "4 stars"),
        ({"outputs": "out"}, "a comma missing"),
        ({"accumulates": ("x",)}, "accumulates x"),
        ({"hints": ()}, "hints is empty"),
        ({"mutants": {"a": (ck.CheckFailed, "b")}}, "the mutant a is no Mutant"),
    ],
)
def test_spec_with_a_mistake_is_refused(changes, words):
    fields = {
        "id": "05.1", "name": "map", "title": "Map", "stars": 1, "kernel": "map",
        "inputs": None, "outputs": ("out",), "reference": None, "hints": ("a",),
        "mutants": {},
    }  # fmt: skip
    with pytest.raises(ck.ArgumentError, match=words):
        Exercise(**(fields | changes))


def test_edited_spec_is_read_again(folder):
    spec = folder.exercises / "exercises" / "42_tests" / "spec.py"
    catalogue.find("42.1")
    spec.write_text(spec.read_text().replace("Add ten", "Add a ten"))
    assert catalogue.find("42.1").exercise.title == "Add a ten"


def test_spec_without_exercises_is_refused(folder):
    (folder.exercises / "exercises" / "42_tests" / "spec.py").write_text("x = 1")
    with pytest.raises(ck.ArgumentError, match="no tuple EXERCISES"):
        catalogue.entries()


# ---------------------------------------------------------------- mutants


def edited(*edits, solution=SOLUTION):
    """Return a solution's text with these edits."""
    mutant = Mutant(mistake="A mistake.", edits=edits, fails=(ck.CheckFailed, ""))
    return mutant.text(solution)


def test_mutant_is_the_solution_with_its_edits_and_its_mistake(folder):
    wrong = add_ten("if (i < n - 1) out[i] = a[i] + 10;").split("\n")
    wrong[0] = "// The guard stops one thread too early."
    assert catalogue.find("42.1").mutant("one_less") == "\n".join(wrong)


def test_mistake_is_a_comment_of_the_solutions_language():
    solution = "# Half of x.\ndef half(x):\n    return x / 2\n"
    wrong = edited(("x / 2", "x // 2"), solution=solution)
    assert wrong == "# A mistake.\ndef half(x):\n    return x // 2\n"


def test_edits_are_made_in_order():
    wrong = edited(("+ 10", "+ 11 + 11"), ("11 + 11", "12"))
    assert "a[i] + 12;" in wrong


def test_edit_of_what_an_earlier_edit_replaced_is_refused():
    with pytest.raises(ck.ArgumentError, match="edit 2 of 2: the solution has no"):
        edited(("+ 10", "+ 11"), ("+ 10", "+ 12"))


def test_edit_may_span_lines():
    assert edited(("{\n    int i", "{\n    unsigned i")).count("unsigned i") == 1


@pytest.mark.parametrize("old", ["a[i] + 9", "a[i]  + 10", "A[I] + 10"])
def test_edit_that_matches_nothing_is_refused(old):
    with pytest.raises(ck.ArgumentError) as caught:
        edited((old, "x"))
    assert caught.value.what == (f"A mutant, edit 1 of 1: the solution has no {old!r}.")
    assert "Copy the text from the solution" in caught.value.cure


def test_edit_that_matches_twice_is_refused_with_the_lines():
    with pytest.raises(ck.ArgumentError) as caught:
        edited(("out", "a"))
    assert caught.value.what == (
        "A mutant, edit 1 of 1: 'out' stands 2 times in the solution, in lines 2, 5."
    )
    assert "exactly once" in caught.value.cause
    assert "Lengthen the text" in caught.value.cure


def test_edit_that_overlaps_itself_matches_twice():
    with pytest.raises(ck.ArgumentError, match="'aa' stands 2 times"):
        edited(("aa", "b"), solution="// Head.\naaa\n")


def test_first_line_is_not_edited():
    with pytest.raises(ck.ArgumentError, match="the solution has no 'Map'"):
        edited(("Map", "x"))


def test_refused_edit_names_exercise_and_mutant(folder):
    solution = catalogue.find("42.1").solution
    solution.write_text(solution.read_text().replace("i < n", "n > i"))
    with pytest.raises(ck.ArgumentError, match=r"^Exercise 42\.1, mutant one_less, "):
        catalogue.find("42.1").mutant("one_less")


@pytest.mark.parametrize(
    "edits", [(), ("ab", "cd"), [("a",)], [("a", 1)], [("", "a")], [("a", "a")]]
)
def test_mutant_without_proper_edits_is_refused(edits):
    with pytest.raises(ck.ArgumentError, match="Each edit is a pair"):
        Mutant(mistake="A mistake.", edits=edits, fails=(ck.CheckFailed, ""))
