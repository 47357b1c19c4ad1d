"""Loads, stores and atomics of a warp: which bytes, checked, moved and counted."""

from __future__ import annotations

import numpy as np

from coursekit.simt.memory import counters, faults
from coursekit.simt.memory.memory import (
    LOCAL_WINDOW,
    SHARED_SPAN,
    SHARED_WINDOW,
    WINDOW_BYTES,
    Region,
)

READS, WRITES, UPDATES = "reads", "writes", "updates"
_KIND = {READS: "load", WRITES: "store", UPDATES: "atomic"}


class Access:
    """One memory instruction: it finds, checks and counts the active lanes' bytes.

    Parameters
    ----------
    instruction : ir.Instruction
    space : str or None
        State space; None is a generic address.
    width : int
        Bytes per lane, all vector elements together.
    verb : str
        READS, WRITES or UPDATES.

    Attributes
    ----------
    counted : tuple of two int, or None
        How a shared access counts where the machine code joins it with others: bytes
        per lane (0: another one counts for it), and bytes below its address.
    stored : list of int
        Slots of the values that a store writes, one an element.
    """

    def __init__(self, instruction, space, width, verb):
        self.instruction, self.space = instruction, space
        self.width, self.verb = width, verb
        self.sites: dict[str, int] = {}
        self.counted: tuple[int, int] | None = None
        self.stored: list[int] = []

    def parts(self, warp, addresses):
        """Yield (region, lanes, offsets) that cover the active lanes.

        `lanes` indexes a register: a mask, an index array, or Ellipsis for all.
        """
        every = warp.all
        active = addresses if every else addresses[warp.mask]
        if self.space is None:
            return self._generic(warp, active)
        return self._in_space(warp, self.space, active, ... if every else warp.mask)

    def _in_space(self, warp, space, active, lanes):
        if space == "local":
            return self._local(warp, active, lanes)
        if space == "shared":
            if warp.block.cluster is not None and int(active.max()) >= SHARED_SPAN:
                return self._in_cluster(warp, active)
            memory = warp.block.shared
        else:
            memory = warp.block.launch.memory
        return self._in_memory(warp, space, memory, active, lanes)

    def _in_memory(self, warp, space, memory, active, lanes):
        region = memory.find(int(active[0]))
        if region is not None:
            offsets = active - region.address
            reach = int(np.bitwise_or.reduce(offsets))
            inside = reach + self.width <= region.nbytes or (
                int(offsets.max()) + self.width <= region.nbytes
            )
            if inside and not reach & (self.width - 1):
                if self.verb != READS:
                    self.begin_write(warp, region)
                if warp.counting:
                    self._count(warp, space, active)
                return ((region, lanes, offsets),)
        return self._scattered(warp, space, memory, active)

    def _scattered(self, warp, space, memory, active):
        """Resolve lanes that reach several regions, or memory out of bounds."""
        where = np.flatnonzero(warp.mask)
        regions = [memory.find(int(address)) for address in active]
        found = []
        for region in dict.fromkeys(regions):
            chosen = np.array([r is region for r in regions])
            if region is None:
                self._fault(warp, active, where, int(np.argmax(chosen)), None)
            offsets = active[chosen] - region.address
            bad = faults.misses(region, offsets, self.width)
            if bad.any():
                position = int(np.flatnonzero(chosen)[np.argmax(bad)])
                self._fault(warp, active, where, position, region)
            if self.verb != READS:
                self.begin_write(warp, region)
            found.append((region, where[chosen], offsets))
        if warp.counting:
            self._count(warp, space, active)
        return tuple(found)

    def _fault(self, warp, active, where, position, region):
        address = int(active[position])
        if active.itemsize == 4 and region is not None and address >> 31:
            address -= 1 << 32
        fault = faults.Fault(position, address, self.width, region)
        raise faults.access_error(
            warp, int(where[position]), self.instruction, fault, self.verb
        )

    def begin_write(self, warp, region) -> None:
        """Refuse to write read-only memory, and let the launch keep other memory."""
        if region.read_only:
            self._refuse_write(warp, region)
        warp.block.launch.keep(region)

    def _refuse_write(self, warp, region):
        from coursekit.errors import OutOfBoundsError

        raise faults.kernel_error(
            OutOfBoundsError, warp, int(np.argmax(warp.mask)), self.instruction,
            f"{{thread}} {self.verb} {region.name or 'constant memory'}, which is "
            "read-only on the device.",
            "Constant memory and kernel parameters cannot be written by a kernel.",
            "Write to an array in global or shared memory instead.",
        )  # fmt: skip

    def _local(self, warp, active, lanes):
        where = np.flatnonzero(warp.mask)
        active = active.astype(np.uint64)
        limit = warp.frame.local_base + warp.frame.code.local_bytes
        own = Region(0, limit, warp.local.data, "a local array", space="local")
        bad = faults.misses(own, active, self.width)
        if bad.any():
            self._fault(warp, active, where, int(np.argmax(bad)), own)
        offsets = active + where.astype(np.uint64) * warp.local_stride
        return ((warp.local, lanes, offsets),)

    def _generic(self, warp, active):
        """Group generic addresses by the state space in which they lie."""
        lanes = ... if warp.all else warp.mask
        first, last = int(active.min()), int(active.max())
        if faults.is_global(first) or not _window(first):
            return self._in_space(warp, "global", active, lanes)
        window = _window(first)
        if window == _window(last):
            return self._in_space(warp, window, active - _BASES[window], lanes)
        return self._mixed(warp, active)

    def _mixed(self, warp, active):
        where = np.flatnonzero(warp.mask)
        windows = [_window(int(a)) or "global" for a in active]
        found, mask, everything = [], warp.mask, warp.all
        for window in dict.fromkeys(windows):
            chosen = np.array([w == window for w in windows])
            part = np.zeros(32, bool)
            part[where[chosen]] = True
            warp.mask, warp.all = part, False
            addresses = active[chosen] - np.uint64(_BASES.get(window, 0))
            found.extend(self._in_space(warp, window, addresses, part))
        warp.mask, warp.all = mask, everything
        return tuple(found)

    def _in_cluster(self, warp, active):
        """Group addresses of shared memory by the block in which they lie."""
        where, own = np.flatnonzero(warp.mask), active & (SHARED_SPAN - 1)
        blocks = [warp.block.cluster.reached(warp.block, int(a)) for a in active]
        found, mask, everything = [], warp.mask, warp.all
        for block in dict.fromkeys(blocks):
            chosen = np.array([one is block for one in blocks])
            if block is None:
                raise _no_block(warp, int(where[np.argmax(chosen)]), self)
            part = np.zeros(32, bool)
            part[where[chosen]] = True
            warp.mask, warp.all = part, bool(part.all())
            memory, lanes = block.shared, part
            found.extend(self._in_memory(warp, "shared", memory, own[chosen], lanes))
        warp.mask, warp.all = mask, everything
        return tuple(found)

    # -- counting ---------------------------------------------------------------

    def _count(self, warp, space, active) -> None:
        kind = _KIND[self.verb]
        if space == "shared":
            self._count_shared(warp, kind, active)
        elif space in ("global", "const"):
            if space == "const":
                return
            rule = counters.atomic_sectors if kind == "atomic" else counters.sectors
            self._add(f"global_{kind}_requests", 1)
            self._add(f"global_{kind}_sectors", rule(active))

    def _count_shared(self, warp, kind, active) -> None:
        width, below = self.counted or (self.width, 0)
        if not width:
            return
        self._add(f"shared_{kind}_requests", 1)
        if kind == "atomic":
            used = counters.shared_atomic_wavefronts(active)
            self._add("shared_atomic_wavefronts", used)
            return
        lanes = np.flatnonzero(warp.mask).tolist()
        used, conflicts = counters.shared_wavefronts(
            lanes, (active - below).tolist(), width, load=kind == "load"
        )
        self._add(f"shared_{kind}_wavefronts", used)
        self._add(f"shared_{kind}_bank_conflicts", conflicts)

    def add_counts(self, requests: int, amount: int, conflicts: int) -> None:
        """Add counts of this instruction that other code has made."""
        kind, space = _KIND[self.verb], self.space or "global"
        what = "wavefronts" if space == "shared" else "sectors"
        self._add(f"{space}_{kind}_requests", requests)
        self._add(f"{space}_{kind}_{what}", amount)
        if space == "shared" and kind != "atomic":
            self._add(f"{space}_{kind}_bank_conflicts", conflicts)

    def _add(self, name: str, amount: int) -> None:
        self.sites[name] = self.sites.get(name, 0) + amount


_BASES = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def _no_block(warp, lane: int, access) -> Exception:
    """Build the error for shared memory of a block that is not there."""
    from coursekit.errors import OutOfBoundsError

    return faults.kernel_error(
        OutOfBoundsError, warp, lane, access.instruction,
        f"{{thread}} {access.verb} shared memory of a block that has ended, or that "
        "its cluster does not have.",
        "The shared memory of a block is gone when its last thread exits.",
        "Let all blocks wait at the barrier of the cluster after the last such access.",
    )  # fmt: skip


def _window(address: int) -> str | None:
    for name, base in _BASES.items():
        if base - WINDOW_BYTES <= address < base + 2 * WINDOW_BYTES:
            return name
    return None
