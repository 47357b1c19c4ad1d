"""A layout to change: its offsets as a table, one of them spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons.layouts import Layout, SwizzledLayout, layout
from coursekit.lessons.layouts.tuples import flat
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget

MOST = 32  # rows, and columns
SECTOR, BANKS = 8, 32  # words
CELL = (34, 26)
LEFT, TOP = 40, 26


def layout_explorer(
    shown: Layout | SwizzledLayout | str, *, element: int = 0
) -> LayoutExplorer:
    """Change a layout and see where its elements lie.

    Parameters
    ----------
    shown : Layout, SwizzledLayout or str
        At most 32 rows (mode 0) and 32 columns (the other modes).
    element : int
        The number of the element that is spelled out, first mode first.

    Returns
    -------
    LayoutExplorer
        A widget; stored, it is a picture.

    Raises
    ------
    ArgumentError
        The layout is too large to draw, or has no such element.

    Examples
    --------
    ``ck.layout_explorer("(4,8):(8,1)", element=9)``
    """
    if isinstance(shown, str):
        shown = layout(shown)
    if isinstance(shown, SwizzledLayout):
        swizzle = {"bits": shown.bits, "base": shown.base, "shift": shown.shift}
        return LayoutExplorer(text=repr(shown.layout), element=element, **swizzle)
    return LayoutExplorer(text=repr(shown), element=element)


class LayoutExplorer(CourseWidget, files="layout_explorer"):
    """A layout with its swizzle, and a chosen element.

    Attributes
    ----------
    text : str
        The layout as shape:stride.
    bits, base, shift : int
        The swizzle; none where `bits` is 0.
    element : int
        The number of the chosen element.
    """

    text = traitlets.Unicode("(4,8):(8,1)").tag(sync=True)
    bits = traitlets.Int(0, min=0, max=5).tag(sync=True)
    base = traitlets.Int(0, min=0, max=4).tag(sync=True)
    shift = traitlets.Int(3, min=0, max=8).tag(sync=True)
    element = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, **state: str | int) -> None:
        super().__init__(**state)
        rows, cols = self.extents
        if max(rows, cols) > MOST:
            raise ArgumentError.explained(
                f"layout_explorer got {self.text}: {rows} rows and {cols} columns.",
                f"It draws at most {MOST} of each.",
                "Give a tile of it.",
            )
        if self.element >= rows * cols:
            raise ArgumentError.explained(
                f"layout_explorer got element={self.element}, and {self.text} has "
                f"{rows * cols}.",
                cure=f"Give a number from 0 to {rows * cols - 1}.",
            )

    @property
    def shown(self) -> Layout | SwizzledLayout:
        """The layout as it is shown now."""
        plain = layout(self.text)
        return plain.swizzle(self.bits, self.base, self.shift) if self.bits else plain

    @property
    def extents(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        plain = layout(self.text)
        rows = plain.modes[0].size if plain.rank > 1 else 1
        return rows, plain.size // rows

    def formula(self) -> str:
        """Return the offset of the chosen element as a sum of products."""
        plain, number, terms = layout(self.text), self.element, []
        for extent, stride in zip(flat(plain.shape), flat(plain.stride), strict=True):
            number, position = divmod(number, extent)
            terms.append(f"{position} * {stride}")
        row, col = self.element % self.extents[0], self.element // self.extents[0]
        told = f"({row}, {col}): {' + '.join(terms)} = {plain(self.element)}"
        mixed = self.shown(self.element)
        return f"{told}, swizzled {mixed}" if self.bits else told

    def banks(self) -> str:
        """Return how many banks the chosen row and column meet."""
        table = self.shown.table() % BANKS
        row, col = self.element % self.extents[0], self.element // self.extents[0]
        return (
            f"As 4-byte words: row {row} meets {_met(table[row])}; column {col} meets "
            f"{_met(table[:, col])}."
        )

    def __repr__(self) -> str:
        return f"LayoutExplorer: {self.shown}, element {self.formula()}"

    def alt_text(self) -> str:
        rows, cols = self.extents
        return (
            f"The layout {self.shown} as a table of {rows} rows and {cols} columns of "
            f"offsets. Marked: {self.formula()}. {self.banks()}"
        )

    def static_svg(self) -> str:
        rows, cols = self.extents
        width = max(LEFT + cols * CELL[0] + 4, 560)
        height = TOP + rows * CELL[1] + 50
        texts = (
            _text(4, height - 30, self.formula()),
            _text(4, height - 10, self.banks()),
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12" '
            f'fill="{palette.INKS["ink"].light}">'
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="4" '
            f'fill="{palette.GROUNDS["panel"].light}" '
            f'stroke="{palette.LINES["line"].light}"/>'
            f"{_text(4, 17, str(self.shown))}{''.join(self._cells())}"
            f"{''.join(texts)}</svg>"
        )

    def _cells(self) -> Iterator[str]:
        table, rows = self.shown.table(), self.extents[0]
        chosen = int(self.shown(self.element))
        for (row, col), offset in _entries(table):
            x, y = LEFT + CELL[0] * col, TOP + CELL[1] * row
            mark = "line"
            if col * rows + row == self.element:
                mark = "accent"
            elif offset % BANKS == chosen % BANKS:
                mark = "heat"
            ground = palette.GROUNDS[f"block{offset // SECTOR % palette.BLOCKS}"].light
            yield (
                f'<rect x="{x}" y="{y}" width="{CELL[0] - 3}" height="{CELL[1] - 3}" '
                f'fill="{ground}" stroke="{palette.LINES[mark].light}" '
                f'stroke-width="{1 if mark == "line" else 3}"/>'
                f'<text x="{x + CELL[0] / 2 - 1.5:g}" y="{y + 16}" '
                f'text-anchor="middle">{offset}</text>'
            )


def _entries(table) -> Iterator[tuple[tuple[int, int], int]]:
    for row, values in enumerate(table.tolist()):
        for col, value in enumerate(values):
            yield (row, col), value


def _met(banks) -> str:
    """Say how many banks some words meet."""
    count, words = len(set(banks.tolist())), len(banks)
    return f"{count} {'bank' if count == 1 else 'banks'} with {words} words"


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>'
