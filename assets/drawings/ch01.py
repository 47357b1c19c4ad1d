"""Drawings of chapter 01: addresses, copies, the way to a program, three memories."""

from __future__ import annotations

from drawing import CODE, SMALL, Drawing
from shapes import Rectangle


def address() -> Drawing:
    """Draw three variables in memory, two of which hold addresses."""
    d = Drawing(
        "01_address",
        """Three variables in memory. At address 200 lies pp, a float**, which holds
        208. At 208 lies p, a float*, which holds 216. At 216 lies weight, a
        float, which holds 0.5. An arrow leads from pp to p, and one from p to
        weight.""",
        216,
    )
    rows = (
        ("pp", "float **", "200", "208"),
        ("p", "float *", "208", "216"),
        ("weight", "float", "216", "0.5"),
    )
    d.note((8, 20), "name")
    d.note((8, 78), "holds")
    d.note((8, 136), "address")
    d.note((8, 180), "type")
    places = []
    for number, (name, kind, where, value) in enumerate(rows):
        x = 110 + 230 * number
        d.code((x + 60, 20), name, anchor="middle", small=False)
        fill = "amber" if number == 2 else "sky"
        places.append(d.box(Rectangle(x, 54, 120, 48), value, font=CODE, fill=fill))
        d.code((x + 60, 136), where, anchor="middle")
        d.code((x + 60, 180), kind, anchor="middle")
    for left, right in zip(places, places[1:], strict=False):
        d.arrow((left.right, 78), (right.x, 78))
    return d


def copy() -> Drawing:
    """Draw what a function receives: copies of the caller's variables."""
    d = Drawing(
        "01_copy",
        """A call copies its arguments. Main has x, which holds 5, and calls f(x). The
        function f has a variable x of its own, at another address, with a copy
        of the 5. It stores 7 there. When f returns, its x is gone, and the x of
        main still holds 5.""",
        236,
    )
    for x, name in ((150, "main"), (430, "f")):
        d.head((x + 60, 20), name)
    steps = (
        ("f(x);", "5", "5", "copied"),
        ("x = 7;", "5", "7", ""),
        ("return;", "5", "", ""),
    )
    for number, (text, first, second, word) in enumerate(steps):
        y = 46 + 62 * number
        d.code((8, y + 22), text)
        mine = d.box(Rectangle(150, y, 120, 44), first, font=CODE, fill="sky")
        if second:
            fill = "amber" if number else "sky"
            own = d.box(Rectangle(430, y, 120, 44), second, font=CODE, fill=fill)
        else:
            own = d.box(Rectangle(430, y, 120, 44), "gone", fill="idle", dashed=True)
        if word:
            d.arrow((mine.right, y + 22), (own.x, y + 22))
            d.note((350, y + 44), word, anchor="middle")
    return d


def build() -> Drawing:
    """Draw the way from two source files to a program."""
    d = Drawing(
        "01_build",
        """Two source files become a program. The preprocessor puts the text of
        network.h into main.cpp and network.cpp and expands macros. The compiler
        makes main.o and network.o, machine code with open references. The
        linker joins both, and the libraries, to the program network.""",
        256,
    )
    for x, name in ((77, "text"), (310, "machine code"), (600, "program")):
        d.head((x, 20), name)
    header = d.box(Rectangle(12, 104, 130, 40), "network.h", font=CODE)
    program = d.box(Rectangle(540, 104, 120, 40), "network", font=CODE, fill="green")
    for y, stem in ((44, "main"), (164, "network")):
        text = d.box(Rectangle(12, y, 130, 40), f"{stem}.cpp", font=CODE, fill="sky")
        code = d.box(Rectangle(250, y, 120, 40), f"{stem}.o", font=CODE, fill="amber")
        d.arrow((text.right, y + 20), (code.x, y + 20))
        down = y > 100
        edge = header.bottom if down else header.y
        d.arrow((77, edge), (77, text.y if down else text.bottom))
        d.arrow((code.right, y + 20), (program.x, 116 if y < 100 else 132))
    d.note((196, 232), "preprocessor and compiler: one file at a time", anchor="middle")
    d.note((560, 232), "linker: all at once", anchor="middle")
    return d


def memories() -> Drawing:
    """Draw the stack and the heap in host memory, and device memory."""
    d = Drawing(
        "01_memories",
        """A computer with a GPU has two memories. Host memory is the DRAM beside the
        CPU; a program has its stack there, with local variables, and its heap,
        with what new and malloc return. Device memory is the DRAM of the GPU;
        cudaMalloc returns a place there. cudaMemcpy copies between the two.""",
        258,
    )
    d.frame(8, 40, 440, 170)
    d.head((228, 22), "host memory: DRAM of the CPU")
    d.frame(540, 40, 212, 170)
    d.head((646, 22), "device memory")
    d.box(Rectangle(28, 66, 180, 70), "stack\nlocal variables", fill="sky")
    heap = d.box(Rectangle(246, 66, 180, 70), "heap\nnew, malloc", fill="amber")
    device = d.box(
        Rectangle(560, 66, 172, 70), "DRAM of the GPU\ncudaMalloc", fill="green"
    )
    d.code((28, 172), "float x; float a[4];")
    d.code((246, 172), "new float[n]")
    d.code((560, 172), "cudaMalloc(&d_x, b)")
    d.arrow((heap.right, 90), (device.x, 90))
    d.arrow((device.x, 112), (heap.right, 112))
    d.label((494, 238), "cudaMemcpy", font=SMALL, anchor="middle")
    d.line((494, 226), (494, 116), dashed=True)
    d.note((118, 238), "ends with its block { }", anchor="middle")
    d.note((336, 238), "ends with delete or free", anchor="middle")
    return d


DRAW = (address, copy, build, memories)
