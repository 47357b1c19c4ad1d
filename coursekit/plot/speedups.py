"""Plot of speedups over sizes, with the highest speedup that the limits allow."""

from __future__ import annotations

import textwrap
from math import inf
from typing import Any

from matplotlib import rc_context

from coursekit.plot.chart import (
    COLOURS,
    FAINT,
    LIMIT,
    STYLE,
    Chart,
    in_words,
    new_chart,
    sign,
)
from coursekit.plot.drawing import (
    draw_grid,
    draw_title,
    draw_upright_limits,
    label_bar,
    look,
    mark,
    names_apart,
)

ROOM = 1.8  # times the largest ratio: what of a limit is above is in the table alone
_DASHES = ("-", "--", ":", "-.")


def speedup(benchmark: Any, *, title: str, along: str = "size") -> Chart:
    """Draw how much faster each case is than the first: over sizes, or as bars.

    Parameters
    ----------
    benchmark : Benchmark
        Of `ck.benchmark`; what it has no times of is named.
    title : str
        What the picture shows, as a sentence.
    along : str
        What the sizes are, with their unit.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.
    """
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        bounds = _bounds(benchmark)
        if len(benchmark.sizes) == 1:
            chart.set_figheight(max(2.9, 2 + 0.45 * len(benchmark.cases)))
            _draw_bars(axes, benchmark, bounds, title)
        else:
            _draw_lines(axes, benchmark, bounds)
            axes.set(xlabel=along, ylabel=_axis(benchmark))
            axes.set_ylim(bottom=0, top=min(1.2 * axes.get_ylim()[1], _room(benchmark)))
            draw_title(axes, title)
            draw_grid(axes, "y")
        note = corner(benchmark)
        chart.set_figheight(chart.get_figheight() + 0.15 * note.count("\n"))
        sign(chart, note)
    chart.headings = (along, *benchmark.cases, f"limit of the {_device(benchmark)}")
    chart.rows = tuple(
        (size, *_ratios(benchmark, size), bounds.get(size, "unknown"))
        for size in benchmark.sizes
    )
    note = "; ".join([benchmark.note, *benchmark.lines()])
    chart.alt = in_words(chart, title, {}, note)
    return chart


def corner(benchmark: Any) -> str:
    """Return the text of the corner: cases without times, and the origin of times."""
    told = [line if len(line) < 110 else f"{line[:109]}…" for line in benchmark.lines()]
    return "\n".join([*told[:6], benchmark.note])


def _device(benchmark: Any) -> str:
    return benchmark.ceiling.device


def _ratios(benchmark: Any, size: int) -> list[Any]:
    rows = (benchmark.find(case, size) for case in benchmark.cases)
    return [row.ratio if row else "no time" for row in rows]


def _room(benchmark: Any) -> float:
    """Return the upper end of the axis: a far limit must not flatten the curves."""
    return ROOM * max((row.ratio for row in benchmark.rows), default=inf)


def _bounds(benchmark: Any) -> dict[int, float]:
    """Return the speedup over the first case that no case can exceed, by size."""
    bounds = {}
    for size in benchmark.sizes:
        row = benchmark.find(benchmark.cases[0], size)
        bound = benchmark.ceiling.bound_ms(size)
        if row and bound:
            bounds[size] = row.median_ms / bound
    return bounds


def _axis(benchmark: Any) -> str:
    return textwrap.fill(f"speed relative to {benchmark.cases[0]} (times)", 45)


def _draw_bars(axes: Any, benchmark: Any, bounds: dict[int, float], title: str) -> None:
    size = benchmark.sizes[0]
    limits = {f"limit of the {_device(benchmark)}": v for v in bounds.values()}
    most = max([*limits.values(), *(row.ratio for row in benchmark.rows)], default=1.0)
    for place, case in enumerate(benchmark.cases):
        row = benchmark.find(case, size)
        if row:
            axes.barh(place, row.ratio, 0.72, zorder=3, **look(place))
            text, end = f"{row.ratio:.3g} times", (row.ratio, place)
            label_bar(axes, end, text, most=most, limits=limits.values())
    names = [textwrap.fill(case, 30) for case in benchmark.cases]
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.8), xlim=(0, 1.02 * most))
    axes.set_xlabel(_axis(benchmark))
    draw_title(axes, title, over_names=bool(limits))
    draw_grid(axes, "x")
    draw_upright_limits(axes, limits)


def _draw_lines(axes: Any, benchmark: Any, bounds: dict[int, float]) -> None:
    count = len(COLOURS)
    for number, case in enumerate(benchmark.cases):
        rows = [benchmark.find(case, size) for size in benchmark.sizes]
        points = [(row.size, row.ratio) for row in rows if row]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                linestyle=_DASHES[number // count % len(_DASHES)],
                **mark(number),
                label=case,
                zorder=3,
            )
    if bounds:
        above = min(bounds.values()) > _room(benchmark)
        label = f"limit of the {_device(benchmark)}{' (above)' if above else ''}"
        axes.plot(*zip(*bounds.items(), strict=True), "--", color=LIMIT, label=label)
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(benchmark.sizes) / 1.2, max(benchmark.sizes) * 1.2)
    axes.set_xticks(benchmark.sizes, names_apart(benchmark.sizes, "{:,}".format))
    axes.minorticks_off()
    axes.tick_params(axis="x", labelcolor=FAINT)
