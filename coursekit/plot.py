"""Pictures of counts, with units, limits, and the same numbers as text.

A chapter says what to draw and what it means; how it looks is decided here. Colours
are those of Okabe and Ito, which colour-blind readers tell apart, and every series
has a marker or a hatching of its own besides.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from numbers import Real
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image

from coursekit.errors import ArgumentError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "//", "..", "xx", "\\\\", "++")
INK, FAINT, LIMIT = "#1f2328", "#59636e", "#8a1c1c"
SIZE_INCHES, DOTS_PER_INCH = (7.6, 4.0), 160
STYLE = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}
_UNITS = {
    "arithmetic_intensity": "arithmetic intensity (FLOP per byte)",
    "warp_efficiency": "warp efficiency (share of lanes, 0 to 1)",
    "flops_fp16": "FP16 operations (FLOP)",
    "flops_fp32": "FP32 operations (FLOP)",
    "flops_fp64": "FP64 operations (FLOP)",
    "tensor_flops": "tensor-core operations (FLOP)",
}
_ORIGINS = {"simulator": "counted on the simulator", "ncu": "Nsight Compute"}


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
        cells = [self.headings, *([_text(v) for v in row] for row in self.rows)]
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
            f'<img alt="{escape(self.alt)}" width="{width}" '
            f'style="max-width:100%;background:white" '
            f'src="data:image/webp;base64,{data}">'
            f"<details><summary>The same as a table</summary>{self._table()}</details>"
        )

    def _picture(self) -> bytes:
        """Draw with few colours and as lossless WebP, smaller than PNG."""
        drawn, reduced = io.BytesIO(), io.BytesIO()
        self.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
        image = Image.open(drawn).convert("RGB").quantize(32).convert("RGB")
        image.save(reduced, format="webp", lossless=True, method=4)
        return reduced.getvalue()

    def _table(self) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.headings)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_text(v))}</td>" for v in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def counters(
    counts: Mapping[Any, Any],
    fields: str | Sequence[str],
    *,
    title: str,
    along: str,
    limits: Mapping[str, float] | None = None,
) -> Chart:
    """Draw counters of several launches: lines over numbers, bars over names.

    Parameters
    ----------
    counts : mapping of number or str to Counters, or to several of them
        For example ``{stride: ck.count(...)}``. Several are added up, as of kernels
        that run one after the other.
    fields : str or sequence of str
        Names of counters, at most six; each is a series.
    title : str
        What the picture shows, as a sentence.
    along : str
        What the keys are, with their unit.
    limits : mapping of str to float, optional
        Lines across the picture: what each is, and where it lies.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.

    Raises
    ------
    ArgumentError
        If there is nothing to draw, or a field is no counter.
    """
    fields = (fields,) if isinstance(fields, str) else tuple(fields)
    limits = dict(limits or {})
    keys = sorted(counts) if _are_numbers(counts) else list(counts)
    series = {key: _several(counts[key]) for key in keys}
    _check(series, fields)
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        values = [[_total(f, name) for f in series.values()] for name in fields]
        draw = draw_lines if _are_numbers(counts) else _draw_bars
        draw(axes, keys, values, [name.replace("_", " ") for name in fields])
        draw_limits(axes, limits)
        _label(axes, fields, title=title, along=along)
        note = ", ".join(dict.fromkeys(_origins(series, fields)))
        sign(chart, note)
    chart.headings = (along, *(name.replace("_", " ") for name in fields))
    chart.rows = tuple(zip(keys, *values, strict=True))
    chart.alt = in_words(chart, title, limits, note)
    return chart


def new_chart() -> Chart:
    """Return an empty chart of the size that all charts have."""
    chart = Chart(figsize=SIZE_INCHES, facecolor="white", layout="constrained")
    chart.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return chart


def sign(chart: Chart, note: str) -> None:
    """Say in the corner where the numbers are from."""
    chart.supxlabel(note, x=0.995, ha="right", fontsize=8.5, color=FAINT)


def __getattr__(name: str) -> Any:
    """Find `curves` and `images` too, which coursekit.figures draws."""
    if name not in ("curves", "images"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from coursekit import figures

    return getattr(figures, name)


def _several(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, list | tuple) else (found,)


def _total(found: Sequence[Any], name: str) -> Any:
    return sum(getattr(one, name) for one in found)


def _check(series: Mapping[Any, Sequence[Any]], fields: Sequence[str]) -> None:
    if not all(series.values()) or not series or not 1 <= len(fields) <= len(COLOURS):
        raise ArgumentError.explained(
            f"plot.counters got {len(series)} entries and {len(fields)} counters.",
            cure=f"Give at least one count an entry, and 1 to {len(COLOURS)} counters.",
        )
    for key, found in series.items():
        for name in fields:
            _check_counter(key, found, name)


def _check_counter(key: Any, found: Sequence[Any], name: str) -> None:
    for one in found:
        if not isinstance(getattr(one, name, None), Real):
            raise ArgumentError.explained(
                f"plot.counters finds no counter {name!r} for {key!r}, which is of "
                f"the type {type(one).__name__}.",
                "The name is misspelt, or the value is not what ck.count returns.",
                "print(ck.count(...)) lists the names.",
            )
    if len(found) > 1 and isinstance(getattr(found[0], name), float):
        raise ArgumentError.explained(
            f"plot.counters cannot add up {name} of {len(found)} counts, for {key!r}.",
            "It is a ratio, and ratios of several launches have no sum.",
            "Draw counts, or one launch an entry.",
        )


def _are_numbers(counts: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, Real) for key in counts)


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


def _draw_bars(axes, keys: list, values: list, names: list[str]) -> None:
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
        axes.bar_label(bars, [_text(value) for value in series], padding=2)
    axes.set_xticks(range(len(keys)), [str(key) for key in keys])


def draw_limits(axes, limits: Mapping[str, float]) -> None:
    """Draw lines across the picture, with their names."""
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


def _label(axes, fields: Sequence[str], *, title: str, along: str) -> None:
    one = _UNITS.get(fields[0], fields[0].replace("_", " "))
    several = "bytes" if all(f.startswith("bytes_") for f in fields) else "count"
    axes.set_ylabel(one if len(fields) == 1 else several)
    axes.set_xlabel(along)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=12, wrap=True)
    axes.set_ylim(0, axes.get_ylim()[1] * (1.1 if len(fields) == 1 else 1.25))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.grid(axis="y", color="#d8dee4", linewidth=0.8, zorder=0)
    if len(fields) > 1:
        axes.legend(frameon=False, loc="upper right", ncols=min(len(fields), 3))


def _origins(series: Mapping[Any, Any], fields: Sequence[str]) -> Iterator[str]:
    for found in (one for several in series.values() for one in several):
        yield _ORIGINS.get(found.source, found.source)
        if any(found.label(name) == "ptx" for name in fields):
            yield "of PTX, not of machine code"


def in_words(chart: Chart, title: str, limits: Mapping[str, float], note: str) -> str:
    """Tell the picture: its title, every number of its rows, its limits."""
    parts = [title.rstrip(".")]
    for position, name in enumerate(chart.headings[1:], start=1):
        points = ", ".join(_runs([(row[0], row[position]) for row in chart.rows]))
        parts.append(f"{name} by {chart.headings[0]}: {points}")
    parts += [
        f"Dashed line at {_text(value)}: {name}" for name, value in limits.items()
    ]
    return ". ".join([*parts, note[:1].upper() + note[1:]]) + "."


def _runs(points: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Say each value with its key; one that stays over numbers is said once."""
    if any(isinstance(key, str) for key, _ in points):
        yield from (f"{_text(value)} for {key}" for key, value in points)
        return
    for value, run in groupby(points, key=lambda point: point[1]):
        keys = [key for key, _ in run]
        where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
        yield f"{_text(value)} {where}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
