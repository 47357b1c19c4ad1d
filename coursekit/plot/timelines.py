"""Plot of a timeline: the work of each engine or stream over time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from matplotlib import rc_context

from coursekit.errors import ArgumentError
from coursekit.plot.chart import FAINT, STYLE, Chart, in_words, new_chart, sign
from coursekit.plot.drawing import (
    draw_grid,
    draw_title,
    draw_upright_limits,
    look,
    plate,
)


def timeline(
    spans: Iterable[tuple[str, str, float, float]],
    *,
    title: str,
    origin: str,
    limits: Mapping[str, float] | None = None,
    unit: str = "ms",
    waits: Collection[str] = (),
) -> Chart:
    """Draw work as bars in lanes over time.

    Parameters
    ----------
    spans : iterable of (lane, name, start, end)
        The lane is an engine or a stream, in order of first appearance; the times are
        in `unit`.
    title : str
        What the picture shows, as a sentence.
    origin : str
        Where the times are from: a GPU and a day, or a computed schedule.
    limits : mapping of str to float, optional
        Lines from bottom to top: what each is, and when.
    unit : str
        Unit of all times.
    waits : collection of str
        Names of spans that are no work: they are drawn as dotted outlines.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.

    Raises
    ------
    ArgumentError
        There is nothing to draw, or something ends before it starts.
    """
    spans = [tuple(span) for span in spans]
    _check(spans)
    lanes = list(dict.fromkeys(span[0] for span in spans))
    limits = dict(limits or {})
    end = max([*limits.values(), *(span[3] for span in spans)])
    with rc_context(STYLE):
        chart = new_chart()
        # The names of limits stand above the axes, and need room of their own.
        chart.set_figheight(max(1.7 + 0.5 * len(lanes), 3.1 if limits else 0))
        axes = chart.add_subplot()
        for span in spans:
            _draw(axes, span, lanes.index(span[0]), end, span[1] in waits)
        axes.set_yticks(range(len(lanes)), lanes)
        axes.set_ylim(len(lanes) - 0.4, -0.8)
        axes.set_xlim(0, 1.03 * end)
        axes.set_xlabel(f"time ({unit})")
        draw_title(axes, title, over_names=bool(limits))
        draw_grid(axes, "x")
        draw_upright_limits(axes, limits)
        sign(chart, origin)
    chart.headings = ("lane", "work", f"start ({unit})", f"end ({unit})")
    chart.rows = tuple(spans)
    chart.alt = _in_words(chart, title, spans, limits, origin, unit)
    return chart


def _check(spans: list[tuple]) -> None:
    for span in spans:
        if len(span) != 4 or not 0 <= span[2] <= span[3]:
            raise ArgumentError.explained(
                f"plot.timeline got {span!r}.",
                "Something cannot end before it starts, nor start before 0.",
                "Give (lane, name, start, end), with times from 0 on.",
            )
    if not spans:
        raise ArgumentError.explained(
            "plot.timeline got nothing to draw.",
            cure="Give at least one (lane, name, start, end).",
        )


def _draw(axes: Any, span: tuple, lane: int, whole: float, waits: bool) -> None:
    _, name, start, end = span
    style = look(lane) | {"hatch": ""}
    if waits:
        style = {"facecolor": "none", "edgecolor": FAINT, "linestyle": ":"}
    axes.barh(lane, end - start, 0.62, start, zorder=3, **style)
    fits = len(name) * 0.0125 * whole < end - start
    if fits:
        middle = (start + end) / 2
        style = {"ha": "center", "va": "center", "fontsize": 8.5} | plate()
        axes.text(middle, lane, name, zorder=4, **style)


def _in_words(chart, title, spans, limits, origin, unit) -> str:
    lanes: dict[str, list[str]] = {}
    for lane, name, start, end in spans:
        lanes.setdefault(lane, []).append(f"{name} from {start:.3g} to {end:.3g}")
    told = ". ".join(f"{lane}: {', '.join(parts)}" for lane, parts in lanes.items())
    plain = Chart()
    plain.headings = (chart.headings[0],)
    return in_words(plain, f"{title.rstrip('.')}. In {unit}. {told}", limits, origin)
