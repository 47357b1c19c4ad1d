"""What would have to change for an SM to hold one block more."""

from __future__ import annotations

from dataclasses import replace

from coursekit.analysis.occupancy import rules
from coursekit.analysis.occupancy.rules import Demand
from coursekit.hardware.architectures import SmLimits

STEP = 32


def sentences(sm: SmLimits, demand: Demand) -> tuple[str, ...]:
    """Say how to gain a block, and which other block size would hold more warps."""
    found = rules.blocks(sm, demand)
    warps = rules.warps_of(sm, demand)
    if found * warps == sm.max_warps_per_sm:
        return (f"All {sm.max_warps_per_sm} warps are taken: more cannot be had.",)
    texts = [_gain(sm, demand, found + 1), _other_block(sm, demand, found * warps)]
    return tuple(text for text in texts if text)


def _gain(sm: SmLimits, demand: Demand, wanted: int) -> str:
    """Say what one block more takes; every limit in its way has to give."""
    changes, changed = [], demand
    for name, most in rules.limits(sm, demand).items():
        if most >= wanted:
            continue
        if name == "registers":
            number = rules.most_registers(sm, demand, wanted)
            if number is None:
                return _hopeless(name, wanted)
            changes.append(
                f"at most {number} registers a thread (now {demand.registers})"
            )
            changed = replace(changed, registers=number)
        elif name == "shared":
            number = rules.most_shared(sm, wanted)
            if number is None:
                return _hopeless(name, wanted)
            changes.append(
                f"at most {number:,} B of shared memory a block (now "
                f"{demand.shared_bytes:,})"
            )
            changed = replace(changed, shared_bytes=number)
        else:
            return _hopeless(name, wanted)
    warps = wanted * rules.warps_of(sm, changed)
    share = 100 * warps / sm.max_warps_per_sm
    return (
        f"{counted(wanted, 'block')} {'fits' if wanted == 1 else 'fit'} with "
        f"{' and '.join(changes)}: {warps} of {sm.max_warps_per_sm} warps, "
        f"{share:.2f} %."
    )


def counted(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _hopeless(name: str, wanted: int) -> str:
    why = {
        "SM": "all block slots are taken, so only larger blocks hold more warps",
        "warps": "the warps left do not make a block",
        "barriers": "the kernel uses too many barriers",
        "registers": "even one register a thread is too many",
        "shared": "the driver's own shared memory is too much",
    }
    return f"{counted(wanted, 'block')} of this size cannot fit: {why[name]}."


def _other_block(sm: SmLimits, demand: Demand, now: int) -> str:
    """Name the smallest block size that holds most warps, where it gains any."""
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
