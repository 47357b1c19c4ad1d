"""Drawings of chapter 15: a border, channels last, a graph, its plans, four norms."""

from __future__ import annotations

from drawing import Drawing
from parts import table
from shapes import Rectangle

SMALL = (34, 30)


def border() -> Drawing:
    """Draw an image in a border of zeros, a filter on its corner, and the result."""
    d = Drawing(
        "15_border",
        """An image of three by three pixels in a border of zeros. The filter of three
        by three lies on the top left corner: five of its places are over zeros and
        four over pixels. Its nine products add up to the top left result.""",
        236,
    )
    rows = [
        ["0" if row in (0, 4) or col in (0, 4) else "x" for col in range(5)]
        for row in range(5)
    ]

    def fill(row: int, col: int) -> str:
        if row < 3 and col < 3:
            return "amber"
        return "plain" if rows[row][col] == "0" else "sky"

    d.head((40, 22), "image, and the filter on it", anchor="start")
    table(d, (40, 44), rows, SMALL, fill)
    d.head((430, 22), "results", anchor="start")
    results = [["y" if row == col == 0 else "" for col in range(3)] for row in range(3)]
    table(
        d, (430, 74), results, SMALL,
        lambda row, col: "amber" if row == col == 0 else "green",
    )  # fmt: skip
    d.arrow((226, 90), (424, 90))
    d.label((325, 66), "nine products", anchor="middle")
    d.label((40, 216), "amber: places of the filter")
    return d


def last() -> Drawing:
    """Draw memory with channels first, and with channels last."""
    d = Drawing(
        "15_last",
        """Memory of a row of four pixels with three channels, r, g and b. NCHW: four
        values of r, then four of g, then four of b. NHWC: r, g and b of pixel 0, then
        r, g and b of pixel 1, and so on.""",
        206,
    )
    colours = {"r": "amber", "g": "green", "b": "sky"}
    for y, title, texts in (
        (22, "NCHW: channel by channel", [f"{c}{p}" for c in "rgb" for p in range(4)]),
        (116, "NHWC: pixel by pixel", [f"{c}{p}" for p in range(4) for c in "rgb"]),
    ):
        d.head((40, y), title, anchor="start")
        d.cells(
            (40, y + 20), texts, size=(52, 36),
            fill=lambda n, texts=texts: colours[texts[n][0]],
        )  # fmt: skip
    return d


def graph() -> Drawing:
    """Draw operations and tensors of a layer, virtual ones dashed by their fill."""
    d = Drawing(
        "15_graph",
        """A graph. x and w enter a convolution. Its result, a virtual tensor, enters an
        addition together with the bias. The next virtual tensor enters ReLU. Its result
        y is an output. Only x, w, the bias and y have memory.""",
        226,
    )
    size = (116, 44)
    names = ("conv", "add", "ReLU")
    boxes = [
        d.box(Rectangle(140 + 190 * n, 92, *size), name, fill="amber")
        for n, name in enumerate(names)
    ]
    x = d.box(Rectangle(20, 60, 60, 36), "x", fill="sky")
    w = d.box(Rectangle(20, 130, 60, 36), "w", fill="sky")
    bias = d.box(Rectangle(355, 24, 66, 36), "bias", fill="sky")
    y = d.box(Rectangle(686, 96, 60, 36), "y", fill="sky")
    d.arrow((x.right, x.centre[1]), (boxes[0].x, 106))
    d.arrow((w.right, w.centre[1]), (boxes[0].x, 122))
    d.arrow(bias.foot, boxes[1].top)
    for a, b in zip(boxes, boxes[1:], strict=False):
        d.arrow((a.right, a.centre[1]), (b.x, b.centre[1]))
        middle = (a.right + b.x) / 2
        d.note((middle - 24, 152), "virtual")
    d.arrow((boxes[2].right, 114), (y.x, 114))
    d.label((20, 204), "blue: tensors with memory. A virtual tensor has none.")
    return d


