"""The parts of a trace: steps, and their memory accesses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from coursekit.simt.ptx.ir import Instruction

LANES = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """The access of one instruction to one array.

    Attributes
    ----------
    space : str
        "global", "shared", "local" or "const".
    verb : str
        "reads", "writes" or "updates"; an update is an atomic.
    array : str
        Name of the array; empty where the address belongs to none.
    width : int
        Bytes that each lane moves.
    item_bytes : int
        Bytes of one element.
    shape : tuple of int, or None
        Of the array, where it is known.
    nbytes : int
        Bytes of the array.
    addresses, offsets : tuple of int or None, 32 each
        For each lane the address, and the bytes from the start of the array; None
        for lanes that took no part.
    base : int
        Address of the array's first byte.
    start : int
        Where the kernel's argument begins in the array, in bytes; not 0 for a slice.
    counts : mapping of str to int
        What this access added to the counters of the launch.
    """

    space: str
    verb: str
    array: str
    width: int
    item_bytes: int
    shape: tuple[int, ...] | None
    nbytes: int
    addresses: tuple[int | None, ...]
    offsets: tuple[int | None, ...]
    base: int
    start: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes that took part."""
        return tuple(n for n, at in enumerate(self.addresses) if at is not None)

    @property
    def elements(self) -> tuple[int | None, ...]:
        """For each lane, the first element that it accesses, as the kernel counts."""
        return tuple(
            None if at is None else (at - self.start) // self.item_bytes
            for at in self.offsets
        )

    @property
    def sectors(self) -> tuple[int | None, ...]:
        """For each lane, its 32-byte sector, counted from the array's start.

        None for shared and local memory, where sectors have no meaning.
        """
        if self.space != "global":
            return (None,) * LANES
        return tuple(None if at is None else at // SECTOR_BYTES for at in self.offsets)

    @property
    def banks(self) -> tuple[int | None, ...]:
        """For each lane, the first of the 32 banks that it accesses, if shared."""
        if self.space != "shared":
            return (None,) * LANES
        return tuple(
            None if at is None else at // BANK_BYTES % BANKS for at in self.addresses
        )

    @property
    def distinct_sectors(self) -> int:
        """The number of sectors that the warp accesses."""
        return len({one for one in self.sectors if one is not None})

    @property
    def outside(self) -> tuple[int, ...]:
        """The lanes whose address lies outside the array."""
        return tuple(
            lane
            for lane, at in enumerate(self.offsets)
            if at is not None and not 0 <= at <= self.nbytes - self.width
        )

    def element_name(self, lane: int) -> str:
        """Return the element that a lane accesses, as in ``A[3, 4]``."""
        element = self.elements[lane]
        if element is None:
            return ""
        inside = not self.shape or 0 <= element < math.prod(self.shape)
        if not self.shape or len(self.shape) < 2 or not inside:
            return f"{self.array or 'memory'}[{element}]"
        index = []
        for extent in reversed(self.shape):
            element, rest = divmod(element, extent)
            index.append(str(rest))
        return f"{self.array}[{', '.join(reversed(index))}]"


@dataclass(frozen=True, slots=True)
class Step:
    """One executed instruction of one warp.

    Attributes
    ----------
    file, line : str, int
        Source position; "" and 0 where the compiler names none.
    ptx : str
        The instruction.
    index : int
        Its number within its function.
    mask : int
        Lanes that execute it, lane 0 in bit 0; a predicate may leave none.
    live : int
        Lanes that have not left the kernel.
    registers : mapping of str to tuple
        For each register written its 32 values; None for lanes that took no part.
    accesses : tuple of MemoryAccess
    taken : int or None
        For a conditional branch the lanes that jump.
    function : str
        Name of the function in the PTX.
    call : int
        Number of the call that it belongs to; 0 is the kernel.
    """

    file: str
    line: int
    ptx: str
    index: int
    mask: int
    live: int
    registers: Mapping[str, tuple]
    accesses: tuple[MemoryAccess, ...]
    taken: int | None
    function: str
    call: int
    instruction: Instruction = field(repr=False, compare=False)

    @property
    def lanes(self) -> int:
        """The number of lanes that execute the step."""
        return self.mask.bit_count()

    @property
    def diverges(self) -> bool:
        """Whether the step's lanes diverge here."""
        return self.taken is not None and self.taken not in (0, self.mask)
