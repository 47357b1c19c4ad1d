"""The functions that students call: check, hint, solution, reset, progress."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from coursekit.display.listing import Card, Listing, panel
from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises import catalogue, checking, saved, state
from coursekit.exercises.tables import Table
from coursekit.exercises.verdict import Verdict


def check(id: str, kernel: Any = None) -> Verdict:
    """Check a solution in stages, on the simulator, and stop at the first failure.

    Parameters
    ----------
    id : str
        Of the exercise: "05.1".
    kernel : Kernel, Module or callable, optional
        By default what the last `--exercise` cell of this id compiled or defined.

    Returns
    -------
    Verdict
        True when every stage passed; as the last line of a cell it shows its card.

    Raises
    ------
    ArgumentError
        There is no such exercise.
    CheckFailed, KernelError
        Only where the environment has COURSEKIT_STRICT=1: what a stage raised.
    """
    entry = catalogue.find(id)
    candidate = _bound(entry) if kernel is None else kernel
    verdict = checking.examine(entry, candidate)
    tried = not checking.is_untouched(entry, candidate)
    standing = _record(entry, lambda old: old.tried(verdict.passed) if tried else old)
    if verdict.error is not None and os.environ.get("COURSEKIT_STRICT") == "1":
        raise verdict.error
    return replace(verdict, notes=_advice(entry, verdict, standing))


def _bound(entry: catalogue.Entry) -> Any:
    """Return the result of the exercise's cell, or an error if it has not run."""
    from coursekit.exercises.cells import (
        cuda,  # IPython, which a plain script need not load
    )

    bound = cuda.exercise(entry.id)
    return bound or CheckFailed.explained(
        f"The cell of exercise {entry.id} has not run yet.",
        "A check looks at what the cell has left in this session.",
        f"Run the cell that begins with {entry.exercise.first_line}, then this one.",
    )


def _record(entry: catalogue.Entry, change) -> state.Standing | None:
    """Record progress, and return it; None where the folder cannot be written."""
    try:
        return state.update(entry.id, change)
    except OSError:
        return None


def _advice(entry, verdict: Verdict, standing: state.Standing | None):
    lost = f"Progress is not kept: {state.file().parent} cannot be written."
    notes = () if standing else (lost,)
    if verdict.passed:
        return (*notes, *_next_steps(entry))
    total, used = len(entry.exercise.hints), standing.hints if standing else 0
    if used < total:
        left = f"{total - used} hint{'s' if total - used > 1 else ''} left"
        return (*notes, f'Stuck? ck.hint("{entry.id}") has {left}.')
    return (*notes, f'Stuck? ck.solution("{entry.id}") shows a solution.')


def _next_steps(entry) -> list[str]:
    """Say what can be done after a check has passed."""
    chapter = entry.exercise.chapter
    steps = [
        f'ck.solution("{entry.id}") shows another way to write it; '
        f'ck.progress("{chapter}") shows what is left.'
    ]
    if not entry.exercise.your_turn:
        steps.append(
            "In a terminal, `.venv/bin/python -m coursekit grade` checks all that you "
            "have written so far."
        )
    return steps


def hint(id: str) -> Card:
    """Show a hint; each call shows one more, and each is franker than the last.

    Parameters
    ----------
    id : str
        Of the exercise: "05.1".
    """
    entry = catalogue.find(id)
    hints = entry.exercise.hints
    standing = _record(entry, lambda old: old.hinted())
    count = min(standing.hints if standing else len(hints), len(hints))
    lines = [f"{number}. {text}" for number, text in enumerate(hints[:count], 1)]
    if count == len(hints):
        lines.append(f'That was the last one; ck.solution("{id}") shows a solution.')
    return Card(
        f"{entry.exercise.label}, hint {count} of {len(hints)}",
        "\n  ".join(["", *lines]),
    )


def solution(id: str) -> Listing:
    """Show a solution, and note in the progress that it was seen.

    Parameters
    ----------
    id : str
        Of the exercise: "05.1".
    """
    from coursekit.display import source

    entry = catalogue.find(id)
    shown = source.show(entry.solution)
    _record(entry, lambda old: old.shown())
    return shown