def plans() -> Drawing:
    """Draw the way from a graph to a launch."""
    d = Drawing(
        "15_plans",
        """The way from a graph to a launch. The heuristics turn an operation graph into
        a list of plans, best guess first. Each plan is an engine with its settings. A
        plan is built, which may compile a kernel. It is executed with pointers and a
        workspace.""",
        206,
    )
    size, top = (132, 52), 46
    texts = ("operation\ngraph", "plan 0\nplan 1\n...", "built plan", "launch")
    boxes = [
        d.box(
            Rectangle(20 + 198 * n, top, size[0], 70), text,
            fill=("sky", "amber", "amber", "green")[n],
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip
    for a, b, text in zip(
        boxes, boxes[1:], ("heuristics", "build", "execute"), strict=False
    ):
        d.arrow((a.right, a.centre[1]), (b.x, b.centre[1]))
        d.note(((a.right + b.x) / 2 - 32, 28), text)
    d.label((218, 142), "engine and settings")
    d.label((20, 184), "Pointers and workspace come last, with the launch.")
    return d


def norms() -> Drawing:
    """Draw which values share a mean, for four normalisations."""
    d = Drawing(
        "15_norms",
        """Four tables of three images by four channels; what shares a mean is marked.
        Batch normalisation: one channel of all images. Layer normalisation: all
        channels of one image. Instance normalisation: one channel of one image. Group
        normalisation: two channels of one image.""",
        190,
    )
    marked = {
        "batch": lambda row, col: col == 0,
        "layer": lambda row, col: row == 0,
        "instance": lambda row, col: row == col == 0,
        "group": lambda row, col: row == 0 and col < 2,
    }
    for number, (name, is_marked) in enumerate(marked.items()):
        x = 24 + 186 * number
        d.head((x, 24), name, anchor="start")
        table(
            d, (x, 46), [[""] * 4 for _ in range(3)], (36, 30),
            lambda row, col, of=is_marked: "amber" if of(row, col) else "plain",
        )  # fmt: skip
    d.label((24, 168), "rows: images. Columns: channels, with all their pixels.")
    return d


def windows() -> Drawing:
    """Draw windows of a pooling, two pixels apart, in a border."""
    d = Drawing(
        "15_windows",
        """A row of six pixels with a place of the border at its beginning. The first
        window of three covers the place of the border and two pixels. The second window
        lies two places further, over three pixels, and so does the third.""",
        212,
    )
    texts = ["", *(f"x{n}" for n in range(6))]
    for number in range(3):
        first, y = 2 * number, 20 + 54 * number
        d.note((20, y + 18), f"window {number}")
        d.cells(
            (120, y), texts, size=(56, 36),
            fill=lambda n, first=first: (
                "amber" if first <= n < first + 3 else "sky" if n else "plain"
            ),
        )  # fmt: skip
    d.label((120, 196), "amber: the window. The place without a name is the border.")
    return d


def steps() -> Drawing:
    """Draw three steps of a recurrent network, with the weights of each."""
    d = Drawing(
        "15_steps",
        """Three steps of a recurrent network, from left to right. A step gets an input
        from below, and the cell and the output of the step before. All three use the
        same weights, drawn above each step.""",
        228,
    )
    cells = []
    for n in range(3):
        x = 110 + 210 * n
        weights = d.box(Rectangle(x, 16, 110, 40), "weights", fill="sky")
        cells.append(d.box(Rectangle(x, 88, 110, 52), f"step {n}", fill="amber"))
        given = d.box(Rectangle(x, 170, 110, 36), f"input {n}", fill="plain")
        d.arrow(weights.foot, cells[n].top)
        d.arrow(given.top, cells[n].foot)
    for a, b in zip(cells, cells[1:], strict=False):
        d.arrow((a.right, a.centre[1]), (b.x, b.centre[1]))
        d.note(((a.right + b.x) / 2 - 18, 98), "c, h")
    return d


DRAW = (border, last, graph, plans, norms, windows, steps)
