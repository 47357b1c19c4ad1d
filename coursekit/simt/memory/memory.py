"""Simulated memory: regions with guard gaps, found by address.

Addresses are plain integers. Every region sits in the middle of a slot of its
own, far from its neighbours, so that an index that is wrong by billions of
elements still points at the array it belongs to, and at nothing else.
"""

from __future__ import annotations

import functools
import threading
from bisect import bisect_right
from collections import defaultdict, deque
from dataclasses import dataclass, field

import numpy as np

from coursekit.errors import DeviceError
from coursekit.simt.memory import available

SLOT_BITS = 36
GLOBAL_BASE = 1 << 40
SHARED_WINDOW = 1 << 32
LOCAL_WINDOW = 2 << 32
WINDOW_BYTES = 1 << 24
SHARED_SPAN = 1 << 18
POISON = 0xCB
# Freed regions that are remembered, so that a late access can be named.
REMEMBERED = 4096
_ALIGN = 256
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Part:
    """An argument of a launch that is a part of an array, a slice for example.

    Attributes
    ----------
    name : str
        Of the kernel's parameter.
    start, nbytes : int
        Where it begins in the region, and its length in bytes.
    shape, dtype
        Of the part; None where they are not known.
    """

    name: str
    start: int
    nbytes: int
    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None


@dataclass(eq=False)
class Region:
    """A range of bytes with a simulated address.

    Attributes
    ----------
    address, nbytes : int
        First simulated address and length in bytes.
    data : numpy.ndarray of uint8
        The bytes, made by `storage`; the host may read and write them.
    name, shape, dtype
        What messages call it; `shape` and `dtype` turn offsets into elements.
    space : str
        "global", "const", "shared", "local" or "param".
    filled : bool
        Whether the host has written all of it.
    parts : tuple of Part
        The arguments of the latest launch that lie here, unless one is all of it.
    """

    address: int
    nbytes: int
    data: np.ndarray
    name: str = ""
    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None
    space: str = "global"
    read_only: bool = False
    freed: bool = False
    filled: bool = False
    parts: tuple[Part, ...] = ()
    _views: dict = field(default_factory=dict, repr=False)

    def __post_init__(self):
        self.origin = np.uint64(self.address)

    @functools.cached_property
    def host(self) -> int:
        """The address of the bytes in this process."""
        return address_of(self.data)

    def part(self, offset: int) -> Part:
        """Return the argument at or next to an offset; without parts the whole."""
        if not self.parts:
            return Part(self.name, 0, self.nbytes, self.shape, self.dtype)
        return min(
            self.parts,
            key=lambda one: max(one.start - offset, offset - one.start - one.nbytes, 0),
        )

    def view(self, width: int) -> np.ndarray:
        """Return the bytes as unsigned integers of `width` bytes, padded at the end."""
        found = self._views.get(width)
        if found is None:
            whole = self.data if self.data.base is None else self.data.base
            found = self._views[width] = whole.view(_UNSIGNED[width])
        return found


def address_of(array: np.ndarray) -> int:
    """Return the address of an array's first byte in this process."""
    return array.__array_interface__["data"][0]


