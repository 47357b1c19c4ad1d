"""Memory fences: what the threads of a block have fenced, and so publish.

A fence covers all that its thread knows at that time. Threads that synchronise share
what each of them has fenced. What a thread learns after its fence, from a barrier or an
acquire, is covered only by another fence.
"""

from __future__ import annotations

import numpy as np

LANES = 32


class Fenced:
    """The stamps that each thread has fenced, for fences of one scope.

    Attributes
    ----------
    number : int
        Linear index of the block.
    barrier : int
        Stamp that the last barrier of the block had at the fences since then.
    stamps, warps : ndarray of int64
        Of each thread: when it last executed a fence, 0 where it has not since the
        barrier; and the stamp that the last synchronisation of its warp had then.
    lanes : dict of int to ndarray
        Of warps, up to which stamp each lane knew each lane then.
    told : dict of int to dict
        What else a thread knew, {block: stamp of each thread}.
    common : dict or None
        What the whole block has in common.
    """

    def __init__(self, number: int, size: int):
        self.number = number
        self.stamps = np.zeros(size, np.int64)
        self.barrier, self.warps = 0, self.stamps.copy()
        self.lanes: dict[int, np.ndarray] = {}
        self.told: dict[int, dict | None] = {}
        self.common: dict[int, np.ndarray] | None = None

    def fence(self, order, threads: np.ndarray, now: int) -> None:
        """Execute a fence in threads of one warp; `order` has what they know."""
        warp = int(threads[0]) // LANES
        self.barrier = order.barrier
        self.stamps[threads], self.warps[threads] = now, order.warp[warp]
        if warp in order.lanes:
            lanes = threads % LANES
            known = self.lanes.setdefault(warp, np.zeros((LANES, LANES), np.int64))
            known[lanes] = order.lanes[warp][lanes]
        if order.own or order.common:
            for thread in threads.tolist():
                self.told[thread] = joined(order.common, order.own.get(thread))

    def synchronise_all(self) -> None:
        """Synchronise all threads of the block."""
        self.common = joined(self.common, self.of(np.arange(len(self.stamps))))
        self.stamps[:] = 0
        self.lanes.clear()
        self.told.clear()

    def synchronise(self, threads: np.ndarray) -> None:
        """Synchronise some threads of the block."""
        known = self.of(threads)
        if known is not None:
            self.told.update(dict.fromkeys(threads.tolist(), known))

    def of(self, threads: np.ndarray) -> dict | None:
        """Return what any of these threads has fenced; None if nothing."""
        known = None
        if self.stamps[threads].any():
            known = {self.number: self._row(threads)}
        for thread in threads.tolist() if self.told else ():
            known = joined(known, self.told.get(thread))
        return known

    def _row(self, threads: np.ndarray) -> np.ndarray:
        """Return the stamps up to which threads synchronised with each of the block."""
        row = np.full(len(self.stamps), self.barrier, np.int64)
        for warp in set((threads // LANES).tolist()):
            some = threads[threads // LANES == warp]
            mates = row[LANES * warp : LANES * (warp + 1)]
            np.maximum(mates, self.warps[some].max(), out=mates)
            if warp in self.lanes:
                known = self.lanes[warp][some % LANES].max(axis=0)
                np.maximum(mates, known, out=mates)
        row[threads] = np.maximum(row[threads], self.stamps[threads])
        return row


def joined(some, others):
    """Return the union of two pieces of knowledge, {block: stamp of each thread}."""
    if not some or some is others:
        return others
    if not others:
        return some
    result = dict(some)
    for block, stamps in others.items():
        known = result.get(block)
        if known is None:
            result[block] = stamps
        elif known is not stamps:
            result[block] = np.maximum(known, stamps)
    return result
