"""The result of `ck.minimise`: the smallest failing case, and the search for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from coursekit.lessons.minimise.cases import length
from coursekit.lessons.minimise.trials import FAILS, Attempt, Failure

MANY = 8  # most elements of an array in the repr


@dataclass(frozen=True, repr=False)
class Minimised:
    """A failing case that no single step makes smaller.

    Attributes
    ----------
    start, case : dict of str to int or ndarray
        The first case, and the smallest one.
    failure : Failure
        How the smallest case fails: as the first one does.
    attempts : tuple of Attempt
        All cases that were run.
    unfinished : bool
        Whether the number of tries ended it.
    """

    start: Mapping[str, Any]
    case: Mapping[str, Any]
    failure: Failure
    attempts: tuple[Attempt, ...]
    unfinished: bool = False

    @property
    def summary(self) -> str:
        """The numbers of cases that were run and that failed, as a sentence."""
        failing = sum(attempt.verdict == FAILS for attempt in self.attempts)
        text = f"{len(self.attempts)} cases run, {failing} of them fail alike."
        return f"{text} Stopped by `tries`." if self.unfinished else text

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield the name of each argument with its first and its smallest value."""
        for name, value in self.case.items():
            yield name, _shown(self.start[name]), _shown(value)

    def plot(self):
        """Draw each size over the cases that were run.

        Returns
        -------
        Chart
        """
        from coursekit.lessons.minimise.picture import draw

        return draw(self.start, self.case, self.attempts, self.summary)

    def __repr__(self) -> str:
        lines = [f"  {name}: {old} -> {new}" for name, old, new in self.rows()]
        told = [f"  {self.failure}", f"  {self.summary}"]
        return "\n".join(["Minimised", *lines, *told])

    def _repr_html_(self) -> str:
        left = 'style="text-align:left"'
        head = "".join(
            f'<th scope="col" {left}>{text}</th>' for text in ("", "began as", "is now")
        )
        body = "".join(
            f'<tr><th scope="row" {left}>{escape(name)}</th>'
            f"<td {left}>{escape(old)}</td><td {left}>{escape(new)}</td></tr>"
            for name, old, new in self.rows()
        )
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<div>{escape(str(self.failure))}</div><div>{escape(self.summary)}</div>"
        )


def _shown(value: int | np.ndarray) -> str:
    """Write a size, or the first elements of an array."""
    if isinstance(value, int):
        return f"{value:,}"
    elements = ", ".join(f"{x:g}" for x in value[:MANY])
    if length(value) <= MANY:
        return f"[{elements}]"
    return f"[{elements}, ...], {length(value):,} elements"
