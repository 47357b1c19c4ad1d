"""A drawn digit as data for its view, as text, and as a static picture."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

import numpy as np
from PIL import Image

from coursekit.widgets import palette
from coursekit.widgets.panel import panel

WIDTH, HEIGHT, SIDE = 740, 300, 224
LEFT, SEEN, BARS, TOP = 16, 256, 508, 40
LEVELS = 15  # of grey in the static picture
PEN = 8  # width in hundredths of the field


def percent(chance: float) -> str:
    """Write a probability as a percentage."""
    return f"{100 * chance:.0f} %"


def in_words(chances: np.ndarray) -> str:
    """Return the probability of each digit as text."""
    return ", ".join(f"{k}: {percent(chance)}" for k, chance in enumerate(chances))


def sized(image: np.ndarray) -> str:
    """Return the size of a picture as text."""
    rows, cols = image.shape
    return f"{rows} x {cols} grey pixels"


def described(image: np.ndarray) -> str:
    """Return a description of a picture for screen readers."""
    title = f"What the network sees, {sized(image)}"
    if not image.any():
        return f"{title}: no ink."
    rows, cols = (np.flatnonzero(image.any(axis=axis)) for axis in (1, 0))
    return (
        f"{title}: ink in rows {rows[0]} to {rows[-1]} and columns {cols[0]} to "
        f"{cols[-1]}, {image.sum() / 255:.0f} pixels' worth."
    )


def shown(reading: Any, turn: int, trouble: str = "") -> dict[str, Any]:
    """Return a reading as data for the view."""
    stored = io.BytesIO()
    Image.fromarray(reading.seen).save(stored, "PNG")
    data = base64.b64encode(stored.getvalue()).decode()
    return {
        "turn": turn,
        "told": "It could not be read." if trouble else str(reading),
        "trouble": trouble,
        "chances": [round(float(chance), 4) for chance in reading.chances],
        "percents": [percent(chance) for chance in reading.chances],
        "seen": f"data:image/png;base64,{data}",
        "size": sized(reading.seen),
        "alt": described(reading.seen),
    }


def svg(strokes: list, reading: Any, told: str) -> str:
    """Draw the field, what the network sees, and the ten bars."""
    ink = palette.INKS["ink"].light
    rows, cols = reading.seen.shape
    heads = (LEFT, "the drawing"), (SEEN, "what the network sees"), (BARS, "how likely")
    body = [
        f'<text x="{x}" y="28" font-weight="bold">{text}</text>' for x, text in heads
    ]
    body += [
        f'<svg x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" '
        f'viewBox="0 0 100 100"><rect width="100" height="100" fill="#ffffff" '
        f'stroke="{palette.LINES["line"].light}"/><path d="{_path(strokes)}" '
        f'fill="none" stroke="{ink}" stroke-width="{PEN}" stroke-linecap="round" '
        f'stroke-linejoin="round"/></svg>',
        f'<svg x="{SEEN}" y="{TOP}" width="{SIDE}" height="{SIDE}" '
        f'viewBox="0 0 {cols} {rows}" shape-rendering="crispEdges"><path '
        f'd="M0,0h{cols}v{rows}h-{cols}z" fill="#000000"/>{_greys(reading.seen)}</svg>',
        *_bars(reading.chances),
        f'<text x="{LEFT}" y="{HEIGHT - 14}">{escape(told)}</text>',
    ]
    return panel(WIDTH, HEIGHT, body)


def _path(strokes: list) -> str:
    return "".join(
        "M" + "L".join(f"{100 * x:.1f},{100 * y:.1f}" for x, y in [*stroke, stroke[-1]])
        for stroke in strokes
    )


def _greys(image: np.ndarray) -> str:
    """Draw the pixels with one path per grey, after rounding to fewer greys."""
    levels = np.round(image / 255 * LEVELS).astype(int)
    paths = []
    for level in range(1, LEVELS + 1):
        places = np.argwhere(levels == level)
        d = "".join(f"M{col},{row}h1v1h-1z" for row, col in places)
        grey = f"{round(255 * level / LEVELS):02x}" * 3
        paths += [f'<path d="{d}" fill="#{grey}"/>'] * bool(d)
    return "".join(paths)


def _bars(chances: np.ndarray) -> list[str]:
    body, fill = [], palette.LINES["accent"].light
    best = int(chances.argmax()) if len(chances) else -1
    for digit in range(10):
        y = TOP + digit * SIDE / 10
        chance = chances[digit] if len(chances) else 0.0
        weight = ' font-weight="bold"' if digit == best else ""
        body.append(
            f'<text x="{BARS}" y="{y + 16:.1f}"{weight}>{digit}</text>'
            f'<rect x="{BARS + 18}" y="{y + 3:.1f}" width="{150 * chance:.1f}" '
            f'height="16" fill="{fill}"/>'
            f'<text x="{BARS + 24 + 150 * chance:.1f}" y="{y + 16:.1f}"{weight}>'
            f"{percent(chance)}</text>"
        )
    return body
