"""Settings of Jupyter and IPython that `make lab` adds to its environment."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from coursekit import paths


def add(prefix: str, place: str, content: dict[str, object]) -> None:
    """Write settings, unless there are some already.

    A folder that cannot be written is left as it is.

    Parameters
    ----------
    prefix : str
        The environment's folder.
    place : str
        Path of the JSON file below the environment's `etc`.
    content : dict
        The settings.
    """
    file = Path(prefix) / "etc" / place
    if not file.exists():
        with contextlib.suppress(OSError):
            paths.write_whole(file, json.dumps(content, indent=1).encode())
