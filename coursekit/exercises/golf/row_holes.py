"""Holes that reduce the rows of a matrix, or a whole array."""

from __future__ import annotations

import numpy as np

from coursekit.exercises.golf.hole import Hole, Par, sectors
from coursekit.exercises.inputs import blank

# Integers so small that every sum of them is exact in float32, in any order: a kernel
# that leaves one out is always found.
_LARGEST = 64
_SPAN = 8.0
_LEVEL = 200.0  # exp(_LEVEL) overflows float32: subtract the row's maximum


def _whole(shape, generator) -> np.ndarray:
    integers = generator.integers(1, _LARGEST, shape) * generator.choice([-1, 1], shape)
    return integers.astype(np.float32)


def _matrix(size, generator) -> dict:
    rows, cols = size
    return {
        "A": _whole((rows, cols), generator), "sums": blank(rows),
        "rows": rows, "cols": cols,
    }  # fmt: skip


ROW_SUMS = Hole(
    name="row_sums",
    title="the sum of each row of a matrix of float32",
    chapter="07",
    starter="warps/row_sum_by_thread.cu",
    shape="grid = ceil(rows / 8); block = 8",
    axes=("rows", "cols"),
    inputs=_matrix,
    outputs=("sums",),
    reference=lambda given: given.A.sum(axis=1),
    sizes=((1, 1), (7, 33), (33, 65)),
    scored=(128, 128),
    ragged=lambda draw: (draw(2, 70), draw(2, 150)),
    round=lambda draw: (draw(64, 192, 32), draw(64, 192, 32)),
    least_blocks=8,
    least_threads=128,
    pars={
        "sectors": Par(
            lambda size: sectors(4 * size["rows"] * size["cols"], 4 * size["rows"]),
            "4 rows cols bytes / 32 B read, 4 rows bytes / 32 B written",
            (
                "32 lanes that sum 32 rows read 32 sectors at once. Which lanes could "
                "read one row together?",
                "How many sectors does a warp read for 32 values, and could it be 4?",
                "A store of one sum touches a whole sector. Who could have the sums of "
                "eight rows before anything is stored?",
            ),
        )
    },
)


def _vector(size, generator) -> dict:
    (n,) = size
    total = np.array([generator.integers(1, _LARGEST)], np.float32)
    return {"x": _whole(n, generator), "total": total, "n": n}


SUM = Hole(
    name="sum",
    title="total[0] grows by the sum of n elements of float32",
    chapter="10",
    starter="reduction/step_01_atomic.cu",
    shape="grid = ceil(n / 256); block = 256",
    axes=("n",),
    inputs=_vector,
    outputs=("total",),
    reference=lambda given: given.total + given.x.sum(),
    accumulates=("total",),
    sizes=((1,), (33,), (1025,)),
    scored=(8192,),
    ragged=lambda draw: (draw(34, 3000),),
    round=lambda draw: (draw(4096, 12_288, 1024),),
    least_blocks=8,
    least_threads=2048,
    pars={
        "sectors": Par(
            lambda size: sectors(4 * size["n"]) + 8,
            "4 n bytes / 32 B read, and one addition for each of 8 blocks, the fewest "
            "that are allowed",
            (
                "Every addition to the one total is a sector of its own. How many "
                "values could be added before anybody meets there?",
                "Warps meet at the total one by one. What could a block do first?",
                "Each block adds once. Must there be more of them than the rules ask?",
            ),
        )
    },
)


def _spread(size, generator) -> dict:
    rows, cols = size
    level = np.where(np.arange(rows) % 2, -_LEVEL, _LEVEL)[:, None]
    x = (_SPAN * generator.random((rows, cols)) + level).astype(np.float32)
    return {"x": x, "y": blank((rows, cols)), "rows": rows, "cols": cols}


def _softmax(given) -> np.ndarray:
    powers = np.exp(given.x - given.x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


SOFTMAX = Hole(
    name="softmax",
    title="the softmax of each row of float32, cols a multiple of 4, at most 1024",
    chapter="10",
    starter="softmax/step_01_thread.cu",
    shape="grid = ceil(rows / 4); block = 4",
    axes=("rows", "cols"),
    inputs=_spread,
    outputs=("y",),
    reference=_softmax,
    # One rounding per column where a thread sums a row; two rounded arguments of exp,
    # each at most _SPAN; 88 roundings for merging, exp, product and quotient.
    roundings=lambda size: size[1] + 2 * int(_SPAN) + 88,
    sizes=((1, 4), (3, 36), (1, 1000)),
    scored=(8, 256),
    ragged=lambda draw: (draw(2, 20), draw(4, 300, 4)),
    round=lambda draw: (draw(8, 24, 8), draw(128, 256, 32)),
    least_blocks=2,
    least_threads=8,
    pars={
        "sectors": Par(
            lambda size: 2 * sectors(4 * size["rows"] * size["cols"]),
            "4 rows cols bytes / 32 B read, as many written",
            (
                "Which lanes could read one row together, so that a sector serves "
                "eight of them?",
                "How often is each value read, and what does each time find out? Two "
                "of those could go together.",
                "A value that is still in a register need not be read again.",
            ),
        )
    },
)

HOLES = (ROW_SUMS, SUM, SOFTMAX)
