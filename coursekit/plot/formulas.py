"""Plot of formulas: curves over x, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context

from coursekit.errors import ArgumentError
from coursekit.plot.chart import COLOURS, STYLE, Chart, in_words, new_chart, sign
from coursekit.plot.drawing import (
    draw_grid,
    draw_limits,
    draw_lines,
    draw_title,
    names_apart,
)

SMALL = 2.0**-6  # a mark below it would be a row of digits


def curves(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    along: str,
    of: str,
    limits: Mapping[str, float] | None = None,
    note: str = "computed from the formula",
) -> Chart:
    """Draw values over x, both on logarithmic scales.

    Parameters
    ----------
    x : sequence of float
        Positive numbers.
    series : mapping of str to sequence of float
        The curves, at most six: the name of each, and a positive value for each x.
    title, along, of : str
        What the picture says, and what its axes are, with their units.
    limits : mapping of str to float, optional
        Lines across the picture: what each is, and where it lies.
    note : str
        Where the numbers are from, for the corner.

    Returns
    -------
    Chart

    Raises
    ------
    ArgumentError
        If the numbers are too few, too many, or not positive.
    """
    _check_curves(x, series)
    limits = dict(limits or {})
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        draw_lines(axes, list(x), list(series.values()), list(series))
        draw_limits(axes, limits)
        axes.set_xticks(list(x), names_apart(list(x), "{:,.10g}".format))
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(_mark)
        axes.set(xlabel=along, ylabel=of)
        draw_title(axes, title)
        draw_grid(axes, "both")
        sign(chart, note)
    chart.headings = (along, *series)
    chart.rows = tuple(
        zip(x, *(list(map(float, v)) for v in series.values()), strict=True)
    )
    chart.alt = in_words(chart, title, limits, note)
    return chart


def _mark(value: float, place: float) -> str:
    """Return the text at a mark of the y axis, a power of two."""
    if value < SMALL:
        return f"$2^{{{np.log2(value):.3g}}}$"
    return f"{value:,.10g}"


def _check_curves(x: Sequence[float], series: Mapping[str, Sequence[float]]) -> None:
    lengths = {len(values) for values in series.values()}
    numbers = np.array([x, *series.values()], float) if lengths == {len(x)} else None
    good = numbers is not None and len(x) > 1 and len(series) <= len(COLOURS)
    if not good or not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise ArgumentError.explained(
            f"plot.curves got {len(x)} places and {len(series)} curves, with "
            f"{sorted(lengths)} values each.",
            "The scales are logarithmic, which leaves out 0 and negative numbers.",
            f"Give 1 to {len(COLOURS)} curves, and a positive value for each x.",
        )
