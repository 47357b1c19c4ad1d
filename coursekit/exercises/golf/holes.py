"""The holes: one or more for each chapter about kernels."""

from __future__ import annotations

import difflib

from coursekit.errors import ArgumentError
from coursekit.exercises.golf import ladder_holes, moving_holes, row_holes
from coursekit.exercises.golf.hole import Hole

TABLES = (moving_holes.HOLES, row_holes.HOLES, ladder_holes.HOLES)
HOLES: dict[str, Hole] = {
    hole.name: hole
    for hole in sorted(
        (hole for table in TABLES for hole in table),
        key=lambda hole: (hole.chapter, hole.name),
    )
}


def find(name: str) -> Hole:
    """Return the hole of this name.

    Raises
    ------
    ArgumentError
        There is none; the message names all of them.
    """
    if isinstance(name, str) and name in HOLES:
        return HOLES[name]
    near = difflib.get_close_matches(str(name), HOLES, n=1)
    raise ArgumentError.explained(
        f"Count Golf has no hole {name!r}.",
        f"Did you mean {near[0]!r}?" if near else "The name is misspelt, or a chapter.",
        f"Take one of {', '.join(HOLES)}.",
    )
