"""Drawings of chapter 06: copies, streams and events."""

from __future__ import annotations

from collections.abc import Sequence

from drawing import SMALL, Drawing
from shapes import Rectangle

KINDS = {"in": "sky", "run": "green", "out": "amber"}


def _timeline(d: Drawing, top: float, rows: Sequence[str], left: float = 132) -> None:
    """Draw the names of the rows of a timeline."""
    for number, name in enumerate(rows):
        d.note((8, top + 40 * number + 16), name)
        y = top + 40 * number + 36
        d.line((left, y), (752, y), width=1)


def pinned() -> Drawing:
    """Draw the ways of pageable and of pinned memory to the GPU."""
    d = Drawing(
        "06_pinned",
        """Two ways from host to GPU. Pageable memory may be moved by the operating
        system, so the driver first copies it piece by piece into a pinned
        buffer of its own, and the copy engine reads that. Pinned memory stays
        where it is: the copy engine reads it directly, while the host goes
        on.""",
        250,
    )
    d.head((210, 22), "host memory")
    d.head((652, 22), "GPU memory")
    pageable = d.box(Rectangle(16, 50, 150, 56), "pageable\nmalloc", fill="sky")
    staging = d.box(
        Rectangle(256, 50, 150, 56), "driver's buffer,\npinned", fill="idle"
    )
    pinned_ = d.box(
        Rectangle(256, 164, 150, 56), "pinned\ncudaMallocHost", fill="green", font=SMALL
    )
    first = d.box(Rectangle(592, 50, 120, 56), "d_x")
    second = d.box(Rectangle(592, 164, 120, 56), "d_x")
    for start, end in ((pageable, staging), (staging, first), (pinned_, second)):
        d.arrow((start.right, start.centre[1]), (end.x, end.centre[1]))
    d.note((211, 126), "the CPU copies", anchor="middle")
    d.note((499, 126), "the copy engine reads", anchor="middle")
    d.note((499, 236), "the copy engine reads", anchor="middle")
    d.line((440, 8), (440, 108), dashed=True)
    d.line((440, 150), (440, 222), dashed=True)
    return d


def overlap() -> Drawing:
    """Draw one chunk in one stream, and four chunks in two streams."""
    unit = 38
    d = Drawing(
        "06_overlap",
        """Copy in, run, copy out, each 4 units of time for the whole array. As one
        chunk they take 12 units. In four chunks each part takes 1 unit: while
        chunk 1 runs, chunk 2 is copied in and chunk 0 is copied out. The last
        chunk is out after 6 units.""",
        330,
    )
    left = 132
    d.head((left + 90, 20), "one chunk: 12 units")
    _timeline(d, 36, ("copy engine, in", "SMs", "copy engine, out"))
    for number, kind in enumerate(KINDS):
        place = Rectangle(left + 4 * unit * number, 36 + 40 * number, 4 * unit, 32)
        d.box(place, f"{kind}: all", fill=KINDS[kind], font=SMALL)
    d.head((left + 90, 182), "four chunks: 6 units")
    _timeline(d, 198, ("copy engine, in", "SMs", "copy engine, out"))
    for number, kind in enumerate(KINDS):
        for chunk in range(4):
            place = Rectangle(
                left + unit * (number + chunk), 198 + 40 * number, unit, 32
            )
            d.box(place, str(chunk), fill=KINDS[kind], font=SMALL)
    d.label((640, 262), "done: half of\nthe time", anchor="middle", fill="green")
    d.arrow((584, 262), (left + 6 * unit + 6, 290))
    return d


def events() -> Drawing:
    """Draw a kernel in one stream that waits for a copy in another."""
    d = Drawing(
        "06_events",
        """Two streams over time. Stream A copies x to the GPU and then records an
        event. Stream B runs a kernel that does not need x, then waits for the
        event, then runs a kernel that reads x. Without the event nothing would
        put the copy before that kernel.""",
        230,
    )
    d.note((8, 38), "stream A")
    d.note((8, 138), "stream B")
    copy = d.box(Rectangle(100, 18, 260, 40), "copy x to the GPU", fill="sky")
    event = d.box(Rectangle(364, 18, 70, 40), "event", fill="red")
    d.box(Rectangle(100, 118, 170, 40), "kernel without x", fill="green")
    d.box(Rectangle(274, 118, 158, 40), "wait for the event", fill="idle")
    last = d.box(Rectangle(438, 118, 200, 40), "kernel that reads x", fill="amber")
    d.arrow(event.foot, (event.centre[0], 118))
    d.code((copy.x, 82), "cudaEventRecord(event, A);")
    d.code((last.x, 82), "cudaStreamWaitEvent(B, event);")
    d.line((100, 186), (744, 186), head=True)
    d.note((8, 186), "time")
    d.note((100, 212), "The host makes all these calls at once and does not wait.")
    return d


DRAW = (pinned, overlap, events)
