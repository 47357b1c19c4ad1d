"""Parts that several plots share: lines, bars, limits, titles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.ticker import MaxNLocator

from coursekit.plot.chart import COLOURS, HATCHES, LIMIT, MARKERS, as_text


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
    """Write the claim of a plot above it, and above the names of vertical limits."""
    pad = 26 if over_names else 12
    axes.set_title(
        title, loc="left", fontsize=12, fontweight="bold", pad=pad, wrap=True
    )


def draw_grid(axes, axis: str) -> None:
    """Draw faint lines behind the data: "x", "y" or "both"."""
    axes.grid(axis=axis, color="#d8dee4", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)


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
    """Draw horizontal limits with their names."""
    for name, value in limits.items():
        axes.axhline(value, color=LIMIT, linestyle="--", linewidth=1.2, zorder=2)
        axes.annotate(
            name,
            (1, value),
            xytext=(0, 6),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            fontsize=9.5,
            color=LIMIT,
        )
