"""The loss of a training and the outputs of its layers, updated while it runs."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import traitlets
from PIL import Image

from coursekit.widgets.base import CourseWidget
from coursekit.widgets.palette import INKS, LINES

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 740, 190, 44, 18, 162
FEWEST = 12  # least points on the axis of the picture
LOST = "Then the loss is no finite number: the rate is too high."
NOTHING_YET = "No steps yet: the curve grows while the training runs."


class LearningView(CourseWidget, files="learning"):
    """A curve of losses that `add` extends, above pictures that `show` replaces.

    Parameters
    ----------
    chance : float
        The loss of a network that knows nothing, drawn as a line.
    every : int
        The number of steps of which a point shows the mean.

    Attributes
    ----------
    losses : list of float
        The loss of every step.
    means : list of float
        The points, up to the first that is not finite.
    lost : bool
        Whether there was one: a training does not come back from it.

    Examples
    --------
    >>> view = LearningView(chance=2.3, every=2)
    >>> [view.add(loss) for loss in (4.0, 2.0, 1.0)]
    [False, True, False]
    >>> view
    Learning: 2 steps of 3 drawn, loss from 3.00 to 3.00; knowing nothing is 2.30
    """

    chance = traitlets.Float().tag(sync=True)
    every = traitlets.Int().tag(sync=True)
    means = traitlets.List(traitlets.Float()).tag(sync=True)
    lost = traitlets.Bool(False).tag(sync=True)
    pictures = traitlets.List().tag(sync=True)

    def __init__(self, *, chance: float, every: int = 10) -> None:
        super().__init__(chance=float(chance), every=every)
        self.losses: list[float] = []

    def add(self, loss: float) -> bool:
        """Add the loss of a step; return whether it completes a point."""
        self.losses.append(float(loss))
        complete = len(self.losses) % self.every == 0
        if complete:
            mean = float(np.mean(self.losses[-self.every :]))
            self.lost = self.lost or not math.isfinite(mean)
            if not self.lost:
                self.means = [*self.means, mean]
        return complete

    def show(self, pictures: Any) -> None:
        """Replace the pictures; they are given as for ``plot.images``."""
        values: Mapping[str, np.ndarray] = pictures.values
        self.pictures = [
            {"name": name, "alt": f"{name}. {pictures.alt}", "src": _address(grey)}
            for name, grey in values.items()
        ]

    def __repr__(self) -> str:
        after = f". {LOST}" if self.lost else ""
        if not self.means:
            none = f"Learning: no steps yet; knowing nothing is {self.chance:.2f}"
            return none + after
        drawn = len(self.means) * self.every
        return (
            f"Learning: {drawn} steps of {len(self.losses)} drawn, loss from "
            f"{self.means[0]:.2f} to {self.means[-1]:.2f}; knowing nothing is "
            f"{self.chance:.2f}{after}"
        )

    def alt_text(self) -> str:
        if not self.means:
            return LOST if self.lost else NOTHING_YET
        return repr(self)

    def static_svg(self) -> str:
        ink, accent, line = INKS["ink"], LINES["accent"], LINES["line"]
        most = max([1.1 * self.chance, *self.means])
        level = _height(self.chance, most)
        points = " ".join(
            f"{_across(k, len(self.means)):.1f},{_height(mean, most):.1f}"
            for k, mean in enumerate(self.means)
        )
        told = LOST if self.lost else self.alt_text()  # both together would be too long
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="13">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
            f'<path d="M{LEFT},{TOP}V{BOTTOM}H{WIDTH - 10}" fill="none" '
            f'stroke="{line.light}"/>'
            f'<path d="M{LEFT},{level:.1f}H{WIDTH - 10}" stroke="{ink.light}" '
            f'stroke-dasharray="5 4"/>'
            f'<polyline points="{points}" fill="none" stroke="{accent.light}" '
            f'stroke-width="2"/>'
            f'<text x="{LEFT + 6}" y="{HEIGHT - 8}" fill="{ink.light}">'
            f"{escape(told)}</text></svg>"
        )


def _across(number: int, count: int) -> float:
    return LEFT + (WIDTH - 20 - LEFT) * (number + 1) / max(count, FEWEST)


def _height(loss: float, most: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * loss / most


def _address(grey: np.ndarray) -> str:
    """Return a picture, 0 black and 1 white, as the data address of a PNG."""
    stored = io.BytesIO()
    pixels = np.round(255 * np.clip(grey, 0, 1)).astype(np.uint8)
    Image.fromarray(pixels).save(stored, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()
