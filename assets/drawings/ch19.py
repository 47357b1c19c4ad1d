"""Drawings of chapter 19: turns, stages, registers and clusters."""

from __future__ import annotations

import math

from drawing import SMALL, SMALL_CODE, Drawing
from parts import Round, draw_rounds
from shapes import Rectangle

TURNS = 8


def circle() -> Drawing:
    """Draw eight roots of unity, and how two frequencies walk over them."""
    d = Drawing(
        "19_circle",
        """A circle with eight points, numbered clockwise from 0 on the right to 7.
        Frequency 1 visits them in order, one value of x at each. Frequency 3
        moves three points per value: 0, 3, 6, 1, 4, 7, 2, 5. Frequency 0 stays
        at point 0.""",
        280,
    )
    x0, y0, radius = 150, 140, 92
    angles = [2 * math.pi * k / 64 for k in range(65)]
    d.line(
        *((x0 + radius * math.cos(a), y0 + radius * math.sin(a)) for a in angles),
        width=1.5,
    )
    for point in range(TURNS):
        a = 2 * math.pi * point / TURNS
        at = x0 + radius * math.cos(a), y0 + radius * math.sin(a)
        fill = "amber" if point == 0 else "sky"
        d.label(at, f"{point}", fill=fill, anchor="middle")
    d.note((x0 - 42, y0), "one turn: 8 steps")
    left, wide = 376, 44
    d.note((left - 66, 54), "value j")
    d.cells((left, 38), range(TURNS), size=(wide, 30), fill="quiet")
    for row, k in enumerate((0, 1, 3)):
        y = 92 + 58 * row
        d.note((left - 66, y + 17), f"k = {k}")
        walk = [j * k % TURNS for j in range(TURNS)]
        d.cells(
            (left, y),
            walk,
            size=(wide, 34),
            fill=lambda j, walk=walk: "amber" if walk[j] == 0 else "sky",
        )
    d.note((left, 266), "point of the circle by which x[j] is multiplied")
    return d


def stages() -> Drawing:
    """Draw three stages of a transform of eight values."""
    d = Drawing(
        "19_stages",
        """The transform of eight values in three stages. At first each place holds one
        value. In each stage thread t, from 0 to 3, joins places t and t + 4, and
        stores two results: side by side with span 1, two apart with span 2, four
        apart with span 4. After the stages the results depend on two, then four,
        then all eight values.""",
        322,
    )
    sets = [[i] for i in range(8)]
    rounds = [Round("x", [f"{i}" for i in range(8)])]
    for span in 1, 2, 4:
        after: list[list[int]] = [[] for _ in range(8)]
        moves = []
        for t in range(4):
            to = 2 * t - t % span
            joined = sorted(sets[t] + sets[t + 4])
            for place in to, to + span:
                after[place] = joined
                moves += [(t, place), (t + 4, place)]
        sets = after
        texts = ["all" if len(s) == 8 else "".join(map(str, s)) for s in sets]
        rounds.append(Round(f"span = {span}", texts, moves))
    draw_rounds(d, rounds, (112, 12), size=(60, 32), step=82)
    d.note((112, 306), "Each place lists the values of x that its result depends on.")
    return d


