"""Write a class as a course folder of nbgrader's.

``source/CHAPTER/`` has the notebooks with the check of each exercise as a cell that
gives points, ``submitted/STUDENT/CHAPTER/`` the same notebooks with what the students
wrote, and ``grades.csv`` the points, in the columns of ``nbgrader export``. nbgrader
itself is not needed here.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coursekit import paths
from coursekit.exercises import catalogue
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.cells import working_copies
from coursekit.exercises.grading import gradesheet
from coursekit.exercises.grading.submissions import Submission

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name",
    "email", "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
CONFIGURATION = """c = get_config()
c.CourseDirectory.course_id = "cuda"
c.ExecutePreprocessor.timeout = 300
"""
_CHECK = re.compile(r"^\s*ck\.check\(\"([\w.]+)\"\)\s*$")
_CHECKED = re.compile(r"^assert ck\.check\(\"([\w.]+)\"\)$")
Notebook = dict[str, Any]


def export(
    folder: Path,
    students: Mapping[str, Sequence[Submission]],
    rows: Sequence[gradesheet.Row],
) -> list[Path]:
    """Write the folder; return what was written.

    Parameters
    ----------
    folder : Path
    students : dict of str to sequence of Submission
    rows : sequence of Row
        Their grades: an exercise in them gives points in its notebook.
    """
    worth = {row.exercise: row.of for row in rows if row.exercise}
    sources = dict(_sources(folder, worth))
    written = [_write(folder / "nbgrader_config.py", CONFIGURATION)]
    for name, notebook in sources.items():
        path = folder / "source" / name / f"{name}.ipynb"
        written.append(_write(path, _text(notebook)))
    for student, submitted in students.items():
        answers = gradesheet.best(submitted)
        for name, notebook in sources.items():
            if texts := _texts(notebook, answers):
                path = folder / "submitted" / student / name / f"{name}.ipynb"
                filled = _text(_filled(notebook, texts))
                written.append(_write(path, filled))
    return [*written, _write(folder / "grades.csv", _grades(sources, rows))]


def _write(path: Path, text: str) -> Path:
    return paths.write_whole(path, text.encode("utf-8", "backslashreplace"))


def _text(notebook: Notebook) -> str:
    return json.dumps(notebook, indent=1) + "\n"


def _sources(folder: Path, worth: Mapping[str, int]) -> Iterator[tuple[str, Notebook]]:
    """Yield the notebooks that have the exercises, with points; others are made."""
    left = {entry.id: entry for entry in catalogue.entries() if entry.id in worth}
    for name, path in working_copies.originals().items():
        place = folder / "source" / name / path.name
        notebook = working_copies.fresh(path, place)
        found = [id for id in _ids(notebook) if id in left]
        if found:
            yield name, _with_points(notebook, worth)
            for id in found:
                del left[id]
    for topic in dict.fromkeys(entry.topic for entry in left.values()):
        own = [entry for entry in left.values() if entry.topic == topic]
        yield topic, _with_points(_made(own), worth)


def _ids(notebook: Notebook) -> list[str]:
    found = (_CHECK.match(_source(cell)) for cell in notebook["cells"])
    return [match[1] for match in found if match]


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _made(entries: Sequence[Entry]) -> Notebook:
    """Return a notebook that has nothing but exercises."""
    sources = ["import coursekit as ck\n%load_ext coursekit"]
    for entry in entries:
        starter = entry.starter.read_text(encoding="utf-8")
        sources.append(f"{entry.exercise.first_line}\n{starter}")
        sources.append(f'ck.check("{entry.id}")')
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code", "id": f"cell-{number}", "metadata": {},
            "source": source, "outputs": [], "execution_count": None,
        }
        for number, source in enumerate(sources)
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _with_points(notebook: Notebook, worth: Mapping[str, int]) -> Notebook:
    """Make a cell that gives points of the check of each exercise."""
    notebook["metadata"] = {
        "kernelspec": {
            "display_name": "Python 3", "language": "python", "name": "python3",
        }
    }  # fmt: skip
    for cell in notebook["cells"]:
        match = _CHECK.match(_source(cell))
        if match and match[1] in worth:
            cell["source"] = f'assert ck.check("{match[1]}")'
            cell["metadata"] = cell["metadata"] | {
                "nbgrader": {
                    "schema_version": 3, "grade": True, "locked": True,
                    "solution": False, "task": False, "points": worth[match[1]],
                    "grade_id": f"check-{match[1].replace('.', '-')}",
                }
            }  # fmt: skip
    return notebook


def _texts(notebook: Notebook, answers: Mapping[str, Submission]) -> dict[str, str]:
    """Return the texts of the cells that a student wrote, by their first lines."""
    found = {}
    for answer in answers.values():
        if answer.entry is not None:
            line = answer.entry.exercise.first_line
            if any(_first_line(cell) == line for cell in notebook["cells"]):
                found[line] = answer.text
    return found


def _first_line(cell: dict[str, Any]) -> str:
    return _source(cell).partition("\n")[0].rstrip()


def _filled(notebook: Notebook, texts: Mapping[str, str]) -> Notebook:
    filled = copy.deepcopy(notebook)
    for cell in filled["cells"]:
        line = _first_line(cell)
        if line in texts:
            cell["source"] = f"{line}\n{texts[line]}"
    return filled


def _grades(sources: Mapping[str, Notebook], rows: Sequence[gradesheet.Row]) -> str:
    """Return the points by chapter and student, as `nbgrader export` writes them."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    for name, notebook in sources.items():
        ids = {_CHECKED.match(_source(cell)) for cell in notebook["cells"]}
        own = {match[1] for match in ids if match}
        for student in dict.fromkeys(row.student for row in rows):
            graded = [r for r in rows if r.student == student and r.exercise in own]
            points = sum(row.points for row in graded)
            writer.writerow({
                "assignment": name, "student_id": gradesheet.harmless(student),
                "raw_score": points, "late_submission_penalty": 0, "score": points,
                "max_score": sum(row.of for row in graded),
            })  # fmt: skip
    return text.getvalue()
