"""Drawings of chapter 12: what a clock sees, occupancy, and the roofline."""

from __future__ import annotations

import math

from drawing import CODE, SMALL, Drawing
from shapes import Point, Rectangle

LEFT, BOTTOM = 110, 300  # where the axes of the roofline meet


def clocks() -> Drawing:
    """Draw what a clock of the host sees, with and without waiting."""
    d = Drawing(
        "12_clocks",
        """Host and GPU over time. The host launches a kernel; the launch returns at
        once and the kernel runs on the GPU afterwards. A clock that is stopped
        after the launch has timed the launch only. A clock that is stopped
        after cudaDeviceSynchronize, or two events around the kernel, have timed
        the kernel.""",
        290,
    )
    d.note((8, 40), "host")
    d.note((8, 110), "GPU")
    launch = d.box(Rectangle(100, 20, 70, 40), "launch", fill="sky")
    d.box(Rectangle(170, 20, 430, 40), "cudaDeviceSynchronize: wait", fill="idle")
    kernel = d.box(Rectangle(190, 90, 400, 40), "kernel", fill="green")
    d.arrow((launch.right, launch.bottom), (kernel.x, kernel.y))
    for x in 174, 594:
        d.box(Rectangle(x, 90, 12, 40), fill="red")
    d.brace(100, 170, 148, "wrong: launch only")
    d.line((100, 206), (100, 214), (600, 214), (600, 206))
    d.label((350, 226), "clock of the host, stopped after waiting", anchor="middle")
    d.label((612, 110), "events", fill="red")
    d.line((80, 268), (744, 268), head=True)
    d.note((8, 268), "time")
    return d


def occupancy() -> Drawing:
    """Draw four limits of the blocks of an SM; the smallest counts."""
    limits = (
        ("warps", "64 warps / 8 per block", 8),
        ("registers", "65,536 / (256 * 64)", 4),
        ("shared memory", "228 KiB / (40 + 1)", 5),
        ("block slots", "32", 32),
    )
    d = Drawing(
        "12_occupancy",
        """How many blocks fit on an SM of an H200, for a kernel with 256 threads per
        block, 64 registers per thread and 40 KiB of shared memory per block.
        The warps allow 8 blocks, the registers 4, the shared memory 5, the
        block slots 32. The smallest counts: 4 blocks, which are 32 of 64 warps,
        an occupancy of 50 %.""",
        280,
    )
    d.head((500, 20), "blocks that fit on one SM")
    for number, (name, how, blocks) in enumerate(limits):
        y = 42 + 50 * number
        d.label((8, y + 18), name, font=SMALL)
        d.code((128, y + 18), how)
        fill = "red" if blocks == 4 else "sky"
        shown = min(blocks, 9)
        d.cells((330, y), range(1, shown + 1), size=(40, 36), fill=fill)
        if blocks > shown:
            d.note((700, y + 18), "... 32")
    end = 330 + 4 * 40 + 2
    d.line((end, 36), (end, 240), width=3, dashed=True)
    d.label((8, 260), "4 blocks * 8 warps = 32 of 64 warps: occupancy 50 %", fill="red")
    return d


def place(intensity: float, tflops: float) -> Point:
    """Return where a kernel lies: FLOP per byte across, TFLOP/s up."""
    across, up = math.log10(intensity) + 1.2, math.log10(tflops) + 0.5
    return LEFT + 140 * across, BOTTOM - 92 * up


def _draw_axes(d: Drawing) -> None:
    d.line((LEFT, 20), (LEFT, BOTTOM), (740, BOTTOM))
    for value in 0.1, 1, 10, 100, 1000:
        x, _ = place(value, 1)
        d.line((x, BOTTOM), (x, BOTTOM + 6))
        d.note((x, BOTTOM + 18), f"{value:g}", anchor="middle")
    for value in 1, 10, 100:
        _, y = place(1, value)
        d.line((LEFT - 6, y), (LEFT, y))
        d.note((LEFT - 10, y), f"{value:g}", anchor="end")


def roofline() -> Drawing:
    """Draw the two limits of a kernel on an H200."""
    d = Drawing(
        "12_roofline",
        """The roofline of an H200, both axes logarithmic: TFLOP/s against FLOP per
        byte. On the left the limit is memory, 4.8 TB/s times the FLOP per byte.
        On the right it is arithmetic, 66.9 TFLOP/s in float32. Both meet at the
        ridge, at 13.9 FLOP per byte. No kernel lies above the roof.""",
        360,
    )
    peak, bandwidth = 66.9, 4.8
    ridge = peak / bandwidth
    _draw_axes(d)
    blue, red = "#0072b2", "#d55e00"
    start, corner, end = (
        place(0.07, 0.07 * bandwidth),
        place(ridge, peak),
        place(1500, peak),
    )
    d.line(start, corner, colour=blue, width=4)
    d.line(corner, end, colour=red, width=4)
    d.line(corner, (corner[0], BOTTOM), dashed=True)
    d.label((start[0] + 30, 92), "memory: 4.8 TB/s", fill="blue")
    d.label((corner[0] + 60, corner[1] - 22), "arithmetic: 66.9 TFLOP/s", fill="red")
    d.note((corner[0] + 10, 276), "ridge: 66.9 / 4.8 = 13.9 FLOP per byte")
    d.note((8, 20), "TFLOP/s")
    d.note((740, 346), "FLOP per byte", anchor="end")
    x, y = place(1 / 12, bandwidth / 12)
    d.box(Rectangle(x - 6, y - 6, 12, 12), fill="green", font=CODE)
    d.label(
        (x + 26, y - 4),
        "vector addition: 1 FLOP per 12 bytes",
        fill="green",
        font=SMALL,
    )
    return d


DRAW = (clocks, occupancy, roofline)
