"""Drawings of chapter 23: programs, offsets, a seed, attention, and compilers."""

from __future__ import annotations

from drawing import CODE, SMALL, Drawing
from parts import table
from shapes import Rectangle

KINDS = ("sky", "amber", "green")


def program() -> Drawing:
    """Draw twelve elements as CUDA and as Triton divide them."""
    d = Drawing(
        "23_program",
        """An array of 12 elements, twice. Above, CUDA: you write what one thread does,
        and 12 threads in 3 blocks have one element each. Below, Triton: you write what
        one program does with a block of 4 elements, and 3 programs run. The compiler
        gives the elements of a block to threads.""",
        250,
    )
    size = (50, 34)
    for top, head, text in (
        (20, "CUDA: you write a thread", "t"),
        (140, "Triton: you write a program", "p"),
    ):
        d.head((8, top), head, anchor="start")
        d.cells(
            (8, top + 60),
            range(12),
            size=size,
            fill=lambda place: KINDS[place // 4],
        )
        for place in range(12):
            if text == "t":
                x = 8 + size[0] * (place + 0.5)
                d.arrow((x, top + 44), (x, top + 60))
                d.code((x, top + 34), f"{place % 4}", anchor="middle")
    for number in range(3):
        left = 8 + 4 * size[0] * number
        middle = left + 2 * size[0]
        d.label((middle, 172), f"program {number}", anchor="middle", font=SMALL)
        for place in range(4):
            x = left + size[0] * (place + 0.5)
            d.arrow((middle, 184), (x, 200))
    d.note((624, 97), "threads 0 to 3\nof three blocks")
    d.note((624, 217), "blocks of\n4 elements")
    return d


def offsets() -> Drawing:
    """Draw a column and a row of numbers that make a tile of offsets."""
    d = Drawing(
        "23_offsets",
        """A tile of offsets in a matrix of 10 columns. A column of row numbers 4, 5, 6,
        7, each times 10, plus a row of column numbers 0, 1, 2, 3, is a tile of 4 x 4
        offsets: 40 to 43 in its first row, 70 to 73 in its last.""",
        256,
    )
    size = (50, 34)
    rows, cols = (4, 5, 6, 7), (0, 1, 2, 3)
    d.head((84, 24), "row[:, None] * 10")
    table(d, (40, 60), [[f"{10 * row}"] for row in rows], size, lambda r, c: "sky")
    d.label((132, 128), "+", anchor="middle")
    d.head((290, 24), "k[None, :]")
    table(d, (190, 111), [list(cols)], size, lambda r, c: "amber")
    d.label((432, 128), "=", anchor="middle")
    d.head((580, 24), "a tile of offsets")
    tile = [[10 * row + col for col in cols] for row in rows]
    table(d, (480, 60), tile, size, lambda r, c: "green")
    d.note((8, 228), "a column and a row have one axis each; together they fill a tile")
    return d


def seed() -> Drawing:
    """Draw the same mask computed twice from the same seed."""
    d = Drawing(
        "23_seed",
        """Forward: the seed and the index i go into Philox, which gives a number; the
        number decides whether element i is kept. Backward: the same seed and the same
        index give the same number, so the gradient passes where the value did. No mask
        lies in memory in between: only the seed is kept.""",
        190,
    )
    for top, name, what in ((20, "forward", "x[i]"), (110, "backward", "dout[i]")):
        d.head((8, top + 30), name, anchor="start")
        given = d.box(Rectangle(120, top, 110, 60), "seed 7\nindex i", fill="amber")
        philox = d.box(Rectangle(275, top, 100, 60), "Philox", fill="plain")
        number = d.box(Rectangle(420, top, 110, 60), "number,\nthe same", fill="sky")
        result = d.box(Rectangle(575, top, 170, 60), f"keep or drop\n{what}")
        for left, right in ((given, philox), (philox, number), (number, result)):
            d.arrow((left.right, left.centre[1]), (right.x, right.centre[1]))
    return d


def attention() -> Drawing:
    """Draw a tile of queries that meets the tiles of keys and values in turn."""
    d = Drawing(
        "23_attention",
        """One program of flash attention. Its tile of q stays. Tiles of k and v come
        one after the other. Each tile of k gives a tile of scores in registers. They
        become weights, and the weighted sum of the tile of v is added to the result.
        Beside it the program has the largest score and a total for each row.""",
        300,
    )
    q = d.box(Rectangle(8, 130, 90, 56), "tile of q", fill="green")
    for number in range(4):
        here = number == 1
        x = 160 + 92 * number
        d.box(
            Rectangle(x, 30, 84, 40),
            f"k, tile {number}",
            fill="sky" if here else "idle",
            font=SMALL,
        )
        d.box(
            Rectangle(x, 236, 84, 40),
            f"v, tile {number}",
            fill="amber" if here else "idle",
            font=SMALL,
        )
    scores = d.box(Rectangle(236, 130, 116, 56), "tile of\nscores")
    d.arrow((q.right, q.centre[1]), (scores.x, scores.centre[1]))
    d.arrow((294, 70), scores.top)
    result = d.box(Rectangle(560, 100, 180, 40), "result", fill="green")
    d.box(Rectangle(560, 150, 86, 40), "largest", font=SMALL)
    d.box(Rectangle(654, 150, 86, 40), "total", font=SMALL)
    product = d.box(Rectangle(416, 130, 100, 56), "weighted\nsum of v")
    d.arrow((scores.right, scores.centre[1]), (product.x, product.centre[1]))
    d.arrow((294, 236), product.foot)
    d.arrow((product.right, 146), (result.x, 124))
    d.note((560, 214), "one value for each row\nof the tile of q")
    return d


def compilers() -> Drawing:
    """Draw how four languages come to PTX."""
    d = Drawing(
        "23_compilers",
        """Four languages and their ways to PTX. CUDA C++ goes through NVVM, Triton
        through its own two levels of MLIR, CuTe DSL through MLIR, and Numba through
        LLVM and NVVM. All four arrive at PTX. From there ptxas makes machine code for
        a GPU, or the simulator of this course runs the PTX.""",
        286,
    )
    ways = (
        ("CUDA C++", "NVVM"),
        ("Numba", "LLVM, NVVM"),
        ("CuTe DSL", "MLIR"),
        ("Triton", "MLIR, two levels"),
    )
    ptx = Rectangle(440, 106, 90, 64)
    for number, (name, between) in enumerate(ways):
        y = 16 + 66 * number
        start = d.box(Rectangle(8, y, 130, 44), name, fill="sky")
        middle = d.box(Rectangle(196, y, 170, 44), between)
        d.arrow((start.right, start.centre[1]), (middle.x, middle.centre[1]))
        d.arrow(
            (middle.right, middle.centre[1]),
            (ptx.x, ptx.y + 14 + 12 * number),
        )
    d.box(ptx, "PTX", fill="amber", font=CODE)
    gpu = d.box(Rectangle(600, 60, 150, 50), "ptxas: a GPU", fill="green")
    here = d.box(Rectangle(600, 170, 150, 50), "the simulator", fill="green")
    d.arrow((ptx.right, 124), (gpu.x, gpu.centre[1]))
    d.arrow((ptx.right, 152), (here.x, here.centre[1]))
    d.code((600, 246), "ck.load_ptx(text)")
    return d


def levels() -> Drawing:
    """Draw which decisions each language leaves to the compiler."""
    d = Drawing(
        "23_levels",
        """A table of four languages and five decisions: tile sizes, masks, threads,
        shared memory, instructions. Green: you decide. Grey: the compiler does. In
        Helion the compiler decides all five. In Triton you decide tile sizes and
        masks. In CuTe DSL and in CUDA you decide tile sizes, masks, threads and
        shared memory, and the compiler chooses instructions, unless you name one.""",
        252,
    )
    what = ("tile sizes", "masks", "threads", "shared\nmemory", "instructions")
    rows = (("Helion", 0), ("Triton", 2), ("CuTe DSL", 4), ("CUDA", 4))
    for place, text in enumerate(what):
        d.label((190 + 122 * place, 28), text, anchor="middle", font=SMALL)
    for number, (name, own) in enumerate(rows):
        y = 56 + 40 * number
        d.box(Rectangle(8, y, 112, 34), name, fill="sky")
        for place in range(5):
            yours = place < own
            d.box(
                Rectangle(132 + 122 * place, y, 116, 34),
                "you" if yours else "compiler",
                fill="green" if yours else "idle",
                font=SMALL,
            )
    d.note((8, 234), "less to say on top, more to decide at the bottom")
    return d


DRAW = (program, offsets, seed, attention, compilers, levels)
