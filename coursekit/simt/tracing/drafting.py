"""A step while it is traced: the accesses and the results of its lanes."""

from __future__ import annotations

import numpy as np

from coursekit.simt.interpreter.collectives import lane_bits
from coursekit.simt.memory import faults
from coursekit.simt.memory.memory import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from coursekit.simt.tracing.steps import LANES, MemoryAccess, Step

_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


class Draft:
    """An unfinished step of a trace."""

    def __init__(self, program, instruction, mask, live: int):
        self.program, self.instruction = program, instruction
        self.mask, self.live = mask.copy(), live
        self.reached: list[tuple] = []
        self.taken: int | None = None
        self.counts: dict[str, int] = {}

    def reach(self, access, warp, addresses) -> None:
        lanes = np.flatnonzero(warp.mask)
        parts: dict[tuple, list] = {}
        for lane in lanes.tolist():
            space, region, offset = _place(access, warp, int(addresses[lane]))
            found = parts.setdefault((space, id(region)), [space, region, {}])
            found[2][lane] = int(addresses[lane]), offset
        for space, region, where in parts.values():
            self.reached.append((access, space, region, where))

    def step(self) -> Step:
        one = self.instruction
        where, _ = faults.source_place(self.program, one.location)
        accesses = []
        for access, space, region, places in self.reached:
            counts, self.counts = self.counts, {}
            accesses.append(_memory_access(access, space, region, places, counts))
        return Step(
            file=where.file if where else "",
            line=where.line if where else 0,
            ptx=one.text,
            index=one.index,
            mask=lane_bits(self.mask),
            live=self.live,
            registers={
                name: _values(self.slots[slot], name, type_, self.mask)
                for name, slot, type_ in self.writes
            },
            accesses=tuple(accesses),
            taken=self.taken,
            function=self.function,
            call=self.call,
            instruction=one,
        )


def _values(slot, name: str, type_: str, mask) -> tuple:
    """Return the values of a register, floats as floats and bits as signed numbers."""
    if type_[0] == "b" and slot.dtype.kind in "ui":
        floats = name.startswith(("%f", "%fd")) and slot.itemsize > 2
        kind = "f" if floats else "i"
        slot = np.ascontiguousarray(slot).view(f"{kind}{slot.itemsize}")
    return tuple(
        value if active else None
        for value, active in zip(slot.tolist(), mask.tolist(), strict=True)
    )


def _place(access, warp, address: int) -> tuple:
    """Return (space, region, offset) of an address, in or near an array."""
    space = access.space
    if space is None:
        for name, base in _WINDOWS.items():
            if base - WINDOW_BYTES <= address < base + 2 * WINDOW_BYTES:
                space, address = name, address - base
    if space == "local":
        return "local", None, address
    if space == "shared":
        if address >> 31:
            address -= 1 << 32
        memory = warp.block.shared
    else:
        memory = warp.block.launch.memory
    region = memory.find(address)
    found = space or "global"
    if region is not None and region.space == "const":
        found = "const"
    return found, region, address - region.address if region is not None else address


def _memory_access(access, space, region, places, counts) -> MemoryAccess:
    count = next((int(m[1]) for m in access.instruction.modifiers
                  if m in ("v2", "v4", "v8")), 1)  # fmt: skip
    item, shape, start = access.width // count, None, 0
    name = "local memory" if space == "local" else ""
    if region is not None:
        part = region.part(min((offset for _, offset in places.values()), default=0))
        name, start = faults.readable(part.name), part.start
        if part.dtype is not None:
            item, shape = part.dtype.itemsize, part.shape
    addresses = [None] * LANES
    offsets = [None] * LANES
    for lane, (address, offset) in places.items():
        addresses[lane], offsets[lane] = address, offset
    return MemoryAccess(
        space, access.verb, name, access.width, item, shape,
        region.nbytes if region is not None else 1 << 62,
        tuple(addresses), tuple(offsets),
        region.address if region else 0, start, counts,
    )  # fmt: skip
