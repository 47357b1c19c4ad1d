"""`python -m coursekit grade FOLDER --csv FILE`: a class, whatever it hands in."""

from __future__ import annotations

import csv
import os

import made_up_class
import numpy as np
import pytest
import tiny_host_exercise
from made_up_class import DOUBLE, RIGHT, map_cell, notebook, python
from tiny_exercises import add_ten

from coursekit import __main__
from coursekit.exercises import HostExercise, catalogue, checking
from coursekit.exercises.exercise import Exercise
from coursekit.exercises.grading import apart, outside, variants
from coursekit.exercises.grading.points import STAGES, Points
from coursekit.exercises.grading.terms import Limits, Terms
from coursekit.exercises.stages import Bench
from coursekit.exercises.trial import Problem

pytest_plugins = ("exercise_folder",)

COURSE = catalogue.entries()
KERNELS = [entry for entry in COURSE if isinstance(entry.exercise, Exercise)]
PYTHON = [entry for entry in COURSE if isinstance(entry.exercise, HostExercise)]
STRICT = Terms(strict=True)


@pytest.fixture
def handed_in(folder, tmp_path):
    """An empty folder of a class, whose course has the tiny exercises."""
    tiny_host_exercise.fill(folder.exercises)
    path = tmp_path / "handed_in"
    path.mkdir()
    return path


@pytest.fixture
def grade(handed_in, tmp_path, capsys):
    """Grade the class; return the rows of the CSV, or the error."""

    def run(*words):
        file = tmp_path / "grades.csv"
        words = ["grade", str(handed_in), "--csv", str(file), *map(str, words)]
        if __main__.main(words):
            return capsys.readouterr().err
        with file.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    return run


def row(rows, student, exercise):
    """Return the row of a student and an exercise."""
    found = [r for r in rows if (r["student"], r["exercise"]) == (student, exercise)]
    assert len(found) == 1
    return found[0]


# ---------------------------------------------------------------- a class

MAP, HOST = "42.1", "42.3"
FIRST, SMALL, VARIANT = "1 of 6", "2 of 6", "6 of 6"
# Student: exercise, points, how the stage begins, words of the message.
EXPECTED = {
    "ada": (MAP, 11, "solved", ""),
    "ben": (HOST, 6, "solved", ""),
    "cleo": (MAP, 11, "solved", ""),
    "dan": (MAP, 11, "solved", ""),
    "eva": (MAP, 11, "solved", ""),
    "fred": (MAP, 11, "solved", ""),
    "gil": (MAP, 11, "solved", ""),
    "hana": (MAP, 11, "solved", ""),
    r"caf\udce9": (HOST, 6, "solved", ""),
    "ian": (MAP, 0, "not started", ""),
    "jo": (MAP, 0, SMALL, "OutOfBoundsError: thread (8, 0, 0)"),
    "kim": (MAP, 0, SMALL, "1 of 8 elements of out was never written"),
    "lea": (MAP, 0, FIRST, "CompileError"),
    "max": ("42.2", 0, SMALL, "4 of 8 elements of out are wrong"),
    "nina": (HOST, 3, "3 of 3", "The sum is not 6."),
    "ole": (MAP, 0, SMALL, "DeadlockError"),
    "pia": (HOST, 0, "not judged", "it took more than 10 s of computing"),
    "quin": (HOST, 0, "held back", "line 1 imports time"),
    "ron": (HOST, 0, "held back", "line 1 imports os"),
    "sue": (HOST, 0, "1 of 3", "MemoryError"),
    "tom": (HOST, 0, "1 of 3", "SystemExit"),
    "uma": (HOST, 0, "2 of 3", "double(3) is not 6."),
    "vic": (HOST, 0, "held back", "line 1 imports sys"),
    "wim": (HOST, 0, "held back", "line 1 imports os"),
    "xena": (HOST, 0, "held back", "line 2 defines `__eq__`"),
    "yan": (HOST, 0, "held back", "line 3 changes `.passed` of an object"),
    "yves": (HOST, 0, "held back", "it has changed coursekit.exercises.verdict"),
    "zoe": (MAP, 9, VARIANT, "elements of out are wrong"),
    "zack": (MAP, 0, "held back", "line 1 includes a file"),
    "'=1+2": ("", 0, "not judged", "it is no notebook"),
    "aaron": ("", 0, "not judged", "it is neither a notebook nor a folder"),
    "bea": ("", 0, "not judged", "it holds no file such as"),
}


