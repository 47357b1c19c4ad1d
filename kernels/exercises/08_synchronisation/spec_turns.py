"""The first "your turn" of chapter 08: count without losing a count."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError
from coursekit.exercises import Exercise, Mutant

VALUES = 16


def few_values(n, generator):
    """Return what the kernel of 08.a takes: values that occur often, and counters."""
    return {
        "x": generator.integers(0, VALUES, n).astype(np.int32),
        "counts": np.arange(100, 100 + VALUES, dtype=np.int32),
        "n": n,
    }


EXERCISES = (
    Exercise(
        id="08.a",
        name="counts",
        title="Count without losing a count",
        kernel="histogram",
        inputs=few_values,
        outputs=("counts",),
        accumulates=("counts",),
        reference=lambda v: v.counts + np.bincount(v.x, minlength=VALUES),
        owner=None,
        hints=(
            "atomicAdd takes an address and a value. The address of an array's "
            "element is written with an ampersand: &a[i].",
            "atomicAdd(&counts[x[i]], 1); in place of the line with +=.",
        ),
        starter=(DataRaceError, "this update is not atomic"),
        mutants={
            "adds_the_value": Mutant(
                mistake="The value is added, and not one.",
                edits=[("[x[i]], 1)", "[x[i]], x[i])")],
                fails=(CheckFailed, "wrong"),
            ),
            "by_the_thread": Mutant(
                mistake="The counter is chosen by the thread, not by its value.",
                edits=[("counts[x[i]]", "counts[i % 16]")],
                fails=(CheckFailed, "wrong"),
            ),
            "store": Mutant(
                mistake="The sum is stored atomically, and the count was read before.",
                edits=[
                    (
                        "atomicAdd(&counts[x[i]], 1)",
                        "atomicExch(&counts[x[i]], counts[x[i]] + 1)",
                    )
                ],
                fails=(DataRaceError, "counts["),
            ),
        },
    ),
)
