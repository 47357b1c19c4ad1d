"""Loads that the compiler of a tile language repeats in several threads of a block.

Triton lets several threads load an element where a tile has fewer elements than the
block has threads, and lets one of them store. The copies that the others loaded reach
no result, so that a store may come before their load. A thread that reads what another
one computes is a race all the same.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from coursekit.simt.checks.clashes import Touch


class RepeatedLoads:
    """The loads from global memory of a launch, by instruction, array and block."""

    def __init__(self):
        self._loads: dict = defaultdict(list)

    def note(self, touch: Touch, number: int) -> None:
        """Record an access of this number, if it is a load from global memory."""
        region = touch.part[0]
        if region.space == "global" and touch.access.verb == "reads":
            key = number, region, touch.order.number
            self._loads[key].append((touch.places, touch.threads))

    def excuses(self, touch: Touch, at, others, numbers, accesses) -> np.ndarray:
        """Return which pairs are a store, and another thread's copy of its own load.

        Parameters
        ----------
        touch : Touch
            The later access.
        at, others, numbers : numpy.ndarray
            Positions in it; threads and numbers of the earlier accesses.
        accesses : list of WatchedAccess
            By number.
        """
        region, order = touch.part[0], touch.order
        excused = np.zeros(len(at), bool)
        inside = others // order.size == order.number
        if region.space != "global" or not inside.any():
            return excused
        places, threads, verb = touch.places[at], touch.threads[at], touch.access.verb
        for number in np.unique(numbers).tolist():
            pair = verb, accesses[number].verb
            some = inside & (numbers == number)
            if pair == ("writes", "reads"):
                load, writers = number, threads
            elif pair == ("reads", "writes"):
                load, writers = accesses.index(touch.access), others
            else:
                continue
            key = load, region, order.number
            excused[some] = self._loaded(key, places[some], writers[some])
        return excused

    def _loaded(self, key, places, threads) -> np.ndarray:
        """Return which of these threads have loaded these places by one load."""
        known = {
            pair
            for places_read, readers in self._loads.get(key, ())
            for pair in zip(places_read.tolist(), readers.tolist(), strict=True)
        }
        pairs = zip(places.tolist(), threads.tolist(), strict=True)
        return np.array([pair in known for pair in pairs], bool)
