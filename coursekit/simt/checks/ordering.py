"""The happens-before order of accesses, by barriers, warps, fences and atomics.

Every access and every synchronisation has a stamp, a number that only grows. A thread
*knows* another up to a stamp if all that the other did until then happens before
what the thread does next.

What others publish is known at once to a thread that reads it by an acquire. One that
reads it by anything else has only *seen* it, which orders nothing: the PTX model asks
for a fence behind the read ("acquire pattern"), just as one in front of a relaxed write
publishes. The fence has to reach whoever published. A barrier of the block is a fence
too, of the scope of the block: reads in front of it are over, and none behind it have
begun. Hence it makes known what was seen of the same block; of what was seen of other
blocks all who synchronise have then seen it, and each is still to execute a wide fence.
That suffices, as it does in front of a write (see `Fenced`): a fence.sc,
which `__threadfence()` is, comes either before or after that of whoever published, and
if it came before, the read of the flag would happen before the write of its value.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.checks.fenced import LANES, Fenced, joined


class BlockOrder:
    """The knowledge that threads of a running block have of other threads' accesses.

    Attributes
    ----------
    number, first : int
        Linear index of the block, and number of its first thread in the grid, where
        every block counts as whole warps.
    threads : ndarray
        Numbers of the threads of each warp.
    barrier : int
        Stamp of the last barrier of the whole block.
    fenced : dict of str to Fenced
        What each thread has fenced, by the reach of the fence.
    seen : dict of str to dict
        What each thread has seen, by the reach of the fence that makes it known.
    proxied : ndarray
        Stamp of the last fence of each thread between ordinary stores and bulk copies.
    """

    def __init__(self, block, now: int):
        self.number, self.size = block.linear, LANES * len(block.warps)
        self.first = self.number * self.size
        self.threads = self.first + np.arange(self.size).reshape(-1, LANES)
        self.barrier = self.began = now
        self.alone = block.cluster is None
        self.warp = [now] * len(block.warps)
        self.lanes: dict[int, np.ndarray] = {}
        self.fenced: dict[str, Fenced] = {}
        self.common: dict[int, np.ndarray] | None = None
        self.own: dict[int, dict[int, np.ndarray]] = {}
        self.seen: dict[str, dict[int, dict]] = {}
        self.proxied = np.zeros(self.size, np.int64)
        self.nothing = np.full(self.size, np.iinfo(np.int64).min)

    @property
    def floor(self) -> int:
        """The stamp before which all accesses to shared memory are ordered.

        Other blocks of a cluster reach it too, so that there it is the block's begin.
        """
        return self.barrier if self.alone else self.began

    @property
    def is_fine(self) -> bool:
        """Whether single threads know more than warp-wide synchronisation tells."""
        return bool(self.own or self.common or self.lanes)

    def synchronise_all(self, now: int) -> None:
        """Synchronise all threads of the block."""
        self.seen.pop("block", None)  # whoever of the block published it has reached it
        self._show(range(self.size))
        for fenced in self.fenced.values():
            fenced.synchronise_all()
        self.barrier = now
        for known in self.own.values():
            self.common = joined(self.common, known)
        self.own.clear()

    def synchronise_some(self, threads: np.ndarray, now: int) -> None:
        """Synchronise some threads: what one knows, all know."""
        known = None
        row = np.zeros(self.size, np.int64)
        self.acquire(threads.tolist(), "block")
        self._show(threads.tolist())
        for fenced in self.fenced.values():
            fenced.synchronise(threads)
        for thread in threads.tolist():
            known = joined(known, self.own.get(thread))
            np.maximum(row, self._row(thread), out=row)
        row[threads] = now
        known = joined(known, {self.number: row})
        for thread in threads.tolist():
            self.own[thread] = known

    def synchronise_lanes(self, warp, lanes: np.ndarray, now: int) -> None:
        """Synchronise lanes of one warp."""
        number = warp.index
        if self.own or self.seen or self.fenced:
            threads = LANES * number + np.flatnonzero(lanes)
            _share(self.own, threads.tolist())
            self._show(threads.tolist())
            for fenced in self.fenced.values():
                fenced.synchronise(threads)
        if not (warp.live & ~lanes).any():
            self.warp[number] = now
            return
        matrix = self.lanes.setdefault(number, np.zeros((LANES, LANES), np.int64))
        row = matrix[lanes].max(axis=0)
        row[lanes] = now
        matrix[lanes] = row

    def _show(self, threads) -> None:
        """Let threads that synchronised share what they have seen."""
        for seen in self.seen.values():
            _share(seen, threads)

    def _row(self, thread: int) -> np.ndarray:
        """Return the stamps up to which a thread has synchronised with its block."""
        row = np.full(self.size, self.barrier, np.int64)
        warp, lane = divmod(thread, LANES)
        mates = row[LANES * warp : LANES * (warp + 1)]
        np.maximum(mates, self.warp[warp], out=mates)
        if warp in self.lanes:
            np.maximum(mates, self.lanes[warp][lane], out=mates)
        return row

    def knows(self, me, who, stamps) -> np.ndarray:
        """Whether threads `me` of this block know `who` up to these stamps."""
        known = me == who
        inside = who // self.size == self.number
        known |= inside & (stamps <= self.barrier)
        warp = (me[0] - self.first) // LANES
        mates = inside & (who // LANES == me // LANES)
        known |= mates & (stamps <= self.warp[warp])
        matrix = self.lanes.get(int(warp))
        if matrix is not None:
            known |= mates & (stamps <= matrix[me % LANES, who % LANES])
        if self.own or self.common:
            rest = np.flatnonzero(~known)
            if len(rest):
                known[rest] = self._told(me[rest], who[rest], stamps[rest])
        return known

    def _told(self, me, who, stamps) -> np.ndarray:
        """Whether threads `me` of a warp know `who` through fences and atomics."""
        found = np.zeros(len(me), bool)
        blocks, threads = np.divmod(who, self.size)
        mine = me - self.first
        warp = range(int(mine.min()) // LANES * LANES, int(mine.max()) + 1)
        own = [self.own.get(thread) or {} for thread in warp]
        for block in set(blocks.tolist()):
            there = blocks == block
            if self.common and block in self.common:
                found |= there & (self.common[block][threads] >= stamps)
            if any(block in told for told in own):
                rows = np.array([told.get(block, self.nothing) for told in own])
                found |= there & (rows[mine - warp.start, threads] >= stamps)
        return found

    # -- fences and atomics -------------------------------------------------------

    def fence(self, threads: np.ndarray, reach: str, now: int) -> None:
        """Execute a fence in threads of the block."""
        if reach not in self.fenced:
            self.fenced[reach] = Fenced(self.number, self.size)
        self.fenced[reach].fence(self, threads, now)

    def publishes(self, thread: int, reach: str, now: int | None):
        """Return what a strong write of a thread publishes; None if nothing.

        That is what has been fenced, or all that the thread knows `now` where the
        write itself releases.
        """
        if now is None:
            fenced = self.fenced.get(reach)
            mine = fenced and fenced.of(np.array([thread]))
            return joined(fenced and fenced.common, mine)
        row = self._row(thread)
        row[thread] = now
        known = joined(self.common, self.own.get(thread))
        return joined(known, {self.number: row})

    def released(self, warp, lanes, now: int):
        """Return what lanes of a warp publish as they arrive at a cluster's barrier."""
        row, known = np.zeros(self.size, np.int64), self.common
        threads = LANES * warp.index + np.flatnonzero(lanes)
        for told in {id(t): t for t in map(self.own.get, threads.tolist())}.values():
            known = joined(known, told)
        apart = warp.index in self.lanes
        for thread in threads.tolist() if apart else threads[:1].tolist():
            np.maximum(row, self._row(thread), out=row)
        row[threads] = now
        return joined(known, {self.number: row})

    def learn_together(self, threads, known) -> None:
        """Let threads acquire the same; those that knew the same still do."""
        learned: dict[int, dict] = {}
        for thread in threads:
            own = self.own.get(thread)
            if id(own) not in learned:
                learned[id(own)] = joined(own, known)
            self.own[thread] = learned[id(own)]

    def learn(self, thread: int, known) -> None:
        """Let a thread acquire what another one published."""
        self.own[thread] = joined(self.own.get(thread), known)

    def see(self, thread: int, reach: str, known) -> None:
        """Let a thread see what another published, without a fence of that scope."""
        seen = self.seen.setdefault(reach, {})
        seen[thread] = joined(seen.get(thread), known)

    def has_seen(self, thread: int, who: int, stamp: int) -> bool:
        """Whether a thread has seen, but does not know, `who` up to a stamp."""
        block, other = divmod(who, self.size)
        told = [seen.get(thread - self.first, {}) for seen in self.seen.values()]
        return any(row[block][other] >= stamp for row in told if block in row)

    def acquire(self, threads, reach: str) -> None:
        """Turn seen into known, behind a barrier or a fence of a scope."""
        seen = self.seen.get(reach)
        if seen:
            for thread in threads:
                if thread in seen:
                    self.learn(thread, seen.pop(thread))


def _share(told: dict, threads) -> None:
    """Give each thread what any of them was told."""
    known = None
    for thread in threads if told else ():
        known = joined(known, told.get(thread))
    if known is not None:
        told.update(dict.fromkeys(threads, known))
