"""Drawings of chapter 22: a graph, gradients back, broadcasting, and a network."""

from __future__ import annotations

from drawing import CODE, Drawing
from parts import table
from shapes import Rectangle

BOX = (84, 40)


def _box(d: Drawing, x: float, y: float, text: str, fill: str) -> Rectangle:
    return d.box(Rectangle(x, y, *BOX), text, fill=fill, font=CODE)


def _nodes(d: Drawing, values: tuple[str, ...], fill: str) -> list[Rectangle]:
    """Draw the five nodes of a * b + c, from the left."""
    places = ((8, 30), (8, 100), (230, 65), (230, 150), (452, 100))
    return [
        _box(d, x, y, text, fill) for (x, y), text in zip(places, values, strict=True)
    ]


def graph() -> Drawing:
    """Draw the graph of a * b + c with values."""
    d = Drawing(
        "22_graph",
        """The graph of y = a * b + c with a = 2, b = 5 and c = 1. An arrow leads from
        each operand to its result: from a and b to the product p = 10, from p and c
        to the sum y = 11.""",
        204,
    )
    a, b, p, c, y = _nodes(d, ("a = 2", "b = 5", "p = 10", "c = 1", "y = 11"), "sky")
    for start, end in ((a, p), (b, p), (p, y), (c, y)):
        d.arrow((start.right, start.centre[1]), (end.x, end.centre[1]))
    d.note((330, 65), "p = a * b")
    d.note((552, 120), "y = p + c")
    return d


def back() -> Drawing:
    """Draw the same graph with gradients that flow back."""
    d = Drawing(
        "22_back",
        """The same graph walked backwards, from y to a, b and c. The gradient of y is
        1. The sum passes 1 to p and 1 to c. The product multiplies what comes in by
        the other factor: a gets 1 * b = 5, and b gets 1 * a = 2.""",
        204,
    )
    a, b, p, c, y = _nodes(
        d, ("da = 5", "db = 2", "dp = 1", "dc = 1", "dy = 1"), "amber"
    )
    for start, end in ((p, a), (p, b), (y, p), (y, c)):
        d.arrow((start.x, start.centre[1]), (end.right, end.centre[1]))
    d.note((126, 26), "* b, which is 5")
    d.note((126, 152), "* a, which is 2")
    d.note((380, 56), "* 1")
    d.note((380, 184), "* 1")
    return d


def broadcast() -> Drawing:
    """Draw a row added to each row of a matrix, and the sum of the gradients."""
    d = Drawing(
        "22_broadcast",
        """Forward: a row b of 10, 20, 30 is added to both rows of a matrix x of 1, 2, 3
        and 4, 5, 6, as if it stood there twice; y is 11, 22, 33 and 14, 25, 36.
        Backward: two rows of gradients arrive at the one row b. The picture shows
        the rows of dy, and an arrow from each of them to db.""",
        270,
    )
    size = (48, 32)
    x, b, y = [[1, 2, 3], [4, 5, 6]], [[10, 20, 30]], [[11, 22, 33], [14, 25, 36]]
    d.head((60, 20), "x", anchor="middle")
    table(d, (8, 40), x, size, lambda row, col: "sky")
    d.head((280, 20), "b, twice")
    table(d, (208, 40), b * 2, size, lambda row, col: "idle" if row else "green")
    d.head((480, 20), "y")
    table(d, (408, 40), y, size, lambda row, col: "plain")
    d.label((180, 72), "+", anchor="middle")
    d.label((380, 72), "=", anchor="middle")
    d.head((480, 136), "dy")
    dy = [["p", "q", "r"], ["s", "t", "u"]]
    table(d, (408, 156), dy, size, lambda row, col: "amber")
    d.head((280, 156), "db")
    table(d, (208, 176), [["", "", ""]], size, lambda row, col: "green")
    for height in (172, 204):
        d.arrow((404, height), (358, 192))
    d.note((8, 244), "green: one row in memory; grey: the same row, repeated")
    return d


def layers() -> Drawing:
    """Draw the network for digits, and what each operation keeps."""
    d = Drawing(
        "22_layers",
        """The network as a graph: the pictures x times w1, plus b1,
        through tanh, times w2, plus b2, into the loss. Below, the way back:
        the product with w1 needs x once more, the product with w2 needs w2 and the
        result h of tanh, tanh needs this result, the loss needs the logits, and the
        sums need nothing.""",
        190,
    )
    names = ("@ w1", "+ b1", "tanh", "@ w2", "+ b2", "loss")
    needs = ("x", "nothing", "result h", "h, w2", "nothing", "logits")
    x = 92.0
    before = d.box(Rectangle(8, 50, 56, 44), "x", fill="sky", font=CODE)
    for name, need in zip(names, needs, strict=True):
        place = d.box(Rectangle(x, 50, 82, 44), name, fill="plain", font=CODE)
        d.arrow((before.right, 72), (place.x, 72))
        d.box(Rectangle(x, 130, 82, 34), need, fill="amber")
        before = place
        x += 110
    d.note((8, 22), "forward: each operation launches a kernel")
    d.note((8, 112), "needed on the way back:")
    return d


DRAW = (graph, back, broadcast, layers)
