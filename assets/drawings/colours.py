"""Colours of the drawings: those of the plots, and greys for what is not data."""

from __future__ import annotations

from typing import NamedTuple

from coursekit.plot import COLOURS

PAGES = {"light": "#ffffff", "dark": "#111111"}
LINE = "#7d8792"  # shows on both pages
_BLUE, _RED, _GREEN, _PINK, _SKY, _AMBER = COLOURS
_WHITE, _BLACK = "#ffffff", "#111111"


class Fill(NamedTuple):
    """The colour of a box, and that of the letters on it."""

    ground: str
    ink: str


FILLS = {
    "blue": Fill(_BLUE, _WHITE),
    "red": Fill(_RED, _BLACK),
    "green": Fill(_GREEN, _BLACK),
    "pink": Fill(_PINK, _BLACK),
    "sky": Fill(_SKY, _BLACK),
    "amber": Fill(_AMBER, _BLACK),
    "plain": Fill("#dfe3e8", _BLACK),
    "idle": Fill("#8c959f", _BLACK),
    "quiet": Fill("#57606a", _WHITE),
    "code": Fill("#24292f", _WHITE),
}
