"""One warp: 32 lanes that share code, diverge at branches and reconverge.

A *split* is a group of lanes with one program counter. A warp starts as one
split; a branch whose lanes disagree makes two, and a *reconvergence* remembers where
they become one again. Splits of a warp take turns, so that a lane which waits
for another lane of its own warp makes progress, as on hardware since Volta.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.interpreter import interrupts
from coursekit.simt.interpreter.endless import EndlessLoopProof
from coursekit.simt.memory.memory import local_region

LANES = 32
# Basic blocks that a warp runs before others get a turn. Code that polls memory
# waits for other warps and gets short turns; other code runs to its end.
POLLING_FUEL = 128
PLAIN_FUEL = 1 << 22
# Stack that a call takes at least, for what it must come back to.
FRAME_BYTES = 16
_LANE = np.arange(LANES, dtype=np.uint32)


class Reconvergence:
    """A block in which lanes that diverged at a branch become one split again."""

    __slots__ = ("arrived", "expected", "frame", "outer", "target")

    def __init__(
        self, target: int, frame: Frame, expected, outer: Reconvergence | None
    ):
        self.target, self.frame, self.outer = target, frame, outer
        self.expected = expected.copy()
        self.arrived = np.zeros(LANES, bool)


class Split:
    """Lanes that execute together."""

    __slots__ = ("block", "count", "frame", "mask", "reconvergence", "waits_for")

    def __init__(
        self, block: int, mask, frame: Frame, reconvergence: Reconvergence | None
    ):
        self.block, self.frame, self.reconvergence = block, frame, reconvergence
        self.mask, self.count = mask, int(np.count_nonzero(mask))
        self.waits_for = None


class Frame:
    """Registers and parameters of one call of a function.

    `slots` holds one array of 32 values for each way an operand is read or
    written: register views, constants, special registers, symbol addresses.
    """

    __slots__ = ("caller", "code", "local_base", "params", "resume", "slots", "values")

    def __init__(self, code, warp: Warp, caller: Frame | None = None, resume=EXIT):
        self.code, self.caller, self.resume = code, caller, resume
        self.values = np.zeros((max(len(code.function.registers), 1), 256), np.uint8)
        self.params: dict[str, np.ndarray] = {}
        self.local_base = 0
        if caller is not None:
            used = max(caller.code.local_bytes, FRAME_BYTES)
            self.local_base = -(-(caller.local_base + used) // 16) * 16
        self.slots = code.layout.bind(self.values, warp, self.local_base)


class Warp:
    """The state of one warp of a block."""

    def __init__(self, block, index: int):
        self.block, self.index = block, index
        launch = block.launch
        linear = index * LANES + np.arange(LANES)
        asked = launch.configuration
        wide, high, _ = asked.block_shape
        self.tid = (
            (linear % wide).astype(np.uint32),
            (linear // wide % high).astype(np.uint32),
            (linear // (wide * high)).astype(np.uint32),
        )
        self.lane = _LANE
        self.present = linear < launch.threads
        self.local = local_region(launch.local_bytes)
        self.local_stride = np.uint64(self.local.nbytes // LANES)
        self.counting, self.observer = asked.counting, asked.observer
        self.kernel_frame = Frame(launch.code, self)

    def start(self) -> None:
        """Begin the kernel from its first instruction."""
        self.live = self.present.copy()
        self.kernel_frame.values.fill(0)
        self.executed = self.charged = self.fuel = self.idle_turns = 0
        self.polled, self.awaited = False, None
        self.copies, self.stores = None, None  # cp.async; cp.async.bulk to global
        self.looked_at, self.endless_loop = None, None
        first = Split(0, self.present.copy(), self.kernel_frame, None)
        self.ready: list[Split] = [first]
        self.parked: list[Split] = []
        self._show(first)

    def thread(self, lane: int) -> tuple[int, int, int]:
        """Return the index (x, y, z) of a lane's thread in its block."""
        return tuple(int(axis[lane]) for axis in self.tid)

    def _show(self, split: Split) -> None:
        """Make a split current: steps then see its lanes and registers."""
        self.split = split
        self.mask, self.count = split.mask, split.count
        self.all = split.count == LANES
        self.slots, self.frame = split.frame.slots, split.frame

    def show_lanes(self, split: Split, mask) -> None:
        """Make a split's registers current, with other lanes active."""
        self._show(Split(split.block, mask, split.frame, None))

    def run(self, fuel: int) -> str:
        """Run until every split has exited or waits: "done", "waiting" or "yield"."""
        self.fuel = fuel
        turns = len(self.ready)
        while (
            self.ready
            or self._join_collectives()
            or self._let_return()
            or self._pass_by()
        ):
            split = self.ready.pop()
            self._show(split)
            self._advance(split)
            if self.fuel <= 0:
                turns -= 1
                if turns <= 0:
                    self._give_way()
                    return "yield"
                self.fuel = fuel
        return "waiting" if self.parked else "done"

    def _advance(self, split: Split) -> None:
        """Run one split until it diverges, reconverges, parks, exits or must yield."""
        launch = self.block.launch
        while True:
            code = split.frame.code.blocks[split.block]
            code.executions += 1
            code.lanes += split.count
            self.executed += code.length
            for step in code.steps:
                step(self)
            following = code.finish(self)
            if following is None:
                return
            split.block = following
            if split.reconvergence is not None and self.reconverges(split):
                return
            self.fuel -= 1
            if not self.fuel & 7:
                interrupts.poll()
            if not self.fuel & 255:
                launch.check_time(self)
                if self.fuel > 0 and self.comes_back(split):
                    launch.take_turns()
                    self.fuel = 0
                if self.fuel <= 0:
                    self.ready.insert(0, split)
                    return

    def comes_back(self, split: Split) -> bool:
        """Whether the state of the warp, which runs a split, repeats.

        Other warps may still change what it waits for.
        """
        self.ready.append(split)
        try:
            self.endless_loop = self.endless_loop or EndlessLoopProof()
            return self.endless_loop.returned(self.block.launch, [self], [self.block])
        finally:
            self.ready.pop()

    # -- divergence and reconvergence ------------------------------------------------

    def reconverges(self, split: Split) -> bool:
        """Let a split wait at its reconvergence point; return whether it is there."""
        reconvergence = split.reconvergence
        if (
            reconvergence is None
            or split.block != reconvergence.target
            or split.frame is not reconvergence.frame
        ):
            return False
        reconvergence.arrived |= split.mask
        self.idle_turns = 0
        self._release(reconvergence)
        return True

    def _release(self, reconvergence: Reconvergence) -> None:
        """Merge lanes into one split once all of them have arrived."""
        if not np.array_equal(reconvergence.arrived, reconvergence.expected):
            return
        if not reconvergence.arrived.any():
            return
        joined = Split(
            reconvergence.target,
            reconvergence.arrived,
            reconvergence.frame,
            reconvergence.outer,
        )
        if joined.block == EXIT:
            self.return_from(joined)
        elif not self.reconverges(joined):
            self.ready.append(joined)

    def _give_way(self) -> None:
        """Let waiting lanes continue when the lanes that they wait for only spin.

        Lanes that left a loop wait where the loop ends. If the others spin for a
        value that the waiting lanes write, waiting would never end; since Volta
        every thread makes progress, so after some turns the lanes stay diverged.
        """
        if not self.polled:
            return
        self.polled = False
        self.idle_turns += 1
        if self.idle_turns < self.block.launch.patience:
            return
        self.block.launch.lose_patience()
        for split in list(self.ready):
            reconvergence = split.reconvergence
            while reconvergence is not None:
                if reconvergence.arrived.any():
                    self._send_ahead(reconvergence)
                    return
                reconvergence = reconvergence.outer

    def _let_return(self) -> bool:
        """Send lanes on that only wait to return, if parked lanes wait for them."""
        for split in self.parked:
            reconvergence = split.reconvergence
            while reconvergence is not None and hasattr(split.waits_for, "join"):
                code = reconvergence.frame.code
                if reconvergence.arrived.any() and code.returns_at(
                    reconvergence.target
                ):
                    self._send_ahead(reconvergence)
                    return True
                reconvergence = reconvergence.outer
        return False

    def _pass_by(self) -> bool:
        """Send lanes on that wait to reconverge with lanes at a barrier.

        The barrier opens when they come to it, or have exited.
        """
        for split in self.parked:
            passable = getattr(split.waits_for, "excuses_exited", False)
            reconvergence = split.reconvergence if passable else None
            while reconvergence is not None:
                if reconvergence.arrived.any():
                    code, target = reconvergence.frame.code, reconvergence.target
                    if self.observer is not None and not code.returns_at(target):
                        self.observer.passes_by(self, split, reconvergence.arrived)
                    self._send_ahead(reconvergence)
                    return True
                reconvergence = reconvergence.outer
        return False

    def _send_ahead(self, reconvergence: Reconvergence) -> None:
        """Let lanes at the reconvergence point continue without the others."""
        ahead = reconvergence.arrived.copy()
        reconvergence.expected &= ~ahead
        reconvergence.arrived[:] = False
        self.ready.append(
            Split(reconvergence.target, ahead, reconvergence.frame, reconvergence.outer)
        )
        self.idle_turns = 0

    def diverge(self, groups: list[tuple[int, np.ndarray]], target: int) -> None:
        """Split the current lanes into groups (block, mask); `target` joins them."""
        split = self.split
        reconvergence = split.reconvergence
        outermost = split.frame.caller is None
        expected = (
            reconvergence is not None
            and reconvergence.target == target
            and reconvergence.frame is split.frame
        )
        if not expected and not (target == EXIT and outermost):
            reconvergence = Reconvergence(
                target, split.frame, split.mask, reconvergence
            )
        for block, mask in groups:
            branch = Split(block, mask, split.frame, reconvergence)
            if block == EXIT:
                self._show(branch)
                self.leave()
            elif not self.reconverges(branch):
                self.ready.append(branch)

    def leave(self) -> None:
        """Let the current lanes return from a function, or exit the kernel."""
        split = self.split
        if split.frame.caller is None:
            self.exit(split.mask)
            return
        split.block = EXIT
        if not self.reconverges(split):
            self.return_from(split)

    def return_from(self, split: Split) -> None:
        """Continue a split in its caller."""
        frame = split.frame
        back = Split(frame.resume, split.mask, frame.caller, split.reconvergence)
        if not self.reconverges(back):
            self.ready.append(back)

    def exit(self, mask: np.ndarray) -> None:
        """Let lanes exit; reconvergence no longer waits for them."""
        self.block.alive -= int(np.count_nonzero(self.live & mask))
        self.live &= ~mask
        self.idle_turns = 0
        seen: set[int] = set()
        waiting = [s.reconvergence for s in (*self.ready, *self.parked, self.split)]
        for reconvergence in waiting:
            while reconvergence is not None and id(reconvergence) not in seen:
                seen.add(id(reconvergence))
                reconvergence.expected &= ~mask
                inner, reconvergence = reconvergence, reconvergence.outer
                self._release(inner)

    def drop(self, mask) -> None:
        """Let some of the current lanes exit; the others continue."""
        split = self.split
        split.mask = split.mask & ~mask
        split.count = int(np.count_nonzero(split.mask))
        self._show(split)
        self.exit(mask)

    # -- waiting ----------------------------------------------------------------

    def park(self, reason, groups=None) -> None:
        """Set the current lanes aside, group by group, until `reason` is fulfilled."""
        split = self.split
        if groups is None or len(groups) == 1:
            parts = [split]
        else:
            parts = [
                Split(split.block, mask, split.frame, split.reconvergence)
                for mask in groups
            ]
        for part in parts:
            part.waits_for = reason
        self.parked += parts

    def resume(self, split: Split) -> None:
        """Let a parked split continue with the block after the one it stopped in."""
        self.parked.remove(split)
        split.waits_for = None
        split.block += 1
        if not self.reconverges(split):
            self.ready.append(split)

    def resume_together(self, splits: list[Split]) -> None:
        """Let parked splits continue; equal ones become one split."""
        alike: dict[tuple, list[Split]] = {}
        for split in splits:
            key = id(split.frame), id(split.reconvergence), split.block
            alike.setdefault(key, []).append(split)
        for first, *others in alike.values():
            for other in others:
                self.parked.remove(other)
                first.mask = first.mask | other.mask
                first.count += other.count
            self.resume(first)

    def _join_collectives(self) -> bool:
        """Execute a complete collective whose lanes came in several splits."""
        awaited = dict.fromkeys(split.waits_for for split in self.parked)
        return any(one.join(self) for one in awaited if hasattr(one, "join"))

    def where(self) -> list[tuple[np.ndarray, object]]:
        """Return the lanes and the last instruction of every split, for reports."""
        return [
            (split.mask, split.frame.code.last_instruction(split.block))
            for split in (*self.ready, *self.parked)
        ]
