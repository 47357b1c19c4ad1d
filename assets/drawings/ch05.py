"""Drawings of chapter 05: from a loop to a grid."""

from __future__ import annotations

import base64
from pathlib import Path

from drawing import CODE, HEAD, SMALL, SMALL_CODE, Drawing
from parts import arc, chain
from shapes import Point, Rectangle

BLOCK_FILLS = ("sky", "amber", "green")


def loop_to_threads() -> Drawing:
    """Draw iterations one after the other, and threads side by side."""
    d = Drawing(
        "05_loop_to_threads",
        """Left, a for loop: one thread of a CPU runs the iterations i = 0 to 5 one
        after the other, downwards in time. Right, a kernel: six threads run the
        same body side by side at the same time, thread 0 with i = 0 to thread 5
        with i = 5.""",
        366,
    )
    d.label(
        (60, 22), "for (int i = 0; i < 6; i++) body(i);", font=SMALL_CODE, fill="code"
    )
    d.label(
        (396, 22), "body<<<1, 6>>>();  // i = threadIdx.x", font=SMALL_CODE, fill="code"
    )
    d.label((168, 58), "one thread", anchor="middle", font=HEAD)
    d.line((36, 84), (36, 350), head=True)
    d.label((8, 60), "time", font=SMALL)
    loop = d.cells(
        (100, 84),
        [f"i = {i}" for i in range(6)],
        size=(136, 34),
        gap=10,
        down=True,
        fill="sky",
    )
    chain(d, loop)
    d.label((546, 58), "six threads, at the same time", anchor="middle", font=HEAD)
    threads = d.cells(
        (340, 108),
        [f"i = {i}" for i in range(6)],
        size=(62, 34),
        gap=8,
        fill="green",
        font=SMALL_CODE,
    )
    d.line((threads[0].x, 84), (threads[-1].right, 84))
    for place in threads:
        d.arrow((place.centre[0], 84), place.top)
    d.brace(threads[0].x, threads[-1].right, 150, "done when all six are done")
    d.label(
        (340, 262),
        "No iteration needs a result of another one,\n"
        "so any order gives the same array,\n"
        "also all at the same time.",
    )
    return d


def grid_over_array() -> Drawing:
    """Draw three blocks of four threads over an array of twelve elements."""
    d = Drawing(
        "05_grid_over_array",
        """An array of 12 elements under a grid of 3 blocks with 4 threads each. In each
        block threadIdx.x counts from 0 to 3. Thread 1 of block 2 is marked: its
        index is i = blockIdx.x * blockDim.x + threadIdx.x = 2 * 4 + 1 = 9, and
        it has element 9.""",
        300,
    )
    left, step = 112, 212
    d.label((8, 76), "threadIdx.x", font=SMALL)
    d.label((8, 172), "element i", font=SMALL)
    for block in range(3):
        x = left + block * step
        d.frame(x, 8, 204, 96)
        d.label((x + 102, 30), f"blockIdx.x = {block}", anchor="middle", font=CODE)
        marked = 1 if block == 2 else None
        threads = d.cells(
            (x + 8, 58),
            range(4),
            size=(47, 36),
            fill=lambda t, m=marked: "amber" if t == m else "sky",
        )
        elements = d.cells(
            (x + 8, 154),
            range(4 * block, 4 * block + 4),
            size=(47, 36),
            fill=lambda t, m=marked: "amber" if t == m else "plain",
        )
        for thread, element in zip(threads, elements, strict=True):
            d.arrow(thread.foot, element.top)
    d.label(
        (112, 232), "i = blockIdx.x * blockDim.x + threadIdx.x", font=CODE, fill="code"
    )
    d.label(
        (112, 268), "9 =      2     *     4      +      1     ", font=CODE, fill="amber"
    )
    return d


