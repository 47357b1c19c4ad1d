"""The first "your turn" of chapter 06: a copy that counts bytes."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant


def bytes_of_floats(n, generator):
    """Return what the kernel of 06.a takes: n floats as bytes, and room for them."""
    source = generator.random(n, dtype=np.float32).view(np.uint8)
    return {"target": np.zeros(4 * n, np.uint8), "source": source, "count": 4 * n}


def a_thread_per_byte(block):
    """Launch a thread for each byte of n floats."""
    return lambda n: (max(1, -(-4 * n // block)), block)


EXERCISES = (
    Exercise(
        id="06.a",
        name="bytes",
        title="A copy counts bytes",
        kernel="copy_bytes",
        inputs=bytes_of_floats,
        outputs=("target",),
        launches=(a_thread_per_byte(256), a_thread_per_byte(96)),
        reference=lambda v: v.source,
        hints=(
            "Which of the two arrays is const? That is the one to read.",
            "target[i] = source[i];",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "counts_elements": Mutant(
                mistake="Only a quarter is copied: as many bytes as there are floats.",
                edits=[("i < count", "i < count / 4")],
                fails=(CheckFailed, "never written"),
            ),
            "no_guard": Mutant(
                mistake="Spare threads copy past the end.",
                edits=[("    if (i < count)\n    ", "")],
                fails=(OutOfBoundsError, "source["),
            ),
            "target_to_itself": Mutant(
                mistake="The target is copied to itself.",
                edits=[("= source[i]", "= target[i]")],
                fails=(CheckFailed, "never written"),
            ),
        },
    ),
)
