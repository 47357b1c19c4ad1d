"""Drawings of chapter 14: layouts, tiles, a tree of an epilogue, windows."""

from __future__ import annotations

from drawing import SMALL_CODE, Drawing
from parts import table
from shapes import Point, Rectangle

CELL = (34, 30)


def strides() -> Drawing:
    """Draw a matrix and its elements in memory, by rows and by columns."""
    d = Drawing(
        "14_strides",
        """A matrix of 3 rows and 4 columns, whose elements a to l lie in memory in
        two orders. By rows: a b c d e f g h i j k l, with strides 4 and 1. By
        columns: a e i b f j c g k d h l, with strides 1 and 3. Element g, in
        row 1 and column 2, is marked: its offset is 6 by rows, and 7 by
        columns.""",
        236,
    )
    letters = "abcdefghijkl"
    rows = [list(letters[4 * row : 4 * row + 4]) for row in range(3)]
    d.head((84, 24), "matrix")
    table(d, (16, 44), rows, CELL, lambda row, col: _marked((row, col) == (1, 2)))
    d.note((16, 160), "g: row 1, column 2")
    for y, name, shown in (
        (44, "(3,4):(4,1), by rows", letters),
        (144, "(3,4):(1,3), by columns", "aeibfjcgkdhl"),
    ):
        d.code((330, y - 20), name)
        table(d, (330, y), [range(12)], CELL, lambda row, col: "quiet", font=SMALL_CODE)
        place = shown.index("g")
        table(
            d,
            (330, y + CELL[1]),
            [list(shown)],
            CELL,
            lambda row, col, place=place: _marked(col == place),
        )
        d.note((250, y + 15), "offset")
    return d


def _marked(chosen: bool) -> str:
    return "amber" if chosen else "plain"


