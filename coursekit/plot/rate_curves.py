"""Plot of a benchmark's rates or times over its sizes, with the limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context

from coursekit.errors import ArgumentError
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
from coursekit.plot.drawing import draw_grid, draw_title, mark, names_apart
from coursekit.plot.speedups import corner

_DASHES = ("-", "--", ":", "-.")


def rates(
    benchmark: Any,
    *,
    title: str,
    along: str = "size",
    of: str | None = None,
    each: int | str | None = None,
) -> Chart:
    """Draw each case over the sizes, both on logarithmic scales.

    Parameters
    ----------
    benchmark : Benchmark
        Of `ck.benchmark`; what it has no times of is named.
    title : str
        What the picture shows, as a sentence.
    along : str
        What the sizes are, with their unit.
    of : str, optional
        What a piece of the work is, where `each` is given: "updates", "a launch".
    each : int or "size", optional
        How many pieces of work a call does. A number: pieces a second are drawn. The
        word "size": as many as the size says, and the time of one is drawn.
        Otherwise useful bytes or operations a second, else times.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.

    Raises
    ------
    ArgumentError
        `each` is neither, or there are more cases than colours.
    """
    _check(benchmark, each)
    scale = _scale(benchmark, of or "pieces of work", each)
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        _draw(axes, benchmark, scale)
        axes.set(xlabel=along, ylabel=scale.label)
        draw_title(axes, title)
        draw_grid(axes, "both")
        note = corner(benchmark)
        chart.set_figheight(chart.get_figheight() + 0.15 * note.count("\n"))
        sign(chart, note)
    limit = f"limit of the {benchmark.ceiling.device}"
    chart.headings = (along, *(f"{name} ({scale.unit})" for name in benchmark.cases))
    chart.rows = tuple(_row(benchmark, scale, size) for size in benchmark.sizes)
    if any(benchmark.ceiling.bound_ms(size) for size in benchmark.sizes):
        chart.headings = (*chart.headings, f"{limit} ({scale.unit})")
        bounds = (_bound(benchmark, scale, size) for size in benchmark.sizes)
        chart.rows = tuple(
            (*row, bound) for row, bound in zip(chart.rows, bounds, strict=True)
        )
    note = "; ".join([benchmark.note, *benchmark.lines()])
    chart.alt = in_words(chart, title, {}, note)
    return chart


@dataclass(frozen=True)
class _Scale:
    """The quantity on the y axis: its name, its unit, and its formula."""

    label: str
    unit: str
    value: Callable[[int, float], float]


def _check(benchmark: Any, each: Any) -> None:
    whole = isinstance(each, int) and not isinstance(each, bool) and each > 0
    if not (each is None or each == "size" or whole):
        raise ArgumentError.explained(
            f"plot.rates got each={each!r}.",
            "It says how many pieces of work a call does.",
            'Give a number above 0, or "size" where the size is that number.',
        )
    if len(benchmark.cases) > len(COLOURS):
        raise ArgumentError.explained(
            f"plot.rates got {len(benchmark.cases)} cases.",
            f"There are {len(COLOURS)} colours that all readers tell apart.",
            "Benchmark fewer cases at once.",
        )


def _scale(benchmark: Any, of: str, each: int | str | None) -> _Scale:
    moved, done = benchmark.ceiling.bytes_moved, benchmark.ceiling.flops
    if each == "size":
        return _Scale(f"time of {of} (us)", "us", lambda n, ms: 1e3 * ms / n)
    if each is not None:
        name, unit = f"{of} per second (10^9)", "10^9 per second"
        return _Scale(name, unit, lambda n, ms: each / ms * 1e-6)
    if done:
        name = "useful operations per second (TFLOP/s)"
        return _Scale(name, "TFLOP/s", lambda n, ms: done[n] / ms * 1e-9)
    if moved:
        name = "useful bytes per second (GB/s)"
        return _Scale(name, "GB/s", lambda n, ms: moved[n] / ms * 1e-6)
    return _Scale("time (ms), less is better", "ms", lambda n, ms: ms)


def _row(benchmark: Any, scale: _Scale, size: int) -> tuple:
    rows = (benchmark.find(case, size) for case in benchmark.cases)
    values = (scale.value(size, r.median_ms) if r else "no time" for r in rows)
    return (size, *values)


def _bound(benchmark: Any, scale: _Scale, size: int) -> float | str:
    bound = benchmark.ceiling.bound_ms(size)
    return scale.value(size, bound) if bound else "unknown"


def _draw(axes: Any, benchmark: Any, scale: _Scale) -> None:
    for number, case in enumerate(benchmark.cases):
        rows = [benchmark.find(case, size) for size in benchmark.sizes]
        points = [(r.size, scale.value(r.size, r.median_ms)) for r in rows if r]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                linestyle=_DASHES[number % len(_DASHES)],
                **mark(number),
                label=case,
                zorder=3,
            )
    sizes = [size for size in benchmark.sizes if benchmark.ceiling.bound_ms(size)]
    if sizes:
        bounds = [_bound(benchmark, scale, size) for size in sizes]
        label = f"limit of the {benchmark.ceiling.device}"
        axes.plot(sizes, bounds, "--", color=LIMIT, linewidth=1.2, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(benchmark.sizes, names_apart(benchmark.sizes, _short))
    axes.minorticks_off()
    axes.tick_params(axis="x", labelcolor=FAINT)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    _fit(axes)


def _fit(axes: Any) -> None:
    """Set the range of the y axis, or write that there is nothing to draw."""
    if not axes.lines:
        axes.set_yticks([])
        middle = {"transform": axes.transAxes, "ha": "center", "color": LIMIT}
        axes.text(0.5, 0.5, "no times, and no limit that is known", **middle)
        return
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, high / 20), high)


def _short(size: int) -> str:
    """Format a size by powers of 1024."""
    for power, unit in ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")):
        if size >= power and size % power == 0:
            return f"{size // power} {unit}"
    return f"{size:,}"
