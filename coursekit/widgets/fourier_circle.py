"""A Fourier transform by hand: turn the frequency, and watch the arrows add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from coursekit.errors import ArgumentError
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.panel import panel

MOST = 32
RADIUS, WIDTH, HEIGHT = 130, 640, 300  # pixels of the picture
CENTRE = (150, 150)


def fourier_circle(x: Any) -> FourierCircle:
    """Turn values by a frequency of your choice, and watch their sum.

    Each value is an arrow, which is turned back by k / n turns more than the one before
    it. The arrows stand head to tail; from the start of the first to the end of the
    last one is X[k], the Fourier transform of `x` at k.

    Parameters
    ----------
    x : array_like
        Between 2 and 32 values, real or complex.

    Returns
    -------
    FourierCircle
        A widget; stored, it is the picture of frequency 1.

    Raises
    ------
    ArgumentError
        There are too few values or too many, or they are no numbers.

    Examples
    --------
    ``ck.fourier_circle(np.cos(2 * np.pi * 3 * np.arange(16) / 16))``
    """
    values = _checked(x)
    return FourierCircle(values)


def _checked(x: Any) -> np.ndarray:
    try:
        values = np.asarray(x, dtype=np.complex128)
    except (TypeError, ValueError):
        values = np.zeros(0, np.complex128)
    if values.ndim != 1 or not 2 <= values.size <= MOST:
        raise ArgumentError.explained(
            f"fourier_circle got {np.shape(x)} values.",
            f"It draws one arrow per value, for one row of 2 to {MOST} numbers.",
            "Pass a part of a row, for example x[:16].",
        )
    if not np.isfinite(values).all():
        raise ArgumentError.explained(
            "fourier_circle got values that are infinite or NaN.",
            "An arrow has a finite length.",
            "Replace them, for example with np.nan_to_num(x).",
        )
    return values


class FourierCircle(CourseWidget, files="fourier_circle"):
    """The arrows of one frequency, head to tail.

    Attributes
    ----------
    frequency : int
        The k that is shown.
    walks : list
        For each k the ends of the arrows in pixels, from the start on.
    sums : list
        For each k the length of X[k], and its words.
    """

    frequency = traitlets.Int(1, min=0).tag(sync=True)
    walks: traitlets.List[list] = traitlets.List().tag(sync=True)
    sums: traitlets.List[list] = traitlets.List().tag(sync=True)

    def __init__(self, values: np.ndarray):
        found = _walks(values)
        ends = found[:, -1]
        scale = RADIUS / max(float(np.abs(found).max()), 1e-300)
        pixels = np.stack([found.real * scale, -found.imag * scale], axis=-1)
        super().__init__(
            walks=(pixels + np.array(CENTRE)).round(2).tolist(),
            sums=[[round(float(abs(end)), 6), _words(end)] for end in ends],
        )

    def __repr__(self) -> str:
        return f"FourierCircle: {self.alt_text()}"

    def alt_text(self) -> str:
        return sentence(self.frequency, self.sums[self.frequency])

    def static_svg(self) -> str:
        line, accent = palette.LINES["line"].light, palette.LINES["accent"].light
        walk = self.walks[self.frequency]
        points = " ".join(f"{x},{y}" for x, y in walk)
        (x0, y0), (x1, y1) = walk[0], walk[-1]
        body = [
            f'<polyline points="{points}" fill="none" stroke="{line}" '
            'stroke-width="2"/>',
            f'<path d="M{x0} {y0} L{x1} {y1}" stroke="{accent}" stroke-width="4"/>',
            f'<text x="320" y="30">{self.alt_text()}</text>',
        ]
        return panel(WIDTH, HEIGHT, body)


def sentence(k: int, total: list) -> str:
    """Say what the arrows of a frequency add up to."""
    return f"k = {k}: the arrows add up to {total[1]}, of length {total[0]:.4g}."


def _walks(values: np.ndarray) -> np.ndarray:
    """Return the partial sums of each frequency, from 0 on."""
    n = len(values)
    turns = np.outer(np.arange(n), np.arange(n)) % n / n
    arrows = values * np.exp(-2j * np.pi * turns)
    sums = np.cumsum(arrows, axis=1)
    return np.concatenate([np.zeros((n, 1)), sums], axis=1)


def _words(number: complex) -> str:
    """Write a complex number with two digits behind the point."""
    real, imaginary = (round(float(v), 2) + 0.0 for v in (number.real, number.imag))
    sign = "-" if imaginary < 0 else "+"
    return f"{real:.2f} {sign} {abs(imaginary):.2f}i"
