"""The rounded panel behind a widget's static picture, as SVG."""

from __future__ import annotations

from collections.abc import Iterable

from coursekit.widgets import palette


def panel(width: int, height: int, body: Iterable[str]) -> str:
    """Return an SVG picture of elements on a rounded panel; sizes are in pixels."""
    ink, line = palette.INKS["ink"].light, palette.LINES["line"].light
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" '
        f'fill="{ink}"><rect x="0.5" y="0.5" '
        f'width="{width - 1}" height="{height - 1}" rx="4" '
        f'fill="{palette.GROUNDS["panel"].light}" stroke="{line}"/>'
        f"{''.join(body)}</svg>"
    )
