"""Grade many exercises at once: ``python -m coursekit grade [NOTEBOOK | FOLDER ...]``.

A notebook is graded by its exercise cells, a folder by the files that the exercise
cells have saved there, NN_topic/k_name.cu or .py, and by the notebooks in it. Without
an argument the student's own saved files are graded. Each answer is judged in a process
of its own, with limits; one that cannot be judged is a row of the table like the
others. The exit code is 0 when every exercise that was found is solved. Kernels are
simulated, but Python is run as it is, with your rights: grade what strangers wrote on a
machine that can be spared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import CourseError
from coursekit.exercises import apart, catalogue, saved
from coursekit.exercises.tables import Table

_CELL = re.compile(r"%%(?:cuda|host)\b[^\n]*--exercise[= ]\s*(\S+)[^\n]*(?:\n|$)")


@dataclass(frozen=True)
class Submission:
    """The text that a student wrote for an exercise, and the file that holds it.

    `entry` is None, and `text` says why, where there is nothing that can be judged.
    """

    entry: catalogue.Entry | None
    place: str
    text: str

    def grade(self, limits: apart.Limits) -> apart.Judged:
        """Check the text in a process of its own, and return the verdict."""
        if self.entry is None:
            return apart.Judged(None, message=self.text)
        return apart.judge(self.entry.id, self.text, limits)


def submissions(path: Path) -> Iterator[Submission]:
    """Yield the exercises that a notebook, or a folder of saved exercises, holds.

    What cannot be read is one of them: what is wrong with it is its text.
    """
    if path.is_dir():
        submitted = [*_saved(path), *_notebooks(path)]
    elif path.suffix == ".ipynb" and path.is_file():
        submitted = list(_cells(path))
    else:
        yield Submission(None, str(path), "it is neither a notebook nor a folder")
        return
    if not submitted:
        why = "it holds no file such as 05_first_kernels/1_map.cu, and no notebook "
        why += "with a cell that begins with %%cuda --exercise or %%host --exercise"
        submitted = [Submission(None, str(path), why)]
    yield from submitted


def _saved(folder: Path) -> Iterator[Submission]:
    for entry in catalogue.entries():
        chapter = folder if folder.name == entry.topic else folder / entry.topic
        path = chapter / entry.exercise.file
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            yield Submission(entry, saved.shown(path.resolve()), text)


def _notebooks(folder: Path) -> Iterator[Submission]:
    for path in sorted(folder.glob("*.ipynb")):
        yield from _cells(path)


def _cells(path: Path) -> Iterator[Submission]:
    try:
        cells = json.loads(paths.read_regular(path))["cells"]
        sources = [
            "".join(cell.get("source", ""))
            for cell in cells
            if cell.get("cell_type") == "code"
        ]
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as failure:
        yield Submission(None, path.name, f"it is no notebook: {failure}")
        return
    except AttributeError:  # a cell that is no dict
        yield Submission(None, path.name, "it is no notebook: a cell has no fields")
        return
    for source in sources:
        if first_line := _CELL.match(source):
            text = source[first_line.end() :]
            try:
                yield Submission(catalogue.find(first_line[1]), path.name, text)
            except CourseError as failure:
                yield Submission(None, path.name, str(failure))


def main(arguments: Sequence[str]) -> int:
    """Grade, print a table, and return the exit code."""
    options = _options(arguments)
    submitted = [
        submission
        for path in options.paths or [saved.folder()]
        for submission in submissions(path)
    ]
    limits = apart.Limits(options.seconds, int(options.memory * 2**30))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = list(pool.map(lambda one: one.grade(limits), submitted))
    if options.verbose:
        sys.stdout.write("".join(f"{one.card}\n\n" for one in judged if one.card))
    table = _table(submitted, judged)
    sys.stdout.write(f"{table.text}\n{table.caption}\n")
    return 0 if all(one.passed for one in judged) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m coursekit grade",
        description="Check exercises all at once. Answers in Python are run with your "
        "rights.",
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK_OR_FOLDER")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every card")
    parser.add_argument(
        "--seconds", type=float, default=apart.Limits.seconds,
        help="computing time that each answer may take (%(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=float, default=apart.Limits.memory_bytes / 2**30,
        metavar="GIB", help="memory that each answer may take (%(default)g)",
    )  # fmt: skip
    return parser.parse_args(arguments)


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
