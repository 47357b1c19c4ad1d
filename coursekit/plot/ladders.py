"""Plot of a ladder: a bar for the rate of each step, and the limit as a line."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib import rc_context

from coursekit.benchmarking.ceilings import in_units
from coursekit.plot.chart import LIMIT, STYLE, Chart, in_words, new_chart, sign
from coursekit.plot.drawing import (
    draw_grid,
    draw_title,
    draw_upright_limits,
    label_bar,
    look,
)

_UNITS = {"bandwidth": "GB/s", "arithmetic": "TFLOP/s", "time": "ms"}
_NAMES = {
    "bandwidth": "useful bytes per second (GB/s)",
    "arithmetic": "useful operations per second (TFLOP/s)",
    "time": "time (ms), less is better",
}
_NAME_WIDTH = 30  # letters of a step's name, in a line


def ladder(benchmark: Any, *, title: str, size: int | None = None) -> Chart:
    """Draw the steps of a ladder from top to bottom, and the limit as a line.

    Rates where the benchmark knows operations or bytes, else times.

    Parameters
    ----------
    benchmark : Benchmark
        Of `ck.benchmark`. A step without times has its counts instead of a bar.
    title : str
        What the picture shows, as a sentence.
    size : int, optional
        The largest, unless told otherwise.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.
    """
    size = max(benchmark.sizes) if size is None else size
    limit = _limit(benchmark, size)
    unit = _UNITS[benchmark.ceiling.quantity]
    with rc_context(STYLE):
        chart = new_chart()
        chart.set_figheight(max(2.9, 2 + 0.45 * len(benchmark.cases)))
        axes = chart.add_subplot()
        values = {case: _value(benchmark, case, size) for case in benchmark.cases}
        _draw(axes, benchmark, values, size, limit)
        axes.set_xlabel(f"{_NAMES[benchmark.ceiling.quantity]} at size {size:,}")
        draw_title(axes, title, over_names=bool(limit))
        draw_grid(axes, "x")
        draw_upright_limits(axes, limit)
        sign(chart, benchmark.note)
    chart.headings = ("step", unit, "of the limit")
    chart.rows = tuple(
        (case, *_texts(benchmark, case, size, value)) for case, value in values.items()
    )
    note = "; ".join([benchmark.note, *benchmark.lines(size)])
    chart.alt = in_words(chart, title, limit, note)
    return chart


def _value(benchmark: Any, case: str, size: int) -> float | None:
    row = benchmark.find(case, size)
    if row is None:
        return None
    rates = {"bandwidth": benchmark.bandwidth_gbs, "arithmetic": benchmark.tflops}
    rate = rates.get(benchmark.ceiling.quantity)
    return rate(row) if rate else row.median_ms


def _limit(benchmark: Any, size: int) -> dict[str, float]:
    """Return the name of the limit at a size, and its value on the axis."""
    ceiling = benchmark.ceiling
    bound = ceiling.bound_ms(size)
    if not bound:
        return {}
    value = {
        "bandwidth": lambda: ceiling.bytes_moved[size] / bound * 1e-6,
        "arithmetic": lambda: ceiling.flops[size] / bound * 1e-9,
        "time": lambda: bound,
    }[ceiling.quantity]()
    unit = _UNITS[ceiling.quantity]
    return {f"limit of the {ceiling.device}: {value:,.4g} {unit}": value}


def _texts(benchmark: Any, case: str, size: int, value: float | None) -> tuple:
    if value is None:
        return benchmark.missing.get(case, "no time"), "unknown"
    share = benchmark.share(benchmark.find(case, size))
    return value, "unknown" if share is None else f"{share:.1%}"


def _draw(axes: Any, benchmark: Any, values: dict, size: int, limit: dict) -> None:
    unit = _UNITS[benchmark.ceiling.quantity]
    drawn = [value for value in values.values() if value is not None]
    most = max([*limit.values(), *drawn], default=1.0)
    for place, (case, value) in enumerate(values.items()):
        if value is None:
            text = _instead(benchmark, case, size)
            axes.text(0.01 * most, place, text, va="center", fontsize=8.5, color=LIMIT)
            continue
        row = benchmark.find(case, size)
        spread = value * row.iqr_ms / row.median_ms / 2
        axes.barh(place, value, 0.72, xerr=spread, zorder=3, **look(place))
        share = benchmark.share(row)
        text = f"{value:,.4g} {unit}" + (f", {share:.0%}" if share else "")
        label_bar(axes, (value, place), text, most=most, limits=limit.values())
    names = [textwrap.fill(case, _NAME_WIDTH) for case in values]
    axes.set_yticks(range(len(values)), names)
    axes.set_ylim(len(values) - 0.4, -0.8)
    axes.set_xlim(0, 1.02 * most)
    axes.xaxis.set_major_formatter("{x:,.10g}")


def _instead(benchmark: Any, case: str, size: int) -> str:
    """Return text for a step without times: why, its counts, its limit."""
    reason = benchmark.missing.get(case, "no time")
    bound = benchmark.ceiling.bound_ms(size)
    if bound:
        reason += f"; at least {in_units(bound)} on the {benchmark.ceiling.device}"
    counted = benchmark.counted_text(case)
    return "\n".join([reason, counted[:100]] if counted else [reason])