def guard() -> Drawing:
    """Draw the last block of a grid that hangs over the end of the array."""
    d = Drawing(
        "05_guard",
        """An array of n = 10 elements under 3 blocks of 4 threads. Threads 0 to 9 have
        an element each. Threads 10 and 11, the last two of block 2, hang over
        the end: for them i < n is false, and the guard keeps them out of the
        memory behind the array.""",
        330,
    )
    left, step = 112, 212
    d.label((8, 76), "i", font=SMALL_CODE)
    d.label((8, 186), "array", font=SMALL)
    places = []
    for block in range(3):
        x = left + block * step
        d.frame(x, 8, 204, 96)
        d.label((x + 102, 30), f"block {block}", anchor="middle")
        places += d.cells(
            (x + 8, 58),
            range(4 * block, 4 * block + 4),
            size=(47, 36),
            fill=lambda t, b=block: "sky" if 4 * b + t < 10 else "red",
        )
    elements = [
        d.box(Rectangle(p.x, 168, 47, 36), f"[{i}]", font=CODE)
        for i, p in enumerate(places[:10])
    ]
    outside = d.box(
        Rectangle(places[10].x, 168, 94, 36),
        "not yours",
        fill="quiet",
        dashed=True,
        font=SMALL,
    )
    for thread, element in zip(places[:10], elements, strict=True):
        d.arrow(thread.foot, element.top)
    wall = 136
    d.line((outside.x, wall), (outside.right, wall), width=4)
    for thread in places[10:]:
        d.arrow(thread.foot, (thread.centre[0], wall))
    d.brace(elements[0].x, elements[-1].right, 212, "n = 10 elements: i < n is true")
    d.label((outside.centre[0], 252), "i < n is false", anchor="middle", fill="red")
    d.label(
        (112, 296),
        "blocks = ceil(n / 4) = 3     12 threads for 10 elements: 2 to spare",
        font=SMALL_CODE,
        fill="code",
    )
    return d


def grid_stride() -> Drawing:
    """Draw six threads that walk over sixteen elements."""
    d = Drawing(
        "05_grid_stride",
        """A grid-stride loop: 2 blocks of 3 threads walk over n = 16 elements. The six
        threads take elements 0 to 5 in their first iteration, 6 to 11 in the
        second, and 12 to 15 in the third, which threads 4 and 5 skip. Thread 1
        is marked: it takes elements 1, 7 and 13, because each step is gridDim.x
        * blockDim.x = 6.""",
        320,
    )
    left, size = 112, (40, 34)
    for block in range(2):
        x = left + block * 3 * size[0]
        d.brace(x + 3, x + 3 * size[0] - 3, 44, f"block {block}", up=True)
    threads = d.cells(
        (left, 48), range(6), size=size, fill=lambda t: "amber" if t == 1 else "sky"
    )
    d.note((8, 65), "threads")
    d.note((8, 161), "elements")
    elements = d.cells(
        (left, 144),
        range(16),
        size=size,
        fill=lambda i: "amber" if i % 6 == 1 else "plain",
    )
    for thread, element in zip(threads, elements, strict=False):
        d.arrow(thread.foot, element.top)
    for start in 1, 7:
        arc(
            d, _beside(elements[start].top, 8), _beside(elements[start + 6].top, -8), 26
        )
        middle = (elements[start].centre[0] + elements[start + 6].centre[0]) / 2
        d.code((middle + 24, 112), "i += 6", anchor="middle")
    for number, first in enumerate((0, 6, 12)):
        last = min(first + 5, 15)
        d.brace(
            elements[first].x + 3, elements[last].right - 3, 184, f"iteration {number}"
        )
    d.code(
        (left, 252),
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "for (; i < n; i += gridDim.x * blockDim.x)",
    )
    d.note(
        (left, 298),
        "The condition i < n is the guard: threads 4 and 5 stop at 16 and 17.",
    )
    return d


def _beside(point: Point, right: float) -> Point:
    return point[0] + right, point[1]


