"""The leaderboard: a folder of submissions, each of which is played again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.benchmarking.records.case_sources import code_of
from coursekit.display.listing import Listing, panel
from coursekit.errors import ArgumentError, CourseError
from coursekit.exercises.golf import card, holes, shape, submission
from coursekit.exercises.golf.submission import Verified
from coursekit.exercises.tables import Table

_HEADER = ("Rank", "Name", "Medal", "Worst", "Counts", "Remark")


@dataclass(frozen=True)
class Place:
    """An entry of the board: its rank, and the player whose code it repeats."""

    rank: int
    tied: bool
    entry: Verified
    copies: str = ""


@dataclass(frozen=True, repr=False)
class Board:
    """All submissions of a folder, ranked hole by hole.

    Attributes
    ----------
    places : dict of str to tuple of Place
        The entries of each hole, the best first.
    refused : tuple of (str, str)
        Files that do not stand, and why.
    """

    places: dict[str, tuple[Place, ...]]
    refused: tuple[tuple[str, str], ...] = ()

    def table(self, hole: str) -> Table:
        """Return the ranking of a hole."""
        places = self._of(hole)
        return Table(f"Count Golf, {hole}", _HEADER, tuple(map(_row, places)))

    def diff(self, hole: str, first: int = 2, second: int = 1) -> Listing:
        """Show what changes from one entry to another, counted from the top.

        Parameters
        ----------
        hole : str
        first, second : int
            Numbers of two lines of the table; 2 and 1 show what won.

        Raises
        ------
        ArgumentError
            There is no such line.
        """
        from coursekit.display import source as display
        from coursekit.runtime import compiler

        places, modules = self._of(hole), []
        for number in (first, second):
            if not 1 <= number <= len(places):
                raise ArgumentError.explained(
                    f"{hole} has no line {number}; it has {len(places)}.",
                    "Lines are counted from 1, the best first.",
                    f'Write for example board.diff("{hole}", 2, 1).',
                )
            code = places[number - 1].entry.submission
            name = f"{_plain(code.name)}.cu"
            modules.append(compiler.compile(code.source, arch="compute_90", name=name))
        return display.show_diff(*modules)

    def _of(self, hole: str) -> tuple[Place, ...]:
        if hole not in self.places:
            holes.find(hole)
            raise ArgumentError.explained(
                f"The board has no submission for {hole}.",
                "Nobody has submitted one, or none stands.",
                f"It has {', '.join(self.places) or 'none at all'}.",
            )
        return self.places[hole]

    def _tables(self) -> list[Table]:
        return [self.table(hole) for hole in self.places]

    def __repr__(self) -> str:
        parts = [f"{table.caption}\n{table.text}" for table in self._tables()]
        parts += ["\n".join(f"refused: {name}: {why}" for name, why in self.refused)]
        return "\n\n".join(filter(None, parts)) or "No submission yet."

    def _repr_html_(self) -> str:
        tables = "".join(table.html for table in self._tables())
        refused = Table("Refused", ("File", "Why"), self.refused)
        return panel(tables + (refused.html if self.refused else ""))


def own_folder() -> Path:
    """Return the default folder of a board, beside the student's other files."""
    return paths.work() / "golf"


def leaderboard(
    folder: str | Path | None = None,
    hole: str | None = None,
    *,
    salt: str = "",
    notice: Callable[[str], object] | None = None,
) -> Board:
    """Play every submission of a folder again, and rank those that stand.

    Parameters
    ----------
    folder : str or Path, optional
        Holds files of `python -m coursekit golf submit`; `work/golf` by default.
    hole : str, optional
        Only this one.
    salt : str
        A word that nobody knew who submitted: it draws other hidden sizes.
    notice : callable, optional
        Called with the name of each file before it is played, which takes seconds.

    Returns
    -------
    Board
        With its tables in a notebook; `board.diff(hole, 2, 1)` shows what won.

    Raises
    ------
    ArgumentError
        There is no such folder, or no such hole.
    """
    if not isinstance(folder, str | Path | None):
        raise ArgumentError.explained(
            f"leaderboard got {folder!r}, which is no folder.",
            "Its first argument is the path of a folder, as text.",
            "Leave it out for work/golf, the folder of your own submissions.",
        )
    folder, entries, refused = Path(folder or own_folder()), {}, []
    if hole is not None:
        holes.find(hole)
    if not os.path.isdir(folder):
        raise ArgumentError.explained(
            f"There is no folder {folder}.",
            "A board is a folder that holds a file for each submission.",
            "Make one: python -m coursekit golf submit HOLE FILE.cu --name NAME.",
        )
    for path in sorted(folder.glob("*.json")):
        try:
            submitted = submission.read(path)
            if hole not in (None, submitted.hole):
                continue
            if notice is not None:
                notice(submission.shown(path))
            verified = submission.verify(submitted, salt)
        except CourseError as error:
            refused.append((submission.shown(path), str(error).split("\n")[0]))
            continue
        if verified:
            entries.setdefault(submitted.hole, []).append(verified)
        else:
            refused.append((submission.shown(path), verified.trouble))
    order = [name for name in holes.HOLES if name in entries]
    return Board({name: ranked(entries[name]) for name in order}, tuple(refused))


def ranked(entries: list[Verified]) -> tuple[Place, ...]:
    """Rank entries of one hole; equal counts share a rank."""
    ordered = sorted(
        entries, key=lambda entry: (entry.score.rank, entry.submission.name)
    )
    ranks = [entry.score.rank for entry in ordered]
    seen: dict[tuple[str, str], str] = {}
    places = []
    for entry, rank in zip(ordered, ranks, strict=True):
        name = entry.submission.name
        source = entry.submission.source
        launch = (shape.find(source) or shape.Shape.of(entry.score.hole.shape)).text
        first = seen.setdefault((code_of(source), launch), name)
        copies = first if first != name else ""
        tied = ranks.count(rank) > 1
        places.append(Place(ranks.index(rank) + 1, tied, entry, copies))
    return tuple(places)


def _row(place: Place) -> tuple[str, ...]:
    score, tally = place.entry.score, place.entry.score.scored
    counts = ", ".join(f"{name} {count:,}" for name, count in score.claims.items())
    same = f"same code as {place.copies}" if place.copies else ""
    return (
        f"{'=' if place.tied else ''}{place.rank}",
        place.entry.submission.name,
        score.medal or "-",
        card.times(tally.ratio(tally.worst)),
        counts,
        "; ".join(filter(None, (same, place.entry.note))) or "-",
    )


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name) or "player"
