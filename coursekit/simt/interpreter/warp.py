"""One warp: 32 lanes that share code, part at branches and meet again.

A *split* is a group of lanes with one program counter. A warp starts as one
split; a branch whose lanes disagree makes two, and a *meeting* remembers where
they become one again. Splits of a warp take turns, so that a lane which waits
for another lane of its own warp makes progress, as on hardware since Volta.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.analysis.control import EXIT
from coursekit.simt.interpreter.endless import Standstill
from coursekit.simt.memory.memory import local_region

LANES = 32
# Stack that a call takes at least, for what it must come back to.
FRAME_BYTES = 16
_LANE = np.arange(LANES, dtype=np.uint32)


class Meeting:
    """A block in which the lanes that parted at a branch come together."""

    __slots__ = ("arrived", "expected", "frame", "outer", "target")

    def __init__(self, target: int, frame: Frame, expected, outer: Meeting | None):
        self.target, self.frame, self.outer = target, frame, outer
        self.expected = expected.copy()
        self.arrived = np.zeros(LANES, bool)


class Split:
    """Lanes that execute together."""

    __slots__ = ("block", "count", "frame", "mask", "meeting", "waits_for")

    def __init__(self, block: int, mask, frame: Frame, meeting: Meeting | None):
        self.block, self.frame, self.meeting = block, frame, meeting
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
        self.executed = self.fuel = self.idle_turns = 0
        self.polled, self.copies, self.awaited = False, None, None
        self.looked_at, self.standstill = None, None
        first = Split(0, self.present.copy(), self.kernel_frame, None)
        self.ready: list[Split] = [first]
        self.parked: list[Split] = []
        self._show(first)

    def thread(self, lane: int) -> tuple[int, int, int]:
        """Index of a lane's thread in its block, (x, y, z)."""
        return tuple(int(axis[lane]) for axis in self.tid)

    def _show(self, split: Split) -> None:
        """Make a split the one whose lanes and registers steps see."""
        self.split = split
        self.mask, self.count = split.mask, split.count
        self.all = split.count == LANES
        self.slots, self.frame = split.frame.slots, split.frame

    def show_lanes(self, split: Split, mask) -> None:
        """Let steps see the registers of a split, with other lanes active."""
        self._show(Split(split.block, mask, split.frame, None))

    def run(self, fuel: int) -> str:
        """Run until every split has left or waits: "done", "waiting" or "yield"."""
        self.fuel = fuel
        turns = len(self.ready)
        while self.ready or self._join_collectives() or self._let_return():
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
        """Run one split until it parts, parks, meets, leaves or runs out of fuel."""
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
            if split.meeting is not None and self.meets(split):
                return
            self.fuel -= 1
            if not self.fuel & 255:
                launch.check_time(self)
                if self.fuel > 0 and self.comes_back(split):
                    launch.take_turns()
                    self.fuel = 0
                if self.fuel <= 0:
                    self.ready.insert(0, split)
                    return

    def comes_back(self, split: Split) -> bool:
        """Whether the warp, which runs a split, has been where it is.

        What other warps do may still lead it on.
        """
        self.ready.append(split)
        try:
            self.standstill = self.standstill or Standstill()
            return self.standstill.returned(self.block.launch, [self], [self.block])
        finally:
            self.ready.pop()

    # -- parting and meeting ------------------------------------------------

    def meets(self, split: Split) -> bool:
        """Join the meeting if the split stands at it; True if it was absorbed."""
        meeting = split.meeting
        if (
            meeting is None
            or split.block != meeting.target
            or split.frame is not meeting.frame
        ):
            return False
        meeting.arrived |= split.mask
        self.idle_turns = 0
        self._release(meeting)
        return True

    def _release(self, meeting: Meeting) -> None:
        """Let the lanes of a complete meeting go on as one split."""
        if not np.array_equal(meeting.arrived, meeting.expected):
            return
        if not meeting.arrived.any():
            return
        joined = Split(meeting.target, meeting.arrived, meeting.frame, meeting.outer)
        if joined.block == EXIT:
            self.return_from(joined)
        elif not self.meets(joined):
            self.ready.append(joined)

    def _give_way(self) -> None:
        """Let waiting lanes go on when those that they wait for only spin.

        Lanes that left a loop wait where the loop ends. If the others spin for a
        value that the waiting lanes write, waiting would never end; since Volta
        every thread makes progress, so after some turns the lanes part for good.
        """
        if not self.polled:
            return
        self.polled = False
        self.idle_turns += 1
        if self.idle_turns < self.block.launch.patience:
            return
        self.block.launch.lose_patience()
        for split in list(self.ready):
            meeting = split.meeting
            while meeting is not None:
                if meeting.arrived.any():
                    self._send_ahead(meeting)
                    return
                meeting = meeting.outer

    def _let_return(self) -> bool:
        """Let lanes return that parked lanes wait for, if they only wait to return."""
        for split in self.parked:
            meeting = split.meeting
            while meeting is not None and hasattr(split.waits_for, "join"):
                code = meeting.frame.code
                if meeting.arrived.any() and code.returns_at(meeting.target):
                    self._send_ahead(meeting)
                    return True
                meeting = meeting.outer
        return False

    def _send_ahead(self, meeting: Meeting) -> None:
        """Lanes that have arrived at a meeting go on without the others."""
        ahead = meeting.arrived.copy()
        meeting.expected &= ~ahead
        meeting.arrived[:] = False
        self.ready.append(Split(meeting.target, ahead, meeting.frame, meeting.outer))
        self.idle_turns = 0

    def part(self, groups: list[tuple[int, np.ndarray]], meet: int) -> None:
        """Split the current lanes into groups (block, mask) that meet at `meet`."""
        split = self.split
        meeting = split.meeting
        outermost = split.frame.caller is None
        known = (
            meeting is not None
            and meeting.target == meet
            and meeting.frame is split.frame
        )
        if not known and not (meet == EXIT and outermost):
            meeting = Meeting(meet, split.frame, split.mask, meeting)
        for block, mask in groups:
            part = Split(block, mask, split.frame, meeting)
            if block == EXIT:
                self._show(part)
                self.leave()
            elif not self.meets(part):
                self.ready.append(part)

    def leave(self) -> None:
        """The current lanes return, or exit the kernel."""
        split = self.split
        if split.frame.caller is None:
            self.exit(split.mask)
            return
        split.block = EXIT
        if not self.meets(split):
            self.return_from(split)

    def return_from(self, split: Split) -> None:
        """Continue a split in its caller."""
        frame = split.frame
        back = Split(frame.resume, split.mask, frame.caller, split.meeting)
        if not self.meets(back):
            self.ready.append(back)

    def exit(self, mask: np.ndarray) -> None:
        """Lanes end; meetings that waited for nobody else are complete."""
        self.live &= ~mask
        self.idle_turns = 0
        seen: set[int] = set()
        waiting = [s.meeting for s in (*self.ready, *self.parked, self.split)]
        for meeting in waiting:
            while meeting is not None and id(meeting) not in seen:
                seen.add(id(meeting))
                meeting.expected &= ~mask
                inner, meeting = meeting, meeting.outer
                self._release(inner)

    def drop(self, mask) -> None:
        """Some of the current lanes end, the others go on."""
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
                Split(split.block, mask, split.frame, split.meeting) for mask in groups
            ]
        for part in parts:
            part.waits_for = reason
        self.parked += parts

    def resume(self, split: Split) -> None:
        """A parked split goes on with the block after the one it stopped in."""
        self.parked.remove(split)
        split.waits_for = None
        split.block += 1
        if not self.meets(split):
            self.ready.append(split)

    def resume_together(self, splits: list[Split]) -> None:
        """Parked splits go on; those of one place with one meeting become one."""
        alike: dict[tuple, list[Split]] = {}
        for split in splits:
            key = id(split.frame), id(split.meeting), split.block
            alike.setdefault(key, []).append(split)
        for first, *others in alike.values():
            for other in others:
                self.parked.remove(other)
                first.mask = first.mask | other.mask
                first.count += other.count
            self.resume(first)

    def _join_collectives(self) -> bool:
        """Execute a collective whose lanes came in several splits, if complete."""
        awaited = dict.fromkeys(split.waits_for for split in self.parked)
        return any(one.join(self) for one in awaited if hasattr(one, "join"))

    def where(self) -> list[tuple[np.ndarray, object]]:
        """Lanes and last instruction of every split, for reports."""
        return [
            (split.mask, split.frame.code.last_instruction(split.block))
            for split in (*self.ready, *self.parked)
        ]
