"""The committed notebooks keep the rules; the harness that runs them is not fooled.

Every self-test sends a small notebook through the very command of `make test`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import notebook_lint
import pytest
import tiny_exercises

from coursekit.exercises import catalogue

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Far below the 120 s that a cell may take, far above what a run takes.
PATIENCE_S = 90

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


def harness(folder: Path, content: nbformat.NotebookNode, seconds: int = 120):
    """Run one notebook by `make test-notebooks`, with the conftest of notebooks/."""
    shutil.copy(ROOT / "notebooks" / "conftest.py", folder)
    nbformat.write(content, folder / "lesson.ipynb")
    command = ["make", "--no-print-directory", "test-notebooks", f"PY={sys.executable}"]
    command += [f"NOTEBOOKS={folder}", f"CELL_TIMEOUT={seconds}", "WORKERS=1"]
    return subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


def test_good_notebook_is_green(tmp_path):
    answer = harness(
        tmp_path,
        notebook(
            "x = 3",
            printed("9\n", source="print(x ** 2)"),
            {"source": "1 / 0", "metadata": {"tags": ["raises-exception"]}},
        ),
    )
    assert answer.returncode == 0, answer.stdout
    assert "3 passed" in answer.stdout


@pytest.mark.parametrize(
    ("cell", "seconds", "message"),
    [
        pytest.param(CUDA_FAILS, 120, "OutOfBoundsError", id="failing CUDA kernel"),
        pytest.param("1 / 0", 120, "ZeroDivisionError", id="exception"),
        pytest.param(WRONG_ANSWER, 120, "a wrong answer", id="wrong answer"),
        pytest.param(HANG, 3, "Timeout of 3 seconds exceeded", id="hang"),
        pytest.param(DEAD_KERNEL, 120, "kernel died", id="dead kernel"),
        pytest.param(
            printed("4\n", source="print(5)"), 120, "outputs differ", id="strict output"
        ),
        pytest.param(
            printed("", source="print(5)", outputs=[]),
            120,
            "Unexpected output fields",
            id="strict output where none is stored",
        ),
        pytest.param(
            {"source": "x = 1", "metadata": {"tags": ["raises-exception"]}},
            120,
            "raised nothing",
            id="exception that does not come",
        ),
    ],
)
def test_bad_cell_turns_the_run_red(tmp_path, cell, seconds, message):
    answer = harness(tmp_path, notebook(cell), seconds)
    assert answer.returncode != 0
    assert "1 failed" in answer.stdout
    assert message in answer.stdout


def test_cells_after_a_dead_kernel_fail_too(tmp_path):
    answer = harness(tmp_path, notebook(DEAD_KERNEL, "x = 1"))
    assert "2 failed" in answer.stdout


def test_kernels_get_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "mine"))
    source = "import os\nassert 'mine' not in os.environ['COURSEKIT_CACHE']"
    assert harness(tmp_path, notebook(source)).returncode == 0


def test_folders_of_the_kernels_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lesson = tmp_path / "lesson"
    lesson.mkdir()
    harness(lesson, notebook("x = 1"))
    assert list(tmp_path.glob("coursekit-notebooks-*")) == []


# ---------------------------------------------------------------- exercises


SETUP = "%load_ext coursekit\nimport coursekit as ck"
SOLVED = tiny_exercises.add_ten("if (i < n) out[i] = a[i] + 10;")
STARTER = tiny_exercises.add_ten("// Your code here.")


def exercise(solution: str, folder: Path, monkeypatch):
    """Run a notebook with exercise 42.1, whose solution file is `solution`."""
    tiny_exercises.fill(folder / "specs")
    monkeypatch.setenv("COURSEKIT_EXERCISES", str(folder / "specs"))
    path = folder / "specs" / "solutions" / "42_tests" / "1_map.cu"
    path.write_text(solution)
    cell = {"source": "%%cuda --exercise 42.1\n" + STARTER.strip()}
    tagged = cell | {"metadata": {"tags": ["exercise-42.1"]}}
    lesson = folder / "lesson"
    lesson.mkdir()
    return harness(lesson, notebook(SETUP, tagged, 'ck.check("42.1")'))


def test_notebook_with_exercises_runs_as_given_and_solved(tmp_path, monkeypatch):
    answer = exercise(SOLVED, tmp_path, monkeypatch)
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.count("3 passed") == 2


def test_solution_that_fails_turns_the_run_red(tmp_path, monkeypatch):
    answer = exercise(STARTER, tmp_path, monkeypatch)
    assert answer.returncode != 0
    given, _, solved = answer.stdout.partition("With the solutions filled in:")
    assert "3 passed" in given
    assert "1 failed" in solved
    assert "CheckFailed" in solved


def test_notebook_without_exercises_runs_once(tmp_path):
    answer = harness(tmp_path, notebook("x = 1"))
    assert "With the solutions" not in answer.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_of_a_chapter_has_its_cell(path):
    chapter = path.stem.partition("_")[0]
    declared = [
        entry.id
        for entry in catalogue.entries(ROOT / "kernels")
        if entry.exercise.chapter == chapter
    ]
    cells = notebook_lint.code_cells(nbformat.read(path, as_version=4))
    tags = [tag for cell in cells for tag in notebook_lint.tags(cell)]
    found = [t.removeprefix("exercise-") for t in tags if t.startswith("exercise-")]
    assert sorted(found) == sorted(declared)