def interleaved() -> Drawing:
    """Draw a matrix whose columns are cut into groups."""
    d = Drawing(
        "14_interleaved",
        """A matrix of 3 rows and 8 columns, interleaved by 4: the offset stands in
        each place. Row 0 has 0 1 2 3, then 12 13 14 15. Row 1 has 4 5 6 7, then
        16 17 18 19. Row 2 has 8 9 10 11, then 20 21 22 23. The first four
        columns of all rows come before the other four.""",
        190,
    )
    places = [[12 * (c // 4) + 4 * r + c % 4 for c in range(8)] for r in range(3)]
    d.brace(100, 100 + 4 * 44, 46, "group 0: 4 columns", up=True)
    d.brace(100 + 4 * 44, 100 + 8 * 44, 46, "group 1", up=True)
    table(
        d, (100, 54), places, (44, 36), lambda row, col: "sky" if col < 4 else "green"
    )
    for row in range(3):
        d.note((16, 72 + 36 * row), f"row {row}")
    d.label((480, 76), "a row of a group: one wide load", fill="sky")
    d.note((480, 120), "group 1 begins behind all of group 0")
    return d


def composition() -> Drawing:
    """Draw how two layouts follow each other."""
    d = Drawing(
        "14_composition",
        """The composition of two layouts, for coordinates 0 to 5. The layout 6:2
        makes 0 2 4 6 8 10 of them. The layout (4,3):(3,1) takes these as
        coordinates, counted down its columns of 4, and makes the offsets 0 6 1
        7 2 8. Together they are the layout (2,3):(6,1).""",
        250,
    )
    steps = (
        ("coordinate c", [0, 1, 2, 3, 4, 5], "plain"),
        ("6:2", [0, 2, 4, 6, 8, 10], "sky"),
        ("(4,3):(3,1)", [0, 6, 1, 7, 2, 8], "amber"),
    )
    before: list[Rectangle] = []
    for number, (name, values, fill) in enumerate(steps):
        y = 20 + 76 * number
        cells = d.cells(
            (190, y), values, size=(48, 32), gap=14, fill=lambda i, fill=fill: fill
        )
        for above, below in zip(before, cells, strict=False):
            d.arrow(above.foot, below.top)
        if number:
            d.code((16, y + 16), name)
        else:
            d.note((16, y + 16), name)
        before = cells
    d.code((190, 232), "(2,3):(6,1)")
    d.note((310, 232), "has the same offsets in one step")
    d.note((580, 112), "numbers of elements,\ncounted down columns")
    d.note((580, 188), "offsets in memory")
    return d


def tiles() -> Drawing:
    """Draw a matrix, divided into tiles."""
    d = Drawing(
        "14_tiles",
        """A row-major matrix of 4 rows and 8 columns, divided into four tiles of 2
        x 4. The number in each place is its offset, 0 to 31. An element has a
        place in its tile, and its tile a place among the tiles. Offset 22 is
        marked: row 0 and column 2 of tile (1, 1), whose first element has the
        offset 20.""",
        230,
    )
    values = [[8 * row + col for col in range(8)] for row in range(4)]
    grounds = (("plain", "sky"), ("green", "pink"))

    def fill(row: int, col: int) -> str:
        if (row, col) == (2, 6):
            return "amber"
        return grounds[row // 2][col // 4]

    table(d, (16, 40), values, (42, 36), fill)
    d.code((16, 20), "(4,8):(8,1)")
    d.code((400, 20), "((2,4),(2,2)):((8,1),(16,4))")
    d.label((400, 66), "place in the tile: strides 8 and 1")
    d.label((400, 110), "which tile: strides 16 and 4")
    d.label((400, 154), "offset 22: place (0, 2) of tile (1, 1)", fill="amber")
    return d


def levels() -> Drawing:
    """Draw the layers of CUTLASS, from the host to one instruction."""
    d = Drawing(
        "14_levels",
        """The layers of CUTLASS, each made of the next one. device is called by the
        host. kernel is a grid of blocks. threadblock is the loop of a block over K,
        with stages in shared memory. warp multiplies the tile of a warp. arch is one
        instruction of a tensor core. The epilogue belongs to kernel, beside the
        loop of the block.""",
        250,
    )
    layers = (
        ("device", "the host's call", "plain"),
        ("kernel", "a grid of blocks", "sky"),
        ("threadblock", "a block's loop\nover K, in stages", "sky"),
        ("warp", "the tile\nof a warp", "green"),
        ("arch", "one\ninstruction", "amber"),
    )
    places = []
    for number, (name, does, fill) in enumerate(layers):
        x = 8 + 150 * number
        places.append(d.box(Rectangle(x, 40, 118, 40), name, fill=fill))
        d.note((x, 112), does)
    for before, after in zip(places, places[1:], strict=False):
        d.arrow((before.right, 60), (after.x, 60))
    d.note((8, 18), "each layer is made of the next one")
    epilogue = d.box(Rectangle(308, 180, 118, 40), "epilogue", fill="pink")
    d.line((271, 80), (271, 200), (epilogue.x, 200), head=True)
    d.note((446, 200), "what happens to the sums before they are stored")
    return d


def tree() -> Drawing:
    """Draw the nodes of an epilogue's visitor tree."""
    d = Drawing(
        "14_tree",
        """The tree of an epilogue, read from the leaves to the root. Two leaves:
        the sums in registers, and the bias, one value per column. The node Add
        adds them, the node GELU is applied to the result, and the root, Store,
        writes D. Nothing but D goes to memory.""",
        300,
    )
    boxes = {
        "store": _node(d, (300, 20), "Store: D", "green"),
        "gelu": _node(d, (300, 96), "GELU", "sky"),
        "add": _node(d, (300, 172), "Add", "sky"),
        "sums": _node(d, (190, 248), "Sums", "plain"),
        "bias": _node(d, (410, 248), "Bias", "plain"),
    }
    for below, above in (
        ("gelu", "store"),
        ("add", "gelu"),
        ("sums", "add"),
        ("bias", "add"),
    ):
        d.arrow(boxes[below].top, boxes[above].foot)
    d.note((16, 265), "in registers")
    d.note((560, 265), "one value per column")
    d.note((480, 37), "the only store")
    return d


def _node(d: Drawing, corner: Point, text: str, fill: str) -> Rectangle:
    return d.box(Rectangle(*corner, 130, 34), text, fill=fill)


def windows() -> Drawing:
    """Draw two windows of a picture, and the same elements as two rows."""
    d = Drawing(
        "14_windows",
        """A picture of 4 x 5 elements with offsets 0 to 19, and two windows of 3 x
        3. Window (0, 0) has the offsets 0 1 2 5 6 7 10 11 12. Window (1, 0),
        one further to the right, has 1 2 3 6 7 8 11 12 13. As two rows of a
        matrix they are 18 values, but six elements stand in both rows.""",
        220,
    )
    values = [[5 * row + col for col in range(5)] for row in range(4)]

    def fill(row: int, col: int) -> str:
        if row > 2 or col > 3:
            return "plain"
        return "sky" if col == 0 else "green" if col == 3 else "amber"

    d.note((16, 20), "picture: 4 rows of 5")
    table(d, (16, 42), values, (38, 36), fill)
    d.note((300, 20), "two rows of the matrix of windows")
    for number, y in ((0, 58), (1, 116)):
        row = [5 * r + s + number for r in range(3) for s in range(3)]
        shared = {5 * r + s for r in range(3) for s in (1, 2)}
        own = "green" if number else "sky"
        table(
            d,
            (380, y),
            [row],
            (40, 34),
            lambda _, col, row=row, own=own, shared=shared: (
                "amber" if row[col] in shared else own
            ),
            font=SMALL_CODE,
        )
        d.code((290, y + 17), f"({number}, 0)")
    d.label((380, 186), "six elements are in both windows", fill="amber")
    return d


DRAW = (strides, interleaved, composition, tiles, levels, tree, windows)
