"""Grade many exercises at once: ``python -m coursekit grade [NOTEBOOK | FOLDER ...]``.

A notebook is graded by its exercise cells, a folder by the files that the exercise
cells have saved there, NN_topic/k_name.cu, .py or .cpp, and by the notebooks in it.
Without an argument the student's own saved files are graded. Each answer is judged in a
process of its own, with limits; one that cannot be judged is a row of the table like
the others. The exit code is 0 when every exercise that was found is solved. Kernels are
simulated, but Python and C++ are run as they are, with your rights: grade what
strangers wrote on a machine that can be spared.

With ``--csv`` or ``--nbgrader`` the folder holds a class: each notebook and each folder
in it is a student's. The exit code is 0 when the class is graded, whatever the points.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coursekit.errors import ArgumentError
from coursekit.exercises import catalogue, saved
from coursekit.exercises.grading import apart, extra, gradesheet, nbgrader
from coursekit.exercises.grading.points import Points
from coursekit.exercises.grading.submissions import Submission, students, submissions
from coursekit.exercises.grading.terms import Limits, Terms
from coursekit.exercises.tables import Table


def main(arguments: Sequence[str]) -> int:
    """Grade, print a table, and return the exit code."""
    options = _options(arguments)
    points = Points.read(options.points) if options.points else Points()
    if options.show_points:
        sys.stdout.write(f"{points.table.text}\n{points.table.caption}\n")
        return 0
    extra.read(options.extra)  # refuses what it cannot use, before anything is graded
    limits = Limits(options.seconds, int(options.memory * 2**30), options.wait)
    terms = Terms(limits, extra=options.extra and str(Path(options.extra).resolve()))
    if options.csv or options.nbgrader:
        return _class(options, terms, points)
    return _own(options, terms)


def _own(options: argparse.Namespace, terms: Terms) -> int:
    submitted = [
        submission
        for path in options.paths or [saved.folder()]
        for submission in submissions(path)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = list(pool.map(lambda one: one.grade(terms), submitted))
    if options.verbose:
        sys.stdout.write("".join(f"{one.card}\n\n" for one in judged if one.card))
    table = _table(submitted, judged)
    sys.stdout.write(f"{table.text}\n{table.caption}\n")
    return 0 if all(one.passed for one in judged) else 1


def _class(options: argparse.Namespace, terms: Terms, points: Points) -> int:
    """Grade a class, and write the files that were asked for."""
    only = tuple(name for names in options.only for name in names.split(","))
    _require_known(only)
    handed_in = students(_folder(options.paths))
    trusted = tuple(options.trust)
    grader = gradesheet.Grader(terms, options.seed, points, only, trusted)
    rows: list[gradesheet.Row] = []
    for own in grader.rows(handed_in):
        rows += own
        name = own[0].student if own else "?"
        sys.stderr.write(f"graded {name}\n")
        if options.csv:  # what is graded is kept, should something end this
            gradesheet.write(options.csv, rows)
    table = gradesheet.totals(rows)
    sys.stdout.write(f"{table.text}\n{table.caption}\n")
    if options.nbgrader:
        for path in nbgrader.export(options.nbgrader, handed_in, rows):
            sys.stdout.write(f"written: {path}\n")
    return 0


def _require_known(only: Sequence[str]) -> None:
    chapters = {entry.exercise.chapter for entry in catalogue.entries()}
    for name in only:
        if name not in chapters:
            catalogue.find(name)


def _folder(given: Sequence[Path]) -> Path:
    """Return the one folder of a class."""
    if len(given) != 1 or not given[0].is_dir():
        shown = ", ".join(map(str, given)) or "nothing"
        raise ArgumentError.explained(
            f"--csv and --nbgrader take one folder, and were given {shown}.",
            "A class is a folder with a notebook or a folder for each student.",
            "Write for example `python -m coursekit grade handed_in --csv grades.csv`.",
        )
    return given[0]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m coursekit grade",
        description="Check exercises all at once. Answers in Python are run with your "
        "rights.",
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK_OR_FOLDER")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every card")
    parser.add_argument(
        "--seconds", type=float, default=Limits.seconds,
        help="computing time that each answer may take (%(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=float, metavar="SECONDS",
        help="time after which an answer is ended even if it does not compute (a "
        "minute and four times --seconds)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=float, default=Limits.memory_bytes / 2**30,
        metavar="GIB", help="memory that each answer may take (%(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--extra", default="", metavar="FILE.py",
        help="more checks, which the students do not have",
    )  # fmt: skip
    _add_class_options(parser)
    return parser.parse_args(arguments)


def _add_class_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "a class", "a folder with a notebook or a folder for each student"
    )

    def add(name: str, text: str, **more) -> None:
        group.add_argument(name, help=text, **more)

    add("--csv", "write a row for each student and exercise", type=Path, metavar="FILE")
    add("--nbgrader", "write a course folder of nbgrader's", type=Path, metavar="DIR")
    add("--only", "only these exercises or chapters: 05.1,09", action="append",
        default=[], metavar="IDS")  # fmt: skip
    add("--seed", "draw sizes and data of kernels anew for each student, from this "
        "word and the student's name", default="", metavar="WORD")  # fmt: skip
    add("--points", "points by stage: lines such as `sizes = 5`", type=Path,
        metavar="FILE.toml")  # fmt: skip
    add("--show-points", "show the points by stage", action="store_true")
    add("--trust", "do not hold back what this student wrote; repeatable",
        action="append", default=[], metavar="NAME")  # fmt: skip


def _table(submitted: list[Submission], judged: list[apart.Judged]) -> Table:
    rows = tuple(
        (
            submission.entry.id if submission.entry else "",
            submission.entry.exercise.title if submission.entry else "",
            submission.place,
            verdict.outcome,
        )
        for submission, verdict in zip(submitted, judged, strict=True)
    )
    solved = sum(verdict.passed is True for verdict in judged)
    unknown = sum(verdict.passed is None for verdict in judged)
    caption = f"{solved} of {len(judged)} exercises solved"
    caption += f", {unknown} not judged" if unknown else ""
    return Table(caption, ("Exercise", "Title", "Where", "Result"), rows)
