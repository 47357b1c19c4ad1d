"""A drawing of the course: boxes, cells, labels, arrows and braces, as SVG.

The page under a drawing may be white or almost black, and an image cannot ask which.
So every text stands on a fill of its own, and lines have a colour that both show.
A drawing remembers where its texts are, so that tests can measure them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from colours import FILLS, LINE
from shapes import Font, Line, Point, Rectangle, Text

Anchor = Literal["start", "middle", "end"]

WIDTH = 760
PAD = 7
SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'
MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
PROSE, CODE, HEAD = Font(), Font(mono=True), Font(bold=True)
SMALL, SMALL_CODE = Font(12), Font(12, mono=True)


@dataclass(slots=True)
class Drawing:
    """An SVG with alt text.

    Attributes
    ----------
    name : str
        The file's name without `.svg`; it begins with the number of the chapter.
    alt : str
        What the drawing shows, in words.
    height, width : float
        Size in pixels.
    marks : list
        Every text, line and filled rectangle, in the order in which they were drawn.
    """

    name: str
    alt: str
    height: float
    width: float = WIDTH
    marks: list[Text | Line | Rectangle] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.alt = " ".join(self.alt.split())

    def frame(
        self, x: float, y: float, width: float, height: float, *, colour: str = LINE
    ) -> Rectangle:
        """Draw a rounded outline around what belongs together."""
        place = Rectangle(x, y, width, height)
        self._rectangle(place, "none", colour, 8)
        return place

    def box(
        self,
        place: Rectangle,
        text: str = "",
        *,
        fill: str = "plain",
        font: Font = PROSE,
        dashed: bool = False,
    ) -> Rectangle:
        """Draw a filled box with lines of text in its middle."""
        self._rectangle(place, FILLS[fill].ground, LINE, 4, dashed=dashed)
        step = font.size * 1.3
        lines = text.split("\n") if text else []
        first = place.centre[1] - step * (len(lines) - 1) / 2
        for number, line in enumerate(lines):
            self._text(
                line, (place.centre[0], first + step * number), place, fill, font
            )
        return place

    def cells(
        self,
        corner: Point,
        texts: Iterable[object],
        *,
        size: Point = (44, 36),
        fill: str | Callable[[int], str] = "plain",
        font: Font = CODE,
        gap: float = 0,
        down: bool = False,
    ) -> list[Rectangle]:
        """Draw a row, or a column, of boxes; return them."""
        found = []
        for number, text in enumerate(texts):
            along = number * ((size[1] if down else size[0]) + gap)
            x, y = (
                (corner[0], corner[1] + along)
                if down
                else (corner[0] + along, corner[1])
            )
            colour = fill if isinstance(fill, str) else fill(number)
            place = Rectangle(x, y, *size)
            found.append(self.box(place, str(text), fill=colour, font=font))
        return found

    def label(
        self,
        point: Point,
        text: str,
        *,
        fill: str = "quiet",
        font: Font = PROSE,
        anchor: Anchor = "start",
    ) -> Rectangle:
        """Draw a text on a plate of its size.

        `point` is the middle of its left edge (or right edge), or its centre.
        """
        lines = text.split("\n")
        width = max(map(font.width, lines)) + 2 * PAD
        height = font.size * 1.3 * len(lines) + 8
        shift = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        place = Rectangle(point[0] - shift, point[1] - height / 2, width, height)
        self._rectangle(place, FILLS[fill].ground, None, 4)
        step = font.size * 1.3
        for number, line in enumerate(lines):
            y = point[1] + step * (number - (len(lines) - 1) / 2)
            self._text(line, (place.x + PAD, y), place, fill, font, anchor="start")
        return place

    def head(self, point: Point, text: str, *, anchor: Anchor = "middle") -> Rectangle:
        """Draw a heading: a bold label, by its centre."""
        return self.label(point, text, font=HEAD, anchor=anchor)

    def note(self, point: Point, text: str, *, anchor: Anchor = "start") -> Rectangle:
        """Draw a small label, by the middle of its left edge."""
        return self.label(point, text, font=SMALL, anchor=anchor)

    def code(
        self,
        point: Point,
        text: str,
        *,
        fill: str = "code",
        anchor: Anchor = "start",
        small: bool = True,
    ) -> Rectangle:
        """Draw a piece of code, by the middle of its left edge."""
        font = SMALL_CODE if small else CODE
        return self.label(point, text, font=font, fill=fill, anchor=anchor)

    def line(
        self,
        *points: Point,
        colour: str = LINE,
        width: float = 2,
        dashed: bool = False,
        head: bool = False,
    ) -> None:
        """Draw a line through points, with an arrow's head at its end on request."""
        pairs = zip(points, points[1:], strict=False)
        self.marks += [Line(start, end, colour) for start, end in pairs]
        path = "M" + " L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{_n(width)}"{dash}/>'
        )
        if head:
            self._head(points[-2], points[-1], colour)

    def arrow(
        self, start: Point, end: Point, *, colour: str = LINE, dashed: bool = False
    ) -> None:
        """Draw a straight arrow."""
        self.line(start, end, colour=colour, dashed=dashed, head=True)

    def brace(
        self, left: float, right: float, y: float, text: str, *, up: bool = False
    ) -> None:
        """Draw a bracket under (or over) a range, with what it says in its middle."""
        tip = -8 if up else 8
        self.line((left, y), (left, y + tip), (right, y + tip), (right, y))
        self.label(((left + right) / 2, y + 2.9 * tip), text, anchor="middle")

    def picture(self, place: Rectangle, data: str) -> None:
        """Embed an image, given as a `data:` address."""
        self._parts.append(
            f'<image x="{_n(place.x)}" y="{_n(place.y)}" width="{_n(place.width)}" '
            f'height="{_n(place.height)}" href="{data}"/>'
        )

    def svg(self) -> str:
        """Return the file's text."""
        size = f"{_n(self.width)} {_n(self.height)}"
        width, height = size.split()
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{width}" height="{height}" role="img">\n'
            f"<title>{escape(self.alt, quote=False)}</title>\n"
            f"<style>.s{{font-family:{SANS}}}.m{{font-family:{MONO}}}"
            "</style>\n"
        )
        return head + "\n".join(self._parts) + "\n</svg>\n"

    def markdown(self) -> str:
        """Return the line of a notebook that shows the drawing."""
        return f"![{self.alt}](../assets/drawings/{self.name}.svg)"

    def _rectangle(
        self,
        place: Rectangle,
        fill: str,
        stroke: str | None,
        radius: float,
        *,
        dashed: bool = False,
    ) -> None:
        if fill != "none":
            self.marks.append(place)
        edge = f' stroke="{stroke}" stroke-width="1.5"' if stroke else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(
            f'<rect x="{_n(place.x)}" y="{_n(place.y)}" width="{_n(place.width)}" '
            f'height="{_n(place.height)}" rx="{radius}" fill="{fill}"{edge}{dash}/>'
        )

    def _text(
        self,
        text: str,
        point: Point,
        box: Rectangle,
        fill: str,
        font: Font,
        *,
        anchor: Anchor = "middle",
    ) -> None:
        """Write a line; `point` is its middle's height and its anchor."""
        width = font.width(text)
        left = point[0] - (width / 2 if anchor == "middle" else 0)
        letters = Rectangle(left, point[1] - font.size * 0.55, width, font.size * 1.1)
        ground, ink = FILLS[fill]
        self.marks.append(Text(text, letters, box, ink, ground))
        bold = ' font-weight="700"' if font.bold else ""
        middle = ' text-anchor="middle"' if anchor == "middle" else ""
        self._parts.append(
            f'<text class="{font.css()}" x="{_n(point[0])}" '
            f'y="{_n(point[1] + font.size * 0.35)}" font-size="{_n(font.size)}" '
            f'fill="{ink}"{bold}{middle} xml:space="preserve">'
            f"{escape(text, quote=False)}</text>"
        )

    def _head(self, start: Point, end: Point, colour: str) -> None:
        """Draw an arrow's head as a triangle at the end of a line."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
        ux, uy = dx / length, dy / length
        back = (end[0] - 9 * ux, end[1] - 9 * uy)
        corners = [
            end,
            (back[0] - 4.5 * uy, back[1] + 4.5 * ux),
            (back[0] + 4.5 * uy, back[1] - 4.5 * ux),
        ]
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
        self._parts.append(f'<polygon points="{points}" fill="{colour}"/>')


def _n(number: float) -> str:
    """Write a coordinate with at most one digit behind the point."""
    return f"{number:.1f}".removesuffix(".0")
