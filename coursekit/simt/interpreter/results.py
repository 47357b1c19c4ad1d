"""Steps that write results to the active lanes of registers."""

from __future__ import annotations

import numpy as np


def identity(value):
    """Return the value itself, as `mov` does."""
    return value


def with_negated(evaluate, negated: list[bool]):
    """Return `evaluate` with the predicates inverted that are written `!p`."""

    def run(*sources):
        return evaluate(
            *(~s if n else s for s, n in zip(sources, negated, strict=False))
        )

    return run


def write_result(evaluate, results, sources):
    """Make a step that writes `evaluate(sources)` to the active lanes."""
    if len(results) > 1:
        return _write_several(evaluate, results, sources)
    (slot,) = results
    if slot is None:
        return None
    if len(sources) == 1:
        (a,) = sources

        def values(slots):
            return evaluate(slots[a])

    elif len(sources) == 2:
        a, b = sources

        def values(slots):
            return evaluate(slots[a], slots[b])

    elif len(sources) == 3:
        a, b, c = sources

        def values(slots):
            return evaluate(slots[a], slots[b], slots[c])

    else:

        def values(slots):
            return evaluate(*(slots[s] for s in sources))

    def step(warp):
        slots = warp.slots
        if warp.all:
            slots[slot][...] = values(slots)
        else:
            np.copyto(slots[slot], values(slots), where=warp.mask, casting="unsafe")

    return step


def _write_several(evaluate, results, sources):
    def step(warp):
        slots = warp.slots
        found = evaluate(*(slots[s] for s in sources))
        for slot, value in zip(results, found, strict=True):
            if slot is not None:
                np.copyto(slots[slot], value, where=warp.mask, casting="unsafe")

    return step


def write_checked(evaluate, results, sources):
    """Make a step that checks the warp before it evaluates, and may raise."""
    (slot,) = results

    def step(warp):
        slots = warp.slots
        value = evaluate(warp, *(slots[s] for s in sources))
        np.copyto(slots[slot], value, where=warp.mask, casting="unsafe")

    return step
