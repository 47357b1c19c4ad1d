"""Grade many exercises at once: ``python -m coursekit grade [NOTEBOOK | FOLDER ...]``.

A notebook is graded by its exercise cells, a folder by the files that the exercise
cells have saved there, NN_topic/k_name.cu or .py, and by the notebooks in it. Without
an argument the student's own saved files are graded. The exit code is 0 when every
exercise that was found is solved. Kernels are simulated, but Python is run as it is,
with your rights: grade what strangers wrote on a machine that can be spared.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.errors import LaunchError
from coursekit.exercises import catalogue, checking, host_running, saved
from coursekit.exercises.tables import Table
from coursekit.exercises.verdict import Verdict

_CELL = re.compile(r"%%(?:cuda|host)\b[^\n]*--exercise[= ]\s*(\S+)[^\n]*(?:\n|$)")


@dataclass(frozen=True)
class Submission:
    """The text that a student wrote for an exercise, and the file that holds it."""

    entry: catalogue.Entry
    place: str
    text: str

    def grade(self) -> Verdict:
        """Check the text, and return the verdict."""
        blank = host_running.empty(self.entry)
        return checking.examine(self.entry, self.text if self.text.strip() else blank)


def submissions(path: Path) -> Iterator[Submission]:
    """Yield the exercises that a notebook, or a folder of saved exercises, holds.

    Raises
    ------
    LaunchError
        There is no such file, or nothing in it.
    """
    if path.is_dir():
        submitted = [*_saved(path), *_notebooks(path)]
    elif path.suffix == ".ipynb" and path.is_file():
        submitted = list(_cells(path))
    else:
        raise LaunchError.explained(
            f"{path} is neither a notebook nor a folder.",
            cure="Give a notebook, or a folder of saved exercises.",
        )
    if not submitted:
        raise LaunchError.explained(
            f"{path} holds no exercise.",
            "Saved exercises lie in folders such as 05_first_kernels; cells of a "
            "notebook begin with %%cuda --exercise, or %%host --exercise.",
            "Give a notebook with such cells, or the folder above 05_first_kernels.",
        )
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
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as failure:
        raise LaunchError.explained(
            f"{path} is no notebook: {failure}.",
            "The file is damaged, or of a format before 4.",
            "Open it in JupyterLab and save it again.",
        ) from failure
    for cell in cells:
        source = "".join(cell.get("source", ""))
        first_line = _CELL.match(source) if cell.get("cell_type") == "code" else None
        if first_line:
            entry = catalogue.find(first_line[1])
            yield Submission(entry, path.name, source[first_line.end() :])


def main(arguments: Sequence[str]) -> int:
    """Grade, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit grade",
        description="Check exercises all at once. Answers in Python are run with your "
        "rights.",
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK_OR_FOLDER")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every card")
    options = parser.parse_args(arguments)
    submitted = [
        submission
        for path in options.paths or [saved.folder()]
        for submission in submissions(path)
    ]
    verdicts = [submission.grade() for submission in submitted]
    if options.verbose:
        sys.stdout.write("".join(f"{verdict!r}\n\n" for verdict in verdicts))
    table = _table(submitted, verdicts)
    sys.stdout.write(f"{table.text}\n{table.caption}\n")
    return 0 if all(verdicts) else 1


def _table(submitted: list[Submission], verdicts: list[Verdict]) -> Table:
    rows = tuple(
        (verdict.id, verdict.title, submission.place, _outcome(verdict))
        for submission, verdict in zip(submitted, verdicts, strict=True)
    )
    solved = sum(map(bool, verdicts))
    caption = f"{solved} of {len(verdicts)} exercises solved"
    return Table(caption, ("Exercise", "Title", "Where", "Result"), rows)


def _outcome(verdict: Verdict) -> str:
    if verdict.passed:
        return "solved"
    first = next(line for line in verdict.message.split("\n") if line.strip())
    return f"stage {verdict.passed_stages + 1} of {len(verdict.stages)}: {first}"
