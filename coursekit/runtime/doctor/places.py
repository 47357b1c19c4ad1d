"""Folders and files, named as one would type them.

A name from the home folder or from the course's is no longer than it must be, and
tells nothing about whose machine it is, so that a report can be passed on.
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
    """Folder of the course."""
    return paths.repository()


def shown(path: Path) -> str:
    """Name an absolute path.

    Returns
    -------
    str
        From the course's folder, from the current one, by a variable of the course,
        or from `~`; in full elsewhere.
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
