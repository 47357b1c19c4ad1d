"""Counters as Nsight Compute defines them, and the rules that compute them.

The rules for sectors, wavefronts and bank conflicts are those that reproduced
every one of 480 single-warp accesses measured with Nsight Compute on an H200
(CUDA 13.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np

SECTOR_BITS = 5
BANKS = 32

FIELDS = (
    "global_load_requests", "global_load_sectors",
    "global_store_requests", "global_store_sectors",
    "global_atomic_requests", "global_atomic_sectors",
    "shared_load_requests", "shared_load_wavefronts", "shared_load_bank_conflicts",
    "shared_store_requests", "shared_store_wavefronts", "shared_store_bank_conflicts",
    "shared_atomic_requests", "shared_atomic_wavefronts",
    "warp_instructions", "thread_instructions", "longest_warp_instructions",
    "blocks", "warps", "branches", "divergent_branches", "barriers",
    "flops_fp16", "flops_fp32", "flops_fp64", "tensor_flops",
    "bytes_read", "bytes_written",
)  # fmt: skip
_PTX_FIELDS = {
    "warp_instructions", "thread_instructions", "longest_warp_instructions",
    "branches", "divergent_branches",
}  # fmt: skip
_DERIVED = ("sectors_per_request", "warp_efficiency", "arithmetic_intensity")


def sectors(addresses: np.ndarray) -> int:
    """Return the number of distinct 32-byte sectors of aligned accesses."""
    return len(set((addresses >> SECTOR_BITS).tolist()))


def repeated_passes(addresses: np.ndarray) -> list[np.ndarray]:
    """Split lanes into passes: the i-th lane with an address is in pass i."""
    seen: dict[int, int] = {}
    passes: list[list[int]] = []
    for lane, address in enumerate(addresses.tolist()):
        turn = seen.get(address, 0)
        seen[address] = turn + 1
        if turn == len(passes):
            passes.append([])
        passes[turn].append(lane)
    return [np.array(lanes) for lanes in passes]


def atomic_sectors(addresses: np.ndarray) -> int:
    """Return the sectors of a global atomic: distinct ones per pass, summed.

    An H200 sometimes adds a sector or two where the lanes of a request are scattered
    over more than four 128-byte lines, for the same addresses always: for 20 of 64
    random patterns with eight lines or more, for none of 40 with up to four, and for
    no regular one. What decides it is not known, so that the count is labelled "ptx"
    where the address was loaded.
    """
    return sum(sectors(addresses[lanes]) for lanes in repeated_passes(addresses))


def _banks(addresses: list[int], width: int) -> int:
    """Return wavefronts of a group of lanes: most distinct words on one bank."""
    words = {(a >> 2) + k for a in addresses for k in range(max(width // 4, 1))}
    busy = [0] * BANKS
    for word in words:
        busy[word % BANKS] += 1
    return max(busy)


def _pairs_agree(by_lane: dict[int, int], distance: int) -> bool:
    return all(
        by_lane.get(lane ^ distance, address) == address
        for lane, address in by_lane.items()
    )


def shared_wavefronts(
    lanes: list[int], addresses: list[int], width: int, *, load: bool
) -> tuple[int, int]:
    """Return wavefronts and bank conflicts of one shared access of a warp.

    Parameters
    ----------
    lanes, addresses : list of int
        Active lanes in ascending order, and the byte address of each.
    width : int
        Bytes that each lane moves: 1, 2, 4, 8 or 16.
    load : bool
        Loads merge lanes that read the same address pairwise; stores do not.
    """
    if width <= 4:
        used = _banks(addresses, width)
        return used, used - 1
    group = 128 // width
    by_lane = dict(zip(lanes, addresses, strict=True))
    if load and (_pairs_agree(by_lane, 1) or _pairs_agree(by_lane, 2)):
        group *= 2
    groups: dict[int, list[int]] = {}
    for lane, address in by_lane.items():
        groups.setdefault(lane // group, []).append(address)
    used = sum(_banks(members, width) for members in groups.values())
    return used, used - len(groups)


def bypassing_sectors(origins: np.ndarray, places: np.ndarray) -> int:
    """Return the sectors of a copy that bypasses L1 (`cp.async.cg`).

    L2 sends a sector for each 32 bytes of shared memory that are written from one
    128-byte line: so often the hardware counts, though lanes may share a sector.

    Parameters
    ----------
    origins, places : ndarray
        Addresses in global and in shared memory, of the lanes that read.
    """
    lines, sectors_written = (origins >> 7).tolist(), (places >> SECTOR_BITS).tolist()
    return len(set(zip(lines, sectors_written, strict=True)))


def copy_wavefronts(
    origins: np.ndarray, places: np.ndarray, width: int, lanes
) -> tuple[int, int]:
    """Return wavefronts and bank conflicts of an asynchronous copy through L1.

    L1 and shared memory have the same banks, and a wavefront takes at most one lane
    from each bank that is read to each that is written. Lanes never share a word: 32
    copies of one word take 32 wavefronts. Where lanes collide at both ends an H200
    needs up to half as many again; in which order it takes them is not known.

    Parameters
    ----------
    origins, places : ndarray
        Addresses of 32 lanes in global and in shared memory.
    width : int
        Bytes that each lane copies: 4, 8 or 16.
    lanes : (ndarray of bool, ndarray of bool)
        Lanes that read, and those that write; the difference writes zeros.
    """
    units, used, needed = 4 * BANKS // width, 0, 0
    ends = list(zip((origins, places), lanes, strict=True))
    for first in range(0, len(origins), units):
        group = slice(first, first + units)
        banks = [at[group][some[group]] // width % units for at, some in ends]
        if len(banks[1]):
            used += max(int(np.bincount(each, minlength=1).max()) for each in banks)
            needed += 1
    return used, used - needed


def shared_atomic_wavefronts(addresses: np.ndarray) -> int:
    """Return wavefronts of a shared atomic: most lanes on one bank.

    Measured for ATOMS.ADD, MAX and EXCH of 32 bits. Others differ and are not counted
    like the hardware does: ATOMS.POPC.INC (`atomicAdd(p, 1)` without a result) counts
    distinct words instead of lanes, ATOMS.CAS twice as many, and what loops around
    ATOMS.CAST.SPIN (additions of float or of 64 bits) depends on other warps.
    """
    return int(np.bincount((addresses >> 2) % BANKS).max())


@dataclass(frozen=True)
class Counters:
    """Counts of one launch, or of one source line of it; all fields are ints.

    Every name in `FIELDS` is an attribute (0 when absent). `label(field)` says how
    a number relates to the hardware's: "exact" (equal by construction), "sass"
    (equal after comparison with the machine code), "ptx" (counts of the PTX,
    comparable between kernels) or "ncu" (measured with Nsight Compute). `note` says
    which engine of the simulator ran, where it was not the fast one. `device` is the
    GPU that was simulated or measured, where it is known.
    """

    values: Mapping[str, int]
    source: str = "simulator"
    labels: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[tuple[str, int], Counters] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    left_out: frozenset[str] = frozenset()
    note: str = ""
    device: str = field(default="", compare=False, repr=False)

    def __getattr__(self, name: str) -> int:
        if name in self.left_out:
            raise AttributeError(f"{name} is not exact: ask the Counters without exact")
        if name in FIELDS:
            return self.values.get(name, 0)
        raise AttributeError(f"Counters have no field {name!r}")

    def label(self, name: str) -> str:
        """Return how a field relates to the hardware's counter."""
        if name in _DERIVED:
            parts = {self.label(part) for part in _PARTS[name]}
            return next(k for k in ("ptx", "ncu", "sass", "exact") if k in parts)
        if name not in FIELDS:
            raise AttributeError(f"Counters have no field {name!r}")
        found = self.labels.get(name)
        if found:
            return found
        inexact = name in _PTX_FIELDS or name.startswith("shared_")
        return "ptx" if inexact else "exact"

    @property
    def exact(self) -> Counters:
        """The counts labelled "exact" or "sass" alone.

        They are the same on every machine and with every compiler of the course, so
        a cell whose output is compared may show them.
        """
        out = {name for name in FIELDS if self.label(name) not in ("exact", "sass")}
        return replace(
            self,
            values={name: n for name, n in self.values.items() if name not in out},
            lines={place: found.exact for place, found in self.lines.items()},
            left_out=frozenset(out),
        )

    def by_line(self) -> dict[tuple[str, int], Counters]:
        """Return the counters of each source line, keyed by (file, line)."""
        return dict(self.lines)

    @property
    def sectors_per_request(self) -> float:
        """Sectors a global load request moves; 4 is ideal for 4-byte values."""
        requests = self.global_load_requests
        return self.global_load_sectors / requests if requests else 0.0

    @property
    def warp_efficiency(self) -> float:
        """Share of lanes that were active, 0..1."""
        slots = 32 * self.warp_instructions
        return self.thread_instructions / slots if slots else 0.0

    @property
    def arithmetic_intensity(self) -> float:
        """Floating-point operations per byte read or written."""
        moved = self.bytes_read + self.bytes_written
        return sum(getattr(self, name) for name in _FLOPS) / moved if moved else 0.0

    def as_dict(self) -> dict[str, int]:
        """All fields that are not zero."""
        return {name: self.values[name] for name in FIELDS if self.values.get(name)}

    def __repr__(self) -> str:
        rows = [
            f"  {name:<28}{value:>16,}  {self.label(name)}"
            for name, value in self.as_dict().items()
        ]
        return "\n".join([f"Counters ({self._origin})", *rows])

    @property
    def _origin(self) -> str:
        return f"{self.source}; {self.note}" if self.note else self.source

    def _repr_html_(self) -> str:
        cell = '<td style="text-align:right;font-variant-numeric:tabular-nums">'
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
            f"{cell}{value:,}</td><td>{self.label(name)}</td></tr>"
            for name, value in self.as_dict().items()
        )
        sides = {"counter": "left", "count": "right", "label": "left"}
        head = "".join(
            f'<th scope="col" style="text-align:{side}">{title}</th>'
            for title, side in sides.items()
        )
        title = f"Counters ({escape(self._origin)})"
        caption = f'<caption style="text-align:left">{title}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead>{rows}</table>"


_FLOPS = ("flops_fp16", "flops_fp32", "flops_fp64", "tensor_flops")
_PARTS = {
    "sectors_per_request": ("global_load_requests", "global_load_sectors"),
    "warp_efficiency": ("warp_instructions", "thread_instructions"),
    "arithmetic_intensity": (*_FLOPS, "bytes_read", "bytes_written"),
}
