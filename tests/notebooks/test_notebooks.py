"""The committed notebooks keep the rules; the harness that runs them is not fooled.

The self-tests send small notebooks through the very command of `make test`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import notebook_lint
import pytest
import tiny_exercises

from coursekit.exercises import catalogue

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Far above what a run takes, on any machine.
PATIENCE_S = 400

CUDA_FAILS = """\
import coursekit as ck
module = ck.compile("__global__ void f(float *a) { a[threadIdx.x] = 0; }")
with ck.simulator():
    module.f[1, 32](ck.empty(31, "float32"))
"""
WRONG_ANSWER = "assert 2 + 2 == 5, 'a wrong answer'"
DEAD_KERNEL = "import os\nos._exit(1)"
HANG = "import time\nwhile True: time.sleep(0.1)"


@pytest.mark.parametrize("rule", notebook_lint.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebook_keeps_the_rule(path, rule):
    assert list(rule(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebook_is_stored_as_it_is_written(path):
    from execute import to_text

    stored = path.read_text(encoding="utf-8")
    assert stored == to_text(nbformat.read(path, as_version=4))


def notebook(*cells: str | dict) -> nbformat.NotebookNode:
    """Build a notebook whose code cells were run and printed nothing."""
    result = nbformat.v4.new_notebook()
    for count, cell in enumerate(cells, start=1):
        changes = {"source": cell} if isinstance(cell, str) else cell
        new = nbformat.v4.new_code_cell(execution_count=count)
        result.cells.append(nbformat.from_dict(new | changes))
    return result


def printed(text: str, **changes) -> dict:
    """Build a strict cell whose stored output is `text`."""
    stream = nbformat.v4.new_output("stream", text=text)
    tagged = {"tags": ["nbval-check-output"]}
    return {"outputs": [stream], "metadata": tagged} | changes


def harness(folder: Path, notebooks: dict, seconds: int = 120, **variables: str):
    """Run notebooks by `make test-notebooks`, with the conftest of notebooks/."""
    shutil.copy(ROOT / "notebooks" / "conftest.py", folder)
    for name, content in notebooks.items():
        nbformat.write(content, folder / f"{name}.ipynb")
    command = ["make", "--no-print-directory", "test-notebooks", f"PY={sys.executable}"]
    command += [f"NOTEBOOKS={folder}", f"CELL_TIMEOUT={seconds}", "WORKERS=1"]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


GOOD = {
    "lesson": notebook(
        "x = 3",
        printed("9\n", source="print(x ** 2)"),
        {"source": "1 / 0", "metadata": {"tags": ["raises-exception"]}},
    ),
    "folders": notebook("import os\nassert 'mine' not in os.getenv('COURSEKIT_CACHE')"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """One run of all good notebooks, and its folder for temporary files."""
    folder, temporary = (tmp_path_factory.mktemp(name) for name in ("good", "tmp"))
    own = {"TMPDIR": str(temporary), "COURSEKIT_CACHE": str(folder / "mine")}
    return harness(folder, GOOD, **own), temporary


def test_good_notebooks_are_green(good):
    answer, _ = good
    assert answer.returncode == 0, answer.stdout
    assert "4 passed" in answer.stdout


def test_kernels_get_folders_of_their_own(good):
    assert "folders.ipynb" not in good[0].stdout  # neither failed nor in error


def test_folders_of_the_kernels_are_removed(good):
    assert list(good[1].glob("coursekit-notebooks-*")) == []


def test_notebooks_without_exercises_run_once(good):
    assert "= 4 passed in" in good[0].stdout


BAD = {
    "failing_kernel": (CUDA_FAILS, "OutOfBoundsError"),
    "exception": ("1 / 0", "ZeroDivisionError"),
    "wrong_answer": (WRONG_ANSWER, "a wrong answer"),
    "dead_kernel": (DEAD_KERNEL, "kernel died"),
    "strict_output": (printed("4\n", source="print(5)"), "outputs differ"),
    "strict_output_where_none_is_stored": (
        printed("", source="print(5)", outputs=[]), "Unexpected output fields",
    ),
    "exception_that_does_not_come": (
        {"source": "x = 1", "metadata": {"tags": ["raises-exception"]}},
        "raised nothing",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """One run of all bad notebooks: what failed in each."""
    folder = tmp_path_factory.mktemp("bad")
    notebooks = {name: notebook(cell) for name, (cell, _) in BAD.items()}
    notebooks["cells_after_it"] = notebook(DEAD_KERNEL, "x = 1")
    report = folder / "report.xml"
    answer = harness(folder, notebooks, PYTEST_ADDOPTS=f"--junitxml={report}")
    assert answer.returncode != 0
    found = {name: [] for name in notebooks}
    for case in ElementTree.parse(report).iter("testcase"):
        name = re.search(r"(\w+)\.ipynb", case.get("classname"))[1]
        found[name] += [failure.text for failure in case.iter("failure")]
    return found


@pytest.mark.parametrize("name", BAD)
def test_bad_cell_fails_and_says_why(name, bad):
    (said,) = bad[name]
    assert BAD[name][1] in said


def test_cells_after_a_dead_kernel_fail_too(bad):
    assert len(bad["cells_after_it"]) == 2


def test_cell_that_hangs_turns_the_run_red(tmp_path):
    answer = harness(tmp_path, {"lesson": notebook(HANG)}, seconds=3)
    assert answer.returncode != 0
    assert "1 failed" in answer.stdout
    assert "Timeout of 3 seconds exceeded" in answer.stdout


# ---------------------------------------------------------------- exercises


SETUP = "%load_ext coursekit\nimport coursekit as ck"
SOLVED = tiny_exercises.add_ten("if (i < n) out[i] = a[i] + 10;")
STARTER = tiny_exercises.add_ten("// Your code here.")


STRICT_IF_SOLVED = """\
import os
assert os.environ["COURSEKIT_STRICT"] == str(int(bool(ck.check("42.1"))))
"""


def exercise(solution: str, folder: Path, monkeypatch, *more: str):
    """Run a notebook with exercise 42.1, whose solution file is `solution`."""
    tiny_exercises.fill(folder / "specs")
    monkeypatch.setenv("COURSEKIT_EXERCISES", str(folder / "specs"))
    path = folder / "specs" / "solutions" / "42_tests" / "1_map.cu"
    path.write_text(solution)
    cell = {"source": "%%cuda --exercise 42.1\n" + STARTER.strip()}
    tagged = cell | {"metadata": {"tags": ["exercise-42.1"]}}
    lesson = folder / "lesson"
    lesson.mkdir()
    cells = SETUP, tagged, 'ck.check("42.1")', *more
    return harness(lesson, {"lesson": notebook(*cells)})


def test_notebook_with_exercises_runs_as_given_and_solved(tmp_path, monkeypatch):
    answer = exercise(SOLVED, tmp_path, monkeypatch, STRICT_IF_SOLVED)
    assert answer.returncode == 0, answer.stdout
    assert "= 8 passed in" in answer.stdout


def test_solution_that_fails_turns_the_run_red(tmp_path, monkeypatch):
    answer = exercise(STARTER, tmp_path, monkeypatch)
    assert answer.returncode != 0
    assert "= 1 failed, 5 passed in" in answer.stdout
    assert "::Cell 2 (with the solutions filled in)" in answer.stdout
    assert "CheckFailed" in answer.stdout


def test_notebook_of_an_extra_is_skipped_where_that_is_missing(monkeypatch):
    path = ROOT / "notebooks" / "conftest.py"
    spec = importlib.util.spec_from_file_location("conftest_of_notebooks", path)
    conftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conftest)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "make setup EXTRAS=dsl" in conftest.lacking('["import triton\\n"]')
    assert conftest.lacking('["import torch\\n"]') == ""


NUMBERS = sorted({path.name[:2] for path in NOTEBOOKS})


@pytest.mark.parametrize("number", NUMBERS)
def test_every_exercise_of_a_chapter_has_its_cell(number):
    """In one of its notebooks: 10a, 10b and 10c share the exercises of 10."""
    declared = [
        entry.id
        for entry in catalogue.entries(ROOT / "kernels")
        if entry.exercise.chapter == number
    ]
    paths = (path for path in NOTEBOOKS if path.name.startswith(number))
    cells = [c for p in paths for c in nbformat.read(p, as_version=4).cells]
    tags = [tag for cell in cells for tag in notebook_lint.tags(cell)]
    found = [t.removeprefix("exercise-") for t in tags if t.startswith("exercise-")]
    assert sorted(found) == sorted(declared)
