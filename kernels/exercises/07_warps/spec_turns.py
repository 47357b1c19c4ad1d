"""The first "your turn" of chapter 07: the number of a thread in its block."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank


def places(size, generator):
    """Return what the kernel of 07.a takes: an element per thread of the block."""
    threads = int(np.prod(size))
    return {"warp": blank(threads, np.int32), "lane": blank(threads, np.int32)}


def one_block(size):
    """Launch one block of (columns, rows) threads."""
    rows, cols = size
    return 1, (cols, rows)


def one_block_upright(size):
    """Launch one block of as many threads, its rows and columns exchanged."""
    rows, cols = size
    return 1, (rows, cols)


def by_number(v):
    """Return warp and lane of each thread, in the order of their numbers."""
    numbers = np.arange(v.warp.size)
    return {"warp": numbers // 32, "lane": numbers % 32}


EXERCISES = (
    Exercise(
        id="07.a",
        name="place",
        title="Which lane of which warp?",
        kernel="place",
        inputs=places,
        outputs=("warp", "lane"),
        sizes=((1, 1), (4, 16), (5, 13), (32, 2), (1, 96)),
        picture=(2, 4),
        launches=(one_block, one_block_upright),
        reference=by_number,
        owner=None,
        hints=(
            "Thread (3, 2) of a block of 16 x 4 threads stands behind two whole rows "
            "and three threads of its own row.",
            "A row has blockDim.x threads, and threadIdx.y rows stand before it: "
            "threadIdx.x + blockDim.x * threadIdx.y.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "y_first": Mutant(
                mistake="Threads are numbered along y first.",
                edits=[
                    (
                        "threadIdx.x + blockDim.x * threadIdx.y",
                        "threadIdx.y + blockDim.x * threadIdx.x",
                    )
                ],
                fails=(OutOfBoundsError, "warp["),
            ),
            "x_alone": Mutant(
                mistake="All rows of the block have the same numbers.",
                edits=[(" + blockDim.x * threadIdx.y", "")],
                fails=(CheckFailed, "never written"),
            ),
            "rows_for_columns": Mutant(
                mistake="A row is taken to have blockDim.y threads.",
                edits=[("blockDim.x * threadIdx.y", "blockDim.y * threadIdx.y")],
                fails=(CheckFailed, "never written"),
            ),
        },
    ),
)
