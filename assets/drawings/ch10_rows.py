"""Drawings of chapter 10: rows, and what fusion saves."""

from __future__ import annotations

import math

from drawing import SMALL, Drawing
from shapes import Rectangle


def online_softmax() -> Drawing:
    """Draw how the pair (max, sum) grows value by value."""
    values, best, total = (1, 3, 2, 5), -math.inf, 0.0
    rows = []
    for x in values:
        old, best = best, max(best, x)
        factor = math.exp(old - best)
        total = total * factor + math.exp(x - best)
        rows.append((str(x), str(best), f"{factor:.3f}", f"{total:.3f}"))
    d = Drawing(
        "10_online_softmax",
        """Online softmax of the row 1, 3, 2, 5. The maximum so far is 1, 3, 3, 5. Where
        it rises by 2, the sum so far is multiplied by exp(-2) = 0.135; where it
        stays, by 1. The sum of exp(x - max) is then 1, 1.135, 1.503 and at last
        1.203, after one pass over the row.""",
        222,
    )
    names = ("next x", "max so far", "old sum times", "new sum")
    ups = (12, 66, 120, 174)
    places = {}
    for y, name in zip(ups, names, strict=True):
        d.note((8, y + 18), name)
    for number, row in enumerate(rows):
        for y, text, fill in zip(
            ups, row, ("plain", "sky", "amber", "green"), strict=True
        ):
            if y == ups[2] and number == 0:
                continue
            place = Rectangle(136 + 150 * number, y, 96, 36)
            places[number, y] = d.box(place, text, fill=fill)
    for number in range(1, 4):
        start, end = places[number - 1, ups[3]], places[number, ups[3]]
        d.arrow((start.right, start.centre[1]), (end.x, end.centre[1]))
        d.arrow(places[number, ups[2]].foot, places[number, ups[3]].top)
    return d


def rows_by_whom() -> Drawing:
    """Draw a row shared by the lanes of a warp, by a block, by a cluster."""
    d = Drawing(
        "10_rows_by_whom",
        """Who shares a row. A short row belongs to one warp: 32 lanes merge their pairs
        by shuffles. A longer row belongs to one block: its warps merge through
        shared memory and a barrier. A row too long for one block belongs to a
        cluster: its blocks write into each other's shared memory and wait at
        the cluster's barrier.""",
        334,
    )
    ways = (
        ("one warp", "two lanes", 16, 1, "shuffles\nno barrier", "sky"),
        ("one block", "one warp", 8, 2, "shared memory\n__syncthreads()", "amber"),
        (
            "one cluster",
            "block",
            4,
            3,
            "shared memory of the others\ncluster barrier",
            "green",
        ),
    )
    for number, (who, part, count, length, how, fill) in enumerate(ways):
        y = 12 + 108 * number
        d.label((8, y + 28), who)
        width = 140 * length / count
        row = d.cells((120, y + 10), [""] * count, size=(width, 36), fill=fill)
        d.brace(row[0].x, row[-1].right, y + 52, f"one row; each cell: {part}")
        d.note((752, y + 28), how, anchor="end")
    return d


def fusion() -> Drawing:
    """Draw the arrays that two kernels move, and those that one moves."""
    d = Drawing(
        "10_fusion",
        """Bias and GELU of an array. As two kernels, four arrays move between chip and
        memory: the first kernel reads x and writes z, the second reads z and
        writes y. As one kernel, z stays in a register and two arrays move: x is
        read and y is written.""",
        250,
    )
    memory = d.box(Rectangle(8, 190, 744, 44), fill="quiet")
    d.head((190, 24), "two kernels: 4 arrays move")
    d.head((590, 24), "one kernel: 2 arrays move")
    bias = d.box(Rectangle(24, 56, 148, 50), "z = x + bias", fill="sky")
    gelu = d.box(Rectangle(208, 56, 148, 50), "y = GELU(z)", fill="sky")
    fused = d.box(
        Rectangle(470, 56, 240, 50),
        "z = x + bias\ny = GELU(z), z in a register",
        fill="green",
        font=SMALL,
    )
    for place, first, second in ((bias, "x", "z"), (gelu, "z", "y"), (fused, "x", "y")):
        left, right = place.x + 34, place.right - 34
        d.arrow((left, memory.y), (left, place.bottom))
        d.arrow((right, place.bottom), (right, memory.y))
        d.note((left, 148), f"read {first}", anchor="middle")
        d.note((right, 148), f"write {second}", anchor="middle")
    d.label(memory.centre, "global memory", anchor="middle")
    return d


