"""Limits of one streaming multiprocessor (SM), by compute capability.

The sizes, and the units in which the hardware allocates registers and shared memory,
decide how many blocks fit an SM at once (occupancy).

Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability", for the sizes and the shared-memory capacities; the headers of the
CUDA 13.5 packages `cuda_occupancy.h` (allocation units) and
`cuda/__device/arch_traits.h` (the same sizes), read to check every row. Lanes for
FP64 of 10.3 and 11.0 follow from the guide's ratio of FP32 to FP64, 64 to 1.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from coursekit.errors import UnsupportedError

KIB = 1024

GUIDE = "CUDA C++ Programming Guide, Technical Specifications per Compute Capability"
OCCUPANCY_HEADER = "cuda_occupancy.h of the CUDA toolkit"
TENSOR_CORE_GENERATIONS = {
    "Volta": 1,
    "Turing": 2,
    "Ampere": 3,
    "Ada Lovelace": 4,
    "Hopper": 4,
    "Blackwell": 5,
}
LANES_GUIDE = "CUDA C++ Programming Guide, Throughput of Arithmetic Instructions"


@dataclass(frozen=True, kw_only=True)
class SmLimits:
    """Sizes and limits of one SM.

    Attributes
    ----------
    compute_capability : tuple of int
        (major, minor), for example (9, 0).
    fp32_lanes_per_sm, fp64_lanes_per_sm : int
        Results of that type an SM can start in one clock.
    shared_carveouts_bytes : tuple of int
        The shares of L1 that can be set aside as shared memory.
    shared_reserved_bytes_per_block : int
        Shared memory that the driver keeps for itself in every block.
    shared_unit_bytes, register_unit : int
        A block's shared memory, and a warp's registers, are rounded up to
        multiples of these.
    """

    compute_capability: tuple[int, int]
    architecture: str
    fp32_lanes_per_sm: int
    fp64_lanes_per_sm: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    l1_and_shared_bytes_per_sm: int
    shared_bytes_per_sm: int
    shared_carveouts_bytes: tuple[int, ...]
    shared_reserved_bytes_per_block: int
    shared_unit_bytes: int
    shared_bytes_per_block: int = 48 * KIB
    registers_per_sm: int = 64 * KIB
    registers_per_block: int = 64 * KIB
    max_registers_per_thread: int = 255
    register_unit: int = 256
    schedulers_per_sm: int = 4
    warp_size: int = 32
    max_threads_per_block: int = 1024

    @functools.cached_property
    def max_warps_per_sm(self) -> int:
        """Warps that an SM keeps resident at once."""
        return self.max_threads_per_sm // self.warp_size

    @functools.cached_property
    def shared_bytes_per_block_optin(self) -> int:
        """Shared memory a block can have when its launch asks for more than 48 KB."""
        return self.shared_bytes_per_sm - self.shared_reserved_bytes_per_block

    @property
    def tensor_core_generation(self) -> int:
        """Generation of the tensor cores, 1 for Volta to 5 for Blackwell."""
        return TENSOR_CORE_GENERATIONS[self.architecture]

    @property
    def arch(self) -> str:
        """The compiler's name of this target, for example ``"sm_90"``."""
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"


def _row(
    capability: tuple[int, int],
    name: str,
    lanes: tuple[int, int],
    resident: tuple[int, int],
    l1_kib: int,
    carveouts_kib: tuple[int, ...],
) -> SmLimits:
    """Make one row of lanes (fp32, fp64), resident (threads, blocks), sizes in KiB."""
    before_ampere = capability < (8, 0)
    return SmLimits(
        compute_capability=capability,
        architecture=name,
        fp32_lanes_per_sm=lanes[0],
        fp64_lanes_per_sm=lanes[1],
        max_threads_per_sm=resident[0],
        max_blocks_per_sm=resident[1],
        l1_and_shared_bytes_per_sm=l1_kib * KIB,
        shared_bytes_per_sm=carveouts_kib[-1] * KIB,
        shared_carveouts_bytes=tuple(size * KIB for size in carveouts_kib),
        shared_reserved_bytes_per_block=0 if before_ampere else KIB,
        shared_unit_bytes=256 if before_ampere else 128,
    )


_TO_96 = (0, 8, 16, 32, 64, 96)
_TO_100 = (0, 8, 16, 32, 64, 100)
_TO_164 = (*_TO_100, 132, 164)
_TO_228 = (*_TO_164, 196, 228)

SM_LIMITS = {
    row.compute_capability: row
    for row in (
        _row((7, 0), "Volta", (64, 32), (2048, 32), 128, _TO_96),
        _row((7, 5), "Turing", (64, 2), (1024, 16), 96, (32, 64)),
        _row((8, 0), "Ampere", (64, 32), (2048, 32), 192, _TO_164),
        _row((8, 6), "Ampere", (128, 2), (1536, 16), 128, _TO_100),
        _row((8, 7), "Ampere", (128, 2), (1536, 16), 192, _TO_164),
        _row((8, 9), "Ada Lovelace", (128, 2), (1536, 24), 128, _TO_100),
        _row((9, 0), "Hopper", (128, 64), (2048, 32), 256, _TO_228),
        _row((10, 0), "Blackwell", (128, 64), (2048, 32), 256, _TO_228),
        _row((10, 3), "Blackwell", (128, 2), (2048, 32), 256, _TO_228),
        _row((11, 0), "Blackwell", (128, 2), (1536, 24), 256, _TO_228),
        _row((12, 0), "Blackwell", (128, 2), (1536, 24), 128, _TO_100),
    )
}

# The headers give 8.8 the limits of 8.6; the guide has one column for all 12.x.
_SAME_LIMITS = {(8, 8): (8, 6), (12, 1): (12, 0)}


def sm_limits(compute_capability: tuple[int, int]) -> SmLimits:
    """Look up the limits of an SM.

    Parameters
    ----------
    compute_capability : tuple of int
        (major, minor).

    Raises
    ------
    UnsupportedError
        For one whose limits the sources do not state. The limits of a neighbour
        may differ: 8.7 has 164 KiB of shared memory per SM and 8.6 has 100.

    Examples
    --------
    >>> sm_limits((8, 6)).max_warps_per_sm
    48
    """
    row = _SAME_LIMITS.get(compute_capability, compute_capability)
    if row not in SM_LIMITS:
        raise _without_limits(compute_capability)
    return SM_LIMITS[row]


def _without_limits(compute_capability: tuple[int, int]) -> UnsupportedError:
    """Explain that the limits of this architecture are unknown here."""
    major, minor = compute_capability
    cause = "GPUs from before Volta (7.0) are older than every tool of this course."
    if compute_capability >= (7, 0):
        cause = (
            "This version of the course does not know its limits per SM, and those "
            "of its neighbours may differ."
        )
    return UnsupportedError.explained(
        f"Compute capability {major}.{minor} is not in the table.",
        cause,
        "Choose a simulated device: ck.simulator(device='H200'), or set the "
        "environment variable COURSEKIT_BACKEND=simulator for a whole session.",
    )
