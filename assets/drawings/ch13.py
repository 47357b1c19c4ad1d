"""Drawings of chapter 13: levels, columns, readings, heads, slices, an epilogue."""

from __future__ import annotations

from drawing import Drawing
from parts import table
from shapes import Rectangle

COLUMN = ("sky", "amber", "green")
CELL = (44, 32)


def levels() -> Drawing:
    """Draw the operands of the three levels to one scale."""
    d = Drawing(
        "13_levels",
        """Operands of the three levels. Level 1, axpy: two vectors of length n, with
        data that grows as n and operations that grow as n. Level 2, gemv: a square
        matrix and two vectors; data and operations grow as n squared. Level 3, gemm:
        three square matrices; data grows as n squared and operations as n cubed.""",
        224,
    )
    long, thin = 112, 14
    d.head((20, 22), "level 1: axpy", anchor="start")
    for x in (40, 74):
        d.box(Rectangle(x, 46, thin, long), fill="sky")
    d.head((230, 22), "level 2: gemv", anchor="start")
    d.box(Rectangle(230, 46, long, long), fill="amber")
    for x in (356, 386):
        d.box(Rectangle(x, 46, thin, long), fill="sky")
    d.head((450, 22), "level 3: gemm", anchor="start")
    for x in (450, 548, 646):
        d.box(Rectangle(x, 46, 90, 90), fill="amber")
    texts = ("data n\noperations n", "data n²\noperations n²", "data n²\noperations n³")
    for x, text in zip((20, 230, 450), texts, strict=True):
        d.label((x, 190), text)
    return d


def columns() -> Drawing:
    """Draw a matrix by columns with a gap, and its memory."""
    d = Drawing(
        "13_columns",
        """A matrix of three rows and two columns, by columns, with lda = 4. In memory
        stand a00, a10, a20, a gap, a01, a11, a21, a gap. From the beginning of one
        column to the next there are four places: the leading dimension.""",
        236,
    )
    names = [[f"a{i}{j}" for j in range(2)] for i in range(3)]
    d.head((20, 22), "the matrix", anchor="start")
    table(d, (20, 46), names, CELL, lambda row, col: COLUMN[col])
    d.head((220, 22), "its memory, lda = 4", anchor="start")
    texts = ["a00", "a10", "a20", "gap", "a01", "a11", "a21", "gap"]
    fills = ["sky"] * 3 + ["plain"] + ["amber"] * 3 + ["plain"]
    places = d.cells((220, 62), texts, size=(58, 36), fill=lambda n: fills[n])
    start, end = places[0].centre[0], places[4].centre[0]
    y = places[0].y + places[0].height
    d.line((start, y + 30), (start, y + 4))
    d.line((start, y + 30), (end, y + 30), (end, y + 4), head=True)
    d.label(((start + end) / 2, y + 52), "4 places to the next column", anchor="middle")
    d.label((220, 200), "the gaps are row 3 of a larger matrix")
    return d


def readings() -> Drawing:
    """Draw what NumPy and cuBLAS see in the same memory."""
    d = Drawing(
        "13_readings",
        """The same memory, a to f, read twice. NumPy reads A by rows, with two
        rows and three columns: a b c above d e f. cuBLAS reads by columns, with three
        rows and two columns: a d, b e, c f. It is A transposed.""",
        244,
    )
    letters = "abcdef"
    fills = ["sky"] * 3 + ["amber"] * 3
    d.head((248, 22), "memory", anchor="start")
    d.cells((248, 40), letters, size=CELL, fill=lambda n: fills[n])
    d.arrow((300, 76), (170, 116))
    d.arrow((460, 76), (540, 100))
    d.head((60, 136), "NumPy, by rows: A", anchor="start")
    table(d, (60, 156), ["abc", "def"], CELL, lambda row, col: COLUMN[row])
    d.head((520, 118), "cuBLAS, by columns: A'", anchor="start")
    table(d, (520, 138), ["ad", "be", "cf"], CELL, lambda row, col: COLUMN[col])
    return d


def heads() -> Drawing:
    """Draw the memory of Q: tokens with their heads side by side."""
    d = Drawing(
        "13_heads",
        """Memory of Q with two tokens, three heads and a width of two. The first token
        has two numbers of each head, side by side. The second token follows in the
        same way. The numbers of the middle head are marked in both tokens.""",
        150,
    )
    texts = [f"h{h}" for _ in range(2) for h in range(3) for _ in range(2)]
    fills = ["amber" if text == "h1" else "plain" for text in texts]
    places = d.cells((40, 62), texts, size=(54, 36), fill=lambda n: fills[n])
    for token in range(2):
        x = places[6 * token].x
        d.head((x, 34), f"token {token}", anchor="start")
    d.label((40, 126), "one head of all tokens is a matrix with gaps")
    return d


def slices() -> Drawing:
    """Draw copies of slices above the products that use them."""
    d = Drawing(
        "13_slices",
        """Time runs to the right. Above, four slices are copied one after the other.
        Below, each slice is multiplied as soon as it is there, while the next one is
        copied. Two slices are in shared memory at any time.""",
        176,
    )
    size = (118, 40)
    d.head((20, 40), "copy", anchor="start")
    d.head((20, 106), "multiply", anchor="start")
    for n in range(4):
        above = Rectangle(130 + 122 * n, 20, *size)
        below = Rectangle(252 + 122 * n, 86, *size)
        d.box(above, f"slice {n}", fill=("sky", "amber")[n % 2])
        d.box(below, f"slice {n}", fill=("sky", "amber")[n % 2])
    d.arrow((130, 148), (736, 148))
    d.note((20, 148), "time")
    return d


def epilogue() -> Drawing:
    """Draw a product with a kernel after it, and with an epilogue."""
    d = Drawing(
        "13_epilogue",
        """Above: the product stores Y in device memory. A second kernel reads Y from
        there, adds the bias, applies GELU, and stores it again. Below: the epilogue
        adds the bias and applies GELU while Y is in registers; Y is stored once.""",
        250,
    )
    size = (150, 44)
    d.head((20, 22), "two kernels", anchor="start")
    top = [
        d.box(Rectangle(x, 40, *size), text, fill=fill)
        for x, text, fill in (
            (20, "product", "sky"),
            (210, "Y in memory", "plain"),
            (400, "bias, GELU", "amber"),
            (590, "Y in memory", "plain"),
        )
    ]
    d.head((20, 128), "one call with an epilogue", anchor="start")
    low = [
        d.box(Rectangle(20, 146, *size), "product", fill="sky"),
        d.box(Rectangle(210, 146, *size), "bias, GELU\nin registers", fill="amber"),
        d.box(Rectangle(590, 146, *size), "Y in memory", fill="plain"),
    ]
    for row in (top, low):
        for a, b in zip(row, row[1:], strict=False):
            d.arrow((a.right, a.centre[1]), (b.x, b.centre[1]))
    return d


DRAW = (levels, columns, readings, heads, slices, epilogue)