def storage(nbytes: int) -> np.ndarray:
    """Allocate `nbytes` of host memory, padded to whole 16-byte words."""
    return np.empty(-(-max(nbytes, 1) // 16) * 16, np.uint8)[:nbytes]


class Memory:
    """The global memory of one simulated device.

    Parameters
    ----------
    capacity : int, optional
        Bytes that the device has; None is unlimited.
    """

    def __init__(self, capacity: int | None = None):
        self.capacity = capacity
        self.used = 0
        self._next_slot = 1
        self._slots: dict[int, Region] = {}
        self._freed: deque[Region] = deque()
        self._live: dict[int, Region] = {}
        self._lock = threading.RLock()  # launches of several threads allocate too

    def allocate(
        self, nbytes, *, name="", shape=None, dtype=None, space="global", data=None
    ) -> Region:
        """Reserve `nbytes`, filled with a poison pattern unless `data` is given.

        Raises
        ------
        DeviceError
            The simulated device, or this machine, has not enough memory.
        """
        with self._lock:
            self._check_room(nbytes)
            data = self._fresh(nbytes) if data is None else data
            slots = 1 + (nbytes >> SLOT_BITS)
            first = self._next_slot
            self._next_slot += slots + 1
            address = GLOBAL_BASE + (first << SLOT_BITS) + (1 << (SLOT_BITS - 1))
            region = Region(address, nbytes, data, name, shape, dtype, space)
            for slot in range(first, first + slots + 1):
                self._slots[slot] = region
            self.used += nbytes
            self._live[address] = region
            return region

    def _check_room(self, nbytes: int) -> None:
        """Refuse what the device has no room for."""
        if self.capacity is not None and self.used + nbytes > self.capacity:
            raise DeviceError.explained(
                f"out of memory: {nbytes:,} bytes asked for, "
                f"{self.capacity - self.used:,} of {self.capacity:,} bytes are free.",
                "Arrays that are still referenced keep their memory.",
                "Use a smaller size, or delete arrays that are no longer needed.",
            )

    def regions(self) -> list[Region]:
        """The allocated regions by address."""
        with self._lock:
            return list(self._live.values())

    def name_arguments(self, arguments) -> None:
        """Name regions as the arguments of a launch, for its messages.

        Each is (name, address, bytes, shape, dtype); it may be a part of its region.
        """
        found = defaultdict(list)
        for name, address, nbytes, shape, dtype in arguments:
            region = self.find(address)
            if region is not None:
                part = Part(name, address - region.address, nbytes, shape, dtype)
                found[region].append(part)
        for region, parts in found.items():
            whole = any(one.nbytes == region.nbytes for one in parts)
            region.name = parts[0].name
            region.parts = () if whole else tuple(parts)

    @staticmethod
    def _fresh(nbytes: int) -> np.ndarray:
        try:
            available.require(nbytes)
            data = storage(nbytes)
            data.fill(POISON)
        except MemoryError as error:
            raise DeviceError.explained(
                f"out of memory: this machine cannot hold {nbytes:,} more bytes"
                f"{f' ({error})' if error.args else ''}.",
                "The simulator keeps device memory in the memory of this machine.",
                "Use a smaller size, or close other programs.",
            ) from None
        return data

    def free(self, region: Region) -> None:
        """Free an allocation; later accesses through its address are errors."""
        with self._lock:
            if region.freed:
                return
            region.freed = True
            del self._live[region.address]
            self.used -= region.nbytes
            region.nbytes = 0
            region.data = np.empty(0, np.uint8)
            region._views.clear()
            self._freed.append(region)
            if len(self._freed) > REMEMBERED:
                self._forget(self._freed.popleft())

    def _forget(self, region: Region) -> None:
        slot = (region.address - GLOBAL_BASE) >> SLOT_BITS
        while self._slots.get(slot) is region:
            del self._slots[slot]
            slot += 1

    def find(self, address: int) -> Region | None:
        """Return the region whose slot holds `address`, in bounds or not."""
        return self._slots.get((address - GLOBAL_BASE) >> SLOT_BITS)


class SharedMemory:
    """The shared memory of one block: its variables, widely spaced.

    Parameters
    ----------
    variables : sequence of (name, nbytes, align)
        In the order of the program; dynamic shared memory comes last.
    """

    def __init__(self, variables):
        self.layout = shared_layout(variables)
        span = max([address + size for _, address, size in self.layout], default=0)
        self.bytes = np.empty(-(-span // 16) * 16 + 16, np.uint8)
        self.regions = [
            Region(
                address,
                size,
                self.bytes[address : address + -(-size // 16) * 16][:size],
                name,
                space="shared",
            )
            for name, address, size in self.layout
        ]
        for region in self.regions:
            padded = -(-region.nbytes // 16) * 16
            whole = self.bytes[region.address : region.address + padded]
            for width in _UNSIGNED:
                region._views[width] = whole.view(_UNSIGNED[width])
        self._starts = [region.address for region in self.regions]
        self.clear()

    def clear(self) -> None:
        """Fill with the poison pattern, as at the start of a block."""
        self.bytes.fill(POISON)

    def find(self, address: int) -> Region | None:
        """Return the region that contains `address` or is nearest to it."""
        if not self.regions:
            return None
        after = bisect_right(self._starts, address)
        below = self.regions[max(after - 1, 0)]
        if after == 0 or after == len(self.regions):
            return below
        above = self.regions[after]
        past_below = address - (below.address + below.nbytes)
        return above if past_below > above.address - address else below


def shared_layout(variables) -> list[tuple[str, int, int]]:
    """Place shared variables: (name, address, nbytes), gaps between them.

    Bank conflicts depend on address differences within one access alone, so the
    gaps change no count; addresses stay below 2^18, as matrix descriptors need.
    """
    total = sum(-(-size // 1024) * 1024 for _, size, _ in variables)
    room = max(SHARED_SPAN - total, 0) // (len(variables) + 1)
    gap = min(room // 1024 * 1024, 1 << 16)
    placed, address = [], gap
    for name, size, align in variables:
        step = max(align, 1024 if gap else align, 1)
        address = -(-address // step) * step
        placed.append((name, address, size))
        address += size + gap
    return placed


def local_region(nbytes: int) -> Region:
    """Return the local memory of a warp: 32 stripes of `nbytes`, one per lane."""
    stride = -(-max(nbytes, 16) // 16) * 16
    data = np.full(32 * stride, POISON, np.uint8)
    return Region(0, 32 * stride, data, "local memory", space="local")
