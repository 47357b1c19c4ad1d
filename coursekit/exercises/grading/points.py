"""Points: what each stage of a check gives, times the stars of the exercise.

Points begin where the starter stops: a stage that the unchanged starter passes gives
none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.tables import Table

# The kind of a stage: (points, what the stage asks for).
STAGES: dict[str, tuple[int, str]] = {
    "compiles": (1, "compiles, with the parameters of the starter"),
    "small problem": (2, "a kernel is right on the small problem"),
    "sizes": (3, "it is right for all sizes and launch shapes"),
    "threads": (2, "no race, every value set, barriers for all threads"),
    "orders": (2, "the same results in other orders of the warps"),
    "waits": (2, "it waits where it has to"),
    "balance": (2, "every thread has work"),
    "limits": (3, "its counts are within the limits"),
    "compiled": (2, "its compiled code has what is asked"),
    "check": (3, "a check of a Python function"),
    "first run": (2, "a program prints what is asked"),
    "other runs": (3, "it does so for the other inputs"),
    "variant": (2, "sizes and data drawn for this student (--seed)"),
    "extra": (3, "a check of the instructor's own (--extra)"),
}


@dataclass(frozen=True)
class Points:
    """The points that each kind of stage gives.

    Attributes
    ----------
    by_kind : dict of str to int
    """

    by_kind: Mapping[str, int] = field(
        default_factory=lambda: {kind: worth for kind, (worth, _) in STAGES.items()}
    )

    @classmethod
    def read(cls, file: Path) -> Points:
        """Read a TOML file of lines such as ``sizes = 5``; the others stay.

        Raises
        ------
        ArgumentError
            It cannot be read, or names a stage that does not exist.
        """
        try:
            given = tomllib.loads(paths.read_regular(file).decode())
        except (OSError, ValueError) as failure:
            raise _refused(file, f"cannot be read: {failure}") from failure
        for kind, worth in given.items():
            if kind not in STAGES:
                raise _refused(file, f"names the stage {kind!r}, which does not exist")
            if type(worth) is not int or worth < 0:
                raise _refused(file, f"gives {kind} {worth!r} points")
        return cls({**cls().by_kind, **given})

    def score(self, entry: Entry, kinds: Sequence[str], passed: int, start: int):
        """Return (points, of).

        Parameters
        ----------
        entry : Entry
        kinds : sequence of str
            The kinds of all stages, in order.
        passed, start : int
            The number of stages that the answer passed, and that the starter passes.
        """
        stars = max(1, entry.exercise.stars)
        worth = [stars * self.by_kind[kind] for kind in kinds]
        return sum(worth[start:passed]), sum(worth[start:])

    @property
    def table(self) -> Table:
        """The points by stage, for people."""
        rows = [(kind, str(self.by_kind[kind]), what) for kind, (_, what) in
                STAGES.items()]  # fmt: skip
        caption = "Each is multiplied by the stars of the exercise; stages that the "
        caption += "starter passes give none."
        return Table(caption, ("Stage", "Points", "What it asks for"), tuple(rows))


def _refused(file: Path, what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"The file of points, {file}, {what}.",
        f"The stages are {', '.join(STAGES)}.",
        'Write a line for each, such as `sizes = 5`, or `"small problem" = 4`.',
    )
