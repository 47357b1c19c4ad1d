"""Where files live: the kernels, the cache, the data, the student's state.

Every function reads the environment when it is called, so that a test or a
notebook can move a folder at any time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
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
    return _given(chosen).resolve() if chosen else kernels()


def work() -> Path:
    """Folder of what a student writes: `COURSEKIT_WORK`, else `work/`, beside
    `kernels/`.
    """
    chosen = os.environ.get("COURSEKIT_WORK")
    return _given(chosen).resolve() if chosen else repository() / "work"


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


def make_private(folder: Path) -> Path:
    """Make a folder, and those above it, that no other user can enter.

    A folder that is there already keeps its permissions.

    Raises
    ------
    OSError
        It cannot be made.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def read_own(file: Path) -> bytes:
    """Read a file whose content this account trusts: code that will run, for example.

    Raises
    ------
    OSError
        It cannot be read, it is no regular file, or others have or may have written
        it: it belongs to neither this user nor root, or its group or all may write.
    """
    # A named pipe would let the opening wait for ever.
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as stream:
        if not _is_own(os.fstat(handle)):
            raise PermissionError(f"{file} may be another user's")
        return stream.read()


def read_regular(file: Path, most_bytes: int = 1 << 26) -> bytes:
    """Read a file that somebody else may have put there.

    Raises
    ------
    OSError
        It cannot be read, has more than `most_bytes`, or is no regular file: a named
        pipe would let the reading wait for ever, a device would never end.
    """
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        _check_regular(file, status)
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes", str(file))
        return stream.read()


def check_regular(file: Path) -> None:
    """Refuse what is there and is no regular file, before something waits for it.

    Raises
    ------
    OSError
        There is no file, or it is a folder, a named pipe, a device.
    """
    _check_regular(file, os.stat(file))


def _check_regular(file: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(file))


def is_own(file: Path) -> bool:
    """Tell whether a file is there, and `read_own` would trust it."""
    try:
        return _is_own(os.stat(file))
    except OSError:
        return False


def _is_own(status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    safe = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return safe and status.st_uid in (os.geteuid(), 0)


def _folder(variable: str, default: Callable[[str], str]) -> Path:
    chosen = os.environ.get(variable)
    return _given(chosen) if chosen else Path(default(APPLICATION))


def _given(text: str) -> Path:
    """Return the path of a text; the home of a user whom nobody knows is a name."""
    return Path(os.path.expanduser(text))