def test_made_up_class_is_graded(grade, handed_in):
    made_up_class.write(handed_in)
    rows = grade("--seed", "spring", "--seconds", 10, "--memory", 1)
    found = {}
    for student, (exercise, _, stage, words) in EXPECTED.items():
        got = row(rows, student, exercise)
        begun = stage if got["stage"].startswith(stage) else got["stage"]
        said = words if words in got["message"] else got["message"]
        found[student] = exercise, int(got["points"]), begun, said
    assert found == EXPECTED
    assert {r["student"] for r in rows} == EXPECTED.keys()


def test_a_row_says_points_stage_message_and_seconds(grade, handed_in):
    (handed_in / "ada.ipynb").write_bytes(python("def double(x): return x + 3"))
    (only,) = grade()
    assert float(only.pop("seconds")) > 0
    assert only == {
        "student": "ada",
        "exercise": "42.3",
        "points": "3",
        "of": "6",
        "stage": "3 of 3: a sum",
        "message": "The sum is not 6.",
    }


def test_starter_starts_no_process(grade, handed_in, monkeypatch):
    (handed_in / "ada.ipynb").write_bytes(python(tiny_host_exercise.STARTER))
    judged = []
    monkeypatch.setattr(
        apart, "judge", lambda *a: judged.append(a) or apart.Judged(None)
    )
    assert row(grade(), "ada", "42.3")["stage"] == "not started"
    assert len(judged) == 1  # what the starter passes, for all students


def test_what_the_starter_passes_gives_no_points(grade, handed_in):
    (handed_in / "ada.ipynb").write_bytes(
        python(tiny_host_exercise.STARTER + "\nx = 1")
    )
    assert row(grade(), "ada", "42.3")["points"] == "0"


def test_last_answer_that_is_no_starter_counts(grade, handed_in):
    cells = [f"%%host --exercise 42.3\n{text}"
             for text in ("x = 1", DOUBLE, tiny_host_exercise.STARTER)]  # fmt: skip
    (handed_in / "ada.ipynb").write_bytes(notebook(*cells))
    assert row(grade(), "ada", "42.3")["stage"] == "solved"


def test_exercise_that_was_asked_for_is_a_row_of_everybody(grade, handed_in):
    (handed_in / "ada.ipynb").write_bytes(python(tiny_host_exercise.STARTER))
    rows = grade("--only", "42.1,42.3")
    assert [(r["exercise"], r["stage"]) for r in rows] == [
        ("42.1", "not handed in"),
        ("42.3", "not started"),
    ]


def test_unknown_exercise_is_refused_before_anything_is_graded(grade):
    assert "There is no exercise '42.9'" in grade("--only", "42.9")


def test_class_is_one_folder(tmp_path, capsys):
    words = ["grade", str(tmp_path / "a.ipynb"), "--csv", str(tmp_path / "b")]
    assert __main__.main(words) == 1
    assert "take one folder, and were given" in capsys.readouterr().err


def test_links_and_pipes_of_a_submission_are_not_followed(grade, handed_in, tmp_path):
    (tmp_path / "1_map.cu").write_text(RIGHT)
    topic = handed_in / "ada" / "42_tests"
    topic.mkdir(parents=True)
    (topic / "1_map.cu").symlink_to(tmp_path / "1_map.cu")
    os.mkfifo(topic / "3_double.py")
    os.mkfifo(handed_in / "bob.ipynb")
    assert {r["stage"] for r in grade()} == {"not judged"}


def test_who_is_trusted_is_not_held_back(grade, handed_in):
    (handed_in / "ada.ipynb").write_bytes(python("import time\n" + DOUBLE))
    assert row(grade(), "ada", "42.3")["stage"] == "held back"
    assert row(grade("--trust", "ada"), "ada", "42.3")["stage"] == "solved"


def test_answer_that_sleeps_is_ended(handed_in):
    limits = Limits(wait_seconds=3)
    judged = apart.judge("42.3", "import time\ntime.sleep(1e6)", Terms(limits))
    assert judged.outcome == "not judged: it waited for more than 3 s"


def test_answer_has_no_progress_of_anybodys(folder, handed_in):
    text = "import os\nraise ValueError(os.environ['COURSEKIT_STATE'])"
    assert str(folder.state) not in apart.judge("42.3", text, Terms()).message


