"""Asynchronous copies: `cp.async` from global to shared memory, group by group.

A copy is checked and counted where it stands, but its bytes move only when its own
thread waits for them. A kernel that forgets to wait reads what shared memory held
before, every time; on a GPU it may be lucky. A thread that ends without waiting
leaves its copies undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.errors import OutOfBoundsError
from coursekit.simt.analysis.instructions import copied_bytes
from coursekit.simt.interpreter import bulk_copies, bulk_stores
from coursekit.simt.interpreter.access import READS, WRITES
from coursekit.simt.interpreter.transfers import address_slot, reached
from coursekit.simt.memory import counters, faults
from coursekit.simt.ptx.ir import Not, Register

LANES = 32


@dataclass(eq=False, slots=True)
class Copy:
    """One `cp.async` of some lanes of a warp.

    Attributes
    ----------
    target : Access
        What is to be written; its width is the size of the copy.
    origins, places : list of (region, lanes, offsets)
        Source and destination; of lanes and offsets there are 32. The region is None
        for lanes that read nothing.
    wanted : ndarray
        Bytes that each lane reads; zeros make up the rest.
    waiting : ndarray of bool
        Lanes whose bytes have not moved.
    groups : ndarray
        Number of the group of each lane that the copy belongs to.
    """

    target: object
    origins: list
    places: list
    wanted: np.ndarray
    waiting: np.ndarray
    groups: np.ndarray

    def move(self, warp, lanes) -> None:
        """Move the bytes of some lanes."""
        reach = np.arange(self.target.width)
        for source, some, starts in self.origins:
            for region, others, ends in self.places:
                chosen = lanes & some & others
                if not chosen.any():
                    continue
                if warp.observer is not None:
                    part = region, np.flatnonzero(chosen), ends[chosen]
                    warp.observer.touches(self.target, warp, part)
                rows = _rows(source, starts[chosen], self.wanted[chosen], reach)
                region.data[ends[chosen][:, None] + reach] = rows
        self.waiting &= ~lanes


def _rows(region, starts, wanted, reach) -> np.ndarray:
    """Return the bytes that lanes copy: `wanted` bytes each, then zeros."""
    inside = reach < wanted[:, None]
    if region is None:
        return np.zeros(inside.shape, np.uint8)
    at = starts[:, None] + reach
    if inside.all():
        return region.data[at]
    return np.where(inside, region.data[np.where(inside, at, 0)], 0)


class Copies:
    """The unfinished copies of the lanes of one warp.

    Every lane counts its own groups.
    """

    def __init__(self):
        self.committed = np.zeros(LANES, np.int64)
        self._begun: list[Copy] = []

    @property
    def begun(self) -> tuple:
        """Return how many groups each lane closed, and how many copies are unmoved."""
        return (*self.committed.tolist(), len(self._begun))

    def begin(self, copy: Copy) -> None:
        """Put a copy into the open group of each of its lanes."""
        self._begun.append(copy)

    def commit(self, warp) -> None:
        """Close the open group of the current lanes, even an empty one."""
        self.committed += warp.mask

    def wait(self, warp, pending: int) -> None:
        """Finish all groups of the current lanes except the last `pending` ones."""
        done = self.committed - pending
        for copy in self._begun:
            lanes = warp.mask & copy.waiting & (copy.groups < done)
            if lanes.any():
                copy.move(warp, lanes)
        self._begun = [copy for copy in self._begun if copy.waiting.any()]


def _copies(warp) -> Copies:
    if warp.copies is None:
        warp.copies = Copies()
    return warp.copies


def make(decoder, instruction):
    """Make the steps of `cp.async` without mbarrier, and of its commits and waits."""
    words = instruction.modifiers
    if words == ("async", "commit_group"):
        return lambda warp: _copies(warp).commit(warp)
    if words == ("async", "wait_all"):
        return _wait_all
    if words == ("async", "wait_group"):
        pending = int(instruction.operands[0].value)
        return lambda warp: _copies(warp).wait(warp, pending)
    if bulk_copies.is_load(instruction):
        return bulk_copies.make(decoder, instruction)
    if bulk_stores.is_store(instruction):
        return bulk_stores.make(decoder, instruction)
    if copied_bytes(instruction) is None:
        raise faults.unsupported(decoder.program, instruction)
    return _copy(decoder, instruction)


def _wait_all(warp) -> None:
    copies = _copies(warp)
    copies.commit(warp)
    copies.wait(warp, 0)


def bypasses_l1(instruction) -> bool:
    """Tell whether a copy goes from L2 to shared memory without L1."""
    return "cg" in instruction.modifiers


def _copy(decoder, instruction):
    to, origin = instruction.operands[:2]
    size = copied_bytes(instruction)
    source = decoder.access(instruction, "global", size, READS)
    target = decoder.access(instruction, "shared", size, WRITES)
    reads = address_slot(decoder, origin, "global")
    writes = address_slot(decoder, to, "shared")
    wanted_by = _wanted(decoder, instruction, size)

    def step(warp):
        wanted = wanted_by(warp)
        reading, writing = reached(warp, *reads), reached(warp, *writes)
        whole = warp.mask & (wanted == size)
        origins = _find(source, warp, reading, whole)
        if not np.array_equal(whole, warp.mask):
            origins += _find_some(source, warp, reading, wanted)
        places = _find(target, warp, writing, warp.mask)
        if warp.counting:
            _count(warp, (source, target), (reading, writing), wanted)
        copies = _copies(warp)
        groups = copies.committed.copy()
        mask = warp.mask.copy()
        copies.begin(Copy(target, origins, places, wanted, mask, groups))

    return step


def _wanted(decoder, instruction, size: int):
    """Return a function of a warp: the bytes that each active lane reads, else 0."""
    given = list(instruction.operands[3:])
    if "L2::cache_hint" in instruction.modifiers:
        given.pop()
    if not given:
        return lambda warp: np.where(warp.mask, size, 0)
    (operand,) = given
    negated = isinstance(operand, Not)
    operand = operand.register if negated else operand
    if isinstance(operand, Register) and operand.type == "pred":
        slot = decoder.layout.register(operand, "pred")
        return lambda warp: np.where(warp.mask & (warp.slots[slot] == negated), size, 0)
    slot = decoder.layout.operand(operand, "u32")

    def wanted(warp):
        amounts = np.where(warp.mask, warp.slots[slot], 0).astype(np.int64)
        if (amounts > size).any():
            raise _too_many(warp, instruction, amounts, size)
        return amounts

    return wanted


def _find(access, warp, addresses, lanes) -> list:
    """Check and find the bytes of some lanes; see `Copy`."""
    if not lanes.any():
        return []
    kept = warp.mask, warp.all, warp.counting
    warp.mask, warp.all, warp.counting = lanes, bool(lanes.all()), False
    observer, found = warp.observer, []
    if observer is None:
        parts = access.parts(warp, addresses)
    else:
        parts = observer.locate(access, warp, addresses)
    for part in parts:
        region, chosen, offsets = part
        if observer is not None:
            observer.begins(access, warp, part)
        mask, at = np.zeros(LANES, bool), np.zeros(LANES, np.int64)
        mask[chosen], at[chosen] = True, offsets
        found.append((region, mask, at))
    warp.mask, warp.all, warp.counting = kept
    return found


def _find_some(access, warp, addresses, wanted) -> list:
    """Find the bytes of lanes that read less than the size of their copy.

    The address of a lane that reads nothing does not matter.
    """
    found = [(None, warp.mask & (wanted == 0), np.zeros(LANES, np.int64))]
    some = warp.mask & (wanted > 0) & (wanted < access.width)
    for lane in np.flatnonzero(some).tolist():
        address, count = int(addresses[lane]), int(wanted[lane])
        region = warp.block.launch.memory.find(address)
        offset = 0 if region is None else address - region.address
        inside = region is not None and 0 <= offset <= region.nbytes - count
        if not inside or offset % access.width:
            width = access.width if inside else count
            fault = faults.Fault(lane, address, width, region)
            instruction, verb = access.instruction, access.verb
            raise faults.access_error(warp, lane, instruction, fault, verb)
        found.append((region, warp.lane == lane, np.full(LANES, offset)))
    return found


def _too_many(warp, instruction, amounts, size: int):
    lane = int(np.argmax(amounts > size))
    return faults.kernel_error(
        OutOfBoundsError, warp, lane, instruction,
        f"{{thread}} copies {int(amounts[lane])} bytes to a place of {size}.",
        "The bytes to read are not those that the copy leaves zero; below 0 they are "
        "a huge number.",
        f"Read 0 to {size} bytes of {size}; zeros make up the rest.",
    )  # fmt: skip


def _count(warp, accesses, addresses, wanted) -> None:
    """Count a copy as one load of global memory and one store of shared memory.

    By these rules Nsight Compute counted on an H200; see `counters`. A copy of which
    all lanes write zeros is no request. It has no wavefronts for copies around L1,
    which are counted like the others.

    Parameters
    ----------
    accesses : (Access, Access)
        Source and destination.
    addresses : (ndarray, ndarray)
        Addresses of 32 lanes in global and in shared memory.
    wanted : ndarray
        Bytes that each lane reads.
    """
    source, target = accesses
    reading, writing = (each.astype(np.int64) for each in addresses)
    reads = wanted > 0
    if bypasses_l1(source.instruction):
        number = counters.bypassing_sectors(reading[reads], writing[reads])
    else:
        number = counters.sectors(reading[reads])
    if reads.any():
        source.add_counts(1, number, 0)
    used, conflicts = counters.copy_wavefronts(
        reading, writing, target.width, (reads, warp.mask)
    )
    target.add_counts(1, used, conflicts)


MAKERS = {"cp": make}
