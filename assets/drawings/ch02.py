"""Drawings of chapter 02: the chip, what it is built for, waiting, and the years."""

from __future__ import annotations

from drawing import SMALL, Drawing
from shapes import Rectangle

YEARS = (
    (2006, "Tesla", "CUDA"),
    (2010, "Fermi", "L1 and L2 caches"),
    (2012, "Kepler", "shuffles"),
    (2014, "Maxwell", "SMs in four partitions"),
    (2016, "Pascal", "HBM2, NVLink"),
    (2017, "Volta", "tensor cores"),
    (2018, "Turing", "ray tracing"),
    (2020, "Ampere", "TF32, bfloat16"),
    (2022, "Ada and Hopper", "FP8"),
    (2024, "Blackwell", "FP4"),
)


def chip() -> Drawing:
    """Draw a board, its SMs, and the four partitions of one SM."""
    d = Drawing(
        "02_chip",
        """From the board to the warp. Left: a board with memory chips beside the
        GPU. The GPU has an L2 cache and many SMs, and a block of threads runs on
        one of them. Right, one SM of an H200, larger: four partitions, each with a warp
        scheduler, a file of registers, 32 lanes and a tensor core; below them one
        memory that serves as L1 cache and as shared memory.""",
        350,
    )
    d.head((180, 22), "board")
    d.frame(8, 40, 340, 296)
    d.frame(20, 52, 316, 216)
    d.note((30, 70), "GPU")
    for number in range(20):
        x, y = 32 + 59 * (number % 5), 88 + 32 * (number // 5)
        fill = "amber" if number == 9 else "sky"
        d.box(Rectangle(x, y, 54, 28), "SM", fill=fill, font=SMALL)
    d.box(Rectangle(32, 222, 290, 36), "L2 cache", fill="green")
    for number in range(4):
        d.box(Rectangle(20 + 80 * number, 280, 76, 44), "memory", font=SMALL)
    d.line((322, 122), (400, 60), dashed=True)
    d.line((322, 146), (400, 330), dashed=True)
    d.head((578, 22), "one SM of an H200")
    d.frame(400, 40, 352, 296)
    for part in range(4):
        x = 410 + 84 * part
        d.box(Rectangle(x, 54, 80, 40), "warp\nscheduler", fill="amber", font=SMALL)
        d.box(Rectangle(x, 100, 80, 32), "registers", fill="plain", font=SMALL)
        d.box(Rectangle(x, 138, 80, 60), "32 lanes", fill="sky", font=SMALL)
        d.box(Rectangle(x, 204, 80, 40), "tensor\ncore", fill="red", font=SMALL)
    d.box(
        Rectangle(410, 258, 332, 62), "L1 cache and shared memory, one array",
        fill="green",
    )  # fmt: skip
    return d


def _processor(d: Drawing, x: float, title: str) -> None:
    d.head((x + 170, 22), title)
    d.frame(x, 40, 340, 210)


def areas() -> Drawing:
    """Draw what a CPU and a GPU spend their area on."""
    d = Drawing(
        "02_areas",
        """What the area of a chip is spent on. Left, a CPU: four cores with a few
        lanes each; most of the area is control, which predicts branches and
        reorders instructions, and cache. Right, a GPU: rows of many lanes, with
        little control and cache beside them. Below, what each is built for: the
        CPU to finish one task soon, the GPU to finish many tasks per second.""",
        300,
    )
    _processor(d, 8, "CPU")
    for number in range(4):
        x, y = 20 + 160 * (number % 2), 52 + 72 * (number // 2)
        d.box(Rectangle(x, y, 92, 64), "control", fill="amber", font=SMALL)
        d.box(Rectangle(x + 96, y, 56, 64), "lanes", fill="sky", font=SMALL)
    d.box(Rectangle(20, 198, 312, 42), "cache", fill="green")
    _processor(d, 404, "GPU")
    for row in range(6):
        y = 52 + 24 * row
        d.box(Rectangle(416, y, 24, 20), fill="amber")
        d.cells((444, y), [""] * 16, size=(18, 20), fill="sky")
    d.box(Rectangle(416, 206, 316, 32), "cache", fill="green", font=SMALL)
    d.label((178, 276), "built for latency: one task, soon", anchor="middle")
    d.label((574, 276), "built for throughput: many tasks", anchor="middle")
    return d


def hidden() -> Drawing:
    """Draw four warps that wait in turn, so that the lanes never do."""
    d = Drawing(
        "02_hidden",
        """Four warps of one scheduler over time. Each computes for a short while and
        then waits for memory three times as long. While a warp waits, the others
        compute, one after the other. The bottom row shows the lanes: they are
        busy all the time, although each warp waits most of it.""",
        270,
    )
    short, start = 72, 92
    for warp in range(4):
        y = 20 + 42 * warp
        d.note((8, y + 16), f"warp {warp}")
        for number in range(9):
            x = start + short * number
            works = number % 4 == warp
            if works:
                d.box(Rectangle(x, y, short, 32), "compute", fill="green", font=SMALL)
            elif number > warp:
                d.box(Rectangle(x, y, short, 32), "wait", fill="idle", font=SMALL)
    d.note((8, 214), "lanes")
    for number in range(9):
        place = Rectangle(start + short * number, 198, short, 32)
        d.box(place, f"warp {number % 4}", fill="green", font=SMALL)
    d.line((80, 250), (744, 250), head=True)
    d.note((8, 250), "time")
    return d


def in_flight() -> Drawing:
    """Draw bytes on their way as boxes on a belt."""
    d = Drawing(
        "02_in_flight",
        """Little's law as a belt between memory and an SM. Each nanosecond the
        memory puts as many bytes on the belt as its bandwidth says, and each byte
        stays on it for the latency. The belt is full when bandwidth times latency
        bytes are on it. With fewer requests there are gaps, and the memory idles.""",
        240,
    )
    for row, (title, full) in enumerate((("enough requests", 12), ("too few", 4))):
        y = 40 + 84 * row
        d.note((8, y - 16), title)
        d.box(Rectangle(8, y, 84, 48), "memory", fill="green", font=SMALL)
        d.box(Rectangle(668, y, 84, 48), "SM", fill="sky", font=SMALL)
        d.line((92, y + 42), (668, y + 42), head=True)
        for place in range(12):
            if full == 12 or place % 3 == 0:
                d.box(Rectangle(102 + 46 * place, y + 8, 40, 28), fill="amber")
    d.brace(102, 648, 190, "latency: how long a byte is on its way")
    return d


def timeline() -> Drawing:
    """Draw the architectures at their years, each with what was new."""
    d = Drawing(
        "02_timeline",
        "NVIDIA's architectures, and what was new in each: "
        + "; ".join(f"{name}, {year}: {new}" for year, name, new in YEARS)
        + ".",
        60 + 32 * len(YEARS),
    )
    left, wide = 30, 36.0
    bottom = 20 + 32 * len(YEARS)
    d.line((left, bottom), (740, bottom), head=True)
    for number, (year, name, new) in enumerate(YEARS):
        x, y = left + wide * (year - 2006), 22 + 32 * number
        d.line((x, y), (x, bottom), dashed=True)
        text = f"{year}  {name}: {new}"
        fill = "amber" if name == "Volta" else "sky"
        if year < 2016:
            d.label((x + 4, y), text, fill=fill, font=SMALL)
        else:
            d.label((x - 4, y), text, fill=fill, font=SMALL, anchor="end")
    for year in (2006, 2010, 2014, 2018, 2022):
        d.note((left + wide * (year - 2006), bottom + 18), str(year), anchor="middle")
    return d


DRAW = (chip, areas, hidden, in_flight, timeline)
