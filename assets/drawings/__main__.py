"""Draw every drawing of the course: `make drawings`.

.venv/bin/python assets/drawings             writes the SVGs beside the program
.venv/bin/python assets/drawings --markdown  prints the lines for the notebooks
"""

from __future__ import annotations

import sys
from pathlib import Path

from chapters import drawings

FOLDER = Path(__file__).resolve().parent


def main(arguments: list[str]) -> None:
    """Write the SVGs, or print the Markdown that shows them."""
    for drawing in drawings():
        if "--markdown" in arguments:
            sys.stdout.write(f"{drawing.markdown()}\n\n")
            continue
        (FOLDER / f"{drawing.name}.svg").write_text(drawing.svg(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
