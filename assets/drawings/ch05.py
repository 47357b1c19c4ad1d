"""Drawings of chapter 05: from a loop to a grid."""

from __future__ import annotations

from drawing import CODE, HEAD, SMALL, SMALL_CODE, Drawing
from shapes import Rectangle

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
    for above, below in zip(loop, loop[1:], strict=False):
        d.arrow(above.foot, below.top)
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
        "and so does no order at all.",
    )
    return d


def grid_over_array() -> Drawing:
    """Draw three blocks of four threads over an array of twelve elements."""
    d = Drawing(
        "05_grid_over_array",
        """An array of 12 elements under a grid of 3 blocks with 4 threads each. In
        each block threadIdx.x counts from 0 to 3. Thread 1 of block 2 is marked:
        its index is i = blockIdx.x * blockDim.x + threadIdx.x = 2 * 4 + 1 = 9, and
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
        an element each. Threads 10 and 11, the last two of block 2, hang over the
        end: for them i < n is false, and the guard keeps them out of the memory
        behind the array.""",
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


DRAW = (loop_to_threads, grid_over_array, guard)
