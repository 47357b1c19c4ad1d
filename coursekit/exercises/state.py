"""A student's progress: one JSON file that several notebooks may write at once."""

from __future__ import annotations

import contextlib
import errno
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from coursekit import paths
from coursekit.errors import LaunchError
from coursekit.exercises.set_aside import set_aside, write

try:
    import fcntl
except ImportError:  # Windows itself; the course runs in WSL there
    fcntl = None

SCHEMA = 1
TRIES, PAUSE_S = 600, 0.05  # to take a lock, which others hold for milliseconds


@dataclass(frozen=True)
class Standing:
    """A student's standing with one exercise.

    Attributes
    ----------
    tries, hints : int
        Checks that were run, hints that were asked for.
    solved, seen : str
        When it first passed, and when the solution was first shown; "" for never.
    """

    tries: int = 0
    hints: int = 0
    solved: str = ""
    seen: str = ""

    @property
    def words(self) -> str:
        """Return the standing in words: solved, solution seen, tried or not tried."""
        parts = ["solved"] if self.solved else []
        parts += ["solution seen"] if self.seen else []
        return ", ".join(parts) or ("tried" if self.tries else "not tried")

    def tried(self, passed: bool) -> Standing:
        """Return the standing after a check."""
        solved = self.solved or (_now() if passed else "")
        return replace(self, tries=self.tries + 1, solved=solved)

    def hinted(self) -> Standing:
        """Return the standing after a hint."""
        return replace(self, hints=self.hints + 1)

    def shown(self) -> Standing:
        """Return the standing after the solution was shown."""
        return replace(self, seen=self.seen or _now())


def _now() -> str:
    return datetime.now().isoformat(timespec="seconds")


def file() -> Path:
    """Return where the progress is kept."""
    return paths.state() / "progress.json"


def read() -> dict[str, Standing]:
    """Return the standing of every exercise that was ever touched.

    Raises
    ------
    LaunchError
        The file cannot be read.
    """
    try:
        with _locked():
            return _read()
    except OSError as failure:
        raise LaunchError.explained(
            f"{file()} cannot be read: {failure.strerror}.",
            "Your progress is kept there; this account may not read or replace it.",
            "Fix the permissions of the file and of its folder, or set "
            "COURSEKIT_STATE to a folder of your own.",
        ) from failure


def update(id: str, change: Callable[[Standing], Standing]) -> Standing:
    """Change the standing of one exercise and return it.

    The file is read, changed and replaced under a lock, so that notebooks that
    write at the same time lose nothing.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    with _locked():
        standings = _read()
        standings[id] = change(standings.get(id, Standing()))
        content = {
            "schema": SCHEMA,
            "exercises": {
                key: asdict(value) for key, value in sorted(standings.items())
            },
        }
        write(file(), json.dumps(content, indent=1) + "\n")
        return standings[id]


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Hold a lock against other processes.

    In a read-only folder, or where a process that hangs has the lock, do without it.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file().parent.mkdir(parents=True, exist_ok=True)
            handle = stack.enter_context(open(file().with_suffix(".lock"), "a"))
            if fcntl is not None:
                _take(handle)
        yield


def _take(handle: IO[str]) -> None:
    """Take the lock, or give up after `TRIES`."""
    for _ in range(TRIES):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_S)
    return None


def _read() -> dict[str, Standing]:
    """Read the file; a damaged one is set aside, so that nothing is lost."""
    try:
        text = paths.read_regular(file()).decode()
    except FileNotFoundError:
        return {}
    except (UnicodeDecodeError, IsADirectoryError):
        text = ""
    except OSError as failure:
        if failure.errno not in (errno.EINVAL, errno.EFBIG):
            raise
        text = ""  # a named pipe, or far too long
    try:
        content = json.loads(text)
        if content["schema"] != SCHEMA:
            raise ValueError(content["schema"])
        return {
            id: _standing(fields) for id, fields in dict(content["exercises"]).items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        set_aside(file(), "damaged")
        return {}


def _standing(fields: dict) -> Standing:
    standing = Standing(**fields)
    kinds = {"tries": int, "hints": int, "solved": str, "seen": str}
    for name, kind in kinds.items():
        if type(getattr(standing, name)) is not kind:
            raise ValueError(name)
    return standing
