"""Your turn 23.g: a kernel in Python, compiled by Numba."""

import inspect

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError, OutOfBoundsError
from coursekit.exercises import HostExercise, Mutant

BLOCK = 128


def compiled(function):
    """Compile the student's function for arrays of floats."""
    import coursekit as ck

    return ck.from_numba(inspect.unwrap(function), "float32[:], float32[:]")


def reversed_blocks(function, show):
    """Demand each block of 128 elements in reverse; a race is named as such."""
    import coursekit as ck

    kernel, blocks = compiled(function), 3
    x = np.arange(blocks * BLOCK, dtype=np.float32) + 0.5
    out = np.full_like(x, np.nan)
    ck.racecheck(kernel, blocks, BLOCK, (x, out), raise_=True)
    with ck.simulator():
        kernel[blocks, BLOCK](x, out)
    due = x.reshape(blocks, BLOCK)[:, ::-1].ravel()
    far = np.flatnonzero(~(out == due))
    if far.size:
        i = int(far[0])
        raise CheckFailed.explained(
            f"out[{i}] is {out[i]:g}; it should be {due[i]:g}. "
            f"{far.size} of {out.size} elements are wrong.",
            "Thread t stores element t of its block into the tile, and reads the "
            "element that lies as far from the end as t from the start.",
            "For t = 0 that is tile[127]. What is it for any t?",
        )
    if not ck.count(kernel, blocks, BLOCK, (x, out)).shared_load_requests:
        raise CheckFailed.explained(
            "The result is right, but no thread reads the tile.",
            "Each thread reads x once more, and the tile is only filled.",
            "Take the element from the tile: there it lies on the chip already.",
        )


EXERCISES = (
    HostExercise(
        id="23.g",
        name="reverse",
        title="Reverse blocks, in Python",
        function="reverse_blocks",
        checks=(("three blocks, and no race", reversed_blocks),),
        starter=(CheckFailed, "out[0] is 0.5"),
        hints=(
            "Element t from the end of 128 is tile[127 - t]. Another thread stored "
            "it: what has to stand between that store and your load?",
            "cuda.syncthreads() is the barrier.",
        ),
        mutants={
            "no_barrier": Mutant(
                mistake="Nothing waits for the other threads' stores.",
                edits=[("    cuda.syncthreads()\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "past_the_tile": Mutant(
                mistake="The element is read from x again, not from the tile.",
                edits=[("tile[127 - t]", "x[i + 127 - 2 * t]")],
                fails=(CheckFailed, "no thread reads the tile"),
            ),
            "one_too_far": Mutant(
                mistake="The last element is taken for number 128.",
                edits=[("tile[127 - t]", "tile[128 - t]")],
                fails=(OutOfBoundsError, "has 128 elements"),
            ),
        },
    ),
)
