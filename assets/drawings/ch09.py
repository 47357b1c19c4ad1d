"""Drawings of chapter 09: tiles in shared memory, and its banks."""

from __future__ import annotations

from drawing import CODE, SMALL_CODE, Drawing
from shapes import Rectangle


def halo() -> Drawing:
    """Draw a tile with the pixels around it that its threads also need."""
    d = Drawing(
        "09_halo",
        """A block of 8 x 4 threads that averages over a radius of 1. Its tile in shared
        memory holds 8 x 4 pixels of its own and a halo of one pixel on each
        side, 10 x 6 pixels together. The window of one thread at the corner of
        the block reaches into the halo.""",
        294,
    )
    size, left, top = 32, 40, 48
    for row in range(6):
        for col in range(10):
            own = 0 < row < 5 and 0 < col < 9
            window = row < 3 and col < 3
            fill = "sky" if own else "quiet"
            if window:
                fill = "amber"
            text = "T" if (row, col) == (1, 1) else ""
            place = Rectangle(left + size * col, top + size * row, size, size)
            d.box(place, text, fill=fill, font=CODE)
    d.brace(left + size, left + 9 * size, 44, "8 pixels of the block", up=True)
    d.brace(left, left + 10 * size, top + 6 * size + 4, "10 with the halo")
    d.label((400, 66), "window of thread T: 3 x 3", fill="amber")
    d.label((400, 106), "its own pixels: 8 x 4, one per thread", fill="sky")
    d.label((400, 146), "halo: read here, computed by other blocks")
    d.code((400, 196), "width  = 8 + 2 * radius\nheight = 4 + 2 * radius")
    d.code((400, 242), "for (i = thread; i < width * height; i += 32)")
    return d


def transpose_tile() -> Drawing:
    """Draw a tile that is read by rows and written by rows."""
    d = Drawing(
        "09_transpose_tile",
        """A transpose through shared memory, drawn with tiles of 4 x 4, not 32 x 32. A
        warp reads a row of x, a b c d, and stores it as a row of the tile.
        After the barrier a warp reads a column of the tile, b f j n, and writes
        it as a row of out. Global memory sees rows only; the column is in
        shared memory.""",
        270,
    )
    letters = "abcdefghijklmnop"
    corners = (
        (16, "x in global memory"),
        (302, "tile in shared memory"),
        (588, "out in global memory"),
    )
    tables = []
    for number, (x, name) in enumerate(corners):
        d.label((x + 74, 22), name, anchor="middle")
        table = {}
        for row in range(4):
            for col in range(4):
                source = (col, row) if number == 2 else (row, col)
                text = letters[4 * source[0] + source[1]]
                fill = "plain"
                if number < 2 and row == 0:
                    fill = "sky"
                if number == 1 and col == 1 or number == 2 and row == 1:
                    fill = "amber"
                place = Rectangle(x + 38 * col, 48 + 36 * row, 38, 36)
                table[row, col] = d.box(place, text, fill=fill, font=CODE)
        tables.append(table)
    x, tile, out = tables
    d.arrow((x[0, 3].right, 66), (tile[0, 0].x, 66))
    d.arrow((tile[1, 3].right, 102), (out[1, 0].x, 102))
    d.note((235, 90), "a row to a row", anchor="middle")
    d.note((521, 126), "a column to a row", anchor="middle")
    d.code((16, 222), "tile[down][lane] = x[row * cols + col];")
    d.code((16, 252), "__syncthreads();  // the tile is complete")
    d.code(
        (744, 222), "out[out_row * rows + out_col] = tile[lane][down];", anchor="end"
    )
    return d


def _bank_table(d: Drawing, x: float, pitch: int, column: int) -> None:
    """Draw four rows of a tile as words in eight banks; mark a column."""
    d.cells((x, 66), range(8), size=(40, 24), fill="quiet", font=SMALL_CODE)
    for address in range(4 * pitch):
        row, col = divmod(address, pitch)
        place = Rectangle(x + 40 * (address % 8), 98 + 30 * (address // 8), 40, 30)
        text = "" if col == 8 else f"{row},{col}"
        fill = "amber" if col == column else "idle" if col == 8 else "plain"
        d.box(place, text, fill=fill, font=SMALL_CODE)


def banks() -> Drawing:
    """Draw a column of a tile in eight banks, with and without padding."""
    d = Drawing(
        "09_banks",
        """A tile of 4 rows and 8 columns in shared memory, drawn with 8 banks instead
        of 32. Without padding all four words of column 2 lie in bank 2: a
        conflict. With one unused word at the end of each row they lie in banks
        2, 3, 4 and 5: no conflict.""",
        310,
    )
    for x, name, pitch in ((8, "tile[4][8]", 8), (432, "tile[4][8 + 1]", 9)):
        d.code((x + 160, 22), name, anchor="middle", small=False)
        d.note((x, 50), "bank")
        _bank_table(d, x, pitch, 2)
    d.label((8, 284), "column 2: one bank, four wavefronts", fill="amber")
    d.label((432, 284), "column 2: four banks, one wavefront", fill="amber")
    d.note((752, 256), "grey: unused", anchor="end")
    return d


def swizzle() -> Drawing:
    """Draw where the values of a tile lie when columns are exchanged by xor."""
    d = Drawing(
        "09_swizzle",
        """A swizzled tile of 4 x 4, drawn with 4 banks. Row r keeps column c in place c
        ^ r. Row 0 keeps the order 0 1 2 3, row 1 has 1 0 3 2, row 2 has 2 3 0
        1, row 3 has 3 2 1 0. Column 1, marked, lies in banks 1, 0, 3 and 2: in
        each bank once.""",
        230,
    )
    d.note((8, 64), "bank")
    d.cells((100, 50), range(4), size=(72, 28), fill="quiet")
    d.head((244, 22), "tile[r][c ^ r]")
    for row in range(4):
        d.note((8, 105 + 36 * row), f"row {row}")
        for place in range(4):
            col = place ^ row
            d.box(
                Rectangle(100 + 72 * place, 86 + 36 * row, 72, 36),
                f"{row},{col}",
                font=CODE,
                fill="amber" if col == 1 else "plain",
            )
    d.label((430, 104), "column 1: every bank once", fill="amber")
    d.code((430, 144), "1 ^ 0 = 1    1 ^ 1 = 0\n1 ^ 2 = 3    1 ^ 3 = 2")
    d.note((430, 190), "No word is unused: the rows keep their length.")
    return d


DRAW = (halo, transpose_tile, banks, swizzle)
