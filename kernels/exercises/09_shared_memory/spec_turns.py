"""The first "your turn" of chapter 09: a value that a whole block shares."""

import numpy as np

from coursekit.errors import DataRaceError, UninitializedReadError
from coursekit.exercises import (
    Exercise,
    Limit,
    Mutant,
    blank,
    blocks,
    covering,
    shuffled,
)

BLOCK = 64  # threads; a block needs its own factor, so the size is fixed


def elements_and_factors(n, generator):
    """Return what the kernel of 09.a takes: a factor per block."""
    factors = np.arange(2, 4 + n // BLOCK, dtype=np.float32)
    return {"x": shuffled(n, generator), "factors": factors, "out": blank(n), "n": n}


def one_block_more(n):
    """Launch a block that has no elements, behind those that have."""
    return blocks(n, BLOCK) + 1, BLOCK


EXERCISES = (
    Exercise(
        id="09.a",
        name="factor",
        title="One thread loads, the block uses",
        kernel="scale_blocks",
        inputs=elements_and_factors,
        outputs=("out",),
        launches=(covering(BLOCK), one_block_more),
        reference=lambda v: v.factors[np.arange(v.n) // BLOCK] * v.x,
        hints=(
            "Let thread 0 of the block store factors[blockIdx.x] in `factor`. What "
            "must happen before another warp may read it?",
            "if (threadIdx.x == 0) factor = factors[blockIdx.x]; and then "
            "__syncthreads(); outside of any if.",
        ),
        starter=(UninitializedReadError, "factor"),
        mutants={
            "no_barrier": Mutant(
                mistake="Nobody waits for thread 0.",
                edits=[
                    (
                        "    __syncthreads();  // nobody reads before thread 0 has "
                        "written\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "thread_0_of_the_grid": Mutant(
                mistake="Thread 0 of the grid stores, and other blocks get nothing.",
                edits=[("threadIdx.x == 0", "i == 0")],
                fails=(UninitializedReadError, "factor"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_requests",
                size=1025,
                most=33 + 17,
                why="33 warps load their elements, and one thread in each of the 17 "
                "blocks loads a factor.",
            ),
        ),
    ),
)
