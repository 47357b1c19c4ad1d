"""Parts that several plots share: lines, bars, limits, titles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from coursekit.plot.chart import (
    COLOURS,
    HATCHES,
    LIMIT,
    MARKERS,
    ON_PLATE,
    PLATE,
    as_text,
)

_LEGEND_LETTERS = 100  # of a row above the plot, the marks included
_LEGEND_ROW = 16  # points
_LETTER_SHARE = 0.017  # of the width of a plot, at most
_TICK_SHARE = 0.0135  # of the width of a plot, for a letter under the axis
_LABEL_SHARE = 0.1  # of the height of a plot, for the value above a bar


def draw_lines(axes, keys: list, values: list, names: list[str]) -> None:
    """Draw each series in a colour and with a marker of its own."""
    for series, name, colour, marker in zip(
        values, names, COLOURS, MARKERS, strict=False
    ):
        axes.plot(
            keys,
            series,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.6,
            label=name,
            zorder=3,
        )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=4))


def draw_bars(axes, keys: list, values: list, names: list[str]) -> None:
    """Draw the series side by side, in a colour and a hatching of its own each."""
    width = 0.8 / len(values)
    for number, (series, name) in enumerate(zip(values, names, strict=True)):
        offset = (number - (len(values) - 1) / 2) * width
        bars = axes.bar(
            [place + offset for place in range(len(keys))],
            series,
            0.92 * width,
            color=COLOURS[number],
            edgecolor="white",
            hatch=HATCHES[number],
            label=name,
            zorder=3,
        )
        axes.bar_label(bars, [as_text(value) for value in series], padding=2)
    axes.set_xticks(range(len(keys)), [str(key) for key in keys])


def draw_title(axes, title: str, *, over_names: bool = False) -> None:
    """Write the claim of a plot above it, its legend, and names of vertical limits."""
    legend = 0 if over_names else _LEGEND_ROW * _draw_legend(axes)  # points
    axes.figure.set_figheight(axes.figure.get_figheight() + legend / 72)
    pad = 26 if over_names else 12 + legend
    axes.set_title(
        title, loc="left", fontsize=12, fontweight="bold", pad=pad, wrap=True
    )


def _draw_legend(axes) -> int:
    """Write the names of the series above the plot, off the curves; return the rows.

    A series alone needs no name: the axis has it.
    """
    handles, names = axes.get_legend_handles_labels()
    if len(names) < 2 and not any(map(_is_limit, handles)):
        return 0
    columns = max(1, min(len(names), _LEGEND_LETTERS // (max(map(len, names)) + 7)))
    axes.legend(
        handles,
        names,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        borderpad=0,
        labelspacing=0.3,
        ncols=columns,
    )
    return math.ceil(len(names) / columns)


def _is_limit(handle: Any) -> bool:
    return isinstance(handle, Line2D) and handle.get_color() == LIMIT


def names_apart(sizes: Sequence[float], name: Callable[[Any], str]) -> list[str]:
    """Return names for places on a logarithmic axis, "" where one has no room."""
    decades = math.log(max(sizes) / min(sizes)) or 1
    names, free = [], -math.inf  # where the axis is free, as a share of it
    for size in sizes:
        middle = math.log(size / min(sizes)) / decades
        half = _TICK_SHARE * (len(name(size)) + 1) / 2
        room = middle - half >= free
        names.append(name(size) if room else "")
        free = middle + half if room else free
    return names


def draw_grid(axes, axis: str) -> None:
    """Draw faint lines behind the data: "x", "y" or "both"."""
    axes.grid(axis=axis, zorder=0)
    axes.set_axisbelow(True)


def plate() -> dict[str, Any]:
    """Return the style of a text on a dark plate, which is readable on any ground."""
    box = {"facecolor": PLATE, "edgecolor": "none", "boxstyle": "round,pad=0.2"}
    return {"color": ON_PLATE, "bbox": box}


def keep_labels_off(axes, values: Iterable[float]) -> None:
    """Move the value above a bar into the bar where a horizontal line crosses it."""
    low, high = axes.get_ylim()
    height = _LABEL_SHARE * (high - low)
    for text in axes.texts:
        top = text.xy[1] if isinstance(text, Annotation) else math.inf
        if any(top - 0.02 * height <= value <= top + height for value in values):
            text.set(va="top", **plate())
            text.xyann = (0, -6)


def look(number: int) -> dict[str, Any]:
    """Return colour and hatching of a bar by its number, different for 36 bars."""
    count = len(COLOURS)
    return {
        "color": COLOURS[number % count],
        "hatch": HATCHES[(number + number // count) % count],
        "edgecolor": "white",
    }


def mark(number: int) -> dict[str, Any]:
    """Return colour and marker of a point by its number, different for 36 points."""
    count = len(COLOURS)
    return {
        "color": COLOURS[number % count],
        "marker": MARKERS[(number + number // count) % count],
    }


def draw_upright_limits(axes, limits: Mapping[str, float]) -> None:
    """Draw vertical limits, with their names above the plot."""
    for name, value in limits.items():
        axes.axvline(value, color=LIMIT, linestyle="--", linewidth=1.2, zorder=2)
        axes.annotate(
            name,
            (value, 1),
            xytext=(4, 4),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=9.5,
            color=LIMIT,
        )


def draw_limits(axes, limits: Mapping[str, float]) -> None:
    """Draw horizontal limits; the legend has their names."""
    style = {"color": LIMIT, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
    for name, value in limits.items():
        axes.axhline(value, label=name, **style)


def label_bar(
    axes: Any,
    end: tuple[float, int],
    text: str,
    *,
    most: float,
    limits: Iterable[float],
) -> None:
    """Write a value behind its bar; into it where the plot ends, or a limit crosses."""
    value, place = end
    width = _LETTER_SHARE * len(text) * most
    crossed = [limit for limit in limits if value <= limit < value + width]
    inside = value + width > most or (crossed and value > width)
    start = value if inside else max([value, *crossed])
    axes.annotate(
        text,
        (start, place),
        xytext=(-6 if inside else 6, 0),
        textcoords="offset points",
        ha="right" if inside else "left",
        va="center",
        fontsize=9.5,
        zorder=4,
        **(plate() if inside else {}),
    )
