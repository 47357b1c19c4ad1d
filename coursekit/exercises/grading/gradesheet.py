"""Grade a class: a row for each student and exercise, and the table as CSV."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from coursekit import paths
from coursekit.exercises import catalogue, checking
from coursekit.exercises.grading import apart
from coursekit.exercises.grading.points import Points
from coursekit.exercises.grading.submissions import Submission
from coursekit.exercises.grading.terms import Terms
from coursekit.exercises.tables import Table

Class = Mapping[str, Sequence[Submission]]


@dataclass(frozen=True)
class Row:
    """The grade of one student in one exercise.

    Attributes
    ----------
    student, exercise : str
        `exercise` is "" for a file that cannot be judged.
    points, of : int
    stage : str
        "solved", the stage that did not pass, or why there is no verdict.
    message : str
        The first line of the message.
    seconds : float
        The time that the check has taken.
    """

    student: str
    exercise: str
    points: int
    of: int
    stage: str
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Grader:
    """What all students of a class are graded by.

    Attributes
    ----------
    terms : Terms
    seed : str
        The word that variants are drawn from, with the student's name.
    points : Points
    only : tuple of str
        Ids, or chapters such as "05"; empty: what anybody has handed in.
    trusted : tuple of str
        Students whose answers are not held back.
    """

    terms: Terms = field(default_factory=Terms)
    seed: str = ""
    points: Points = field(default_factory=Points)
    only: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    def rows(self, students: Class) -> Iterator[list[Row]]:
        """Yield the rows of each student, in the order of the names."""
        entries = self._entries(students)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            starters = dict(zip(entries, pool.map(self._start, entries.values()),
                                strict=True))  # fmt: skip
            waiting = [
                [
                    pool.submit(self._row, name, entry, chosen.get(id), starters[id])
                    for id, entry in entries.items()
                ]
                for name, chosen in (
                    (name, best(submitted)) for name, submitted in students.items()
                )
            ]
            for (name, submitted), row in zip(students.items(), waiting, strict=True):
                yield [*(each.result() for each in row), *_unreadable(name, submitted)]

    def _entries(self, students: Class) -> dict[str, catalogue.Entry]:
        handed_in = {
            each.entry.id for submitted in students.values() for each in submitted
            if each.entry
        }  # fmt: skip
        return {
            entry.id: entry
            for entry in catalogue.entries()
            if (
                {entry.id, entry.exercise.chapter} & {*self.only}
                if self.only
                else entry.id in handed_in
            )
        }

    def _start(self, entry: catalogue.Entry) -> int:
        """Return how many stages the starter passes, for which there are no points."""
        starter = entry.starter.read_text(encoding="utf-8")
        terms = replace(self.terms, seed=self._seed(""), strict=False)
        return apart.judge(entry.id, starter, terms).passed_stages

    def _seed(self, student: str) -> str:
        return f"{self.seed}\0{student}" if self.seed else ""

    def _row(
        self,
        student: str,
        entry: catalogue.Entry,
        submission: Submission | None,
        start: int,
    ) -> Row:
        terms = replace(
            self.terms, seed=self._seed(student), strict=student not in self.trusted
        )
        kinds = checking.kinds(entry, apart.added(entry, terms))
        begun = time.monotonic()
        if submission is None or submission.is_untouched:
            stage = "not handed in" if submission is None else "not started"
            judged = apart.Judged(None, stage=stage)
        else:
            judged = submission.grade(terms)
        points, of = self.points.score(entry, kinds, judged.passed_stages, start)
        seconds = round(time.monotonic() - begun, 1)
        message = "" if judged.passed else judged.first_line
        return Row(student, entry.id, points, of, _stage(judged), message, seconds)


def _stage(judged: apart.Judged) -> str:
    if judged.passed:
        return "solved"
    if judged.passed is None:
        return judged.stage or ("held back" if judged.held else "not judged")
    return f"{judged.passed_stages + 1} of {judged.stages}: {judged.stage}"


def best(submitted: Sequence[Submission]) -> dict[str, Submission]:
    """Return a student's answer to each exercise: the last that is no mere starter."""
    found: dict[str, Submission] = {}
    for submission in submitted:
        if submission.entry is not None:
            id = submission.entry.id
            if id not in found or not submission.is_untouched:
                found[id] = submission
    return found


def _unreadable(student: str, submitted: Sequence[Submission]) -> list[Row]:
    return [
        Row(
            student,
            "",
            0,
            0,
            "not judged",
            f"{each.place}: {each.text.splitlines()[0]}",
        )
        for each in submitted
        if each.entry is None
    ]


def write(file: Path, rows: Sequence[Row]) -> None:
    """Write the rows as CSV in UTF-8, whole or not at all.

    Texts that a spreadsheet would run as a formula get an apostrophe in front.
    """
    text = io.StringIO(newline="")
    names = [each.name for each in fields(Row)]
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows([harmless(getattr(row, name)) for name in names] for row in rows)
    paths.write_whole(file, text.getvalue().encode("utf-8", "backslashreplace"))


def harmless(value: object) -> object:
    """Return a value that no spreadsheet takes for a formula."""
    dangerous = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if dangerous else value


def totals(rows: Sequence[Row]) -> Table:
    """Return the points of each student."""
    students = dict.fromkeys(row.student for row in rows)
    lines = []
    for student in students:
        own = [row for row in rows if row.student == student]
        solved = sum(row.stage == "solved" for row in own)
        held = sum(row.stage in ("held back", "not judged") for row in own)
        numbers = sum(row.points for row in own), sum(row.of for row in own)
        lines.append((student, *map(str, (*numbers, solved, held))))
    caption = f"{len(students)} students, {len(rows)} rows"
    header = ("Student", "Points", "Of", "Solved", "To look at")
    return Table(caption, header, tuple(lines))
