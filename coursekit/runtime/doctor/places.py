"""Short names of folders and files, for a report.

A name that starts at the home folder or at the course's is short. It does not tell
whose machine it is, so that a student can pass the report on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from coursekit import paths

VARIABLES = tuple(
    f"COURSEKIT_{name}" for name in ("CACHE", "DATA", "STATE", "WORK", "EXERCISES")
)


def course() -> Path:
    """Return the folder of the course."""
    return paths.repository()


def shown(path: Path) -> str:
    """Return the short name of an absolute path.

    Returns
    -------
    str
        Relative to the course's folder, the current one, a folder that a variable of
        the course names, or `~`; elsewhere the whole path.
    """
    for root, name in _roots():
        if path == root:
            return name or "."
        if path.is_relative_to(root):
            rest = path.relative_to(root).as_posix()
            return f"{name}/{rest}" if name else rest
    return str(path)


def _roots() -> Iterator[tuple[Path, str]]:
    yield course(), ""
    yield Path.cwd(), ""
    for variable in VARIABLES:
        if os.environ.get(variable):
            yield Path(os.environ[variable]).expanduser(), f"${variable}"
    yield Path.home(), "~"