def head_and_tail() -> Drawing:
    """Draw three rows of 21 values over the sectors of memory."""
    d = Drawing(
        "10_head_and_tail",
        """Rows of 21 floats in memory, which is cut into sectors of 8 floats. Row 0
        begins with a sector. Row 1 begins in the middle of one: its first values,
        up to the next sector, are its head. Quads of four values follow, and the
        one to three values that are left at the end are its tail.""",
        222,
    )
    width, left = 17, 8
    for sector in range(5):
        place = Rectangle(left + 8 * width * sector, 62, 8 * width, 30)
        d.box(place, f"sector {sector}", fill="quiet", font=SMALL)
    for value in range(40):
        row, c = divmod(value, 21)
        begin = min(-row * 21 % 8, 21)
        quads = (21 - begin) // 4
        loose = c < begin or c >= begin + 4 * quads
        fill = "amber" if loose else "sky"
        d.box(Rectangle(left + width * value, 96, width, 34), fill=fill)
    d.brace(left, left + 21 * width, 136, "row 0: 21 floats")
    d.brace(left + 21 * width, left + 40 * width, 136, "row 1, and so on")
    d.label((8, 24), "quads: one access of 16 bytes each", fill="sky")
    d.label((300, 24), "head and tail: one value per access", fill="amber")
    d.code((8, 200), "row = head + 4 * quads + tail")
    return d


def cancellation() -> Drawing:
    """Draw the float32 numbers near 100 million, and a variance between them."""
    d = Drawing(
        "10_cancellation",
        """Two number lines of float32. Near 1 the neighbours of a number are so close
        that they look like a line. Near 100,000,000 neighbours lie 8 apart. Mean of
        squares and square of the mean are rounded to such neighbours, so that their
        difference is a multiple of 8.""",
        236,
    )
    left, right = 40, 720
    d.note((8, 24), "float32 near 1: neighbours are 0.0000001 apart")
    d.line((left, 62), (right, 62), width=8)
    d.note((8, 108), "float32 near 100,000,000: neighbours are 8 apart")
    d.line((left, 150), (right, 150))
    for number in range(6):
        x = left + number * (right - left) / 5
        d.line((x, 138), (x, 162), width=3)
        d.note((min(max(x, 66), 700), 184), f"+ {8 * number}", anchor="middle")
    d.code((8, 216), "variance = mean of x * x - mean * mean")
    return d


def _of_group(channel: int) -> str:
    """Return the fill of a channel's group."""
    return "sky" if channel < 2 else "green"


def groups() -> Drawing:
    """Draw the channels of two images, in groups of two."""
    d = Drawing(
        "10_groups",
        """Group normalisation. Each of two images has four channels, which lie one
        after the other in memory. Two neighbouring channels are a group: its values
        lie side by side like a long row, and it has one mean and one variance.
        Each channel has its own gamma and beta.""",
        244,
    )
    size = (88, 44)
    for image in range(2):
        x = 8 + image * 376
        names = [f"channel {c}" for c in range(4)]
        cells = d.cells((x, 60), names, size=size, fill=_of_group, font=SMALL)
        d.head((x + 176, 30), f"image {image}")
        d.brace(cells[0].x, cells[1].right, 110, "group 0")
        d.brace(cells[2].x, cells[3].right, 110, "group 1")
    d.note((8, 176), "a group: one mean, one variance, one block of threads")
    d.note((8, 214), "a channel: one gamma, one beta, P values side by side")
    return d


def lanes_and_rows() -> Drawing:
    """Draw which values a warp reads at once, by columns and along a row."""
    d = Drawing(
        "10_lanes_and_rows",
        """Two ways to share out four rows of sixteen floats, which lie in sectors of
        eight. A thread for each row: the lanes read one column together, and each
        lane touches a sector of its own. A block for each row: the lanes read
        neighbouring values of one row, and share its sectors.""",
        238,
    )
    for number, name in enumerate(("a thread for each row", "a block for each row")):
        left = 8 + 384 * number
        d.head((left + 176, 22), name)
        for row in range(4):
            for col in range(16):
                read = col == 0 if number == 0 else row == 0
                lane = row if number == 0 else col
                place = Rectangle(left + 22 * col, 48 + 32 * row, 22, 32)
                text = str(lane) if read and lane < 10 else ""
                fill = "amber" if read else "plain"
                d.box(place, text, fill=fill, font=SMALL)
            for sector in range(2):
                d.frame(left + 176 * sector, 48 + 32 * row, 176, 32)
    d.note((8, 210), "amber: what the lanes read at once, with the number of the lane")
    return d


DRAW = (
    online_softmax,
    rows_by_whom,
    lanes_and_rows,
    head_and_tail,
    cancellation,
    groups,
    fusion,
)
