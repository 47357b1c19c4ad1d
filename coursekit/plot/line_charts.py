"""Curves of formulas and grey pictures, drawn like the counts of coursekit.plot."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from matplotlib import rc_context
from PIL import Image

from coursekit.errors import ArgumentError
from coursekit.plot.chart import COLOURS, STYLE, Chart, in_words, new_chart, sign
from coursekit.plot.drawing import draw_limits, draw_lines

WIDTH_PIXELS, WIDEST_PIXELS = 720, 450  # of a row of pictures, of one


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
        axes.set_xticks(list(x), [f"{value:,.10g}" for value in x])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:,.10g}")
        axes.set(xlabel=along, ylabel=of)
        axes.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=12)
        axes.grid(color="#d8dee4", linewidth=0.8, zorder=0)
        axes.legend(frameon=False, loc="upper left")
        sign(chart, note)
    chart.headings = (along, *series)
    chart.rows = tuple(
        zip(x, *(list(map(float, v)) for v in series.values()), strict=True)
    )
    chart.alt = in_words(chart, title, limits, note)
    return chart


@dataclass(frozen=True, repr=False)
class Pictures:
    """Grey pictures side by side, with alt text and statistics.

    Attributes
    ----------
    title, alt : str
        What they show, as a sentence, and for who cannot see them.
    values : dict of str to ndarray
        Each picture by its name: 0 is black, 1 is white.
    """

    title: str
    alt: str
    values: Mapping[str, np.ndarray]

    @property
    def rows(self) -> tuple[tuple, ...]:
        """Name, size, mean and standard deviation of each."""
        return tuple(
            (name, *np.shape(values), float(np.mean(values)), float(np.std(values)))
            for name, values in self.values.items()
        )

    def __repr__(self) -> str:
        lines = (
            f"  {name}: {rows} rows of {cols}, mean {mean:.3f}, deviation {spread:.3f}"
            for name, rows, cols, mean, spread in self.rows
        )
        return "\n".join([f"{self.title}. {self.alt}", *lines])

    def _repr_html_(self) -> str:
        width = min(WIDTH_PIXELS // len(self.values), WIDEST_PIXELS)
        shown = "".join(
            f'<div style="display:inline-block;margin:4px 8px 4px 0">'
            f'<div style="margin:2px 0">{escape(name)}</div>'
            f'<img alt="{escape(f"{name}. {self.alt}")}" width="{width}" '
            f'src="data:image/jpeg;base64,{_jpeg(values)}"></div>'
            for name, values in self.values.items()
        )
        return f"<div><b>{escape(self.title)}</b></div>{shown}"


def images(pictures: Mapping[str, np.ndarray], *, title: str, alt: str) -> Pictures:
    """Show grey pictures side by side, 0 as black and 1 as white.

    Parameters
    ----------
    pictures : mapping of str to ndarray
        What each picture is, and its values, in rows and columns.
    title : str
        What the pictures show, as a sentence.
    alt : str
        The same for who cannot see them.

    Returns
    -------
    Pictures

    Raises
    ------
    ArgumentError
        If there is no picture, or one has not two dimensions.
    """
    _check_images(pictures)
    return Pictures(title, alt, dict(pictures))


def _jpeg(values: np.ndarray) -> str:
    """Return a picture as JPEG, which takes a fifth of the bytes where it is noisy."""
    grey = np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)
    drawn = io.BytesIO()
    Image.fromarray(grey).save(drawn, format="jpeg", quality=60, optimize=True)
    return base64.b64encode(drawn.getvalue()).decode("ascii")


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


def _check_images(pictures: Mapping[str, np.ndarray]) -> None:
    shapes = {name: np.shape(values) for name, values in pictures.items()}
    if not shapes or any(len(shape) != 2 for shape in shapes.values()):
        raise ArgumentError.explained(
            f"plot.images got pictures of the shapes {shapes}.",
            cure="Give at least one, each with rows and columns.",
        )
