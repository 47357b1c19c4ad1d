"""Data races: two accesses to one place without an order, one of them a write."""

from __future__ import annotations

import numpy as np

from coursekit.simt.checks import clashes, proxies
from coursekit.simt.checks.clashes import APART, FOREIGN, NEAR, TOGETHER, Touch
from coursekit.simt.checks.fenced import joined
from coursekit.simt.checks.findings import ERROR, NOTE, WARNING, Collector
from coursekit.simt.checks.flights import UnderWay
from coursekit.simt.checks.ordering import BlockOrder
from coursekit.simt.checks.race_wording import COPY, Pair, race
from coursekit.simt.checks.repeated_loads import RepeatedLoads
from coursekit.simt.checks.shadow import BIT, LANES, Marks, Shadow
from coursekit.simt.checks.watching import Observer
from coursekit.simt.isa import traits

_SPACES = {"shared", "global"}
# Fences that make nothing known of what was read, and that publish nothing.
_NO_ACQUIRE, _NO_RELEASE = {"proxy", "release"}, {"proxy", "acquire"}


class RaceCheck(Observer):
    """Finds races in shared memory, and in global memory within and between blocks.

    Parameters
    ----------
    tiles : bool
        Whether the source is one of tiles, whose compiler repeats loads in threads.

    Attributes
    ----------
    found : Collector
    """

    compiles = True

    def __init__(self, tiles: bool = False):
        self._tiles = tiles
        self.forget()

    def forget(self) -> None:
        """Reset: the launch starts again."""
        self.found = Collector()
        self.now = 1
        self.accesses: list = []
        self._numbers: dict = {}
        self._orders: dict = {}
        self._shadows: dict = {}
        self._published: dict = {}
        self._turns: dict = {}
        self._coming: dict = {}
        self._came: dict = {}
        self._strong_stores: set = set()
        self._narrow = False
        self._repeated = RepeatedLoads() if self._tiles else None
        self._copies = UnderWay()

    # -- what orders accesses ---------------------------------------------------------

    def starts(self, block) -> None:
        self.now += 1
        self._orders[block] = BlockOrder(block, self.now)
        self._copies.forget(block.shared.regions)

    def synchronises(self, warp, instruction, named, lanes) -> None:
        if not traits.orders_lanes(instruction):
            return
        self.now += 1
        self._orders[warp.block].synchronise_lanes(warp, lanes, self.now)

    def opens(self, block, arrivals) -> None:
        self.now += 1
        order = self._orders[block]
        waiting = sum(split.count for _, split, _ in arrivals.splits)
        live = sum(np.count_nonzero(warp.live) for warp in block.warps)
        if waiting == live or waiting != arrivals.threads:
            order.synchronise_all(self.now)
            return
        threads = [
            LANES * warp.index + np.flatnonzero(split.mask)
            for warp, split, _ in arrivals.splits
        ]
        order.synchronise_some(np.concatenate(threads), self.now)

    def arrives_in_cluster(self, warp, releases: bool) -> None:
        if releases:
            self.now += 1
            known = self._orders[warp.block].released(warp, warp.mask, self.now)
            coming = self._coming.setdefault(warp.block.cluster, {})
            coming["known"] = joined(coming.get("known"), known)

    def opens_cluster(self, cluster) -> None:
        self._came[cluster] = self._coming.pop(cluster, {}).get("known")

    def leaves_cluster_barrier(self, warp, lanes) -> None:
        known = self._came[warp.block.cluster]
        if known is not None:
            threads = LANES * warp.index + np.flatnonzero(lanes)
            self._orders[warp.block].learn_together(threads.tolist(), known)

    def fences(self, warp, instruction) -> None:
        self.now += 1
        threads = LANES * warp.index + np.flatnonzero(warp.mask)
        order, words = self._orders[warp.block], set(instruction.modifiers)
        reaches = ("block",) if "cta" in words else ("block", "device")
        for reach in () if words & _NO_ACQUIRE else reaches:
            order.acquire(threads.tolist(), reach)
        for reach in () if words & _NO_RELEASE else reaches:
            order.fence(threads, reach, self.now)
        if proxies.is_fence(instruction):
            order.proxied[threads] = self.now

    def _synchronise(self, touch: Touch) -> None:
        """Let strong accesses acquire what others published, and publish."""
        access, order, (region, _, offsets) = touch.access, touch.order, touch.part
        fenced = order.fenced or access.releases
        if not fenced and not self._published:
            return
        threads = (touch.threads[:: touch.each] - order.first).tolist()
        for thread, offset in zip(threads, offsets.tolist(), strict=True):
            keys = {"device": (region, offset, None),
                    "block": (region, offset, order.number)}  # fmt: skip
            if access.verb != "writes":
                self._read(order, thread, keys, access)
                self._turns[region, offset, order.first + thread] = self.now
            if access.writes and fenced:
                self._publish(order, thread, keys, access)

    def _read(self, order, thread, keys, access) -> None:
        for reach, key in keys.items():
            known = self._published.get(key)
            if known is None:
                continue
            if access.acquires and (reach == "block" or not access.in_block):
                order.learn(thread, known)
            else:
                order.see(thread, reach, known)

    def _publish(self, order, thread, keys, access) -> None:
        for reach, key in keys.items():
            whole = access.releases and (reach == "block" or not access.in_block)
            known = order.publishes(thread, reach, self.now if whole else None)
            if known is not None:
                self._published[key] = joined(self._published.get(key), known)

    # -- accesses ---------------------------------------------------------------------

    def touches(self, access, warp, part) -> None:
        if part[0].space in _SPACES:
            touch = self._touch(access, warp, part)
            if access.copies:
                self._copies.land(touch)
            self._watch(touch)

    def begins(self, access, warp, part) -> None:
        if part[0].space in _SPACES:
            touch = self._touch(access, warp, part)
            self._watch(touch)
            self._copies.begin(touch, self._number(access))
            if access.stores_in_bulk and not access.writes:
                self._look_for_fences(touch)

    def _look_for_fences(self, touch: Touch) -> None:
        """Report bytes of a bulk store that were written without a proxy fence."""
        writes, region = self._shadow(touch.part[0]).writes, touch.part[0]
        found = proxies.unfenced(touch, writes, self.accesses)
        for severity, at, pair in found if writes.used else ():
            sides = frozenset(map(clashes.line, (touch.access, pair.earlier)))
            key = "proxy", region.name, sides
            self.found.add(
                severity, key, len(at), lambda pair=pair: proxies.missing_fence(pair)
            )

    def _touch(self, access, warp, part) -> Touch:
        region, lanes, offsets = part
        self.now += 1
        order = self._orders[warp.block]
        threads, bits = order.threads[warp.index][lanes], BIT[lanes]
        places = offsets.astype(np.int64) >> self.shift
        each = access.width >> self.shift
        if each > 1:
            places = (places[:, None] + np.arange(each)).ravel()
            threads, bits = np.repeat(threads, each), np.repeat(bits, each)
        return Touch(access, warp, part, places, threads, bits, each, order)

    def _watch(self, touch: Touch) -> None:
        """Compare an access with all earlier ones, and record it."""
        access, order, region = touch.access, touch.order, touch.part[0]
        if self._repeated is not None:
            self._repeated.note(touch, self._number(access), self.now)
        if access.strong:
            self._synchronise(touch)
        for at, others, number in self._copies.members(touch):
            self._report_copy(touch, self.accesses[number], at, others)
        shadow = self._shadow(region)
        floor = order.floor if region.space == "shared" else 0
        if access.writes:
            shadow.sort(floor)
        self._meet(touch, shadow, floor)
        self._note(touch, shadow, floor)

    def _note(self, touch: Touch, shadow: Shadow, floor: int) -> None:
        """Record an access in the shadow, for later accesses."""
        access, order, number = touch.access, touch.order, self._number(touch.access)
        places, threads, bits = touch.places, touch.threads, touch.bits
        synchronised = max(order.warp[touch.warp.index], order.barrier)
        marks = Marks(self.now, number, synchronised, floor, order.size)
        if access.writes and not access.atomic:
            shadow.writes.note(places, threads, marks)
            if access.strong:
                self._strong_stores.add(number)
            self._meet_each_other(touch, shadow)
        elif access.atomic or order.is_fine:
            crowd = shadow.updates if access.atomic else shadow.reads
            if order.is_fine:
                shadow.sort(floor)
                crowd.forget_known(places, threads, order)
            crowd.note(places, threads, bits, marks)
        else:
            first = order.first + LANES * touch.warp.index
            key = first, synchronised, floor, order.size
            shadow.log(key, places, threads, bits, self.now, number)

    def _shadow(self, region) -> Shadow:
        found = self._shadows.get(region)
        if found is None:
            places = -(-region.nbytes // self.unit)
            found = self._shadows[region] = Shadow(places)
        return found

    def _number(self, access) -> int:
        number = self._numbers.get(access)
        if number is None:
            number = self._numbers[access] = len(self.accesses)
            self.accesses.append(access)
        return number

    def _meet(self, touch: Touch, shadow: Shadow, floor: int) -> None:
        """Find earlier accesses that conflict and are not ordered before this one."""
        places, threads, access = touch.places, touch.threads, touch.access
        if shadow.writes.used:
            stamps = shadow.writes.stamps[places]
            at = np.flatnonzero(stamps > floor)
            if len(at):
                where = places[at]
                writers, numbers = shadow.writes.threads, shadow.writes.numbers
                found = at, writers[where], stamps[at], numbers[where]
                if self._turns and self._strong_stores and not access.strong:
                    found = self._out_of_turn(touch, found)
                self._suspect(touch, *found)
        self._narrow |= access.atomic and access.in_block
        crowds = [shadow.reads] if access.writes else []
        if not access.atomic or self._narrow:
            crowds.append(shadow.updates)
        for crowd in crowds:
            if crowd.used:
                for found in crowd.members(places, threads, floor):
                    if self._turns and crowd is shadow.updates and not access.atomic:
                        found = self._out_of_turn(touch, found)
                    self._suspect(touch, *found)

    def _out_of_turn(self, touch: Touch, found: tuple) -> tuple:
        """Leave out atomics and strong stores whose value the thread has read.

        A strong read comes behind the write of its value ("observation order"), with a
        fence or without, and so does what its thread does next; but not behind what
        else the writer did.
        """
        region, _, offsets = touch.part
        late = []
        positions, _, stamps, numbers = found
        for k, position in enumerate(positions.tolist()):
            offset = int(offsets[position // touch.each])
            key = region, offset, int(touch.threads[position])
            strong = self.accesses[numbers[k]].strong
            if not strong or self._turns.get(key, 0) < stamps[k]:
                late.append(k)
        return tuple(values[late] for values in found)

    def _meet_each_other(self, touch: Touch, shadow: Shadow) -> None:
        """Find lanes of one store that write to the same place."""
        last = shadow.writes.threads[touch.places]
        at = np.flatnonzero(last != touch.threads)
        if len(at):
            number = self._number(touch.access)
            stamps = np.full(len(at), self.now, np.int64)
            self._suspect(touch, at, last[at], stamps, np.full(len(at), number))

    # -- suspects ---------------------------------------------------------------------

    def _suspect(self, touch: Touch, at, others, stamps, numbers) -> None:
        """Report unordered pairs of `touch` at `at` and other accesses."""
        if not len(at):
            return
        others = others.astype(np.int64)
        threads = touch.threads[at]
        bad = ~touch.order.knows(threads, others, stamps)
        if not bad.any():
            return
        if self._repeated is not None:
            earlier = others, stamps, numbers
            bad &= ~self._repeated.excuses(touch, at, earlier, self.accesses)
        for number in np.unique(numbers[bad]).tolist():
            earlier = self.accesses[number]
            chosen = np.flatnonzero(bad & (numbers == number))
            mates = threads[chosen] // LANES == others[chosen] // LANES
            inside = others[chosen] // touch.order.size == touch.order.number
            near = TOGETHER if stamps[0] == self.now else NEAR
            for some, how in (
                (chosen[mates], near),
                (chosen[inside & ~mates], APART),
                (chosen[~inside], FOREIGN),
            ):
                if len(some) and not clashes.allowed(touch, earlier, how):
                    pairs = at[some], others[some], stamps[some]
                    self._report(touch, earlier, how, pairs)

    def _report(self, touch: Touch, earlier, how: str, pairs: tuple) -> None:
        """Report pairs (positions in `touch`, other threads, stamps) of one kind.

        Plain ones whose thread was told, and lacks only a fence, are a warning.
        """
        kind, kept = clashes.judge(touch, earlier, how, pairs)
        at, others, stamps = (values[kept] for values in pairs)
        seen = np.zeros(len(at), bool)
        if kind != NOTE and touch.order.seen and not touch.access.strong:
            told = zip(touch.threads[at], others, stamps, strict=True)
            seen[:] = [touch.order.has_seen(*map(int, pair)) for pair in told]
        if seen.all() and kind != NOTE:
            kind = WARNING
        else:
            at, others, seen = at[~seen], others[~seen], seen[~seen]
        first = int(at[0]) // touch.each, int(others[0])
        self._add(kind, len(at), Pair(touch, earlier, *first, how, bool(seen.any())))

    def _report_copy(self, touch: Touch, earlier, at, others) -> None:
        """Report an access to bytes that unfinished copies are to move."""
        pair = Pair(touch, earlier, int(at[0]) // touch.each, int(others[0]))
        self._add(ERROR, len(at), pair, COPY)

    def _add(self, severity: str, count: int, pair: Pair, kind: str = "") -> None:
        lines = frozenset(map(clashes.line, (pair.touch.access, pair.earlier)))
        key = pair.touch.part[0].name, lines
        self.found.add(severity, key, count, lambda: race(pair, kind or severity))
