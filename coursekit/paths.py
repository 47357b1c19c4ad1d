"""Where files live: the kernels, the cache, the data, the student's state.

Every function reads the environment when it is called, so that a test or a
notebook can move a folder at any time.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path

import platformdirs

APPLICATION = "coursekit"


def repository() -> Path:
    """Folder that holds `coursekit/` and `kernels/`."""
    return Path(__file__).resolve().parent.parent


def kernels() -> Path:
    """Folder of the course's `.cu` files."""
    return repository() / "kernels"


def exercises() -> Path:
    """Folder that holds exercises/ and solutions/: `COURSEKIT_EXERCISES`, else
    `kernels/`.
    """
    chosen = os.environ.get("COURSEKIT_EXERCISES")
    return Path(chosen).expanduser().resolve() if chosen else kernels()


def work() -> Path:
    """Folder of what a student writes: `COURSEKIT_WORK`, else `work/`, beside
    `kernels/`.
    """
    chosen = os.environ.get("COURSEKIT_WORK")
    return Path(chosen).expanduser().resolve() if chosen else repository() / "work"


def cache() -> Path:
    """Folder for what can be rebuilt: `COURSEKIT_CACHE`, else the user's cache."""
    return _folder("COURSEKIT_CACHE", platformdirs.user_cache_dir)


def data() -> Path:
    """Folder for data sets: `COURSEKIT_DATA`, else the user's data folder."""
    return _folder("COURSEKIT_DATA", platformdirs.user_data_dir)


def state() -> Path:
    """Folder for a student's progress: `COURSEKIT_STATE`, else the user's state."""
    return _folder("COURSEKIT_STATE", platformdirs.user_state_dir)


def write_whole(file: Path, content: bytes) -> Path:
    """Write a file under another name first: what bears the name is whole.

    Raises
    ------
    OSError
        It cannot be written; what was there before is unchanged.
    """
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        os.replace(unfinished, file)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return file


def _folder(variable: str, default: Callable[[str], str]) -> Path:
    chosen = os.environ.get(variable)
    return Path(chosen).expanduser() if chosen else Path(default(APPLICATION))
