"""Holes that also have a par for shared memory: a histogram and a transpose."""

from __future__ import annotations

import numpy as np

from coursekit.exercises.golf.hole import Hole, Par, sectors, wavefronts
from coursekit.exercises.inputs import blank, shuffled

_BINS, _BLOCKS, _LANES = 256, 2, 32
_BANK_CONFLICTS = (
    "Which lanes of a warp want the same bank, and does that depend on the data?",
    "A copy of the counters costs wavefronts twice: when it is set to zero, and when "
    "it is added up. How many copies pay for themselves?",
    "Could each lane have a bank that no other lane of its warp ever asks for?",
)


def _bytes(size, generator) -> dict:
    (n,) = size
    # Raw bits: NumPy may change how it draws bytes, and then the counts would change.
    words = generator.bit_generator.random_raw(-(-n // 8)).astype("<u8")
    x = words.view(np.uint8)[:n].copy()
    counts = generator.integers(1, 1000, _BINS).astype(np.uint32)
    return {"x": x, "counts": counts, "n": n}


def _counted(given) -> np.ndarray:
    return given.counts + np.bincount(given.x, minlength=_BINS)


HISTOGRAM = Hole(
    name="histogram",
    title="counts[v] grows by how often the byte v is among n bytes",
    chapter="08",
    starter="histogram/step_01_global.cu",
    shape="grid = 2; block = 256",
    axes=("n",),
    inputs=_bytes,
    outputs=("counts",),
    reference=_counted,
    accumulates=("counts",),
    sizes=((1,), (33,), (1025,)),
    scored=(32_768,),
    ragged=lambda draw: (draw(34, 3000),),
    round=lambda draw: (draw(20_480, 40_960, 2048),),
    least_blocks=_BLOCKS,
    least_threads=512,
    pars={
        "sectors": Par(
            lambda size: sectors(size["n"]) + _BLOCKS * sectors(4 * _BINS),
            "n bytes / 32 B read, and 256 counters of 4 B added by each of 2 blocks, "
            "the fewest that are allowed",
            (
                "Each byte is an atomic addition to global memory. Where could a block "
                "count first?",
                "How many blocks add up their counters at the end?",
                "Is any byte read twice, or by a warp that reads fewer than 32 bytes?",
            ),
        ),
        "wavefronts": Par(
            lambda size: size["n"] // _LANES + _BLOCKS * 2 * _BINS,
            "a wavefront for 32 bytes, and 32 copies of 256 counters set to zero and "
            "added up by 2 blocks; this one is the best we know, not a bound",
            _BANK_CONFLICTS,
        ),
    },
)


def _picture(size, generator) -> dict:
    rows, cols = size
    x = shuffled((rows, cols), generator)
    return {"x": x, "out": blank((cols, rows)), "rows": rows, "cols": cols}


TRANSPOSE = Hole(
    name="transpose",
    title="out = x transposed, rows x cols of float32",
    chapter="09",
    starter="transpose/step_01_naive.cu",
    shape="grid = ceil(cols / 32), ceil(rows / 8); block = 32, 8",
    axes=("rows", "cols"),
    inputs=_picture,
    outputs=("out",),
    reference=lambda given: given.x.T,
    sizes=((1, 1), (7, 33), (33, 65)),
    scored=(96, 128),
    ragged=lambda draw: (draw(2, 90), draw(2, 90)),
    round=lambda draw: (draw(64, 160, 32), draw(64, 160, 32)),
    least_blocks=4,
    least_threads=1024,
    pars={
        "sectors": Par(
            lambda size: 2 * sectors(4 * size["rows"] * size["cols"]),
            "4 rows cols bytes / 32 B read, as many written",
            (
                "The lanes of a warp read a row. What do they write, and how many "
                "sectors is that?",
                "Which side still touches sectors of which it uses a part?",
                "Is a sector touched by two requests, at the edge of a tile perhaps?",
            ),
        ),
        "wavefronts": Par(
            lambda size: 2 * wavefronts(4 * size["rows"] * size["cols"]),
            "4 rows cols bytes / 128 B into shared memory, as many out of it",
            (
                "A column of a tile: in how many banks does it lie?",
                "Do reading and writing shared memory both find 32 banks?",
                "Which access still meets in a bank: that of a row, or of a column?",
            ),
        ),
    },
)

HOLES = (HISTOGRAM, TRANSPOSE)
