"""Leave claims out of what nbconvert exports: HTML, slides, and JupyterLab's export.

`make lab` writes a setting of nbconvert into `.venv`. A notebook outside of the course
is exported whole, for none of its cells has the tag `claim`.
"""

from __future__ import annotations

import sys

from coursekit.exercises.cells import settings

SETTINGS: dict[str, object] = {
    "TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": ["claim"]}
}


def install(prefix: str = sys.prefix) -> None:
    """Let exports of this environment leave out the cells with the tag `claim`.

    Where settings are there already, claims are exported, too.
    """
    settings.add(prefix, "jupyter/jupyter_nbconvert_config.json", SETTINGS)
