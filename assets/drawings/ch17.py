"""Drawings of chapter 17: tiles within tiles, and a ring of stages."""

from __future__ import annotations

from drawing import SMALL, Drawing
from shapes import Rectangle


def tile_loop() -> Drawing:
    """Draw the strips of A and B that a tile of C needs."""
    d = Drawing(
        "17_tile_loop",
        """C = A * B by tiles. A block computes one tile of C. It needs the strip of A
        in the rows of that tile and the strip of B in its columns. It goes
        along the strips in iterations: in each one it loads one tile of A and
        one tile of B into shared memory and multiplies them.""",
        386,
    )
    left, top, cell = 60, 176, 44
    a = Rectangle(left, top, 4 * cell, 4 * cell)
    b = Rectangle(left + 4 * cell + 30, top - 4 * cell + 14, 5 * cell, 3.4 * cell)
    c = Rectangle(b.x, top, 5 * cell, 4 * cell)
    for place, name in ((a, "A: M x K"), (b, "B: K x N"), (c, "C: M x N")):
        d.frame(place.x, place.y, place.width, place.height)
        d.note((place.x + 4, place.y + 14), name)
    row_y, col_x = top + 2 * cell, b.x + 3 * cell
    for k in range(4):
        fill = "amber" if k == 1 else "sky"
        d.box(Rectangle(a.x + k * cell, row_y, cell, cell), f"{k}", fill=fill)
        height = b.height / 4
        d.box(Rectangle(col_x, b.y + k * height, cell, height), f"{k}", fill=fill)
    d.box(Rectangle(col_x, row_y, cell, cell), "tile", fill="green", font=SMALL)
    x = c.right + 24
    d.label((x, 60), "one block computes this tile of C", fill="green", font=SMALL)
    d.label(
        (x, 100),
        "iteration 1 loads these two\ntiles into shared memory",
        fill="amber",
        font=SMALL,
    )
    d.label((x, 148), "the other iterations: 0, 2, 3", fill="sky", font=SMALL)
    d.code(
        (x, 240),
        "for (k0 = 0; k0 < K;\n     k0 += DEPTH) {\n  load both tiles\n"
        "  __syncthreads();\n  multiply them\n  __syncthreads();\n}",
    )
    return d


def tile_levels() -> Drawing:
    """Draw a block's tile, a warp's tile in it, and a thread's patch."""
    d = Drawing(
        "17_tile_levels",
        """Three levels of tiles in step 8. A block of 256 threads computes a tile of C
        of 128 x 128. Its 8 warps, 2 rows of 4, compute 64 x 32 each. The 32
        lanes of a warp compute 64 results each, a patch of 8 x 8, as four
        pieces of 4 x 4: 32 rows and 16 columns apart.""",
        330,
    )
    d.head((120, 22), "block: 128 x 128")
    for warp in range(8):
        place = Rectangle(16 + 52 * (warp % 4), 48 + 104 * (warp // 4), 52, 104)
        d.box(place, f"warp\n{warp}", fill="amber" if warp == 3 else "sky", font=SMALL)
    d.head((370, 22), "warp: 64 x 32")
    warp_place = Rectangle(308, 48, 120, 240)
    d.box(warp_place, fill="amber")
    pieces = []
    for row in 0, 1:
        for col in 0, 1:
            place = Rectangle(308 + 15 + 60 * col, 48 + 15 + 120 * row, 15, 15)
            pieces.append(d.box(place, fill="green"))
    d.line((224, 48), (308, 48), dashed=True)
    d.line((224, 152), (308, 288), dashed=True)
    d.head((600, 22), "thread: four pieces of 4 x 4")
    for number, piece in enumerate(pieces):
        row, col = divmod(number, 2)
        corner = (508 + 100 * col, 60 + 100 * row)
        for line in range(4):
            d.cells(
                (corner[0], corner[1] + 18 * line),
                [""] * 4,
                size=(18, 18),
                fill="green",
            )
        if number in (0, 2):
            d.line(
                (pieces[number + 1].right, piece.centre[1]),
                (500, corner[1] + 36),
                dashed=True,
            )
    d.note((508, 276), "32 rows and 16 columns apart")
    d.note((16, 312), "shared memory: the block's tiles of A and B")
    d.note((508, 306), "registers: 64 sums per thread")
    return d


def _state(stage: int, now: int) -> str:
    """Say what lies in a stage that is neither read nor written."""
    if stage == (now + 1) % 4:
        return f"tiles {now + 1}: copied"
    return f"tiles {now - 1}: used" if now else "empty"


def ring() -> Drawing:
    """Draw a ring of four stages that is filled two iterations ahead."""
    d = Drawing(
        "17_ring",
        """A ring of four stages in shared memory, filled two iterations ahead, as in
        step 10. In iteration 0 the block multiplies the tiles in stage 0 while
        the tiles of iteration 2 are copied into stage 2; in iteration 1 it
        multiplies stage 1 while stage 3 is filled; in iteration 2 it multiplies
        stage 2 while stage 0 is filled again.""",
        300,
    )
    left, width, names = (
        128,
        150,
        ("iteration 0", "iteration 1", "iteration 2", "iteration 3"),
    )
    for now, name in enumerate(names):
        d.head((left + width * now + width / 2, 22), name)
    for stage in range(4):
        y = 44 + 46 * stage
        d.note((8, y + 18), f"stage {stage}")
        for now in range(4):
            place = Rectangle(left + width * now, y, width - 6, 36)
            if stage == now % 4:
                d.box(place, f"multiply tiles {now}", fill="green", font=SMALL)
            elif stage == (now + 2) % 4:
                d.box(place, f"copy in tiles {now + 2}", fill="amber", font=SMALL)
            else:
                text = _state(stage, now)
                d.box(place, text, fill="idle", font=SMALL)
    d.line((left, 240), (740, 240), head=True)
    d.note((8, 240), "time")
    d.note(
        (left, 276),
        "full[stage]: its tiles have arrived.   empty[stage]: all warps have left it.",
    )
    return d


DRAW = (tile_loop, tile_levels, ring)
