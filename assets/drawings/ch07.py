"""Drawings of chapter 07: lanes, masks, shuffles and sectors."""

from __future__ import annotations

from collections.abc import Callable

from drawing import SMALL, SMALL_CODE, Drawing
from parts import Round, draw_rounds
from shapes import Rectangle

LANES = 32


def _lanes(d: Drawing, y: float, fill: Callable[[int], str]) -> list[Rectangle]:
    """Draw a warp as 32 narrow cells."""
    return d.cells((176, y), [""] * LANES, size=(18, 30), fill=fill)


def threads_to_warps() -> Drawing:
    """Draw how the threads of a two-dimensional block become lanes."""
    d = Drawing(
        "07_threads_to_warps",
        """A block of 4 x 16 threads, x from 0 to 3 and y from 0 to 15. Threads are
        numbered x first: thread (x, y) has number x + 4 * y. The rows y = 0 to
        7 are the 32 lanes of warp 0, the rows y = 8 to 15 those of warp 1.
        Thread (2, 9) is marked: number 38, which is lane 6 of warp 1.""",
        380,
    )
    d.code((104, 20), "x = 0 ... 3")
    for y in range(16):
        fill = "sky" if y < 8 else "green"
        for x in range(4):
            marked = (x, y) == (2, 9)
            place = Rectangle(104 + 46 * x, 40 + 20 * y, 46, 20)
            d.box(
                place, str(x + 4 * y), font=SMALL_CODE, fill="amber" if marked else fill
            )
        d.code((96, 50 + 20 * y), f"{y:2}", anchor="end") if y % 4 == 0 else None
    d.code((8, 50), "y = ")
    d.label((330, 120), "warp 0: threads 0 to 31", fill="sky")
    d.label((330, 280), "warp 1: threads 32 to 63", fill="green")
    d.line((300, 42), (308, 42), (308, 198), (300, 198))
    d.line((300, 202), (308, 202), (308, 358), (300, 358))
    d.code(
        (330, 168),
        "number = x + blockDim.x * y\nwarp   = number / 32\nlane   = number % 32",
    )
    d.code(
        (330, 336),
        "number = 2 + 4 * 9 = 38\nwarp   = 38 / 32 = 1\nlane   = 38 % 32 = 6",
        fill="amber",
    )
    return d


def divergence() -> Drawing:
    """Draw the masks of a warp at a branch, and where its lanes meet again."""
    d = Drawing(
        "07_divergence",
        """A warp of 32 lanes at the branch lane < 12. Before it all lanes are active.
        Then lanes 0 to 11 run a() while lanes 12 to 31 wait; then lanes 12 to
        31 run b() while lanes 0 to 11 wait. At the reconvergence point all 32
        lanes are active again and run c() together.""",
        330,
    )
    steps = (
        ("before", lambda lane: "sky"),
        ("a();", lambda lane: "amber" if lane < 12 else "idle"),
        ("b();", lambda lane: "idle" if lane < 12 else "green"),
        ("c();", lambda lane: "sky"),
    )
    d.line((28, 16), (28, 250), head=True)
    d.note((8, 268), "time")
    rows = []
    for number, (text, fill) in enumerate(steps):
        y = 18 + 64 * number
        d.code((60, y + 15), text, small=False)
        rows.append(_lanes(d, y, fill))
    middle = 176 + 9 * LANES
    d.code((middle, 65), "if (lane < 12)", anchor="middle")
    d.code((middle, 129), "else", anchor="middle")
    d.note((middle, 193), "reconvergence point", anchor="middle")
    d.brace(rows[-1][0].x, rows[-1][11].right - 2, 244, "lanes 0 to 11")
    d.brace(rows[-1][12].x + 2, rows[-1][-1].right, 244, "lanes 12 to 31")
    d.note(
        (176, 312),
        "grey: the lane waits. The warp needs the time of a() plus that of b().",
    )
    return d


def butterfly() -> Drawing:
    """Draw a sum that reaches all lanes, by shuffles with xor."""
    values = [3, 1, 7, 0, 4, 1, 6, 3]
    d = Drawing(
        "07_butterfly",
        """A warp's sum by __shfl_xor_sync, drawn with 8 lanes instead of 32. In each
        round lane i adds the value of lane i ^ mask, with mask 4, then 2, then
        1. Lanes 0 to 7 hold 3, 1, 7, 0, 4, 1, 6, 3 at first and all hold the
        total, 25, after three rounds.""",
        336,
    )
    d.note((8, 22), "lane")
    d.cells((112, 8), range(8), size=(56, 28), gap=12, fill="quiet")
    rounds = [Round("own", tuple(values))]
    for mask in 4, 2, 1:
        values = [values[i] + values[i ^ mask] for i in range(8)]
        moves = [(j, i) for i in range(8) for j in (i, i ^ mask)]
        rounds.append(Round(f"mask = {mask}", tuple(values), moves))
    draw_rounds(d, rounds, (112, 44))
    d.code((112, 316), "own += __shfl_xor_sync(ALL, own, mask);")
    return d


def sectors() -> Drawing:
    """Draw the sectors that a warp touches at strides 1 and 2."""
    d = Drawing(
        "07_sectors",
        """Which sectors a request touches. Each sector has 32 bytes, 8 floats. At
        stride 1 the 32 lanes read 32 neighbouring floats: 4 sectors, all of
        their bytes used. At stride 2 they read every second float: 8 sectors,
        half of their bytes used.""",
        250,
    )
    for number, stride in enumerate((1, 2)):
        y = 20 + 112 * number
        d.code((8, y + 18), f"x[{stride} * lane]" if stride > 1 else "x[lane]")
        for sector in range(8):
            x = 120 + 79 * sector
            touched = sector < 4 * stride
            d.frame(x, y, 74, 36)
            for word in range(8):
                index = 8 * sector + word
                used = index % stride == 0 and index // stride < LANES
                fill = "amber" if used else "plain" if touched else "idle"
                d.box(Rectangle(x + 3 + 8.5 * word, y + 4, 8.5, 28), fill=fill)
        right = 120 + 79 * 4 * stride - 5
        share = 100 // stride
        d.brace(
            120, right, y + 40, f"{4 * stride} sectors, {share} % of the bytes used"
        )
    d.label(
        (8, 232),
        "amber: read by a lane; light: in the same sector; grey: not moved",
        font=SMALL,
    )
    return d


DRAW = (threads_to_warps, divergence, butterfly, sectors)
