"""`python -m coursekit grade FOLDER --nbgrader DIR`: nbgrader's course folder."""

from __future__ import annotations

import csv
import re

import nbformat
import pytest
import tiny_host_exercise
from made_up_class import DOUBLE, RIGHT, map_cell, notebook, python

from coursekit import __main__
from coursekit.exercises import catalogue

pytest_plugins = ("exercise_folder",)

CHAPTER = "05_first_kernels"
# nbgrader 0.9, nbgraderformat/v3.json: what is required, and what a grade needs.
FIELDS = {"schema_version", "grade", "locked", "solution", "task", "points", "grade_id"}


@pytest.fixture
def export(folder, tmp_path):
    """Export a class of these notebooks; return the course folder."""
    tiny_host_exercise.fill(folder.exercises)

    def run(**students):
        handed_in, course = tmp_path / "handed_in", tmp_path / "course"
        handed_in.mkdir()
        for name, content in students.items():
            (handed_in / f"{name}.ipynb").write_bytes(content)
        words = ["grade", str(handed_in), "--nbgrader", str(course)]
        assert __main__.main(words) == 0
        return course

    return run


def read(path):
    """Return a notebook that nbformat has found to be valid."""
    found = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(found)
    return found


def graded(path):
    """Return the cells that give points."""
    return [cell for cell in read(path).cells if "nbgrader" in cell.metadata]


def source(course, chapter="42_tests"):
    return course / "source" / chapter / f"{chapter}.ipynb"


def test_source_has_a_cell_with_points_for_each_exercise(export):
    course = export(ada=notebook(map_cell(RIGHT), f"%%host --exercise 42.3\n{DOUBLE}"))
    cells = graded(source(course))
    assert [cell.source for cell in cells] == [
        'assert ck.check("42.1")',
        'assert ck.check("42.3")',
    ]
    assert [cell.metadata.nbgrader.points for cell in cells] == [9, 6]


def test_cells_have_the_metadata_of_nbgrader(export):
    (cell,) = graded(source(export(ada=python(DOUBLE))))
    assert cell.metadata.nbgrader.keys() == FIELDS
    assert cell.metadata.nbgrader.schema_version == 3
    assert re.fullmatch(r"[a-zA-Z0-9_\-]+", cell.metadata.nbgrader.grade_id)


def test_submitted_notebook_has_what_the_student_wrote(export):
    course = export(ada=python(DOUBLE), ben=python("def double(x): return x"))
    name = "submitted/ada/42_tests/42_tests.ipynb"
    assert f"%%host --exercise 42.3\n{DOUBLE}" in {
        cell.source for cell in read(course / name).cells
    }


def test_source_has_the_starter(export):
    sources = [cell.source for cell in read(source(export(ada=python(DOUBLE)))).cells]
    assert f"%%host --exercise 42.3\n{tiny_host_exercise.STARTER}" in sources


def test_who_handed_in_nothing_has_no_notebook(export):
    course = export(ada=python(DOUBLE), ben=notebook("x = 1"))
    assert [path.name for path in (course / "submitted").iterdir()] == ["ada"]


def test_grades_are_in_the_columns_of_nbgrader(export):
    course = export(ada=python(DOUBLE), ben=python("def double(x): return x + 3"))
    with (course / "grades.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["student_id"], r["score"], r["max_score"]) for r in rows] == [
        ("ada", "6", "6"),
        ("ben", "3", "6"),
    ]


def test_notebook_of_the_course_is_the_source(tmp_path):
    entry = catalogue.find("05.a")
    handed_in, course = tmp_path / "handed_in", tmp_path / "course"
    handed_in.mkdir()
    text = f"{entry.exercise.first_line}\n{entry.solution.read_text()}"
    (handed_in / "ada.ipynb").write_bytes(notebook(text))
    words = ["grade", str(handed_in), "--nbgrader", str(course)]
    assert __main__.main(words) == 0
    assert [cell.source for cell in graded(source(course, CHAPTER))] == [
        'assert ck.check("05.a")'
    ]
    assert len(read(source(course, CHAPTER)).cells) > 20
