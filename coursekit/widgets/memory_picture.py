"""Boxes and arrows of a program's memory, as a static picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from coursekit.widgets import palette
from coursekit.widgets.panel import panel

# The view in the browser draws with the same numbers.
GEOMETRY = {
    "width": 760,
    "top": 34,
    "row": 52,
    "height": 30,
    "left": 170,
    "cell": 150,
    "cells": 340,
    "lane": 540,
    "step": 14,
    "place": 752,
}
Scene = dict[str, Any]


def picture(scene: Scene) -> str:
    """Return a scene as an SVG document."""
    size = GEOMETRY
    height = size["top"] + size["row"] * len(scene["boxes"]) + 34
    body = [
        _text(8, 20, "variable"),
        _text(size["left"], 20, "what it holds"),
        _text(size["place"], 20, "address", "end"),
        *(part for row, box in enumerate(scene["boxes"]) for part in _row(row, box)),
        *(
            part
            for n, arrow in enumerate(scene["arrows"])
            for part in _arrow(n, arrow, scene)
        ),
        _text(8, height - 10, scene["told"]),
    ]
    return panel(size["width"], height, body)


def cell_width(count: int) -> float:
    """Return the width of each of a variable's cells."""
    return GEOMETRY["cell"] if count == 1 else GEOMETRY["cells"] / count


def _row(row: int, box: dict[str, Any]) -> Iterator[str]:
    size = GEOMETRY
    y, count = size["top"] + size["row"] * row, len(box["cells"])
    yield _text(8, y + 14, box["name"], bold=True)
    yield _text(8, y + 28, box["kind"], small=True)
    ground = palette.GROUNDS["block4" if box["chosen"] else "block0"].light
    line = palette.LINES["accent" if box["chosen"] else "line"].light
    for number, text in enumerate(box["cells"]):
        wide = cell_width(count)
        x = size["left"] + wide * number
        yield (
            f'<rect x="{x:g}" y="{y}" width="{wide:g}" height="{size["height"]}" '
            f'fill="{ground}" stroke="{line}" stroke-width="{1 + box["chosen"]}"/>'
        )
        yield _text(x + wide / 2, y + 19, text, "middle", mono=True)
    yield _text(size["place"], y + 19, box["place"], "end", mono=True)


def _arrow(number: int, arrow: list[int], scene: Scene) -> Iterator[str]:
    """Yield the way from a pointer's cell to the lower edge of its target's cell."""
    size, (source, target, cell) = GEOMETRY, arrow
    wide = cell_width(len(scene["boxes"][target]["cells"]))
    start = size["left"] + size["cell"]
    y = size["top"] + size["row"] * source + size["height"] / 2
    lane = size["lane"] + size["step"] * number
    end = size["left"] + wide * (cell + 0.5)
    foot = size["top"] + size["row"] * target + size["height"]
    colour = palette.LINES["accent"].light
    yield (
        f'<path d="M{start} {y:g}H{lane}V{foot + 12}H{end:g}V{foot + 7}" fill="none" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<path d="M{end - 5:g} {foot + 8}H{end + 5:g}L{end:g} {foot}Z" '
        f'fill="{colour}"/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    bold: bool = False,
    small: bool = False,
    mono: bool = False,
) -> str:
    style = ' font-weight="bold"' if bold else ""
    style += ' font-size="11"' if small else ""
    style += ' font-family="monospace"' if mono else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
    )
