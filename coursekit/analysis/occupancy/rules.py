"""The rules by which an SM takes blocks in: registers, shared memory, warps, slots.

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
    """What one block asks of an SM.

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
    """Return the next multiple of a unit."""
    return -(-number // unit) * unit


def warps_of(sm: SmLimits, demand: Demand) -> int:
    """Warps of a block; the last may be partly empty."""
    return -(-demand.threads // sm.warp_size)


def registers_of_warp(sm: SmLimits, demand: Demand) -> int:
    """Registers that a warp takes, rounded up to the unit they come in."""
    return rounded_up(demand.registers * sm.warp_size, sm.register_unit)


def shared_of_block(sm: SmLimits, demand: Demand) -> int:
    """Shared memory that a block takes: its own, the driver's, rounded up."""
    asked = demand.shared_bytes + sm.shared_reserved_bytes_per_block
    return rounded_up(asked, sm.shared_unit_bytes)


def limits(sm: SmLimits, demand: Demand) -> Mapping[str, int]:
    """Blocks of an SM that each resource allows, were it the only one.

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
    """Shares of L1 that can be set aside; the largest is what the driver says."""
    most = sm.shared_bytes_per_sm
    return [*(size for size in sm.shared_carveouts_bytes if size < most), most]


def configuration(sm: SmLimits, demand: Demand) -> int:
    """Return the bytes of L1 set aside: the least that takes no block away."""
    wanted = min(limits(sm, demand).values()) * shared_of_block(sm, demand)
    return next(size for size in configurations(sm) if size >= wanted)


def shared_limit(sm: SmLimits, demand: Demand, size: int) -> int:
    """Blocks whose shared memory fits a configuration."""
    return _by_shared(sm, demand, size)


def blocks(sm: SmLimits, demand: Demand) -> int:
    """Blocks that an SM holds at once."""
    return min(limits(sm, demand).values())


def most_registers(sm: SmLimits, demand: Demand, wanted: int) -> int | None:
    """Most registers of a thread with which so many blocks fit, None without any."""
    for number in range(min(demand.registers, sm.max_registers_per_thread), 0, -1):
        if _by_registers(sm, replace(demand, registers=number)) >= wanted:
            return number
    return None


def most_shared(sm: SmLimits, wanted: int) -> int | None:
    """Most shared bytes of a block with which so many blocks fit, None without any."""
    unit = sm.shared_unit_bytes
    share = sm.shared_bytes_per_sm // wanted // unit * unit
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
