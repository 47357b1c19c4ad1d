"""Drawings of chapter 00: a grid, a guard, and the order of the tools."""

from __future__ import annotations

from drawing import CODE, SMALL, Drawing
from shapes import Rectangle


def grid() -> Drawing:
    """Draw two blocks of four threads, and each thread's number in the grid."""
    d = Drawing(
        "00_grid",
        """Two blocks of four threads. In each block threadIdx.x counts from 0 to 3.
        Below them the number in the grid: 0 to 3 in block 0, 4 to 7 in block 1.
        Thread 3 of block 1 is marked: it has number 1 * 4 + 3 = 7.""",
        260,
    )
    d.note((8, 80), "threadIdx.x")
    d.note((8, 154), "i")
    for block in range(2):
        x = 112 + 320 * block
        d.frame(x, 8, 304, 98)
        d.code((x + 152, 30), f"blockIdx.x = {block}", anchor="middle", small=False)
        marked = 3 if block else None
        fill = lambda t, m=marked: "amber" if t == m else "sky"  # noqa: E731
        threads = d.cells((x + 12, 60), range(4), size=(64, 38), gap=8, fill=fill)
        for number, thread in enumerate(threads, start=4 * block):
            place = Rectangle(thread.x, 136, 64, 36)
            d.arrow(thread.foot, place.top)
            d.box(
                place, str(number), font=CODE, fill="amber" if number == 7 else "plain"
            )
    d.code((112, 204), "i = blockIdx.x * blockDim.x + threadIdx.x", small=False)
    d.code(
        (112, 238),
        "7 =      1     *     4      +      3     ",
        fill="amber",
        small=False,
    )
    return d


def guard() -> Drawing:
    """Draw four blocks of 256 threads above 1000 elements."""
    d = Drawing(
        "00_guard",
        """Four blocks of 256 threads, 1024 threads in all, above an array of 1000
        elements. The last 24 threads of block 3, numbers 1000 to 1023, have no
        element below them, and the guard keeps them out of the array.""",
        214,
    )
    scale, left, end = 640 / 1024, 100, 100 + 640 * 1000 / 1024
    d.note((8, 32), "threads")
    d.note((8, 104), "elements")
    for block in range(4):
        place = Rectangle(left + 256 * scale * block, 12, 256 * scale, 40)
        d.box(place, f"block {block}", fill="sky")
    d.box(Rectangle(end, 12, left + 640 - end, 40), fill="red")
    d.box(Rectangle(left, 84, end - left, 40), "1000 elements: 0 to 999")
    d.line((end, 56), (end, 130), dashed=True)
    d.arrow((732, 112), (732, 56))
    d.label(
        (745, 146),
        "24 threads, 1000 to 1023:\ni < n is false",
        fill="red",
        anchor="end",
    )
    d.code((left, 192), "if (i < n)  // the guard: n = 1000", small=False)
    return d


def tools() -> Drawing:
    """Draw the order in which the course uses its tools."""
    d = Drawing(
        "00_tools",
        """How you work in this course, from left to right: write a kernel; check that
        its results are right; count what it moves; look at single steps in the
        microscope; benchmark it. Whenever a step shows a flaw, you go back to
        the kernel.""",
        222,
    )
    steps = (
        ("write", "%%cuda", "a kernel", "sky"),
        ("check", "ck.check", "is it right?", "green"),
        ("count", "ck.count", "what does\nit move?", "amber"),
        ("look", "ck.microscope", "why, line\nby line?", "amber"),
        ("time", "ck.benchmark", "how fast, on\nwhich GPU?", "pink"),
    )
    places = []
    for number, (verb, name, asks, fill) in enumerate(steps):
        place = Rectangle(8 + 152 * number, 12, 130, 44)
        places.append(d.box(place, verb, fill=fill))
        d.code((place.centre[0], 80), name, anchor="middle")
        d.label((place.centre[0], 118), asks, anchor="middle", font=SMALL)
    for before, after in zip(places, places[1:], strict=False):
        d.arrow((before.right, 34), (after.x, 34))
    d.line((696, 148), (696, 172), (24, 172), (24, 56), head=True)
    d.note(
        (420, 172),
        "a flaw at any step: change the kernel, and check again",
        anchor="middle",
    )
    d.note((752, 202), "All steps but the last need no GPU.", anchor="end")
    return d


DRAW = (grid, guard, tools)