def picture_grid() -> Drawing:
    """Draw the blocks over the picture of the lake."""
    d = Drawing(
        "05_picture_grid",
        """The picture of 150 x 110 pixels under a grid of 5 x 14 blocks, each 32 pixels
        wide and 8 high. x counts columns to the right, y counts rows down. The
        grid hangs over by 10 columns on the right and 2 rows at the bottom.
        Block (1, 4) is marked: its pixels have columns 32 to 63 and rows 32 to
        39.""",
        420,
    )
    left, top, pixel = 80, 46, 3
    across, down = 32 * pixel, 8 * pixel
    right, bottom = left + 5 * across, top + 14 * down
    edge, ground = left + 150 * pixel, top + 110 * pixel
    d.box(Rectangle(edge, top, right - edge, bottom - top), fill="red")
    d.box(Rectangle(left, ground, edge - left, bottom - ground), fill="red")
    d.picture(Rectangle(left, top, 150 * pixel, 110 * pixel), _valley())
    for number in range(6):
        d.line((left + number * across, top), (left + number * across, bottom), width=1)
    for number in range(15):
        d.line((left, top + number * down), (right, top + number * down), width=1)
    d.box(
        Rectangle(left + across, top + 4 * down, across, down),
        "block (1, 4)",
        font=SMALL,
        fill="amber",
    )
    d.arrow((left, 24), (left + 150, 24))
    d.code((left + 156, 24), "x: columns")
    d.line((36, top), (36, top + 96), head=True)
    d.code((4, top + 112), "y: rows")
    x = right + 16
    d.code((x, 84), "col = blockIdx.x * 32\n      + threadIdx.x")
    d.code((x, 134), "row = blockIdx.y * 8\n      + threadIdx.y")
    d.code((x, 184), "i = row * cols + col")
    d.label(
        (x, 262),
        "The pixel in row 35,\ncolumn 40 is thread\n(8, 3) of block (1, 4):\n"
        "col = 1 * 32 + 8\nrow = 4 * 8 + 3",
        font=SMALL,
        fill="amber",
    )
    d.label((x, 350), "no pixel here:\ntwo guards needed", font=SMALL, fill="red")
    d.note(
        (left, 402),
        "5 x 14 blocks of 32 x 8 threads = 160 x 112 threads for 150 x 110 pixels",
    )
    return d


def _valley() -> str:
    """Return the picture as a `data:` address."""
    data = (Path(__file__).parents[1] / "05_valley.png").read_bytes()
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def batched() -> Drawing:
    """Draw three products side by side, and where their matrices lie in memory."""
    d = Drawing(
        "05_batched",
        """A batch of three matrix products. The blocks with blockIdx.z = 0, 1 and 2
        each compute one of them, C = A * B, with x and y for column and row as
        before. In memory the three matrices A lie one behind the other, M * K
        values each, so that of blockIdx.z = 1 begins at A + 1 * M * K.""",
        330,
    )
    for z in range(3):
        x, fill = 8 + 250 * z, "amber" if z == 1 else "sky"
        d.frame(x, 8, 240, 152)
        d.code((x + 120, 30), f"blockIdx.z = {z}", anchor="middle", small=False)
        d.box(Rectangle(x + 14, 52, 54, 92), f"A[{z}]", font=CODE, fill=fill)
        d.code((x + 75, 98), "*")
        d.box(Rectangle(x + 98, 71, 54, 54), f"B[{z}]", font=CODE, fill=fill)
        d.code((x + 153 + 3, 98), "=")
        d.box(Rectangle(x + 180, 52, 54, 92), f"C[{z}]", font=CODE, fill=fill)
    d.note((8, 219), "A in memory")
    places = d.cells(
        (112, 200),
        ["A[0]", "A[1]", "A[2]"],
        size=(200, 38),
        fill=lambda z: "amber" if z == 1 else "sky",
    )
    d.brace(places[0].x, places[0].right, 244, "M * K values")
    d.arrow((places[1].x, 300), (places[1].x, 240))
    d.code((places[1].x - 7, 306), "A += matrix * M * K;  // matrix = blockIdx.z = 1")
    return d


DRAW = (loop_to_threads, grid_over_array, guard, grid_stride, picture_grid, batched)
