"""Steps that write results to the active lanes of registers."""

from __future__ import annotations

from collections.abc import Callable

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
    return _STEPS.get(len(sources), _of_many)(evaluate, slot, *sources)


def _of_one(evaluate, slot: int, a: int):
    def step(warp):
        slots = warp.slots
        if warp.all:
            slots[slot][...] = evaluate(slots[a])
        else:
            np.copyto(slots[slot], evaluate(slots[a]), "unsafe", warp.mask)

    return step


def _of_two(evaluate, slot: int, a: int, b: int):
    def step(warp):
        slots = warp.slots
        if warp.all:
            slots[slot][...] = evaluate(slots[a], slots[b])
        else:
            np.copyto(slots[slot], evaluate(slots[a], slots[b]), "unsafe", warp.mask)

    return step


def _of_many(evaluate, slot: int, *sources: int):
    def step(warp):
        slots = warp.slots
        value = evaluate(*[slots[s] for s in sources])
        if warp.all:
            slots[slot][...] = value
        else:
            np.copyto(slots[slot], value, "unsafe", warp.mask)

    return step


# The most frequent steps, written out: each runs thousands of times a millisecond.
_STEPS: dict[int, Callable] = {1: _of_one, 2: _of_two}


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
