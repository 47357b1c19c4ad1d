"""A plot of the search for the smallest case: sizes over the cases that were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import rc_context

from coursekit import plot
from coursekit.lessons.minimise.cases import length
from coursekit.lessons.minimise.trials import FAILS, Attempt

NOTE = "failures and passes on the simulator"


def draw(
    start: Mapping[str, Any],
    smallest: Mapping[str, Any],
    attempts: Sequence[Attempt],
    summary: str,
) -> plot.Chart:
    """Draw the smallest failing case so far, and what was tried in its place.

    Parameters
    ----------
    start, smallest : dict of str to int or ndarray
        The case that the search began with, and the one that it ended with.
    attempts : sequence of Attempt
        All cases that were run, in order.
    summary : str
        The number of cases that were run, in words.
    """
    names = list(smallest)[: len(plot.COLOURS)]
    sizes = [[length(a.case[name]) for name in names] for a in attempts]
    fails = [attempt.verdict == FAILS for attempt in attempts]
    ends = ", ".join(f"{name} = {length(smallest[name]):,}" for name in names)
    title = f"{len(sizes)} cases to {ends}"
    with rc_context(plot.STYLE):
        chart = plot.new_chart()
        axes = chart.add_subplot()
        for number, name in enumerate(names):
            _draw_one(axes, number, name, [row[number] for row in sizes], fails)
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:,.10g}")
        axes.set(xlabel="case", ylabel="size (full: it fails, hollow: not so)")
        plot.draw_title(axes, title)
        plot.draw_grid(axes, "y")
        plot.sign(chart, NOTE)
    chart.headings = ("case", *names, "verdict")
    chart.rows = tuple(
        (number, *row, attempt.verdict)
        for number, (row, attempt) in enumerate(
            zip(sizes, attempts, strict=True), start=1
        )
    )
    began = ", ".join(f"{name} = {length(start[name]):,}" for name in names)
    chart.alt = (
        f"{title}. It begins with {began}, and each case that fails as the first one "
        f"does is the next to be made smaller. {summary} {NOTE.capitalize()}."
    )
    return chart


def _draw_one(axes, number: int, name: str, values, fails) -> None:
    """Draw one size: a line for the smallest so far, marks for other trials."""
    colour, marker = plot.COLOURS[number], plot.MARKERS[number]
    kept, best = [], values[0]
    tried: dict[bool, list[tuple[int, int]]] = {True: [(1, best)], False: []}
    for case, (value, failing) in enumerate(zip(values, fails, strict=True), start=1):
        if value != best:
            tried[failing].append((case, value))
        best = value if failing else best
        kept.append(best)
    cases = range(1, len(values) + 1)
    axes.step(cases, kept, where="post", color=colour, linewidth=1.6, zorder=2)
    for failing, face in ((False, "none"), (True, colour)):
        axes.plot(
            *zip(*tried[failing], strict=True) if tried[failing] else ([], []),
            color=colour,
            marker=marker,
            markersize=6,
            markerfacecolor=face,
            linestyle="",
            label=name if failing else None,
            zorder=3,
        )
