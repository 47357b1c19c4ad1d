"""A number as bits: type it, flip a bit, and see value, spacing and error."""

from __future__ import annotations

import math
from html import escape

import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons import formats
from coursekit.lessons.formats import Format, Integer, Rounding
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget

FORMATS = {format.name: format for format in formats.ALL}
BOX, HIGH, LEFT = 22, 150, 12
WIDTH = 2 * LEFT + 32 * BOX
GROUND = {"sign": "block1", "exponent": "block2", "mantissa": "block0"}
GROUND["integer"] = "block0"


def number_explorer(
    format: str = "FP16", value: float = 0.1, *, rounding: Rounding = "nearest"
) -> NumberExplorer:
    """Type a number or flip a bit, and see what a format makes of it.

    Parameters
    ----------
    format : str
        A name in `ck.formats.ALL`, such as "BF16" or "E4M3".
    value : float
        The number that is rounded to the format first.
    rounding : "nearest", "zero", "up" or "down"

    Returns
    -------
    NumberExplorer
        A widget; stored, it is a picture.

    Raises
    ------
    ArgumentError
        There is no such format or rounding.

    Examples
    --------
    ``ck.number_explorer("E4M3", 0.3)``
    """
    if format not in FORMATS:
        raise ArgumentError.explained(
            f"number_explorer got the format {format!r}.",
            "It is not the name of a format.",
            f"Take one of {', '.join(FORMATS)}.",
        )
    bits = FORMATS[format].bits(float(value), rounding)
    return NumberExplorer(
        format=format, typed=f"{value:.10g}", bits=bits, rounding=rounding
    )


class NumberExplorer(CourseWidget, files="number"):
    """A pattern of bits in a format, and the number that somebody wanted.

    Attributes
    ----------
    format : str
        Name of the format.
    bits : int
        The pattern.
    typed : str
        The number as it was typed; empty after a bit was flipped.
    rounding : str
        One of `ck.formats.ROUNDINGS`.
    """

    format = traitlets.Unicode("FP16").tag(sync=True)
    bits = traitlets.Int(0).tag(sync=True)
    typed = traitlets.Unicode().tag(sync=True)
    rounding = traitlets.Unicode("nearest").tag(sync=True)
    formats = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, **state) -> None:
        super().__init__(**state, formats=[_state(f) for f in FORMATS.values()])

    @property
    def value(self) -> float:
        """The number that the bits are."""
        return FORMATS[self.format].value(self.bits)

    @property
    def error(self) -> float | None:
        """The number minus what was typed; None where nothing is."""
        try:
            return self.value - float(self.typed)
        except ValueError:
            return None

    def __repr__(self) -> str:
        return "\n".join([f"{self.format} {self._pattern()}", *self._lines()])

    def alt_text(self) -> str:
        parts = ", ".join(f"{name} {bits}" for name, bits in self._fields())
        return f"{self.format}: {parts}. {' '.join(self._lines())}"

    def _fields(self) -> list[tuple[str, str]]:
        """Return the parts of the pattern: their names, and their bits as text."""
        form = FORMATS[self.format]
        text = f"{self.bits:0{form.width}b}"
        if isinstance(form, Integer):
            return [("integer", text)]
        cuts = (0, 1, 1 + form.exponent, form.width)
        names = ("sign", "exponent", "mantissa")
        return [(n, text[cuts[k] : cuts[k + 1]]) for k, n in enumerate(names)]

    def _pattern(self) -> str:
        return " ".join(bits for _, bits in self._fields())

    def _lines(self) -> list[str]:
        form = FORMATS[self.format]
        told = [f"Value {self.value:.10g}, {form.kind(self.bits)}."]
        spacing = form.spacing(self.bits)
        if math.isfinite(spacing):
            told.append(f"The next number is {spacing:.6g} away.")
        if self.error is not None and math.isfinite(self.error):
            told.append(f"Wanted {self.typed}: off by {self.error:.6g}.")
        return told

    def static_svg(self) -> str:
        ink, line = palette.INKS["ink"].light, palette.LINES["line"].light
        parts, x = [], LEFT
        for name, bits in self._fields():
            ground = palette.GROUNDS[GROUND[name]].light
            parts.append(
                f'<text x="{x}" y="40">{name if len(bits) > 1 else "±"}</text>'
            )
            for bit in bits:
                parts.append(
                    f'<rect x="{x}" y="48" width="{BOX - 2}" height="26" rx="3" '
                    f'fill="{ground}" stroke="{line}"/><text x="{x + BOX / 2 - 1}" '
                    f'y="66" text-anchor="middle">{bit}</text>'
                )
                x += BOX
        told = [
            f'<text x="{LEFT}" y="{98 + 18 * n}">{escape(text)}</text>'
            for n, text in enumerate(self._lines())
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HIGH}" '
            f'viewBox="0 0 {WIDTH} {HIGH}" font-family="sans-serif" font-size="13" '
            f'fill="{ink}"><rect x="0.5" y="0.5" rx="4" width="{WIDTH - 1}" '
            f'height="{HIGH - 1}" fill="{palette.GROUNDS["panel"].light}" '
            f'stroke="{line}"/><text x="{LEFT}" y="20" font-weight="bold">'
            f"{self.format}</text>{''.join(parts)}{''.join(told)}</svg>"
        )


def _state(form: Format | Integer) -> dict:
    """Return what the view knows of a format."""
    if isinstance(form, Integer):
        return {"name": form.name, "width": form.width, "specials": "integer"}
    return {
        "name": form.name,
        "width": form.width,
        "exponent": form.exponent,
        "mantissa": form.mantissa,
        "specials": form.specials,
    }
