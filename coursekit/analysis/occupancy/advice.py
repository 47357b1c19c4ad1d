"""Advice: what would have to change for an SM to hold one more block."""

from __future__ import annotations

from dataclasses import replace

from coursekit.analysis.occupancy import rules
from coursekit.analysis.occupancy.rules import Demand
from coursekit.hardware.architectures import SmLimits

STEP = 32


def sentences(sm: SmLimits, demand: Demand) -> tuple[str, ...]:
    """Say how to gain a block, and which other block size would hold more warps."""
    blocks = rules.blocks(sm, demand)
    warps = rules.warps_of(sm, demand)
    if blocks * warps == sm.max_warps_per_sm:
        return (f"All {sm.max_warps_per_sm} warps are taken: more cannot be had.",)
    texts = [_gain(sm, demand, blocks + 1), _other_block(sm, demand, blocks * warps)]
    return tuple(text for text in texts if text)


def _gain(sm: SmLimits, demand: Demand, blocks: int) -> str:
    """Say how each limit has to change so that an SM holds that many blocks."""
    changes, changed = [], demand
    for name, most in rules.limits(sm, demand).items():
        if most >= blocks:
            continue
        if name == "registers":
            number = rules.most_registers(sm, demand, blocks)
            if number is None:
                return _hopeless(name, blocks)
            changes.append(
                f"at most {number} registers per thread (now {demand.registers})"
            )
            changed = replace(changed, registers=number)
        elif name == "shared":
            number = rules.most_shared(sm, blocks)
            if number is None:
                return _hopeless(name, blocks)
            changes.append(
                f"at most {number:,} B of shared memory per block (now "
                f"{demand.shared_bytes:,})"
            )
            changed = replace(changed, shared_bytes=number)
        else:
            return _hopeless(name, blocks)
    warps = blocks * rules.warps_of(sm, changed)
    share = 100 * warps / sm.max_warps_per_sm
    return (
        f"{counted(blocks, 'block')} {'fits' if blocks == 1 else 'fit'} with "
        f"{' and '.join(changes)}: {warps} of {sm.max_warps_per_sm} warps, "
        f"{share:.2f} %."
    )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _hopeless(name: str, blocks: int) -> str:
    why = {
        "SM": "all block slots are taken, so only larger blocks hold more warps",
        "warps": "the warps left do not make a block",
        "barriers": "the kernel uses too many barriers",
        "registers": "even one register per thread is too many",
        "shared": "the driver's own shared memory is too much",
    }
    return f"{counted(blocks, 'block')} of this size cannot fit: {why[name]}."


def _other_block(sm: SmLimits, demand: Demand, now: int) -> str:
    """Name the block size with the most active warps, if more than now.

    Of several such sizes it is the smallest.
    """
    best, best_warps = 0, now
    for threads in range(STEP, sm.max_threads_per_block + 1, STEP):
        other = replace(demand, threads=threads)
        held = rules.blocks(sm, other) * rules.warps_of(sm, other)
        if held > best_warps:
            best, best_warps = threads, held
    if not best:
        return ""
    alike = ", if its shared memory stays the same" if demand.shared_bytes else ""
    return (
        f"A block of {best} threads would hold {best_warps} of {sm.max_warps_per_sm} "
        f"warps{alike}."
    )
