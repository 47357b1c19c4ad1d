"""Plots of counts and times, with units, limits, and the same numbers as text.

A chapter says what to draw and what it means; how it looks is decided here. Colours
are those of Okabe and Ito, which colour-blind readers tell apart, and every series
has a marker or a hatching of its own besides.
"""

from __future__ import annotations

import importlib
from typing import Any

from coursekit.plot.chart import (
    COLOURS,
    HATCHES,
    LIMIT,
    MARKERS,
    STYLE,
    Chart,
    in_words,
    new_chart,
    sign,
)
from coursekit.plot.counts import counters
from coursekit.plot.drawing import draw_grid, draw_limits, draw_lines, draw_title

_LATER = {
    "curves": "coursekit.plot.formulas",
    "images": "coursekit.plot.pictures",
    "ladder": "coursekit.plot.ladders",
    "memory_access": "coursekit.plot.memory_accesses",
    "rates": "coursekit.plot.rate_curves",
    "roofline": "coursekit.plot.rooflines",
    "speedup": "coursekit.plot.speedups",
    "timeline": "coursekit.plot.timelines",
}
__all__ = [
    "COLOURS",
    "HATCHES",
    "LIMIT",
    "MARKERS",
    "STYLE",
    "Chart",
    "counters",
    "draw_grid",
    "draw_limits",
    "draw_lines",
    "draw_title",
    "in_words",
    "new_chart",
    "sign",
    *_LATER,
]


def __getattr__(name: str) -> Any:
    """Find the plots that are drawn elsewhere, when they are first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
