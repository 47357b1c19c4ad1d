"""Drawings of chapter 15: a halo, the matrix of im2col, shifted rows, vectors."""

from __future__ import annotations

from drawing import Drawing
from parts import table
from shapes import Rectangle

CELL = (42, 30)


def halo() -> Drawing:
    """Draw a tile of four by four pixels, and the pixels around it."""
    d = Drawing(
        "15_halo",
        """A tile of four by four pixels in a square of six by six. A filter of three by
        three lies on a corner of the tile: five of its places are outside of the tile,
        in the ring of one pixel around it.""",
        250,
    )

    def fill(row: int, col: int) -> str:
        if row < 3 and col < 3:
            return "amber"
        return "sky" if 0 < row < 5 and 0 < col < 5 else "plain"

    table(d, (40, 28), [[""] * 6 for _ in range(6)], CELL, fill)
    d.label((330, 60), "amber: the filter on a corner of the tile")
    d.label((330, 100), "blue: the rest of the tile")
    d.label((330, 140), "plain: the rest of the halo")
    return d


def im2col() -> Drawing:
    """Draw the matrix of an image of two by two pixels."""
    d = Drawing(
        "15_im2col",
        """An image of two by two pixels a, b, c, d and its matrix. The matrix has a row
        per pixel and a column per place of the filter. A row has the pixels under the
        filter when its middle lies on the pixel of that row, and zeros outside.""",
        236,
    )
    image = {(0, 0): "a", (0, 1): "b", (1, 0): "c", (1, 1): "d"}
    d.head((20, 24), "image", anchor="start")
    table(d, (20, 72), [["a", "b"], ["c", "d"]], CELL, lambda row, col: "sky")
    rows = [
        [image.get((row + r - 1, col + s - 1), "0") for r in range(3) for s in range(3)]
        for row, col in image
    ]
    d.head((230, 24), "matrix: a row per pixel", anchor="start")
    table(
        d, (230, 72), rows, CELL,
        lambda row, col: "plain" if rows[row][col] == "0" else "sky",
    )  # fmt: skip
    for row, name in enumerate("abcd"):
        d.note((180, 72 + 15 + 30 * row), f"{name}:")
    for n in range(9):
        d.note((232 + 42 * n, 56), f"{n // 3},{n % 3}")
    d.label((20, 218), "columns: row r and column s of the filter, with all channels")
    return d


def shifts() -> Drawing:
    """Draw pixels in shared memory, and the rows that three taps read of them."""
    d = Drawing(
        "15_shifts",
        """A line of pixels in shared memory: a halo, the tile, a halo. Tap (0, 0) reads
        as many pixels as the tile has from the beginning of the line, tap (1, 1) reads
        the tile itself, and tap (2, 2) reads the end of the line.""",
        232,
    )
    d.box(Rectangle(40, 20, 180, 40), "halo: W + 1 pixels", fill="plain")
    d.box(Rectangle(220, 20, 320, 40), "tile", fill="sky")
    d.box(Rectangle(540, 20, 180, 40), "halo: W + 1 pixels", fill="plain")
    for n, (x, tap) in enumerate(((40, "0, 0"), (220, "1, 1"), (400, "2, 2"))):
        d.box(Rectangle(x, 82 + 46 * n, 320, 36), f"tap ({tap})", fill="amber")
    return d


def vectors() -> Drawing:
    """Draw memory in NCHW_VECT_C."""
    d = Drawing(
        "15_vectors",
        """Memory of two pixels, p and q, with eight channels, in vectors of four. First
        come channels 0 to 3 of pixel p, then those of pixel q. Then come channels 4 to
        7 of p, and those of q.""",
        136,
    )
    texts = [f"{p}{4 * v + c}" for v in range(2) for p in "pq" for c in range(4)]
    d.head((20, 22), "NCHW_VECT_C: planes of vectors of channels", anchor="start")
    d.cells(
        (20, 44), texts, size=(44, 36),
        fill=lambda n: "amber" if texts[n][0] == "p" else "sky",
    )  # fmt: skip
    d.label((20, 116), "p and q: pixels. The number is the channel.")
    return d


DRAW = (halo, im2col, shifts, vectors)
