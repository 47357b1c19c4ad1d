"""Shadow memory of the race check: the last accesses to each place of an array.

A place is as wide as the narrowest access of the kernel.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from coursekit.simt.memory import available

LANES = 32
WORD_BYTES = 4 * (3 + 2 * 7)  # of one place: its last write, its reads and its atomics
BIT = (np.uint32(1) << np.arange(LANES, dtype=np.uint32)).astype(np.uint32)


# Reads that are kept in the order in which they came, before they are sorted by place.
LOGGED = 4096


class Marks(NamedTuple):
    """The record that accesses of a warp leave in the shadow.

    `synchronised` is the stamp of the warp's last synchronisation, `size` the number of
    threads of a block; everything before the stamp `floor` is ordered.
    """

    now: int | np.ndarray
    number: int | np.ndarray
    synchronised: int
    floor: int
    size: int


class Last:
    """Thread, stamp and access number of the last write to every place; 0 for none."""

    __slots__ = ("numbers", "stamps", "threads", "used")

    def __init__(self, places: int):
        self.threads = np.zeros(places, np.int32)
        self.stamps = np.zeros(places, np.int32)
        self.numbers = np.zeros(places, np.int32)
        self.used = False

    def note(self, at, threads, marks: Marks) -> None:
        """Record a write to places `at`."""
        self.used = True
        self.threads[at] = threads
        self.stamps[at] = marks.now
        self.numbers[at] = marks.number


class Crowd:
    """Accesses that do not conflict with each other: reads, or atomics.

    Of the threads that touched a place, the lanes of the last warp are kept, and one
    thread of the warp before it. That is enough to decide whether a conflicting access
    is unordered with one of them.

    Attributes
    ----------
    first, lanes, stamps, numbers : ndarray
        First thread of the last warp, its lanes as bits, stamp, access number.
    others, other_stamps, other_numbers : ndarray
        Thread, stamp and access number from another warp.
    """

    __slots__ = ("first", "lanes", "numbers", "other_numbers", "other_stamps",
                 "others", "stamps", "used")  # fmt: skip

    def __init__(self, places: int):
        self.first = np.zeros(places, np.int32)
        self.lanes = np.zeros(places, np.uint32)
        self.stamps = np.zeros(places, np.int32)
        self.numbers = np.zeros(places, np.int32)
        self.others = np.zeros(places, np.int32)
        self.other_stamps = np.zeros(places, np.int32)
        self.other_numbers = np.zeros(places, np.int32)
        self.used = False

    def note(self, at, threads, bits, marks: Marks) -> None:
        """Record an access to places `at` by threads, lanes `bits`, of one warp."""
        self.used = True
        now, number, synchronised, floor, size = marks
        first = int(threads[0]) & -LANES
        before = self.stamps[at]
        recent = before > floor
        if not recent.any():
            self.lanes[at] = 0
        else:
            same = self.first[at] == first
            kept = recent & same & (before > synchronised)
            self._keep_other(at[recent & ~same], first, floor, size)
            self.lanes[at[~kept]] = 0
        np.bitwise_or.at(self.lanes, at, bits)
        self.first[at] = first
        self.stamps[at] = now
        self.numbers[at] = number

    def _keep_other(self, at, first: int, floor: int, size: int) -> None:
        """Keep the access that is replaced, where no other one is kept.

        Threads of other blocks are preferred, since a barrier never orders them.
        """
        others, block = self.others[at], first // size
        spent = (self.other_stamps[at] <= floor) | ((others & -LANES) == first)
        foreign = (others // size == block) & (self.first[at] // size != block)
        at = at[spent | foreign]
        if len(at):
            self.others[at] = self.first[at] + lowest(self.lanes[at])
            self.other_stamps[at] = self.stamps[at]
            self.other_numbers[at] = self.numbers[at]

    def forget_known(self, at, threads, order) -> None:
        """Forget lanes of this warp that a new access to their place knows."""
        lanes = self.lanes[at]
        lanes[self.first[at] != (threads & -LANES)] = 0
        k, lane = np.nonzero((lanes[:, None] & BIT) != 0)
        if len(k):
            where = at[k]
            known = order.knows(
                threads[k], self.first[where] + lane, self.stamps[where]
            )
            np.bitwise_and.at(self.lanes, where[known], ~BIT[lane[known]])

    def members(self, at, threads, floor: int):
        """Yield the threads except `threads` that touched places `at` since `floor`.

        Each item is (positions in `at`, threads, stamps, access numbers).
        """
        stamps = self.stamps[at]
        recent = stamps > floor
        if recent.any():
            lanes, first = self.lanes[at], self.first[at]
            mine = first == (threads & -LANES)
            lanes = np.where(mine, lanes & ~BIT[threads % LANES], lanes)
            k, lane = np.nonzero(recent[:, None] & ((lanes[:, None] & BIT) != 0))
            if len(k):
                yield k, first[k] + lane, stamps[k], self.numbers[at[k]]
        stamps = self.other_stamps[at]
        k = np.flatnonzero(stamps > floor)
        if len(k):
            yield k, self.others[at[k]], stamps[k], self.other_numbers[at[k]]


class Shadow:
    """The last write, reads and atomics of every place of one region.

    Reads are many, and most of them conflict with no write: they wait in a log.
    """

    def __init__(self, places: int):
        available.require(WORD_BYTES * places)
        self.writes = Last(places)
        self.reads = Crowd(places)
        self.updates = Crowd(places)
        self._log: list[tuple] = []

    def log(self, key: tuple, *read) -> None:
        """Log a read for later: places, threads, bits, stamp and number.

        Reads of one `key`, (first thread of the warp, synchronised, floor, size), may
        be sorted together.
        """
        self._log.append((key, read))
        if len(self._log) >= LOGGED:
            self.sort(key[2])

    def sort(self, floor: int) -> None:
        """Enter the logged reads, without those that are ordered by now."""
        log, self._log = self._log, []
        for key, group in itertools.groupby(log, lambda one: one[0]):
            reads = [read for _, read in group]
            if reads[-1][3] <= floor:
                continue
            places, threads, bits = (
                np.concatenate([r[i] for r in reads]) for i in range(3)
            )
            lengths = [len(read[0]) for read in reads]
            stamps, numbers = (
                np.repeat([r[i] for r in reads], lengths) for i in (3, 4)
            )
            marks = Marks(stamps, numbers, *key[1:])
            self.reads.note(places, threads, bits, marks)


def lowest(bits: np.ndarray) -> np.ndarray:
    """Return the number of the lowest bit that is set."""
    alone = (bits & (~bits + np.uint32(1))).astype(np.float64)
    return np.frexp(np.maximum(alone, 1))[1] - 1
