"""Put starters and notebooks back: ``python -m coursekit reset ID | NOTEBOOK ...``.

An exercise's id puts its starter back into `work/exercises/`; a notebook's name puts
a fresh copy into `work/notebooks/`. What was there is kept under a dated name.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from coursekit.exercises import catalogue, saved
from coursekit.exercises.cells import working_copies


def main(arguments: Sequence[str]) -> int:
    """Reset the named exercises and notebooks, report it, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit reset",
        description="Put back starters (05.1) or notebooks (05_first_kernels); "
        "what was there is kept under a dated name.",
    )
    parser.add_argument("names", nargs="+", metavar="ID_OR_NOTEBOOK")
    for name in parser.parse_args(arguments).names:
        is_exercise = re.fullmatch(r"\d+\.(?:\d+|[a-z])", name)
        lines = _exercise(name) if is_exercise else working_copies.reset(name)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _exercise(id: str) -> list[str]:
    entry = catalogue.find(id)
    kept = saved.reset(entry)
    lines = [f"Your text is kept: {saved.shown(kept)}"] if kept else []
    return [*lines, f"Starter of {id}: {saved.shown(saved.file(entry))}"]
