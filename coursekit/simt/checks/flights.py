"""Unfinished asynchronous copies: their threads and the places that they move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LANES = 32


class Touched(NamedTuple):
    """One access of some lanes of a warp to a region of shared memory.

    `places` are its bytes, and `threads` the numbers in the block of those who touch
    them: `each` of a lane.
    """

    access: object
    warp: object
    part: tuple
    places: np.ndarray
    threads: np.ndarray
    each: int

    @classmethod
    def of(cls, access, warp, part) -> Touched:
        """Expand an access to `part`, (region, lanes, offsets), to its bytes."""
        _, lanes, offsets = part
        threads = LANES * warp.index + np.arange(LANES)[lanes]
        places = offsets.astype(np.int64)[:, None] + np.arange(access.width)
        each = access.width
        return cls(access, warp, part, places.ravel(), threads.repeat(each), each)


class Flights:
    """The places that unfinished copies are to write, or to read.

    Each region has an array of the thread that began the copy to a place, plus 1, or 0;
    and one of the number of its access.
    """

    def __init__(self):
        self._regions: dict = {}

    def __bool__(self) -> bool:
        return bool(self._regions)

    def begin(self, touch, number: int) -> None:
        """Record that the lanes of `touch` have begun to copy."""
        region = touch.part[0]
        if region not in self._regions:
            self._regions[region] = np.zeros((2, region.nbytes), np.int32)
        threads, numbers = self._regions[region]
        threads[touch.places] = touch.threads + 1
        numbers[touch.places] = number

    def land(self, region, places) -> None:
        """Record that the copies to these places are complete."""
        if region in self._regions:
            self._regions[region][0, places] = 0

    def forget(self, regions) -> None:
        """Forget all copies, for the next block."""
        for region in regions:
            self._regions.pop(region, None)

    def members(self, touch):
        """Yield (positions, threads, number) of unfinished copies to `touch`."""
        found = self._regions.get(touch.part[0])
        if found is None:
            return
        threads, numbers = found[:, touch.places]
        for number in np.unique(numbers[threads > 0]).tolist():
            at = np.flatnonzero((threads > 0) & (numbers == number))
            yield at, threads[at].astype(np.int64) - 1, number


class UnderWay:
    """The unfinished copies of a launch: which places they write, or read to store."""

    def __init__(self):
        self._written, self._read = Flights(), Flights()

    def begin(self, touch, number: int) -> None:
        """Record that the lanes of `touch` have begun to copy."""
        if touch.access.writes:
            self._written.begin(touch, number)
        elif touch.access.stores_in_bulk:
            self._read.begin(touch, number)

    def land(self, touch) -> None:
        """Record that copies have written, or have read, what `touch` says."""
        copies = self._written if touch.access.writes else self._read
        copies.land(touch.part[0], touch.places)

    def forget(self, regions) -> None:
        """Forget all copies, for the next block."""
        self._written.forget(regions)
        self._read.forget(regions)

    def members(self, touch):
        """Yield (positions, threads, number) of copies with which `touch` conflicts."""
        yield from self._written.members(touch)
        if touch.access.writes:
            yield from self._read.members(touch)
