"""Drawings of chapter 08: races, barriers, and messages between blocks."""

from __future__ import annotations

from collections.abc import Sequence

from drawing import CODE, SMALL, SMALL_CODE, Drawing
from parts import chain
from shapes import Point, Rectangle


def race() -> Drawing:
    """Draw two warps that add 1 to the same counter, and lose one addition."""
    d = Drawing(
        "08_race",
        """Two warps add 1 to the counter c, which holds 5. Warp 0 loads 5, then warp 1
        loads 5 as well. Warp 0 stores 6, then warp 1 stores 6. Two additions
        were made and c holds 6, not 7: one addition is lost.""",
        330,
    )
    for x, name in ((112, "warp 0"), (340, "counter c"), (568, "warp 1")):
        d.head((x + 40, 22), name)
    d.line((28, 44), (28, 300), head=True)
    d.note((8, 316), "time")
    counter = (5, 5, 6, 6)
    cells = [
        d.box(
            Rectangle(340, 48 + 66 * n, 80, 38),
            str(value),
            font=CODE,
            fill="plain" if value == 5 else "amber",
        )
        for n, value in enumerate(counter)
    ]
    events = (
        (0, 112, "load: 5", "sky"),
        (1, 568, "load: 5", "green"),
        (2, 112, "store: 5 + 1", "sky"),
        (3, 568, "store: 5 + 1", "green"),
    )
    for number, x, text, fill in events:
        place = d.box(Rectangle(x - 14, 48 + 66 * number, 120, 38), text, fill=fill)
        left = x < 340
        near = place.right if left else place.x
        far = cells[number].x if left else cells[number].right
        ends = (far, near) if "load" in text else (near, far)
        y = place.centre[1]
        d.arrow((ends[0], y), (ends[1], y))
    d.label(
        (340 + 40, 312), "6, not 7: one addition is lost", anchor="middle", fill="red"
    )
    return d


def barrier() -> Drawing:
    """Draw warps that wait for each other between storing and loading."""
    d = Drawing(
        "08_barrier",
        """Three warps of a block over time. Each stores its values in shared memory and
        then arrives at __syncthreads. Warp 1 arrives first and waits longest,
        warp 2 arrives last. Only then do all three go on and load what the
        others have stored.""",
        270,
    )
    lengths = (190, 120, 260)
    d.note((8, 252), "time")
    d.line((60, 252), (744, 252), head=True)
    for warp, length in enumerate(lengths):
        y = 16 + 66 * warp
        d.label((8, y + 19), f"warp {warp}", font=SMALL)
        stored = d.box(
            Rectangle(76, y, length, 38), "store sums[t]", fill="sky", font=SMALL_CODE
        )
        if stored.right < 336:
            d.box(
                Rectangle(stored.right, y, 336 - stored.right, 38),
                "wait",
                fill="idle",
                font=SMALL,
            )
        d.box(
            Rectangle(364, y, 240, 38),
            "load sums[t + apart]",
            fill="green",
            font=SMALL_CODE,
        )
    d.line((350, 8), (350, 208), width=4)
    d.code((350, 222), "__syncthreads();", anchor="middle")
    d.note((744, 220), "stores before it are visible after it", anchor="end")
    return d


def double_buffer() -> Drawing:
    """Draw the rod in two copies that change roles."""
    d = Drawing(
        "08_two_copies",
        """A rod in two copies. In one iteration every thread reads its place and both
        neighbours from copy 0 and writes the mean to copy 1; in the next it
        reads copy 1 and writes copy 0. Nobody writes into the copy that others
        still read, so one barrier per iteration is enough.""",
        330,
    )
    rows = []
    for number, (copy, role) in enumerate(
        ((0, "read"), (1, "write, then read"), (0, "write"))
    ):
        y = 14 + 108 * number
        d.note((8, y + 17), f"copy {copy}: {role}")
        fill = "sky" if copy == 0 else "green"
        rows.append(d.cells((176, y), [""] * 9, size=(52, 34), gap=8, fill=fill))
    for above, below in zip(rows, rows[1:], strict=False):
        for place in range(1, 8):
            for near in -1, 0, 1:
                d.line(above[place + near].foot, below[place].top, width=1)
    for y in (82, 190):
        d.line((176, y), (708, y), width=4)
        d.code((442, y), "__syncthreads();", anchor="middle")
    d.note((176, 302), "The places at both ends keep their temperature.")
    return d


def _column(
    d: Drawing, corner: Point, texts: Sequence[str], fill: str
) -> list[Rectangle]:
    """Draw what a block does, from top to bottom; the second is a fence."""
    boxes = []
    for number, text in enumerate(texts):
        place = Rectangle(corner[0], corner[1] + 56 * number, 220, 36)
        colour = "quiet" if number == 1 else fill
        boxes.append(d.box(place, text, font=SMALL_CODE, fill=colour))
    chain(d, boxes)
    return boxes


def message() -> Drawing:
    """Draw how one block hands data to another."""
    d = Drawing(
        "08_message",
        """How a block hands data to another. The first block writes its data, then a
        fence, then sets the flag: a release. The second block reads the flag
        until it is set, then a fence, then reads the data: an acquire. The two
        fences and the flag put writing the data before reading it.""",
        300,
    )
    d.head((180, 22), "block 0")
    d.head((580, 22), "block 1")
    writer = ("data[i] = value;", "__threadfence();", "store flag = 1")
    reader = ("load flag until it is 1", "__threadfence();", "value = data[i];")
    left = _column(d, (70, 48), writer, "sky")
    right = _column(d, (470, 104), reader, "green")
    d.line(
        (left[2].right, left[2].centre[1]),
        (380, left[2].centre[1]),
        (380, right[0].centre[1]),
        (right[0].x, right[0].centre[1]),
        head=True,
    )
    d.note((380, 74), "the flag, an atomic", anchor="middle")
    d.label(
        (180, 240),
        "release: first the data, then the flag",
        anchor="middle",
        font=SMALL,
    )
    d.label(
        (580, 282),
        "acquire: first the flag, then the data",
        anchor="middle",
        font=SMALL,
    )
    return d


DRAW = (race, barrier, double_buffer, message)
