"""The text of each exercise cell, saved below `work/`."""

from __future__ import annotations

from pathlib import Path

from coursekit import paths
from coursekit.errors import LaunchError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.set_aside import set_aside, write


def folder() -> Path:
    """Return the folder of the saved texts."""
    return paths.work() / "exercises"


def file(entry: Entry) -> Path:
    """Return where the text of an exercise is saved."""
    return folder() / entry.topic / entry.exercise.file


def shown(path: Path) -> str:
    """Return a saved file's path from the repository, or its full path elsewhere."""
    root = paths.repository()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def save(entry: Entry, text: str) -> Path:
    """Save the text of a cell and return where."""
    path = file(entry)
    try:
        write(path, text.rstrip("\n") + "\n")
    except OSError as failure:
        raise LaunchError.explained(
            f"{shown(path)} cannot be written: {failure.strerror}.",
            "The cell's text is saved there each time it runs.",
            "Free some space, mend the permissions, or set COURSEKIT_WORK to a "
            "folder of your own.",
        ) from failure
    return path


def reset(entry: Entry) -> Path | None:
    """Put the starter back; return where the student's text is kept now, if any."""
    path, starter = file(entry), entry.starter.read_text(encoding="utf-8")
    kept = None
    if path.exists() and path.read_bytes() != starter.encode():
        kept = set_aside(path)
    save(entry, starter)
    return kept
