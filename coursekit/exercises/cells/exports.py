"""Leave claims out of what nbconvert exports: HTML, slides, and JupyterLab's export.

`make lab` writes a setting of nbconvert into `.venv`. A notebook outside of the course
is exported whole, for none of its cells has the tag `claim`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from coursekit import paths

SETTINGS = {"TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": ["claim"]}}


def install(prefix: str = sys.prefix) -> None:
    """Let exports of this environment leave out the cells with the tag `claim`.

    Settings that are there already, and a folder that cannot be written, stay as they
    are: claims are then exported, too.
    """
    place = Path(prefix) / "etc" / "jupyter" / "jupyter_nbconvert_config.json"
    if not place.exists():
        with contextlib.suppress(OSError):
            paths.write_whole(place, json.dumps(SETTINGS, indent=1).encode())
