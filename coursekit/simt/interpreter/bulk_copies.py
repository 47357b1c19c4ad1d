"""Bulk copies (TMA) to shared memory: rows of bytes, and boxes of a tensor map.

A copy moves its bytes when a thread waits at its mbarrier (see `mbarriers`); a kernel
that does not wait reads what shared memory held before. Bulk copies bypass the load and
store units, and count as none of their requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from coursekit.simt.interpreter import bulk_places
from coursekit.simt.interpreter.access import READS, UPDATES, WRITES
from coursekit.simt.interpreter.mbarriers import WIDTH, Spot
from coursekit.simt.interpreter.transfers import address_slot, reached
from coursekit.simt.memory import faults
from coursekit.simt.memory.tensor_maps import TensorMap
from coursekit.simt.ptx.ir import Address

_TO_SHARED = {"shared::cluster", "shared::cta"}
_REPORTS = "mbarrier::complete_tx::bytes"


@dataclass(eq=False)
class Flight:
    """An unfinished bulk copy of one thread.

    Attributes
    ----------
    maker : _Copy
        The instruction.
    warp, lane
        Whose copy it is.
    source : (Region, ndarray, int), or None
        Where in global memory its rows begin, and bytes of a row.
    region, start
        Where in shared memory it lands.
    content : TensorMap or int
        What it brings: a box, or so many bytes.
    places : ndarray
        Where in the box the rows begin.
    barrier : (Region, int)
    """

    maker: object
    warp: object
    lane: int
    source: tuple | None
    region: object
    start: int
    content: object
    barrier: tuple
    places: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))

    @property
    def nbytes(self) -> int:
        """The number of bytes that the copy writes."""
        boxed = isinstance(self.content, TensorMap)
        return self.content.box_bytes if boxed else self.content

    def land(self, spot: Spot) -> None:
        """Move the bytes, and report them to the mbarrier at `spot`."""
        data = np.zeros(-(-self.nbytes // 16) * 16, np.uint8)
        if self.source is not None:
            region, rows, length = self.source
            reach = np.arange(length)
            data[self.places[:, None] + reach] = region.data[rows[:, None] + reach]
        self.tell("touches", self.maker.target, self.region, [self.start], self.nbytes)
        if isinstance(self.content, TensorMap):
            order = self.content.order(self.region.address + self.start)
            into = (order - self.region.address)[:, None] + np.arange(16)
            self.region.data[into] = data.reshape(-1, 16)
        else:
            self.region.data[self.start : self.start + self.nbytes] = data[
                : self.nbytes
            ]
        region, offset = self.barrier
        self.tell("touches", self.maker.barrier, region, [offset], WIDTH)
        spot.update(spot.phase(), announced=-self.nbytes)

    def tell(self, how: str, access, region, offsets, width: int) -> None:
        """Report the copy's bytes, in rows of `width`, to the observer."""
        if self.warp.observer is not None and len(offsets):
            access.width = width
            lanes = np.full(len(offsets), self.lane)
            part = region, lanes, np.asarray(offsets, np.int64)
            getattr(self.warp.observer, how)(access, self.warp, part)


def is_load(instruction) -> bool:
    """Whether a `cp` is a bulk copy to shared memory that completes on an mbarrier."""
    words = instruction.modifiers
    return words[:2] == ("async", "bulk") and _REPORTS in words


def make(decoder, instruction):
    """Make the step of `cp.async.bulk` or `cp.async.bulk.tensor` to shared memory."""
    words = set(instruction.modifiers)
    known = words & _TO_SHARED and "global" in words
    if not known or words & {"im2col", "multicast::cluster", "tile::gather4"}:
        raise faults.unsupported(decoder.program, instruction)
    copy = (
        _Box(decoder, instruction) if "tensor" in words else _Run(decoder, instruction)
    )
    return copy.step


class _Copy:
    """The part that both kinds of bulk copies share: destination, mbarrier, checks."""

    def __init__(self, decoder, instruction, barrier: Address):
        self.instruction = instruction
        self.source = decoder.access(instruction, "global", 1, READS)
        self.target = decoder.access(instruction, "shared", 1, WRITES)
        self.barrier = decoder.access(instruction, "shared", WIDTH, UPDATES)
        self.barrier.strong = self.barrier.in_block = self.barrier.releases = True
        self.barrier.copies = False
        self._place = address_slot(decoder, instruction.operands[0], "shared")
        self._report = address_slot(decoder, barrier, "shared")

    def step(self, warp) -> None:
        """Begin the copies of the active lanes."""
        places, reports = reached(warp, *self._place), reached(warp, *self._report)
        for lane in np.flatnonzero(warp.mask).tolist():
            flight = self.flight(warp, lane, int(places[lane]), int(reports[lane]))
            flight.tell("begins", self.target, flight.region, [flight.start],
                        flight.nbytes)  # fmt: skip
            region, offset = flight.barrier
            flying = warp.block.flying
            flying.setdefault((region.address, offset), []).append(flight)

    def begin(self, warp, lane, place, report, content) -> Flight:
        """Check the destination and the mbarrier of a copy."""
        boxed = isinstance(content, TensorMap)
        nbytes, align = (content.box_bytes, 128) if boxed else (content, 16)
        find = partial(bulk_places.find_shared, self.target, warp, lane)
        region, start = find(place, nbytes, align)
        barrier = find(report, WIDTH, WIDTH)
        return Flight(self, warp, lane, None, region, start, content, barrier)


class _Run(_Copy):
    """`cp.async.bulk`: contiguous bytes."""

    def __init__(self, decoder, instruction):
        _, origin, size, barrier = instruction.operands[:4]
        super().__init__(decoder, instruction, barrier)
        self._origin = address_slot(decoder, origin, "global")
        self._size = decoder.layout.operand(size, "u32")

    def flight(self, warp, lane, place, report) -> Flight:
        """Begin the copy of one lane."""
        address = int(reached(warp, *self._origin)[lane])
        nbytes = int(warp.slots[self._size][lane])
        memory = warp.block.launch.memory
        region = bulk_places.find(memory, self.source, warp, lane, address, nbytes)
        offset = address - region.address
        bulk_places.check_row(self.source, warp, lane, (region, offset), nbytes)
        made = self.begin(warp, lane, place, report, nbytes)
        made.source = region, np.array([offset]), nbytes
        made.tell("begins", self.source, region, [offset], nbytes)
        return made


class _Box(_Copy):
    """`cp.async.bulk.tensor`: a box of an array."""

    def __init__(self, decoder, instruction):
        (origin, first), barrier = instruction.operands[1], instruction.operands[2]
        super().__init__(decoder, instruction, barrier)
        address = address_slot(decoder, origin, None)
        self._box = bulk_places.BoxOperand(decoder, address, first)

    def flight(self, warp, lane, place, report) -> Flight:
        """Begin the copy of one lane."""
        found, start = self._box.read(self.source, warp, lane)
        made = self.begin(warp, lane, place, report, found)
        rows, places, length = found.rows(start)
        if length:
            region = bulk_places.find_array(found, self.source, warp, lane, length)
            rows = rows + (found.address - region.address)
            made.source, made.places = (region, rows, length), places
            made.tell("begins", self.source, region, rows, length)
        return made
