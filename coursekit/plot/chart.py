"""The figure of all plots: its style, its alt text, and its numbers as a table."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "//", "..", "xx", "\\\\", "++")
# A picture has no ground of its own: these are readable on a white page and on an
# almost black one, where DARK makes them brighter. What is filled has its own ink.
INK, FAINT, LIMIT, GRID = "#6a737d", "#6e7781", "#c9402f", "#7d87924d"
PLATE, ON_PLATE = "#24292f", "#ffffff"
BRIGHTER = 1.2
DARK = (
    '<style>body[data-jp-theme-light="false"] .ck-chart'
    f"{{filter:brightness({BRIGHTER})}}</style>"
)
SIZE_INCHES, DOTS_PER_INCH = (7.6, 4.0), 160
STYLE = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}


class Chart(Figure):
    """A matplotlib figure that a notebook shows with alt text and as a table.

    Attributes
    ----------
    alt : str
        What the picture shows, in words.
    headings, rows : sequence
        The numbers of the picture.
    """

    alt = ""
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()

    def __repr__(self) -> str:
        cells = [self.headings, *([as_text(v) for v in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(f"{v:>{w}}" for v, w in zip(row, widths, strict=True))
            for row in cells
        ]
        return "\n".join([self.alt, *lines])

    __str__ = __repr__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        data = base64.b64encode(self._picture()).decode("ascii")
        width = round(self.get_figwidth() * 96)
        return (
            f'{DARK}<img class="ck-chart" alt="{escape(self.alt)}" width="{width}" '
            f'style="max-width:100%" '
            f'src="data:image/webp;base64,{data}">'
            f"<details><summary>The same as a table</summary>{self._table()}</details>"
        )

    def _picture(self) -> bytes:
        """Render as lossless WebP with few colours, which is smaller than PNG."""
        drawn, reduced = io.BytesIO(), io.BytesIO()
        self.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
        image = few_colours(Image.open(drawn)).convert("RGBA")
        image.save(reduced, format="webp", lossless=True, method=4)
        return reduced.getvalue()

    def _table(self) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.headings)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(as_text(v))}</td>" for v in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def few_colours(image: Image.Image, count: int = 64) -> Image.Image:
    """Return a picture with few colours, and as transparent as it was."""
    return image.convert("RGBA").quantize(count, method=Image.Quantize.FASTOCTREE)


def new_chart() -> Chart:
    """Return an empty, transparent chart of the size that all charts have."""
    chart = Chart(figsize=SIZE_INCHES, facecolor="none", layout="constrained")
    chart.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return chart


def sign(chart: Chart, note: str) -> None:
    """Write the origin of the numbers into the corner."""
    chart.supxlabel(note, x=0.995, ha="right", fontsize=8.5, color=FAINT)


def in_words(chart: Chart, title: str, limits: Mapping[str, float], note: str) -> str:
    """Return the alt text: the title, every number of the rows, the limits."""
    parts = [title.rstrip(".")]
    for position, name in enumerate(chart.headings[1:], start=1):
        points = ", ".join(_runs([(row[0], row[position]) for row in chart.rows]))
        parts.append(f"{name} by {chart.headings[0]}: {points}")
    parts += [
        f"Dashed line at {as_text(value)}: {name}" for name, value in limits.items()
    ]
    return ". ".join([*parts, note[:1].upper() + note[1:]]) + "."


def _runs(points: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Return each value with its key; equal values of neighbours are joined."""
    if any(isinstance(key, str) for key, _ in points):
        yield from (f"{as_text(value)} for {key}" for key, value in points)
        return
    for value, run in groupby(points, key=lambda point: point[1]):
        keys = [key for key, _ in run]
        where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
        yield f"{as_text(value)} {where}"


def as_text(value: Any) -> str:
    """Format a number with the digits that a reader needs."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
