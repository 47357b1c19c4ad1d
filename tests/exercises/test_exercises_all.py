"""Every exercise does what it declares: its starter fails, its solution passes, each
of its mutants is caught as the spec says.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import coursekit as ck
from coursekit.exercises import Exercise, HostExercise, ProgramExercise, catalogue
from coursekit.exercises.checking import examine
from coursekit.exercises.host_running import run
from coursekit.exercises.program_stages import compiled
from coursekit.exercises.trial import Problem

ROOT = Path(__file__).resolve().parents[2] / "kernels"
ENTRIES = catalogue.entries(ROOT)
MOST_LINES = 10  # that the student writes in a piece of "your turn"
SLIDE_COLUMNS, CELL_LINES = 76, 24
KINDS = ("exercises", "solutions")
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for kind in KINDS
    for path in (ROOT / kind).rglob("*.*")
    if path.suffix in (".cu", ".py", ".cpp") and not path.name.startswith("spec")
)
IN_CUDA = [each for each in ENTRIES if isinstance(each.exercise, Exercise)]
IN_PYTHON = [each for each in ENTRIES if isinstance(each.exercise, HostExercise)]
IN_CPP = [each for each in ENTRIES if isinstance(each.exercise, ProgramExercise)]
MUTANTS = [
    pytest.param(entry, name, id=f"{entry.id}-{name}")
    for entry in ENTRIES
    for name in entry.exercise.mutants
]
# The texts of mutants stand in no file; each is named as if it did.
MUTANT_NAMES = {
    f"mutants/{entry.topic}/{entry.starter.stem}/{name}{entry.starter.suffix}": (
        entry,
        name,
    )
    for entry in ENTRIES
    for name in entry.exercise.mutants
}
PROBLEMS = [
    pytest.param(entry, size, id=f"{entry.id}-{size}")
    for entry in IN_CUDA
    for size in dict.fromkeys((entry.exercise.small, *entry.exercise.sizes))
]
every_exercise = pytest.mark.parametrize("entry", ENTRIES, ids=str)
every_kernel = pytest.mark.parametrize("entry", IN_CUDA, ids=str)
every_function = pytest.mark.parametrize("entry", IN_PYTHON, ids=str)
every_program = pytest.mark.parametrize("entry", IN_CPP, ids=str)
every_file = pytest.mark.parametrize("name", FILES)
every_text = pytest.mark.parametrize("name", [*FILES, *MUTANT_NAMES])
every_problem = pytest.mark.parametrize(("entry", "size"), PROBLEMS)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def source(name: str) -> str:
    if name in MUTANT_NAMES:
        entry, mutant = MUTANT_NAMES[name]
        return entry.mutant(mutant)
    return text(ROOT / name)


def fails_as_declared(verdict, kind, words) -> None:
    assert not verdict.passed
    assert type(verdict.error) is kind, verdict.message
    assert words in verdict.message


# ---------------------------------------------------------------- what must happen


@every_kernel
def test_starter_compiles(entry):
    module = ck.compile(entry.starter, defines=entry.exercise.defines)
    assert entry.exercise.kernel in module.kernels


@every_function
def test_starter_defines_its_function(entry):
    assert entry.exercise.function in run(entry, text(entry.starter)).names


@every_program
def test_starter_is_a_program(entry):
    assert compiled(entry, text(entry.starter)).sanitize


@every_program
def test_cases_of_a_program_differ(entry):
    cases = entry.exercise.cases
    assert len({(case.args, case.stdin) for case in cases}) == len(cases)


@every_exercise
def test_starter_fails_as_declared(entry):
    fails_as_declared(examine(entry, text(entry.starter)), *entry.exercise.starter)


@every_exercise
def test_solution_passes(entry):
    verdict = examine(entry, text(entry.solution))
    assert not verdict.remarks
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("entry", "name"), MUTANTS)
def test_mutant_is_caught_as_declared(entry, name):
    verdict = examine(entry, entry.mutant(name))
    # Not by the first stage: a mutant compiles.
    assert verdict.passed_stages > 0, verdict.message
    fails_as_declared(verdict, *entry.exercise.mutants[name].fails)


# Other right answers: (exercise, text of its solution, what stands there instead).
OTHERS = {
    "04.1 that counts FMAs with a predicate, too": (
        "04.1", 'line.split(".")[0] == "fma"',
        '(" " + line.split(".")[0]).endswith(" fma")',
    ),
    "04.e without the second percent sign": ("04.e", "%%laneid", "%laneid"),
    "26.2 that makes the sums itself": ("26.2", "    float through_mean", """
    float sums[2] = {0, 0};
    for (int i = c * m; i < (c + 1) * m; i++) {
        sums[0] += dy[i];
        sums[1] += dy[i] * u[i];
    }
    dbeta = sums - c, dgamma = sums + 1 - c;
    float through_mean"""),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_another_right_answer_passes(name):
    exercise, before, after = OTHERS[name]
    (entry,) = [each for each in ENTRIES if each.id == exercise]
    solution = text(entry.solution)
    assert solution.count(before) == 1
    verdict = examine(entry, solution.replace(before, after))
    assert verdict.passed, verdict.message


# ---------------------------------------------------------------- the spec


def test_ids_are_unique():
    ids = [entry.id for entry in ENTRIES]
    assert sorted(set(ids)) == sorted(ids)


@every_exercise
def test_exercise_is_in_its_chapters_folder(entry):
    assert entry.topic.startswith(f"{entry.exercise.chapter}_")


@every_exercise
def test_exercise_has_enough_hints(entry):
    assert len(set(entry.exercise.hints)) >= entry.exercise.least


@every_exercise
def test_exercise_has_enough_mutants(entry):
    assert len(entry.exercise.mutants) >= entry.exercise.least


@every_exercise
def test_your_turn_asks_for_few_lines(entry):
    lines = [text(path).split("\n") for path in (entry.starter, entry.solution)]
    new = sum(line.startswith("+ ") for line in difflib.ndiff(*lines))
    assert new <= MOST_LINES or not entry.exercise.your_turn


@pytest.mark.parametrize(("entry", "name"), MUTANTS)
def test_mutant_declares_words_of_the_message(entry, name):
    assert len(entry.exercise.mutants[name].fails[1]) >= 5


@every_kernel
def test_launch_shapes_differ(entry):
    exercise = entry.exercise
    shapes = {
        tuple(launch(size) for size in exercise.sizes) for launch in exercise.launches
    }
    assert len(shapes) >= 2


@every_kernel
def test_some_size_is_no_multiple_of_a_warp(entry):
    counts = [int(np.prod(size)) for size in entry.exercise.sizes]
    assert any(count % 32 for count in counts)


@every_problem
def test_float_inputs_have_distinct_values(entry, size):
    problem = Problem.of(entry.exercise, size)
    inputs = {
        name: value
        for name, value in problem.given.items()
        if isinstance(value, np.ndarray)
        and name not in problem.sentinels
        and value.dtype.kind == "f"
    }
    repeated = [name for name, a in inputs.items() if np.unique(a).size < a.size]
    assert repeated == []


@every_problem
def test_problem_is_the_same_each_time(entry, size):
    first, second = (Problem.of(entry.exercise, size) for _ in range(2))
    for name, value in first.expected.items():
        np.testing.assert_array_equal(value, second.expected[name])


@every_problem
def test_reference_works_in_double_precision_or_integers(entry, size):
    kinds = {str(a.dtype) for a in Problem.of(entry.exercise, size).expected.values()}
    assert kinds <= {"float64", "int64"}


# ---------------------------------------------------------------- the files


def test_every_file_belongs_to_an_exercise():
    known = {
        path.relative_to(ROOT).as_posix()
        for entry in ENTRIES
        for path in (entry.starter, entry.solution)
    }
    assert sorted(set(FILES) - known) == []


@every_text
def test_file_opens_with_a_sentence(name):
    mark = "#" if name.endswith(".py") else "//"
    assert re.fullmatch(rf"{mark} [A-Z].*\.", source(name).split("\n")[0])


@every_text
def test_lines_fit_a_slide(name):
    assert [x for x in source(name).split("\n") if len(x) > SLIDE_COLUMNS] == []


@every_text
def test_nothing_is_left_to_fill_in_by_the_author(name):
    assert "TODO" not in source(name)


@every_exercise
def test_spec_is_filled_in(entry):
    specs = entry.starter.parent.glob("spec*.py")
    assert [spec.name for spec in specs if "TODO" in text(spec)] == []


@every_text
def test_file_ends_with_one_line_end(name):
    assert re.search(r"\S\n\Z" if name.endswith(".py") else r"}\n\Z", source(name))


@every_file
def test_text_fits_one_cell(name):
    lines = [line for line in source(name).split("\n") if line.strip()]
    assert len(lines) <= CELL_LINES


@every_exercise
def test_starter_marks_where_to_write(entry):
    mark = "#" if entry.starter.suffix == ".py" else "//"
    assert f"{mark} Your code here" in text(entry.starter)


@every_exercise
def test_starter_differs_from_the_solution(entry):
    assert text(entry.starter) != text(entry.solution)


def test_a_check_does_not_load_torch():
    code = (
        "import sys, coursekit\n"
        "from coursekit.exercises import catalogue, checking\n"
        "for entry in catalogue.entries()[:1]:\n"
        "    assert checking.examine(entry, entry.solution.read_text())\n"
        "assert 'torch' not in sys.modules\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
