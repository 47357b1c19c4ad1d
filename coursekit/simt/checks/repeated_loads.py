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

_ANY_TIME = np.iinfo(np.int64).max


class RepeatedLoads:
    """The loads from global memory of a launch, by instruction, array and block."""

    def __init__(self):
        self._loads: dict = defaultdict(list)

    def note(self, touch: Touch, number: int, now: int) -> None:
        """Record an access of this number, if it is a load from global memory."""
        region = touch.part[0]
        if region.space == "global" and touch.access.verb == "reads":
            key = number, region, touch.order.number
            self._loads[key].append((touch.places, touch.threads, now))

    def excuses(self, touch: Touch, at, earlier, accesses) -> np.ndarray:
        """Return which pairs are a store, and another copy of a load before it.

        Parameters
        ----------
        touch : Touch
            The later access.
        at : numpy.ndarray
            Positions in it.
        earlier : tuple of numpy.ndarray
            Threads, stamps and numbers of the earlier accesses.
        accesses : list of WatchedAccess
            By number.
        """
        others, stamps, numbers = earlier
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
                load, writers, until = number, threads, np.full(len(at), _ANY_TIME)
            elif pair == ("reads", "writes"):
                load, writers, until = accesses.index(touch.access), others, stamps
            else:
                continue
            key = load, region, order.number
            pairs = places[some], writers[some], until[some]
            excused[some] = self._loaded(key, pairs)
        return excused

    def _loaded(self, key, stores) -> np.ndarray:
        """Return which threads have loaded places by one load before they stored.

        `stores` are places, threads and stamps.
        """
        first: dict = {}
        for places, readers, now in self._loads.get(key, ()):
            for pair in zip(places.tolist(), readers.tolist(), strict=True):
                first.setdefault(pair, now)
        listed = zip(*(values.tolist() for values in stores), strict=True)
        return np.array(
            [first.get((place, thread), _ANY_TIME) < until
             for place, thread, until in listed], bool,
        )  # fmt: skip