# ---------------------------------------------------------------- held back


@pytest.mark.parametrize("entry", COURSE, ids=str)
def test_no_answer_of_the_course_is_held_back(entry):
    texts = [entry.starter.read_text(), entry.solution.read_text()]
    texts += [entry.mutant(name) for name in entry.exercise.mutants]
    assert [outside.objection(entry, text) for text in texts] == [""] * len(texts)


@pytest.mark.parametrize("entry", PYTHON, ids=str)
def test_judging_changes_nothing_that_is_watched(entry):
    judged = apart.judge(entry.id, entry.solution.read_text(), STRICT)
    assert judged.outcome == "solved"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import os", "line 1 imports os"),
        ("\nfrom subprocess import run", "line 2 imports subprocess"),
        ("import coursekit.exercises", "imports coursekit.exercises"),
        ("from coursekit import exercises", "uses `exercises`"),
        ("ck.exercises.verdict.Verdict", "uses `.exercises`"),
        ("eval('1')", "uses `eval`"),
        ("getattr(ck, 'x')", "uses `getattr`"),
        ("x = (1).__class__", "uses `.__class__`"),
        ("f.__globals__", "uses `.__globals__`"),
        ("e.tb_frame", "uses `.tb_frame`"),
        ("match 1:\n case int(__class__=c): pass", "uses `.__class__`"),
        ("import numpy as n\nn.allclose = 1", "changes `.allclose` of an object"),
        ("del ck.check", "changes `.check` of an object"),
        ("type('A', (), {})", "makes a class with `type`"),
        ("class A:\n def __bool__(s): return True", "defines `__bool__`"),
        ("class A:\n __eq__ = 1", "uses `__eq__`"),
        ("x" * 100_001, "it has 100,001 characters"),
    ],
)
def test_python_that_reaches_outside_is_held_back(handed_in, text, words):
    assert words in outside.objection(catalogue.find("42.3"), text)


@pytest.mark.parametrize(
    "line",
    [
        '#include "1_map.cu"',
        "#include </etc/passwd>",
        "#include <../../x.cu>",
        "#inc\\\nlude NAME",
        "# /* a comment */ include NAME",
        "%:include NAME",
        "#embed </etc/passwd>",
    ],
)
def test_kernel_that_includes_other_files_is_held_back(handed_in, line):
    assert "includes a file" in outside.objection(catalogue.find("42.1"), line)


@pytest.mark.parametrize("line", ["#include <cuda_fp16.h>", '// #include "a"', '"#x"'])
def test_kernel_that_includes_a_header_is_not_held_back(handed_in, line):
    assert outside.objection(catalogue.find("42.1"), line) == ""


@pytest.mark.parametrize("call", ["fopen(p)", "std::ifstream f", "asm(x)", "system(x)"])
def test_program_that_reaches_files_or_programs_is_held_back(call):
    entry = catalogue.find("01.1")
    assert "which reaches files" in outside.objection(
        entry, f"int main() {{ {call}; }}"
    )


# ---------------------------------------------------------------- variants


def drawn(entry, seed):
    """Return the sizes of a student's variant."""
    return variants.stage(entry, seed).name


def test_students_have_sizes_of_their_own(handed_in):
    entry = catalogue.find("42.1")
    assert len({drawn(entry, name) for name in ("ada", "ben", "cleo")}) == 3


def test_variant_of_a_student_is_the_same_each_time(handed_in):
    entry = catalogue.find("42.1")
    assert drawn(entry, "ada") == drawn(entry, "ada")


def test_students_have_data_of_their_own(handed_in):
    exercise = catalogue.find("42.1").exercise
    salts = (None, *(variants.number(n, catalogue.find("42.1")) for n in ("a", "b")))
    data = {Problem.of(exercise, 33, salt).given["a"].tobytes() for salt in salts}
    assert len(data) == 3


def test_without_a_seed_there_is_no_variant(handed_in):
    assert variants.stage(catalogue.find("42.1"), "") is None


def test_python_has_no_variant(handed_in):
    assert variants.stage(catalogue.find("42.3"), "ada") is None


@pytest.mark.parametrize("entry", KERNELS, ids=str)
def test_drawn_sizes_keep_what_sizes_have_in_common(entry):
    chosen = variants.sizes(entry.exercise, np.random.default_rng(1))
    axes = zip(*map(np.atleast_1d, entry.exercise.sizes), strict=True)
    for number, axis in enumerate(axes):
        extents = [int(np.atleast_1d(size)[number]) for size in chosen]
        step = np.gcd.reduce(axis)
        assert all(extent % max(step, 1) == 0 for extent in extents)
        assert min(axis) <= min(extents) <= max(extents) <= max(axis)


