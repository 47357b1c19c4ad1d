"""What a drawing is made of: rectangles, pieces of lines, texts and their fonts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from PIL import ImageFont

Point = tuple[float, float]
_FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
_FILES = {
    (False, False): "DejaVuSans.ttf",
    (False, True): "DejaVuSans-Bold.ttf",
    (True, False): "DejaVuSansMono.ttf",
    (True, True): "DejaVuSansMono-Bold.ttf",
}


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A place on the drawing, in pixels from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def centre(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def top(self) -> Point:
        """The middle of the upper edge, where arrows arrive."""
        return self.x + self.width / 2, self.y

    @property
    def foot(self) -> Point:
        """The middle of the lower edge, where arrows leave."""
        return self.x + self.width / 2, self.bottom

    def holds(self, other: Rectangle) -> bool:
        """Return whether another rectangle lies inside this one."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right
            and other.bottom <= self.bottom
        )

    def overlap(self, other: Rectangle) -> float:
        """Return the smaller side, in pixels, of what two rectangles share."""
        across = min(self.right, other.right) - max(self.x, other.x)
        down = min(self.bottom, other.bottom) - max(self.y, other.y)
        return max(0.0, min(across, down))


@dataclass(frozen=True, slots=True)
class Font:
    """Size in pixels and kind of a text."""

    size: float = 14
    mono: bool = False
    bold: bool = False

    def width(self, text: str) -> float:
        """Measure a text in DejaVu, which is wider than the fonts of most systems."""
        return _font(_FILES[self.mono, self.bold]).getlength(text) * self.size / 100

    def css(self) -> str:
        """Return the classes of a text in this font."""
        return "m" if self.mono else "s"


@functools.cache
def _font(file: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_FONTS / file), 100)


PROSE, CODE, HEAD = Font(), Font(mono=True), Font(bold=True)
SMALL, SMALL_CODE = Font(12), Font(12, mono=True)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, where its letters are, and the fill that it stands on."""

    text: str
    place: Rectangle
    box: Rectangle
    ink: str
    fill: str


@dataclass(frozen=True, slots=True)
class Line:
    """A straight piece of a line."""

    start: Point
    end: Point
    colour: str

    def crosses(self, place: Rectangle) -> bool:
        """Return whether the piece passes through a rectangle, in steps of a pixel."""
        (x0, y0), (x1, y1) = self.start, self.end
        steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
        return any(
            place.x < x0 + (x1 - x0) * t / steps < place.right
            and place.y < y0 + (y1 - y0) * t / steps < place.bottom
            for t in range(steps + 1)
        )


def around(places: Sequence[Rectangle]) -> Rectangle:
    """Return the rectangle around some rectangles."""
    x, y = min(p.x for p in places), min(p.y for p in places)
    right, bottom = max(p.right for p in places), max(p.bottom for p in places)
    return Rectangle(x, y, right - x, bottom - y)
