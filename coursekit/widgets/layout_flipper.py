"""One run of memory read as a matrix: by columns or rows, with gaps, transposed."""

from __future__ import annotations

import traitlets

from coursekit.errors import ArgumentError
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.panel import panel

MOST, LONGEST = 4, 6  # rows or columns, and leading dimension
ORDERS, OPERATIONS = ("COL", "ROW"), ("N", "T")
CELL, LEFT = 26, 12
WIDTH = 2 * LEFT + CELL * MOST * LONGEST


def layout_flipper(
    rows: int = 2,
    cols: int = 3,
    *,
    ld: int | None = None,
    order: str = "COL",
    trans: str = "N",
) -> LayoutFlipper:
    """Change how memory is read as a matrix, and follow an element to its place.

    Parameters
    ----------
    rows, cols : int
        The shape in memory, 1 to 4 each.
    ld : int, optional
        Distance from a column to the next, or from a row with the order ROW, up to 6;
        by default without gaps.
    order : "COL" or "ROW"
        Whether columns or rows are contiguous.
    trans : "N" or "T"
        Whether the matrix is transposed after it was read.

    Returns
    -------
    LayoutFlipper
        A widget; stored, it is a picture.

    Raises
    ------
    ArgumentError
        A size, an order or an operation that there is not.

    Examples
    --------
    ``ck.layout_flipper(2, 3, order="ROW")``
    """
    if order not in ORDERS or trans not in OPERATIONS:
        raise ArgumentError.explained(
            f"layout_flipper got the order {order!r} and the operation {trans!r}.",
            "Columns are contiguous with COL, rows with ROW; op is N or T.",
            "Take one of each.",
        )
    least = rows if order == "COL" else cols
    ld = least if ld is None else ld
    if not (1 <= rows <= MOST and 1 <= cols <= MOST and least <= ld <= LONGEST):
        raise ArgumentError.explained(
            f"layout_flipper got {rows} x {cols} with ld = {ld}.",
            f"It shows up to {MOST} x {MOST}, with ld from the length of a "
            f"{'column' if order == 'COL' else 'row'} to {LONGEST}.",
            "Take a smaller matrix, or another leading dimension.",
        )
    return LayoutFlipper(rows=rows, cols=cols, ld=ld, order=order, trans=trans)


class LayoutFlipper(CourseWidget, files="layout_flipper"):
    """Memory, the matrix that it is read as, and a selected element.

    Attributes
    ----------
    rows, cols, ld : int
        Shape in memory, and the distance from a column or row to the next.
    order, trans : str
        Which of them are contiguous, and whether the matrix is transposed.
    row, col : int
        The selected element of the matrix as it is used, after the operation.
    """

    rows = traitlets.Int(2).tag(sync=True)
    cols = traitlets.Int(3).tag(sync=True)
    ld = traitlets.Int(2).tag(sync=True)
    order = traitlets.Unicode("COL").tag(sync=True)
    trans = traitlets.Unicode("N").tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    col = traitlets.Int(1).tag(sync=True)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns after the operation."""
        return (self.rows, self.cols) if self.trans == "N" else (self.cols, self.rows)

    def offset(self, row: int, col: int) -> int:
        """Return where an element lies, counted from the first one of the matrix."""
        if self.trans == "T":
            row, col = col, row
        return row + col * self.ld if self.order == "COL" else row * self.ld + col

    def __repr__(self) -> str:
        table = "\n".join(" ".join(f"{v:2}" for v in row) for row in self._values())
        return f"{self._title()}\n{table}\n{self._told()}"

    def alt_text(self) -> str:
        rows = "; ".join(" ".join(map(str, row)) for row in self._values())
        return f"{self._title()} The matrix has the rows {rows}. {self._told()}"

    def _values(self) -> list[list[int]]:
        """Return what memory holds at each element: its offset."""
        rows, cols = self.shape
        return [[self.offset(i, j) for j in range(cols)] for i in range(rows)]

    def _title(self) -> str:
        return (
            f"Memory 0, 1, 2, ... read as {self.rows} x {self.cols}, order "
            f"{self.order}, ld {self.ld}, op {self.trans}."
        )

    def _told(self) -> str:
        place = self.offset(self.row, self.col)
        row, col = (self.row, self.col) if self.trans == "N" else (self.col, self.row)
        sum_ = f"{row} + {col} * {self.ld}"
        if self.order == "ROW":
            sum_ = f"{row} * {self.ld} + {col}"
        return f"Row {self.row}, column {self.col} lies at {sum_} = {place}."

    def static_svg(self) -> str:
        used = {value: j for j, value in self._runs()}
        body = [f'<text x="{LEFT}" y="20" font-weight="bold">{self._title()}</text>']
        for place in range(max(used) + 1):
            body += _cell(LEFT + place * CELL, 34, place, used.get(place))
        for i, row in enumerate(self._values()):
            for j, value in enumerate(row):
                body += _cell(LEFT + j * CELL, 80 + i * CELL, value, used[value])
        low = 80 + CELL * self.shape[0] + 20
        body.append(f'<text x="{LEFT}" y="{low}">{self._told()}</text>')
        return panel(WIDTH, low + 14, body)

    def _runs(self) -> list[tuple[int, int]]:
        """Return for each offset the number of its contiguous run."""
        values = [value for row in self._values() for value in row]
        return [(value // self.ld, value) for value in values]


def _cell(x: int, y: int, value: int, run: int | None) -> list[str]:
    line = palette.LINES["line"].light
    name = "panel" if run is None else f"block{run}"
    fill = palette.GROUNDS[name].light
    return [
        f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="3" '
        f'fill="{fill}" stroke="{line}"/>',
        f'<text x="{x + CELL / 2 - 1}" y="{y + 16}" text-anchor="middle">'
        f"{value}</text>",
    ]
