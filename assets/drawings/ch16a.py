"""Drawings of chapter 16: states and counters, a round, parts, points, columns."""

from __future__ import annotations

import math

from colours import FILLS
from drawing import CODE, SMALL, Drawing
from shapes import Rectangle

WORD = (72, 34)


def sequences() -> Drawing:
    """Draw a chain of states beside four counters that do not wait for each other."""
    d = Drawing(
        "16_sequences",
        """Two ways to a sequence of random numbers. With a state: each state leads to
        the next one and gives one number, so that a number needs all states before
        it. With a counter: each of four counters passes through Philox with the same
        key, none waits for another, and each gives four numbers.""",
        330,
    )
    d.head((20, 22), "with a state", anchor="start")
    states = d.cells(
        (20, 46), [f"state {k}" for k in range(4)], size=(84, 34), gap=40, fill="sky"
    )
    for k, state in enumerate(states):
        number = Rectangle(state.x + 6, 116, 72, 30)
        d.box(number, f"x{k}", fill="amber", font=CODE)
        d.arrow(state.foot, number.top)
        if k:
            d.arrow(
                (states[k - 1].right, state.centre[1]), (state.x - 2, state.centre[1])
            )
    d.note((530, 63), "x3 waits for x0, x1, x2")
    d.head((20, 182), "with a counter", anchor="start")
    for k in range(4):
        x = 20 + 178 * k
        counter = d.box(Rectangle(x + 40, 204, 84, 30), f"counter {k}", fill="sky")
        box = d.box(Rectangle(x + 40, 252, 84, 28), "Philox, key", font=SMALL)
        d.arrow(counter.foot, box.top)
        names = [f"x{4 * k + j}" for j in range(4)]
        words = d.cells((x + 2, 296), names, size=(40, 26), fill="amber", font=CODE)
        d.arrow(box.foot, (box.foot[0], words[0].y))
    return d


def one_round() -> Drawing:
    """Draw the products of a round, and where their halves go."""
    d = Drawing(
        "16_round",
        """A round of Philox. Of four words c0, c1, c2, c3 the words c0 and c2 are each
        multiplied by a constant; each product has a high and a low half. The new
        words are: high half of the product of c2, mixed with c1 and key0; low half
        of the product of c2; high half of the product of c0, mixed with c3 and key1;
        low half of the product of c0.""",
        320,
    )
    columns = [60 + 170 * k for k in range(4)]
    for k, x in enumerate(columns):
        d.box(Rectangle(x, 24, *WORD), f"c{k}", fill="sky", font=CODE)
    left, right = columns[0] + 36, columns[2] + 36
    d.note((4, 41), "before")
    products = {}
    for name, x in (("left", left), ("right", right)):
        products[name] = d.cells(
            (x - 60, 112), ("high", "low"), size=(60, 30), fill="amber", font=SMALL
        )
        d.arrow((x, 58), (x, 112))
        d.note((x + 10, 84), "times a constant")
    for k, (half, x) in enumerate(
        zip(
            (*products["right"], *products["left"]),
            columns,
            strict=True,
        )
    ):
        place = Rectangle(x, 240, *WORD)
        d.line(half.foot, (place.centre[0], 238), head=True)
        d.box(place, f"new c{k}", fill="green", font=CODE)
    d.note((4, 257), "after")
    d.note((columns[0] - 14, 294), "mixed with c1, key0")
    d.note((columns[2] - 14, 294), "mixed with c3, key1")
    return d


def parts() -> Drawing:
    """Draw three processes that share a sequence."""
    d = Drawing(
        "16_parts",
        """One sequence of 15 values, cut into three parts of equal length, one behind
        the other. Each part belongs to a process. All processes have one seed.""",
        150,
    )
    fills = ("sky", "amber", "green")
    d.head((20, 22), "one sequence, one seed", anchor="start")
    cells = d.cells((20, 44), range(15), size=(48, 34), fill=lambda k: fills[k // 5])
    for rank in range(3):
        middle = cells[5 * rank + 2].foot
        d.label((middle[0], 116), f"process {rank}", anchor="middle")
        d.arrow((middle[0], 102), (middle[0], 80))
    return d


def points() -> Drawing:
    """Draw 256 points of Philox beside 256 points of Sobol."""
    from coursekit.lessons.curand import philox, sobol

    d = Drawing(
        "16_points",
        """A square with 256 points of Philox, and a square with 256 points of Sobol's
        sequence, with a quarter of a circle in both. Philox's points leave gaps and
        form clusters, as chance does. Sobol's points cover the square evenly.""",
        356,
    )
    random = philox([[k, 0, 0, 0] for k in range(128)], (1234, 0)).reshape(-1, 2)
    even = [sobol.words_from(1, 256, axis) for axis in (0, 1)]
    side = 290
    for x0, name, pairs in (
        (40, "Philox", random),
        (420, "Sobol", list(zip(*even, strict=True))),
    ):
        d.head((x0, 20), f"256 points of {name}", anchor="start")
        d.box(Rectangle(x0, 42, side, side), fill="plain")
        arc = [math.pi / 2 * step / 40 for step in range(41)]
        d.line(
            *((x0 + side * math.cos(a), 42 + side - side * math.sin(a)) for a in arc),
            width=1.5,
        )
        for u, v in pairs:
            x, y = x0 + side * int(u) / 2**32, 42 + side - side * int(v) / 2**32
            inside = int(u) ** 2 + int(v) ** 2 <= 2**64
            colour = FILLS["blue" if inside else "red"].ground
            d.line((x - 2, y), (x + 2, y), colour=colour, width=4)
    return d


def columns() -> Drawing:
    """Draw the memory of a matrix by rows, with the values of its columns."""
    d = Drawing(
        "16_columns",
        """A matrix of four rows and three columns in memory by rows: twelve elements.
        Each colour is a column, which is one transform of four values. The elements
        of a colour are not neighbours: the other colours lie between them.""",
        210,
    )
    fills = ("sky", "amber", "green")
    d.head((20, 22), "x, by rows", anchor="start")
    for row in range(4):
        d.cells(
            (20, 44 + 36 * row),
            [f"x{row}{col}" for col in range(3)],
            size=(58, 36),
            fill=lambda k: fills[k],
        )
    d.head((250, 22), "its memory", anchor="start")
    names = [f"x{k // 3}{k % 3}" for k in range(12)]
    d.cells((250, 62), names, size=(41, 36), fill=lambda k: fills[k % 3])
    d.note((250, 128), "one colour = one transform")
    return d


DRAW = (sequences, one_round, parts, points, columns)