def reset(id: str) -> Card:
    """Put the starter back in `work/`, and into a new cell below this one.

    The student's text is kept under a dated name, and in the cell that has it now:
    that cell cannot be changed from here. Where no new cell appears, as outside of a
    notebook, the card has the text to copy.

    Parameters
    ----------
    id : str
        Of the exercise: "05.1".
    """
    from coursekit.exercises.cells import cuda

    entry = catalogue.find(id)
    kept = saved.reset(entry)
    cuda.forget_exercise(id)
    starter = entry.starter.read_text(encoding="utf-8").rstrip("\n")
    text = f"{entry.exercise.first_line}\n{starter}"
    lines = [f"It is in {saved.shown(saved.file(entry))} again."]
    if cuda.propose_cell(text):
        lines.append(
            "A new cell below this one has it too. Run the new cell, and delete the "
            "old one, which still has your text."
        )
    lines += [f"Your text is kept in {saved.shown(kept)}."] if kept else []
    lines.append("If there is no new cell, copy this into the old one:")
    title = f"{entry.exercise.label}: the starter"
    return Card(title, "\n  ".join(["", *lines]), copied=text)


@dataclass(frozen=True, repr=False)
class Progress:
    """The progress of a student, as tables.

    Attributes
    ----------
    solved, total : int
        Of the exercises.
    table : Table
        The exercises.
    your_turn : Table
        The pieces of "your turn" in the sections, which have a letter: 05.a.
    """

    solved: int
    total: int
    table: Table
    your_turn: Table

    @property
    def _shown(self) -> list[Table]:
        return [table for table in (self.table, self.your_turn) if table.rows]

    def __repr__(self) -> str:
        return "\n\n".join(f"{table.caption}\n{table.text}" for table in self._shown)

    def _repr_html_(self) -> str:
        return panel("".join(table.html for table in self._shown))


def progress(chapter: str | None = None) -> Progress:
    """Show which exercises are not tried, tried, solved, or have their solution seen.

    Parameters
    ----------
    chapter : str, optional
        Show the exercises of this chapter only: "05", or "10a" for those of 10.

    Returns
    -------
    Progress

    Raises
    ------
    ArgumentError
        The chapter has no exercise; the message names the chapters that have some.
    """
    standings = state.read()
    both: dict[bool, list] = {False: [], True: []}
    for entry in _of_chapter(chapter):
        standing = standings.get(entry.id, state.Standing())
        both[entry.exercise.your_turn].append((entry.exercise, standing))
    solved = sum(bool(standing.solved) for _, standing in both[False])
    done = sum(bool(standing.solved) for _, standing in both[True])
    exercises = Table(
        f"{solved} of {len(both[False])} exercises solved",
        ("Exercise", "Title", "Stars", "State"),
        tuple((x.id, x.title, "*" * x.stars, s.words) for x, s in both[False]),
    )
    your_turn = Table(
        f"Your turn, inside of the sections: {done} of {len(both[True])} solved",
        ("Your turn", "Title", "State"),
        tuple((x.id, x.title, s.words) for x, s in both[True]),
    )
    return Progress(solved, len(both[False]), exercises, your_turn)


def _of_chapter(chapter: str | None) -> list[catalogue.Entry]:
    """Return the exercises of a chapter, all of them where none is named."""
    entries = catalogue.entries()
    number = str(chapter).rstrip("abcdefghijklmnopqrstuvwxyz").zfill(2)
    chosen = [e for e in entries if chapter is None or e.exercise.chapter == number]
    if chapter is not None and not chosen:
        chapters = sorted({entry.exercise.chapter for entry in entries})
        raise ArgumentError.explained(
            f"There is no exercise of chapter {chapter!r}.",
            'A chapter is named by its number, as text: "05".',
            f"Chapters with exercises: {', '.join(chapters)}.",
        )
    return chosen
