"""Synchronisation of a warp's lanes at a collective, whatever their paths.

Lanes that name the same member mask form a *group*; one instruction may serve
several at once, as the tiles of a warp do. A group takes effect as soon as all its
live lanes stand at the instruction, even in different calls of one function.
"""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import Immediate

LANES = 32
_BIT = (np.uint32(1) << np.arange(LANES, dtype=np.uint32)).astype(np.uint32)


class Collective:
    """A warp-wide instruction, executed when all its members have arrived.

    `maker(decoder, instruction, operands)` returns what the current lanes do
    together, and the slots that it writes.
    """

    def __init__(self, decoder, instruction, number, maker):
        self.instruction, self.next = instruction, number + 1
        operands = list(instruction.operands)
        member = operands.pop() if "sync" in instruction.modifiers else None
        self.uniform = isinstance(member, Immediate)
        self.member = None if member is None else decoder.layout.operand(member, "b32")
        self.apply, self.written = maker(decoder, instruction, operands)
        # A __syncwarp() pairs with any other of the same mask: it moves no values.
        self.pairs_with = self if self.written else "bar.warp"
        self.excuses_exited = not self.written

    def finish(self, warp):
        """Execute if all members are here; otherwise park the lanes."""
        if self.member is None:
            self.apply(warp)
            return self.next
        self._check_own_mask(warp)
        groups = self._groups(warp)
        if any((self._members(v) & warp.live & ~lanes).any() for v, lanes in groups):
            warp.park(self, [lanes for _, lanes in groups])
            self.join(warp)
            return None
        whole = warp.mask
        for value, lanes in groups:
            warp.mask = lanes
            self.apply(warp)
            if warp.observer is not None:
                warp.observer.synchronises(warp, self.instruction, value, lanes)
        warp.mask = whole
        return self.next

    def join(self, warp) -> bool:
        """Execute for a complete group whose lanes arrived in several splits."""
        groups: dict[int, list] = {}
        for split in warp.parked:
            other = split.waits_for
            if getattr(other, "pairs_with", None) == self.pairs_with:
                groups.setdefault(other.mask_of(split), []).append(split)
        for value, splits in groups.items():
            lanes = np.logical_or.reduce([split.mask for split in splits])
            if not (self._members(value) & warp.live & ~lanes).any():
                self._exchange(warp, splits, lanes)
                if warp.observer is not None:
                    warp.observer.synchronises(warp, self.instruction, value, lanes)
                warp.resume_together(splits)
                return True
        return False

    def _groups(self, warp) -> list[tuple[int, np.ndarray]]:
        """Return the member masks that the current lanes name, with their lanes."""
        masks = warp.slots[self.member]
        if self.uniform:
            return [(int(masks[0]), warp.mask)]
        values = np.unique(masks[warp.mask]).tolist()
        if len(values) == 1:
            return [(values[0], warp.mask)]
        return [(value, warp.mask & (masks == value)) for value in values]

    def _exchange(self, warp, splits, lanes) -> None:
        """Execute for lanes whose registers may lie in different frames."""
        if not self.written:
            return
        warp.show_lanes(splits[0], lanes)
        frames = [split.frame for split in splits]
        if all(frame is frames[0] for frame in frames):
            self.apply(warp)
            return
        warp.slots = [slot.copy() for slot in frames[0].slots]
        for split in splits[1:]:
            for slot, own in zip(warp.slots, split.frame.slots, strict=True):
                np.copyto(slot, own, where=split.mask)
        self.apply(warp)
        for split in splits:
            for slot in self.written:
                if slot is not None:
                    own = split.frame.slots[slot]
                    np.copyto(own, warp.slots[slot], where=split.mask)

    def mask_of(self, split) -> int:
        """Return the member mask of a parked split's lanes."""
        return int(split.frame.slots[self.member][split.mask][0])

    @staticmethod
    def _members(value: int) -> np.ndarray:
        return (np.uint32(value) & _BIT) != 0

    def _check_own_mask(self, warp) -> None:
        masks = warp.slots[self.member]
        outside = warp.mask & ((masks & _BIT) == 0)
        if outside.any():
            lane = int(np.argmax(outside))
            raise faults.kernel_error(
                errors.BarrierError, warp, lane, self.instruction,
                f"{{thread}} calls a warp function whose mask {masks[lane]:#010x} "
                f"does not contain its own lane {lane}.",
                "The mask names the lanes that take part; the caller must be one.",
                "Use 0xffffffff in code that the whole warp runs, or take the mask "
                "from __ballot_sync before the branch.",
            )  # fmt: skip

    def stuck(self, warp, split):
        """Return the error for lanes that wait for members that cannot come."""
        missing = self._members(self.mask_of(split)) & warp.live & ~split.mask
        lane = int(np.argmax(missing))
        waiting = int(np.argmax(split.mask))
        name = self.instruction.name
        return faults.kernel_error(
            errors.BarrierError, warp, waiting, self.instruction,
            f"{{thread}} waits in `{name}` for thread {warp.thread(lane)} of its "
            f"warp, which never gets there.",
            "The mask of a warp function names lanes that took another branch.",
            "Call it where all lanes of the mask come together, or name only the "
            "lanes that take part.",
        )  # fmt: skip
