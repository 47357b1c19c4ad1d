"""Bulk copies (TMA) from shared to global memory: rows of bytes, and boxes.

A store is checked where it stands. Its bytes are read from shared memory only when its
own thread waits for its group, with `.read` or without, and written to global memory
only when it waits without `.read`, or when its block ends. Hence a kernel that changes
the bytes too early, or reads the result too early, is wrong every time; on a GPU it may
be lucky. A store for which its thread never waits is left undone.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.simt.interpreter import bulk_places
from coursekit.simt.interpreter.access import READS, WRITES
from coursekit.simt.interpreter.transfers import address_slot, reached
from coursekit.simt.memory import faults
from coursekit.simt.memory.memory import Region

LANES = 32
_REFUSED = {"im2col_no_offs", "tile::scatter4", "cp_mask"}
_GROUPS = {"commit_group", "wait_group"}


@dataclass(frozen=True)
class Pieces:
    """One side of a store: where in an array its pieces of `size` bytes begin."""

    region: Region
    starts: np.ndarray
    size: int

    @property
    def index(self) -> np.ndarray:
        """The number of every byte in the array, a row per piece."""
        return self.starts[:, None] + np.arange(self.size)

    def places(self, unit: int) -> np.ndarray:
        """Return where the units begin that the pieces touch."""
        if self.size > unit:
            return (self.starts[:, None] + np.arange(0, self.size, unit)).ravel()
        return np.unique(self.starts // unit * unit)


@dataclass(eq=False)
class Store:
    """An unfinished bulk store of one thread.

    Attributes
    ----------
    maker : _Store
        The instruction.
    warp, lane
        Whose store it is.
    group : int
        Number of the group, among those of its thread.
    source, target : Pieces
        The same bytes in shared and in global memory.
    data : ndarray, or None
        The bytes, once they have been read.
    done : bool
        Whether they have been written.
    """

    maker: _Store
    warp: Any
    lane: int
    group: int
    source: Pieces
    target: Pieces
    data: np.ndarray | None = None
    done: bool = False

    def read(self) -> None:
        """Read the bytes in shared memory."""
        if self.data is None:
            self.tell("touches", self.maker.source, self.source)
            self.data = self.source.region.data[self.source.index]

    def write(self) -> None:
        """Write the bytes to global memory."""
        self.tell("touches", self.maker.target, self.target)
        self.target.region.data[self.target.index] = self.data
        self.done = True

    def tell(self, how: str, access, pieces: Pieces) -> None:
        """Report one side of the store to the observer, element by element."""
        observer = self.warp.observer
        if observer is not None and len(pieces.starts):
            access.width = observer.unit
            places = pieces.places(observer.unit)
            lanes = np.full(len(places), self.lane)
            getattr(observer, how)(access, self.warp, (pieces.region, lanes, places))


class Stores:
    """The unfinished bulk stores of the lanes of one warp.

    Every lane counts its own groups.
    """

    def __init__(self):
        self.committed = np.zeros(LANES, np.int64)
        self._begun: list[Store] = []

    @property
    def begun(self) -> tuple:
        """Return how many groups each lane closed, and which stores have been read."""
        return (*self.committed.tolist(), *(s.data is not None for s in self._begun))

    def begin(self, store: Store) -> None:
        """Put a store into the open group of its lane."""
        self._begun.append(store)

    def commit(self, warp) -> None:
        """Close the open group of the current lanes, even an empty one."""
        self.committed += warp.mask

    def wait(self, warp, pending: int, *, reads_only: bool) -> None:
        """Finish, or only read, all groups of the current lanes but the last ones."""
        over = np.where(warp.mask, self.committed - pending, 0)
        old = [store for store in self._begun if store.group < over[store.lane]]
        for store in old:
            store.read()
        if not reads_only:
            self._write(old)

    def finish(self) -> None:
        """Write the bytes that have been read, at the end of the block."""
        self._write([store for store in self._begun if store.data is not None])

    def _write(self, stores: list[Store]) -> None:
        for store in stores:
            store.write()
        self._begun = [store for store in self._begun if not store.done]


def finish(block) -> None:
    """Write what bulk stores of a block have read, since the block ends."""
    for warp in block.warps:
        if warp.stores is not None:
            warp.stores.finish()


def _stores(warp) -> Stores:
    if warp.stores is None:
        warp.stores = Stores()
    return warp.stores


def is_store(instruction) -> bool:
    """Whether a `cp` is a bulk copy to global memory, or groups or awaits such."""
    words = instruction.modifiers
    return words[:2] == ("async", "bulk") and (
        "bulk_group" in words or not _GROUPS.isdisjoint(words)
    )


def make(decoder, instruction):
    """Make the step of a bulk store, or of the commits and waits for its groups."""
    words = instruction.modifiers[2:]
    if words == ("commit_group",):
        return lambda warp: _stores(warp).commit(warp)
    if words in (("wait_group",), ("wait_group", "read")):
        pending, reads_only = int(instruction.operands[0].value), "read" in words
        return lambda warp: _stores(warp).wait(warp, pending, reads_only=reads_only)
    known = {"global", "shared::cta", "bulk_group"} <= set(words)
    if not known or not _REFUSED.isdisjoint(words):
        raise faults.unsupported(decoder.program, instruction)
    kind = _BoxStore if "tensor" in words else _RowStore
    return kind(decoder, instruction).step


class _Store(abc.ABC):
    """The part that both kinds of bulk stores share: the source, and its checks."""

    align = bulk_places.UNIT

    def __init__(self, decoder, instruction):
        self.source = decoder.access(instruction, "shared", 1, READS)
        self.target = decoder.access(instruction, "global", 1, WRITES)
        self._origin = address_slot(decoder, instruction.operands[1], "shared")

    def step(self, warp) -> None:
        """Begin the stores of the active lanes."""
        stores = _stores(warp)
        for lane in np.flatnonzero(warp.mask).tolist():
            sides = self.sides(warp, lane)
            self.target.begin_write(warp, sides[1].region)
            group = int(stores.committed[lane])
            store = Store(self, warp, lane, group, *sides)
            store.tell("begins", self.source, store.source)
            store.tell("begins", self.target, store.target)
            stores.begin(store)

    @abc.abstractmethod
    def sides(self, warp, lane: int) -> tuple[Pieces, Pieces]:
        """Check the store of one lane; return both of its sides."""

    def find_source(self, warp, lane: int, nbytes: int) -> tuple[Region, int]:
        """Check the bytes in shared memory; return where they begin."""
        address = int(reached(warp, *self._origin)[lane])
        return bulk_places.find_shared(
            self.source, warp, lane, address, nbytes, self.align
        )


class _RowStore(_Store):
    """`cp.async.bulk`: contiguous bytes."""

    def __init__(self, decoder, instruction):
        super().__init__(decoder, instruction)
        to, _, size = instruction.operands[:3]
        self._place = address_slot(decoder, to, "global")
        self._size = decoder.layout.operand(size, "u32")

    def sides(self, warp, lane: int) -> tuple[Pieces, Pieces]:
        """Check the store of one lane; return both of its sides."""
        address = int(reached(warp, *self._place)[lane])
        nbytes = int(warp.slots[self._size][lane])
        memory = warp.block.launch.memory
        region = bulk_places.find(memory, self.target, warp, lane, address, nbytes)
        place = region, address - region.address
        bulk_places.check_row(self.target, warp, lane, place, nbytes)
        size, steps = bulk_places.UNIT, np.arange(0, nbytes, bulk_places.UNIT)
        shared, start = self.find_source(warp, lane, nbytes)
        source = Pieces(shared, start + steps, size)
        return source, Pieces(region, place[1] + steps, size)


class _BoxStore(_Store):
    """`cp.async.bulk.tensor`: a box; what sticks out of the array is not written."""

    align = 128

    def __init__(self, decoder, instruction):
        super().__init__(decoder, instruction)
        origin, first = instruction.operands[0]
        address = address_slot(decoder, origin, None)
        self._box = bulk_places.BoxOperand(decoder, address, first)

    def sides(self, warp, lane: int) -> tuple[Pieces, Pieces]:
        """Check the store of one lane; return both of its sides."""
        found, first = self._box.read(self.target, warp, lane)
        shared, start = self.find_source(warp, lane, found.box_bytes)
        rows, places, length = found.rows(first)
        region = bulk_places.find_array(found, self.target, warp, lane, length)
        size = math.gcd(16, length, *(rows % 16).tolist(), *(places % 16).tolist())
        steps = np.arange(0, length, size)
        inside = (places[:, None] + steps).ravel()  # bytes of the box
        order = found.order(shared.address + start) - shared.address
        source = Pieces(shared, order[inside // 16] + inside % 16, size)
        rows = (rows + (found.address - region.address))[:, None] + steps
        return source, Pieces(region, rows.ravel(), size)
