"""Keep the old text of a file that is replaced, under a dated name."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path


def set_aside(path: Path, mark: str = "") -> Path:
    """Rename a file to NAME.YYYY-MM-DD-HHMMSS.EXT; return its new path.

    Parameters
    ----------
    path : Path
    mark : str
        A word to put before the date, such as "damaged".
    """
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    base = ".".join(filter(None, (path.stem, mark, stamp)))
    target, attempt = path.with_name(base + path.suffix), 1
    while target.exists():
        attempt += 1
        target = path.with_name(f"{base}-{attempt}{path.suffix}")
    os.replace(path, target)
    return target


def write(path: Path, text: str) -> None:
    """Write a text file in one step, so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp's 0600 would hide it from a group
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
