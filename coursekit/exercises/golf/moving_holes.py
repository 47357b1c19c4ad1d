"""Holes about coalescing: which lane reads which address."""

from __future__ import annotations

import numpy as np

from coursekit.exercises.golf.hole import Hole, Par, sectors
from coursekit.exercises.inputs import blank, shuffled

_TOP, _MARGIN = 2, 5


def _vectors(size, generator) -> dict:
    (n,) = size
    a, b = shuffled(n, generator), shuffled(n, generator)
    return {"a": a, "b": b, "c": blank(n), "n": n}


VEC_ADD = Hole(
    name="vec_add",
    title="c = a + b for n elements of float32",
    chapter="05",
    starter="golf/vec_add_chunks.cu",
    shape="grid = 8; block = 256",
    axes=("n",),
    inputs=_vectors,
    outputs=("c",),
    reference=lambda given: given.a + given.b,
    sizes=((1,), (33,), (1025,)),
    scored=(16_384,),
    ragged=lambda draw: (draw(34, 3000),),
    round=lambda draw: (draw(10_240, 20_480, 256),),
    least_blocks=8,
    least_threads=2048,
    pars={
        "sectors": Par(
            lambda size: 3 * sectors(4 * size["n"]),
            "3 arrays * 4 n bytes / 32 B a sector",
            (
                "In one step of a warp, how far apart do two neighbouring lanes read?",
                "Which lanes still share no sector with their neighbours?",
                "Is any value read, or any sector touched, a second time?",
            ),
        )
    },
)


def _window(size, generator) -> dict:
    rows, cols, left = size
    width = 8 * -(-(left + cols + _MARGIN) // 8)
    a = shuffled((rows + _TOP + 1, width), generator)
    return {
        "a": a, "out": blank((rows, cols)), "width": width, "top": _TOP,
        "left": left, "rows": rows, "cols": cols,
    }  # fmt: skip


def _seen(given) -> np.ndarray:
    down = slice(given.top, given.top + given.rows)
    return given.a[down, given.left : given.left + given.cols]


def _window_sectors(size) -> int:
    lead = size["left"] % 8
    read = size["rows"] * sectors(4 * (lead + size["cols"]))
    return read + sectors(4 * size["rows"] * size["cols"])


PACK_WINDOW = Hole(
    name="pack_window",
    title="a window of rows x cols is copied out of a wider matrix of float32",
    chapter="06",
    starter="golf/pack_window_rows.cu",
    shape="grid = ceil(rows / 4); block = 4",
    axes=("rows", "cols", "left"),
    inputs=_window,
    outputs=("out",),
    reference=_seen,
    sizes=((1, 1, 0), (7, 33, 4), (9, 31, 1)),
    scored=(32, 256, 4),
    ragged=lambda draw: (draw(2, 20), draw(2, 99), draw(0, 15)),
    round=lambda draw: (draw(16, 40, 8), draw(128, 320, 64), draw(1, 7)),
    least_blocks=4,
    least_threads=32,
    pars={
        "sectors": Par(
            _window_sectors,
            "rows * ceil((left % 8 + cols) / 8) read, rows * cols / 8 written; the "
            "width is a multiple of 8",
            (
                "Do the lanes of a warp walk along a row, or down a column?",
                "How many sectors does a warp touch where its first lane begins in "
                "the middle of one, and how many would do?",
                "Reading wants to begin where a sector of `a` begins, writing where "
                "one of `out` does. Who could hand a value from one lane to another?",
            ),
        )
    },
)

HOLES = (VEC_ADD, PACK_WINDOW)