def registers() -> Drawing:
    """Draw how values move between registers and shared memory."""
    d = Drawing(
        "19_registers",
        """A row of 16 values and four threads with four registers each, coloured by
        thread. Before a stage thread t holds values t, t + 4, t + 8 and t + 12.
        It transforms these four in its registers and stores the results side by
        side, at places 4 t to 4 t + 3. Then it reads places t, t + 4, t + 8 and t
        + 12 again, for the next stage.""",
        276,
    )
    fills = ("sky", "amber", "green", "pink")
    left, size = 134, (36, 34)
    rows = (
        ("read", 12, range(16), lambda i: fills[i % 4]),
        ("stored", 112, range(16), lambda i: fills[i // 4]),
        ("read again", 212, range(16), lambda i: fills[i % 4]),
    )
    placed = {}
    for label, y, values, fill in rows:
        d.note((8, y + 17), label)
        placed[label] = d.cells(
            (left, y), values, size=size, fill=fill, font=SMALL_CODE
        )
    for i in (1, 5, 9, 13):
        to = 4 + i // 4
        d.arrow(placed["read"][i].foot, placed["stored"][to].top)
        d.arrow(placed["stored"][i].foot, placed["read again"][i].top)
    d.note((left, 262), "Colour: thread 0, 1, 2 or 3. Arrows: thread 1.")
    return d


def cluster() -> Drawing:
    """Draw a row of values in four blocks of a cluster."""
    d = Drawing(
        "19_cluster",
        """A row of values that is too long for one block lies in four blocks of a
        cluster. Each block has its own shared memory. After a stage, a thread of
        block 1 stores its results in the shared memory of the blocks that read
        them next: blocks 0, 1, 2 and 3. The row crosses the global memory twice:
        once when it is read, and once when its transform is stored.""",
        300,
    )
    left, wide, gap = 112, 140, 18
    d.note((8, 31), "global")
    d.box(Rectangle(left, 14, 4 * wide + 3 * gap, 34), "one row of x", fill="quiet")
    for block in range(4):
        x = left + block * (wide + gap)
        d.frame(x, 84, wide, 162)
        top = d.box(
            Rectangle(x + 10, 94, wide - 20, 46),
            f"block {block}\nregisters",
            fill="amber" if block == 1 else "plain",
            font=SMALL,
        )
        low = d.box(
            Rectangle(x + 10, 194, wide - 20, 44),
            "shared memory",
            fill="sky",
            font=SMALL,
        )
        d.arrow((top.centre[0], 48), top.top)
        source = left + wide + gap + wide / 2, 140
        d.arrow(source, low.top)
    d.note((left, 276), "One stage: block 1 stores where its results are read next.")
    return d


def real() -> Drawing:
    """Draw how real values become half as many arrows."""
    d = Drawing(
        "19_real",
        """Eight real values in memory, 0 to 7. Read as float2 they are four arrows:
        values 0 and 1, 2 and 3, 4 and 5, 6 and 7. The first number of each arrow
        is an even value, the second an odd one. Their transform Z has four
        results, from which the five results of X are made.""",
        262,
    )
    left, wide = 150, 64
    d.note((8, 29), "float *x")
    d.cells(
        (left, 12),
        range(8),
        size=(wide, 34),
        fill=lambda i: "amber" if i % 2 else "sky",
    )
    d.note((8, 95), "the same as float2")
    d.cells(
        (left, 78),
        ("0 + 1 i", "2 + 3 i", "4 + 5 i", "6 + 7 i"),
        size=(2 * wide, 34),
        fill="plain",
    )
    d.note((8, 161), "Z, transformed")
    d.cells(
        (left, 144), (f"Z[{k}]" for k in range(4)), size=(2 * wide, 34), fill="green"
    )
    d.note((8, 227), "X, parted")
    d.cells(
        (left, 210),
        (f"X[{k}]" for k in range(5)),
        size=(2 * wide - 26, 34),
        fill="pink",
    )
    return d


def circular() -> Drawing:
    """Draw what runs over the end of a circular convolution."""
    d = Drawing(
        "19_circular",
        """Six values of x and three weights make eight sums, from 0 to 7. A circular
        convolution of length 6 has no places 6 and 7. The sums 6 and 7 are added
        to places 0 and 1, which are then wrong. With zeros up to length 8 there is
        a place for each.""",
        236,
    )
    left, wide = 176, 62
    d.note((8, 31), "plain, 8 sums")
    plain = d.cells(
        (left, 14),
        range(8),
        size=(wide, 34),
        gap=8,
        fill=lambda i: "amber" if i > 5 else "sky",
    )
    d.note((8, 127), "circular, length 6")
    places = d.cells(
        (left, 110),
        ("0 + 6", "1 + 7", 2, 3, 4, 5),
        size=(wide, 34),
        gap=8,
        fill=lambda i: "amber" if i < 2 else "sky",
    )
    for start, to in ((6, 0), (7, 1)):
        d.arrow(plain[start].foot, places[to].top)
    d.note((8, 197), "padded to 8")
    d.cells(
        (left, 180),
        range(8),
        size=(wide, 34),
        gap=8,
        fill=lambda i: "amber" if i > 5 else "sky",
    )
    return d


def slide() -> Drawing:
    """Draw a mirrored filter at three places, and which results need no zeros."""
    d = Drawing(
        "19_slide",
        """Six values of x, from 0 to 5, and a filter of three weights, mirrored: w2,
        w1, w0. It lies at three places. For result 0 only w0 meets a value, number
        0. For result 3 all weights meet a value. For result 7 only w2
        meets a value, number 5. Full has all eight results. Same has those from 1
        to 6. Valid has those from 2 to 5.""",
        330,
    )
    left, wide = 250, 48
    d.note((8, 29), "x")
    d.cells((left, 12), range(6), size=(wide, 34), fill="sky")
    for row, result in enumerate((0, 3, 7)):
        y = 62 + 44 * row
        d.note((8, y + 17), f"result {result}")
        d.cells(
            (left + (result - 2) * wide, y),
            ("w2", "w1", "w0"),
            size=(wide, 34),
            fill="amber",
        )
    d.note((8, 225), "y")
    d.cells((left, 208), range(8), size=(wide, 34), fill="plain")
    for row, (name, first, last) in enumerate(
        (("full", 0, 8), ("same", 1, 7), ("valid", 2, 6))
    ):
        y = 262 + 24 * row
        d.note((8, y), name)
        d.line((left + first * wide, y), (left + last * wide, y), width=6)
    return d


def one_pass() -> Drawing:
    """Draw what crosses the memory in three launches, and in one."""
    d = Drawing(
        "19_one_pass",
        """Above, three launches: a transform reads x from the global memory and writes
        X, a product reads X and writes Y, and an inverse reads Y and writes y. Six
        arrows cross the border of the chip. Below, one launch reads x, holds X and
        Y in registers, and writes y. Two arrows cross the border.""",
        300,
    )
    names = ("transform", "times W", "inverse")
    left, wide, gap = 130, 140, 62
    for row, y in enumerate((14, 166)):
        d.note((8, y + 17), "global")
        d.note((8, y + 97), "chip")
        places = []
        for i, name in enumerate(names):
            x = left + i * (wide + gap)
            places.append(
                d.box(Rectangle(x, y + 80, wide, 40), name, fill="sky", font=SMALL)
            )
        for i, name in enumerate(("x", "X", "Y", "y")):
            if row and 0 < i < 3:
                continue
            middle = left + wide / 2 + (i - 0.5) * (wide + gap)
            at = d.box(
                Rectangle(middle - 26, y, 52, 34), name, fill="amber", font=SMALL
            )
            if i > 0:
                d.arrow(places[i - 1].top, at.foot)
            if i < 3:
                d.arrow(at.foot, places[i].top)
        if row:
            for a, b in zip(places, places[1:], strict=False):
                y0 = a.centre[1]
                d.arrow((a.centre[0] + wide / 2, y0), (b.centre[0] - wide / 2, y0))
    return d


def overlap() -> Drawing:
    """Draw rows of a sound that overlap, and which of their results are right."""
    d = Drawing(
        "19_overlap",
        """A long sound, and three rows cut out of it. Each row begins before the one
        above ends: they overlap by m - 1 values. The first m - 1 results of each
        row are spoiled, because sums wrap around there. The others are right, and
        side by side they are the results for the whole sound.""",
        256,
    )
    left, size, lost = 120, 200, 56
    d.note((8, 29), "x")
    step = size - lost
    d.box(Rectangle(left + lost, 12, 3 * step, 34), "a sound", fill="quiet")
    for row in range(3):
        x, y = left + row * step, 66 + 44 * row
        d.note((8, y + 17), f"row {row}")
        d.box(Rectangle(x, y, lost, 34), "m - 1", fill="pink", font=SMALL)
        d.box(Rectangle(x + lost, y, step, 34), "right", fill="green", font=SMALL)
    d.note((8, 225), "y")
    for row in range(3):
        d.box(
            Rectangle(left + lost + row * step, 208, step, 34),
            f"of row {row}",
            fill="green",
            font=SMALL,
        )
    return d


DRAW = (
    circle,
    stages,
    registers,
    cluster,
    real,
    circular,
    slide,
    one_pass,
    overlap,
)
