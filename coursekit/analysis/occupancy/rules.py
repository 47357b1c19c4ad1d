"""The limits on the blocks of an SM: registers, shared memory, warps, block slots.

Source: `cuda_occupancy.h` of the CUDA toolkit; a test compiles it and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coursekit.hardware.architectures import SmLimits

UNLIMITED = 1 << 30
NAMES = {
    "SM": "block slots",
    "registers": "registers",
    "shared": "shared memory",
    "warps": "warp slots",
    "barriers": "barriers",
}
_BARRIERS_SINCE = (9, 0)  # before, the toolkit's rules know no such limit
_TWICE_AS_MANY_BARRIERS = ((9, 0), (10, 0))  # as block slots


@dataclass(frozen=True, slots=True)
class Demand:
    """The resources that one block needs on an SM.

    Attributes
    ----------
    threads : int
        Of a block.
    registers : int
        Of a thread.
    shared_bytes : int
        Of a block, declared in the kernel and given by the launch, together.
    barriers : int
        Hardware barriers of a block.
    max_threads : int
        Most threads of a block, by ``__launch_bounds__`` and the registers.
    """

    threads: int
    registers: int
    shared_bytes: int = 0
    barriers: int = 0
    max_threads: int = 1024


def rounded_up(number: int, unit: int) -> int:
    """Round a number up to a multiple of a unit."""
    return -(-number // unit) * unit


def warps_of(sm: SmLimits, demand: Demand) -> int:
    """Return the warps of a block; the last one may be partly empty."""
    return -(-demand.threads // sm.warp_size)


def registers_of_warp(sm: SmLimits, demand: Demand) -> int:
    """Return the registers that a warp takes, rounded up to the allocation unit."""
    return rounded_up(demand.registers * sm.warp_size, sm.register_unit)


def shared_of_block(sm: SmLimits, demand: Demand) -> int:
    """Return the shared memory in bytes that a block takes.

    It is the block's own and the driver's share, rounded up to the allocation unit.
    """
    asked = demand.shared_bytes + sm.shared_reserved_bytes_per_block
    return rounded_up(asked, sm.shared_unit_bytes)


def limits(sm: SmLimits, demand: Demand) -> Mapping[str, int]:
    """Return how many blocks of an SM each resource allows by itself.

    "shared" is for the largest configuration; `configuration` says what is chosen.
    """
    return {
        "SM": sm.max_blocks_per_sm,
        "registers": _by_registers(sm, demand),
        "shared": _by_shared(sm, demand, sm.shared_bytes_per_sm),
        "warps": _by_warps(sm, demand),
        "barriers": _by_barriers(sm, demand),
    }


def configurations(sm: SmLimits) -> list[int]:
    """List the sizes in bytes that an SM can set aside as shared memory.

    The largest is what the driver reports.
    """
    most = sm.shared_bytes_per_sm
    return [*(size for size in sm.shared_carveouts_bytes if size < most), most]


def configuration(sm: SmLimits, demand: Demand) -> int:
    """Return the smallest size of shared memory with which no block is lost."""
    needed = min(limits(sm, demand).values()) * shared_of_block(sm, demand)
    return next(size for size in configurations(sm) if size >= needed)


def shared_limit(sm: SmLimits, demand: Demand, size: int) -> int:
    """Return how many blocks' shared memory fits a configuration of `size` bytes."""
    return _by_shared(sm, demand, size)


def blocks(sm: SmLimits, demand: Demand) -> int:
    """Return how many blocks an SM holds at once."""
    return min(limits(sm, demand).values())


def most_registers(sm: SmLimits, demand: Demand, count: int) -> int | None:
    """Return the most registers per thread with which `count` blocks fit an SM.

    It is None where they do not fit with a single register.
    """
    for number in range(min(demand.registers, sm.max_registers_per_thread), 0, -1):
        if _by_registers(sm, replace(demand, registers=number)) >= count:
            return number
    return None


def most_shared(sm: SmLimits, count: int) -> int | None:
    """Return the most shared memory in bytes per block with which `count` blocks fit.

    It is None where the driver's own share is too much.
    """
    unit = sm.shared_unit_bytes
    share = sm.shared_bytes_per_sm // count // unit * unit
    left = share - sm.shared_reserved_bytes_per_block
    return left if left >= 0 else None


def _by_registers(sm: SmLimits, demand: Demand) -> int:
    per_warp = registers_of_warp(sm, demand)
    if not per_warp:
        return UNLIMITED
    warps, parts = warps_of(sm, demand), sm.schedulers_per_sm
    too_many = per_warp * rounded_up(warps, parts) > sm.registers_per_block
    if too_many or demand.registers > sm.max_registers_per_thread:
        return 0
    # Each quarter of the SM has registers of its own, and a warp stays in one.
    return sm.registers_per_sm // parts // per_warp * parts // warps


def _by_shared(sm: SmLimits, demand: Demand, size: int) -> int:
    if demand.shared_bytes > sm.shared_bytes_per_block_optin:
        return 0
    taken = shared_of_block(sm, demand)
    return size // taken if taken else UNLIMITED


def _by_warps(sm: SmLimits, demand: Demand) -> int:
    if demand.threads > min(demand.max_threads, sm.max_threads_per_block):
        return 0
    return sm.max_warps_per_sm // warps_of(sm, demand)


def _by_barriers(sm: SmLimits, demand: Demand) -> int:
    if not demand.barriers or sm.compute_capability < _BARRIERS_SINCE:
        return UNLIMITED
    twice = sm.compute_capability in _TWICE_AS_MANY_BARRIERS
    return (2 if twice else 1) * sm.max_blocks_per_sm // demand.barriers
