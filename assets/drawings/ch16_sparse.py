"""Drawings of chapter 16, sparse matrices: CSR, other formats, merge path, order."""

from __future__ import annotations

from drawing import CODE, Drawing
from parts import table
from shapes import Rectangle

MATRIX = ["a··b·", "·cd··", "·····", "e··fg"]
ROW = ("sky", "amber", "plain", "green")
CELL = (38, 32)


def _row_fill(row: int, letter: str) -> str:
    return ROW[row] if letter != "·" else "plain"


def csr() -> Drawing:
    """Draw a matrix with seven entries, and its three arrays."""
    d = Drawing(
        "16_csr",
        """A matrix of four rows and five columns with seven entries, a to g, and its
        three arrays. An arrow leads from the start of each row to the first of its
        entries. Row 2 is empty: its start and its end are the same.""",
        248,
    )
    d.head((20, 22), "the matrix", anchor="start")
    table(d, (20, 46), MATRIX, CELL, lambda r, c: _row_fill(r, MATRIX[r][c]))
    d.head((290, 22), "CSR", anchor="start")
    of_entry = [0, 0, 1, 1, 3, 3, 3]
    d.note((290, 62), "starts")
    starts = d.cells((380, 46), "02447", size=CELL)
    d.note((290, 152), "columns")
    places = d.cells((380, 136), "0312034", size=CELL, fill=lambda n: ROW[of_entry[n]])
    d.note((290, 202), "values")
    d.cells((380, 186), "abcdefg", size=CELL, fill=lambda n: ROW[of_entry[n]])
    for place, entry in ((0, 0), (1, 2), (3, 4)):
        d.arrow(starts[place].foot, places[entry].top)
    d.label((20, 226), "row 2 is empty: 4 to 4")
    return d


def formats() -> Drawing:
    """Draw COO, CSC and BSR."""
    d = Drawing(
        "16_formats",
        """COO has a row, a column and a value per entry. CSC has the entries by
        columns, with a start per column. BSR has dense blocks with their zeros, a start
        per row of blocks, and a column per block.""",
        366,
    )
    d.head((20, 22), "COO: a row and a column per entry", anchor="start")
    for y, name, texts in (
        (40, "rows", "0011333"),
        (76, "columns", "0312034"),
        (112, "values", "abcdefg"),
    ):
        d.note((20, y + 16), name)
        d.cells(
            (100, y), texts, size=CELL, fill=lambda n: ROW[[0, 0, 1, 1, 3, 3, 3][n]]
        )
    d.head((400, 22), "CSC: by columns", anchor="start")
    for y, name, texts in (
        (40, "starts", "023467"),
        (76, "rows", "0311033"),
        (112, "values", "aecdbfg"),
    ):
        d.note((400, y + 16), name)
        d.cells(
            (480, y),
            texts,
            size=(36, 32),
            fill=lambda n, y=y: "plain" if y == 40 else ROW[[0, 3, 1, 1, 0, 3, 3][n]],
        )
    d.head((20, 184), "BSR: dense blocks", anchor="start")
    blocked = ["pq··", "rs··", "··t·", "··uv"]
    table(
        d,
        (20, 204),
        blocked,
        CELL,
        lambda r, c: ("sky" if r < 2 else "amber") if (r < 2) == (c < 2) else "plain",
    )
    for y, name, texts in (
        (204, "starts", "012"),
        (250, "columns", "01"),
        (296, "values", "pqrst0uv"),
    ):
        d.note((240, y + 16), name)
        d.cells(
            (330, y),
            texts,
            size=CELL,
            fill=lambda n, y=y: "plain" if y == 204 else _block(y, n),
        )
    d.label((240, 346), "a zero inside of a block is stored")
    return d


def _block(y: int, place: int) -> str:
    return ("sky", "amber")[place // 4 if y == 296 else place]


def merge_path() -> Drawing:
    """Draw the path through the ends of rows and the numbers of entries, and cuts."""
    d = Drawing(
        "16_merge_path",
        """Entries stand across, and ends of rows down. The path goes right for
        each entry and down where a row ends. Two cuts divide its eleven steps into
        parts of four, four and three steps.""",
        344,
    )
    x0, y0, side = 190, 76, 52
    d.head((20, 22), "rows end at", anchor="start")
    d.head((x0, 22), "entries", anchor="start")
    for n in range(7):
        d.box(Rectangle(x0 + side * n, 38, side, 28), str(n), fill="plain", font=CODE)
    for row, end in enumerate((2, 4, 4, 7)):
        place = Rectangle(100, y0 + side * row, 60, side)
        d.box(place, str(end), fill=("sky", "amber", "plain", "green")[row], font=CODE)
    x, y, points = 0, 0, [(0, 0)]
    for step in "RRDRRDDRRRD":
        x, y = (x + 1, y) if step == "R" else (x, y + 1)
        points.append((x, y))
    at = [(x0 + side * a, y0 + side * b) for a, b in points]
    for begin, end in ((0, 4), (4, 8), (8, 11)):
        d.line(*at[begin : end + 1], head=True)
    for place, text in ((4, "cut: 4 steps"), (8, "cut: 8 steps")):
        px, py = at[place]
        d.box(Rectangle(px - 5, py - 5, 10, 10), fill="amber")
        d.label((px + 24, py - 24) if place == 4 else (px - 120, py + 28), text)
    d.label((20, 316), "right: multiply an entry · down: a row ends")
    return d


def order() -> Drawing:
    """Draw which sectors of x eight lanes read, in both orders."""
    d = Drawing(
        "16_order",
        """Eight lanes read x, drawn as ten sectors. In the order of rows the lanes read
        eight different sectors. In the order of columns they read three sectors, side
        by side.""",
        286,
    )
    for y, head, targets in (
        (20, "in the order of rows", (4, 9, 1, 6, 0, 8, 2, 5)),
        (156, "in the order of columns", (3, 3, 4, 4, 4, 5, 5, 5)),
    ):
        d.head((20, y), head, anchor="start")
        lanes = d.cells(
            (150, y + 18), range(8), size=(40, 28), gap=12, fill=lambda n: "sky"
        )
        read = set(targets)
        sectors = d.cells(
            (110, y + 84),
            [""] * 10,
            size=(48, 28),
            gap=6,
            fill=lambda n, read=read: "amber" if n in read else "plain",
        )
        d.note((20, y + 32), "lanes")
        d.note((20, y + 98), "x")
        for lane, target in zip(lanes, targets, strict=True):
            d.arrow(lane.foot, sectors[target].top)
    return d


DRAW = (csr, formats, merge_path, order)
