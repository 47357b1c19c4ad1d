"""Read answers out of notebooks and folders, whatever is in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import CourseError
from coursekit.exercises import catalogue, checking, saved
from coursekit.exercises.grading import apart
from coursekit.exercises.grading.terms import Terms

_CELL = re.compile(r"%%(?:cuda|host|cpp)\b[^\n]*--exercise[= ]\s*(\S+)[^\n]*(?:\n|$)")
_SUFFIXES = (".cu", ".py", ".cpp")
MOST_FILES = 2000  # of one student


@dataclass(frozen=True)
class Submission:
    """The text that a student wrote for an exercise, and the file that holds it.

    `entry` is None, and `text` says why, where there is nothing that can be judged.
    """

    entry: catalogue.Entry | None
    place: str
    text: str

    def grade(self, terms: Terms) -> apart.Judged:
        """Check the text in a process of its own, and return the verdict."""
        if self.entry is None:
            return apart.Judged(None, message=self.text)
        return apart.judge(self.entry.id, self.text, terms)

    @property
    def is_untouched(self) -> bool:
        """Whether it is the starter's text, or none at all."""
        return self.entry is not None and (
            not self.text.strip() or checking.is_untouched(self.entry, self.text)
        )


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
    yield from submitted or [_nothing(path)]


def _nothing(path: Path) -> Submission:
    why = "it holds no file such as 05_first_kernels/1_map.cu, and no notebook "
    why += "with a cell that begins with %%cuda, %%host or %%cpp --exercise"
    return Submission(None, str(path), why)


def _saved(folder: Path) -> Iterator[Submission]:
    for entry in catalogue.entries():
        chapter = folder if folder.name == entry.topic else folder / entry.topic
        path = chapter / entry.exercise.file
        if path.is_file():
            yield _file(entry, path)


def _file(entry: catalogue.Entry, path: Path) -> Submission:
    try:
        text = _decoded(paths.read_regular(path))
    except OSError as failure:
        return Submission(None, path.name, f"it cannot be read: {failure}")
    return Submission(entry, saved.shown(path.resolve()), text)


def _decoded(content: bytes) -> str:
    """Decode a text in the encoding that its first bytes show; else in UTF-8."""
    encoding = "utf-8-sig"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    text = content.decode(encoding, errors="replace")
    return text.replace("\r\n", "\n")


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


def students(folder: Path) -> dict[str, list[Submission]]:
    """Return what each student of a class has handed in.

    Each notebook and each folder in `folder` is a student's, and bears the name. What
    is anything else is a student's that cannot be judged.
    """
    found: dict[str, list[Submission]] = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            name = path.name if path.is_dir() else path.stem
            found.setdefault(name, []).extend(_of_student(path))
    return found


def _of_student(path: Path) -> Iterator[Submission]:
    if path.is_symlink():
        yield Submission(None, path.name, "it is a link, which is not followed")
    elif path.is_dir():
        yield from list(_below(path)) or [_nothing(Path(path.name))]
    else:
        for submission in submissions(path):
            place = path.name if submission.entry is None else submission.place
            yield Submission(submission.entry, place, submission.text)


def _below(folder: Path) -> Iterator[Submission]:
    """Yield what is in a student's folder, however deep."""
    by_name = _names()
    for path in _files(folder):
        place = path.relative_to(folder).as_posix()
        entry = by_name.get(f"{path.parent.name}/{path.name}")
        entry = entry or by_name.get(path.name.removeprefix("exercise_"))
        if path.suffix == ".ipynb":
            for each in _cells(path):
                yield Submission(each.entry, place, each.text)
        elif entry:
            submission = _file(entry, path)
            yield Submission(submission.entry, place, submission.text)
        elif path.suffix in _SUFFIXES:
            why = "its name is no exercise's; it should be like "
            why += "05_first_kernels/1_map.cu, or 05.1.cu"
            yield Submission(None, place, why)


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, without what is hidden and without links."""
    found: list[Path] = []
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        paths_here = [Path(name) / each for each in sorted(files) if each[0] != "."]
        found += [path for path in paths_here if path.is_file()
                  and not path.is_symlink()]  # fmt: skip
        if len(found) > MOST_FILES:
            break
    return found[:MOST_FILES]


def _names() -> dict[str, catalogue.Entry]:
    """Return the exercises by the names that their files may have."""
    found: dict[str, catalogue.Entry] = {}
    for entry in catalogue.entries():
        found[f"{entry.topic}/{entry.exercise.file}"] = entry
        found[f"{entry.id}{entry.exercise.suffix}"] = entry
    return found
