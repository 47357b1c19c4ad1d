"""Drawings of chapter 03a: levels of memory, lines and sectors, a pointer chase."""

from __future__ import annotations

from drawing import SMALL, Drawing
from shapes import Rectangle

# Level, capacity on an H200, who shares it; the width of its box.
LEVELS = (
    ("registers", "64 Ki registers of 4 B per SM", "one thread each", 236, "green"),
    ("shared memory", "at most 227 KiB per block", "one block", 300, "amber"),
    ("L1", "the rest of 256 KiB per SM", "one SM", 364, "amber"),
    ("L2", "60 MiB", "all SMs", 428, "sky"),
    ("HBM: device memory", "141 GB", "all SMs, and copies", 492, "blue"),
)


def hierarchy() -> Drawing:
    """Draw the levels of memory of an H200, the smallest and nearest on top."""
    d = Drawing(
        "03_hierarchy",
        """The memory of an H200 as a pyramid. On top the registers, 65,536 of 4 bytes
        for each SM, each owned by one thread. Below them shared memory, at most
        227 KiB for a block, and L1, the rest of the same 256 KiB of the SM. Below
        them L2, 60 MiB for all SMs. All of these are on the chip. At the bottom HBM,
        141 GB of device memory, beside the chip: it holds global and local memory.""",
        330,
    )
    d.note((660, 101), "on the chip")
    d.line((640, 10), (650, 10), (650, 192), (640, 192))
    for number, (name, size, owner, width, fill) in enumerate(LEVELS):
        y = 10 + 46 * number + (22 if number == 4 else 0)
        place = Rectangle(384 - width / 2, y, width, 44)
        d.box(place, f"{name}\n{size}", fill=fill, font=SMALL)
        if number < 4:
            d.note((14, y + 22), owner)
    d.note((660, 216), "off the chip")
    d.note(
        (20, 296),
        "Global and local memory are kinds of addresses, not places:\n"
        "both lie in HBM, and their lines pass through L2 and L1.",
    )
    return d


def sectors() -> Drawing:
    """Draw a line of four sectors, and lanes that read it in two ways."""
    d = Drawing(
        "03_sectors",
        """A cache line has 128 bytes, in four sectors of 32 bytes; a sector holds 8
        floats. Above, the 32 lanes of a warp read neighbouring floats: 4 sectors
        of one line are moved, and every byte is used. Below, neighbouring lanes
        are 8 floats apart: each lane needs a sector of its own, and 4 of its 32
        bytes are used, so that 32 sectors of 8 lines are moved.""",
        300,
    )
    d.head((380, 18), "lanes side by side: 4 sectors, all bytes used")
    for number in range(4):
        x = 20 + 180 * number
        d.cells(
            (x, 66), range(8 * number, 8 * number + 8), size=(22, 30), fill="green",
            font=SMALL,
        )  # fmt: skip
        d.note((x + 88, 48), f"sector {number}: 32 B", anchor="middle")
    d.brace(20, 736, 104, "one line: 128 B")
    d.head((380, 168), "lanes 8 floats apart: 32 sectors, an eighth of the bytes used")
    for number in range(4):
        x = 20 + 180 * number
        texts = [number] + [""] * 7
        d.cells(
            (x, 190), texts, size=(22, 30),
            fill=lambda k: "green" if k == 0 else "idle", font=SMALL,
        )  # fmt: skip
    d.brace(20, 736, 228, "the first of eight lines")
    d.note((20, 284), "The number in a green box is the lane that uses the 4 bytes.")
    return d


def chase() -> Drawing:
    """Draw loads that wait for each other, and loads that do not."""
    d = Drawing(
        "03_chase",
        """Two warps over time. Above, a pointer chase: the address of each load is the
        value of the load before, so that four loads take four latencies. Below,
        four loads whose addresses are known: each starts a little after the
        one before, and all four take little more than one latency.""",
        250,
    )
    d.note((8, 26), "pointer chase")
    for number in range(4):
        place = Rectangle(130 + 148 * number, 44, 140, 34)
        d.box(place, f"load {number}", fill="red", font=SMALL)
    for number in range(3):
        y = 61
        d.arrow((270 + 148 * number, y), (278 + 148 * number, y))
    d.note((8, 116), "known addresses")
    for number in range(4):
        place = Rectangle(130 + 20 * number, 106 + 28 * number, 140, 24)
        d.box(place, f"load {number}", fill="green", font=SMALL)
    d.line((80, 234), (744, 234), head=True)
    d.note((8, 234), "time")
    d.note((420, 150), "a latency each,\nbut at the same time")
    return d


DRAW = (hierarchy, sectors, chase)
