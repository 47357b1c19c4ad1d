"""Parts that the drawings of several chapters share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from drawing import CODE, Drawing
from shapes import Font, Point, Rectangle


@dataclass(frozen=True, slots=True)
class Round:
    """Values after a round, and which places were added to which.

    Attributes
    ----------
    label : str
        What stands to the left.
    values : sequence
        What the places hold after the round.
    moves : sequence of (int, int)
        Arrows, from a place before the round to a place after it.
    idle : collection of int
        Places that matter no more.
    """

    label: str
    values: Sequence[object]
    moves: Sequence[tuple[int, int]] = ()
    idle: Collection[int] = ()


def draw_rounds(
    d: Drawing,
    rounds: Sequence[Round],
    corner: Point,
    *,
    size: Point = (56, 32),
    step: float = 74,
) -> list[list[Rectangle]]:
    """Draw rounds below each other, with arrows between them; return the cells."""
    before: list[Rectangle] = []
    found = []
    for number, each in enumerate(rounds):
        targets = {to for _, to in each.moves}
        last = number == len(rounds) - 1

        def fill(place: int, each=each, targets=targets, last=last) -> str:
            if place in each.idle:
                return "idle"
            if place in targets:
                return "amber" if last else "sky"
            return "plain"

        y = corner[1] + number * step
        cells = d.cells((corner[0], y), each.values, size=size, gap=12, fill=fill)
        for start, to in each.moves:
            d.arrow(before[start].foot, cells[to].top)
        d.note((8, cells[0].centre[1]), each.label)
        before = cells
        found.append(cells)
    return found


def arc(d: Drawing, start: Point, end: Point, height: float) -> None:
    """Draw an arrow with corners from one place up, over and down to another."""
    y = start[1] - height
    d.line(start, (start[0], y), (end[0], y), end, head=True)


def table(
    d: Drawing,
    corner: Point,
    rows: Sequence[Sequence[object]],
    size: Point,
    fill: Callable[[int, int], str],
    *,
    font: Font = CODE,
) -> None:
    """Draw rows of cells without gaps; `fill` takes row and column."""
    for row, values in enumerate(rows):
        for col, value in enumerate(values):
            x, y = corner[0] + size[0] * col, corner[1] + size[1] * row
            place = Rectangle(x, y, *size)
            d.box(place, str(value), fill=fill(row, col), font=font)


def chain(d: Drawing, places: Sequence[Rectangle]) -> None:
    """Draw an arrow from each box down to the next."""
    for above, below in zip(places, places[1:], strict=False):
        d.arrow(above.foot, below.top)
