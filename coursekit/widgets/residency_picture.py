"""The SM of `Residency` as a static picture: who has which part of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from coursekit.widgets import palette
from coursekit.widgets.panel import panel

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 96, 150, 44, 46, 26
ALONG = WIDTH - LEFT - RIGHT
_LETTER = 7.0


@dataclass(frozen=True, slots=True)
class Resource:
    """What an SM has of a resource, and what a block takes of it.

    Attributes
    ----------
    title : str
    most, each : int
        Of the SM, and of a block.
    unit : int
        What the numbers are divided by where they are shown.
    """

    title: str
    most: int
    each: int
    unit: int = 1


def svg(
    resources: Sequence[Resource], residents: Sequence[int], texts: tuple[str, str]
) -> str:
    """Draw a bar for each resource, with a part for each block that is resident.

    Parameters
    ----------
    resources : sequence of Resource
    residents : sequence of int
        The number of the block in each place.
    texts : (str, str)
        What stands above the bars, and below them.
    """
    title, told = texts
    body = [_text(12, 24, title, weight="bold")]
    for number, one in enumerate(resources):
        body += _bar(one, TOP + number * ROW, residents)
    bottom = TOP + len(resources) * ROW
    body.append(_text(12, bottom + 10, told[:105]))
    return panel(WIDTH, bottom + 28, body)


def _bar(one: Resource, y: float, residents: Sequence[int]) -> Iterator[str]:
    yield _text(12, y + 17, one.title)
    line = palette.LINES["line"].light
    yield (
        f'<rect x="{LEFT}" y="{y}" width="{ALONG}" height="{BAR}" fill="none" '
        f'stroke="{line}"/>'
    )
    width = ALONG * one.each / one.most
    for place, block in enumerate(residents):
        x = LEFT + place * width
        fill = palette.GROUNDS[f"block{block % palette.BLOCKS}"].light
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" '
            f'fill="{fill}" stroke="{line}"/>'
        )
        if _LETTER * len(str(block)) + 2 <= width:
            yield _text(x + width / 2, y + 17, str(block), anchor="middle")
    used = len(residents) * one.each
    yield _text(
        LEFT + ALONG + 8,
        y + 17,
        f"{used / one.unit:,.5g} of {one.most / one.unit:,.5g}",
    )


def _text(x: float, y: float, text: str, *, weight: str = "", anchor: str = "") -> str:
    extra = f' font-weight="{weight}"' if weight else ""
    extra += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