@pytest.mark.parametrize("entry", KERNELS, ids=str)
def test_solution_passes_variants(entry):
    answer = checking.kernel_of(entry, entry.solution.read_text())
    for student in ("ada", "ben"):
        variants.stage(entry, student).run(Bench(entry, answer, []))


def test_variant_that_the_solution_does_not_pass_is_passed_over(handed_in, monkeypatch):
    entry = catalogue.find("42.1")
    monkeypatch.setattr(variants, "_solution_passes", lambda *_: False)
    answer = checking.kernel_of(entry, add_ten(""))
    variants.stage(entry, "ada").run(Bench(entry, answer, []))


# ---------------------------------------------------------------- the instructor's own

EXTRA = """
from coursekit.errors import CheckFailed

def negative(double, generator):
    value = -int(generator.integers(1, 100))
    assert double(value) == 2 * value, f"double({value}) is {double(value)}"

CHECKS = {"42.3": (("negative numbers", negative),)}
SIZES = {"42.1": (77,)}
"""


@pytest.fixture
def extra(tmp_path):
    """Write the instructor's file; return its path."""
    path = tmp_path / "extra.py"
    path.write_text(EXTRA)
    return path


def test_extra_check_finds_what_the_course_does_not(grade, handed_in, extra):
    (handed_in / "ada.ipynb").write_bytes(python("def double(x): return 2 * abs(x)"))
    got = row(grade("--extra", extra), "ada", "42.3")
    assert (got["points"], got["of"]) == ("6", "9")
    assert got["stage"] == "4 of 4: negative numbers"
    assert got["message"].startswith("negative numbers: double(-")


def test_extra_sizes_find_what_the_course_does_not(grade, handed_in, extra):
    text = add_ten("if (i < n) out[i] = n == 77 ? 0 : a[i] + 10;")
    (handed_in / "ada.ipynb").write_bytes(notebook(map_cell(text)))
    got = row(grade("--extra", extra), "ada", "42.1")
    assert got["stage"] == "6 of 6: more sizes: 77"
    assert "size 77" in got["message"]


def test_right_answer_passes_the_extra_checks(grade, handed_in, extra):
    (handed_in / "ada.ipynb").write_bytes(python(DOUBLE))
    assert row(grade("--extra", extra), "ada", "42.3")["points"] == "9"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", "raised ZeroDivisionError"),
        ("x = 1", "holds no CHECKS and no SIZES"),
        ("CHECKS = {'42.1': 3}", "holds no CHECKS and no SIZES"),
    ],
)
def test_file_of_extra_checks_is_refused(grade, extra, text, words):
    extra.write_text(text)
    assert words in grade("--extra", extra)


# ---------------------------------------------------------------- points


def test_every_stage_of_the_course_has_points():
    kinds = {kind for entry in COURSE for kind in checking.kinds(entry)}
    assert kinds | {"variant", "extra"} == STAGES.keys()


@pytest.mark.parametrize("entry", COURSE, ids=str)
def test_stars_multiply_points(entry):
    kinds = checking.kinds(entry)
    _, of = Points().score(entry, kinds, 0, 0)
    assert of == max(1, entry.exercise.stars) * sum(STAGES[kind][0] for kind in kinds)


def test_points_are_read_from_a_file(grade, handed_in, tmp_path):
    (handed_in / "ada.ipynb").write_bytes(python(DOUBLE))
    (tmp_path / "points.toml").write_text("check = 50\n")
    rows = grade("--points", tmp_path / "points.toml")
    assert row(rows, "ada", "42.3")["of"] == "100"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size = 1", "names the stage 'size', which does not exist"),
        ("sizes = -1", "gives sizes -1 points"),
        ("sizes", "cannot be read"),
    ],
)
def test_file_of_points_is_refused(grade, tmp_path, text, words):
    (tmp_path / "points.toml").write_text(text)
    assert words in grade("--points", tmp_path / "points.toml")


def test_points_are_shown(capsys):
    assert __main__.main(["grade", "--show-points"]) == 0
    assert "every value set, barriers for all threads" in capsys.readouterr().out
