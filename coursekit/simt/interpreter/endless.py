"""Proof of an endless loop or livelock: the state of a launch repeats.

The interpreter takes turns by fixed rules, so a state that repeats once repeats for
ever: the program counter of each lane, every register, and all memory. Comparing costs
time, so it is done now and then, and memory is compared only where registers repeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter.mbarriers import Phase
from coursekit.simt.interpreter.stalls import at_barriers, held_up
from coursekit.simt.memory import faults

# Of so many looks the first ones, which see what comes back within as many.
PERIOD, LOOKS = 1024, 32
MEMORY_BYTES = 1 << 30  # more would take seconds
TRIES = 4  # comparisons of memory in a period


class EndlessLoopProof:
    """The earlier states of a launch, or of one of its warps."""

    def __init__(self):
        self._looks = self._tries = 0
        self._seen: dict[bytes, bytes | None] = {}

    def returned(self, launch, warps, blocks) -> bool:
        """Whether the present state equals an earlier one.

        Parameters
        ----------
        launch : Launch
        warps : iterable of Warp
            What may still run.
        blocks : list of Block
            Blocks with these warps.
        """
        place = self._looks % PERIOD
        self._looks += 1
        if place == 0:
            self._tries = TRIES
            self._seen.clear()
        if place >= LOOKS or not self._tries:
            return False
        clock = str(launch.journal.clock_reads).encode()
        state = _digest([clock, *(_state(warp) for warp in warps)])
        if state not in self._seen:
            self._seen[state] = None
            return False
        self._tries -= 1
        before, now = self._seen[state], _memory(launch, blocks)
        self._seen[state] = now
        return now is not None and now == before


def endless(warps, *, polls: bool) -> errors.KernelError:
    """Build the error for a launch whose state repeats.

    `polls` says whether the kernel reads memory that other threads may be writing.
    """
    left = [warp for warp in warps if warp.ready or warp.parked]
    spins = next((warp for warp in left if warp.ready), left[0])
    warp = next((warp for warp in left if warp.awaited), spins)
    split = (*warp.ready, *warp.parked)[0]
    barrier = held_up(warp, split) if warp.ready else None
    if barrier is not None:
        return barrier
    instruction = split.frame.code.last_instruction(split.block)
    once = "" if polls else ", or that the compiler reads once, before the loop"
    advice = faults.endless_advice(instruction, once)
    waiting = at_barriers(warp.block)
    if warp.awaited is not None:
        advice = _about_a_barrier(*warp.awaited) or advice
    return faults.kernel_error(
        errors.DeadlockError, warp, int(np.argmax(split.mask)), instruction,
        "{thread} runs for ever: all threads that are left have come back to where "
        "they were, with every register and all memory as before." + _held_up(waiting),
        *advice,
    )  # fmt: skip


def _held_up(waiting) -> str:
    """Return a sentence about a thread at a barrier that waits for the endless one."""
    if not waiting:
        return ""
    warp, split, _ = waiting[0]
    thread = warp.thread(int(np.argmax(split.mask)))
    return f" Thread {thread} waits at a barrier meanwhile, and a GPU hangs, too."


def _about_a_barrier(region, offset: int) -> tuple[str, str] | None:
    """Return what an mbarrier lacks, and the cure; None if it is gone."""
    phase = Phase.read(int(region.view(8)[offset // 8]))
    if phase is None:
        return None
    name = faults.readable(region.name) or "shared memory"
    lacks = f"{phase.missing} of {phase.expected} arrivals"
    if phase.announced:
        lacks += f" and {phase.announced:,} bytes"
    return (
        f"It waits for the barrier at byte {offset} of {name}, whose phase lacks "
        f"{lacks}.",
        "Count what arrives in each phase, and in which phase: barrier_init tells how "
        "many arrivals, expect_tx how many bytes there will be.",
    )


def _digest(parts: Iterable) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found.digest()


def _state(warp) -> bytes:
    """Return the program counters and the registers of a warp, hashed."""
    moved = warp.executed, len(warp.ready), len(warp.parked)
    if warp.looked_at is None or warp.looked_at[0] != moved:
        warp.looked_at = moved, _digest(_parts(warp))
    return warp.looked_at[1]


def _parts(warp):
    """Yield all that determines a warp's next steps, except memory."""
    frames: dict[int, tuple] = {}
    places, idle = [warp.block.linear, warp.index, warp.polled], 0
    for split in (*warp.ready, *warp.parked):
        places += [split.block, id(split.waits_for), _number(frames, split.frame)]
        yield split.mask
        reconvergence = split.reconvergence
        while reconvergence is not None:
            places += [reconvergence.target, _number(frames, reconvergence.frame)]
            yield reconvergence.arrived
            yield reconvergence.expected
            idle = idle or (warp.idle_turns if reconvergence.arrived.any() else 0)
            reconvergence = reconvergence.outer
    for _, frame in list(frames.values()):
        while frame is not None:
            places += [frame.code.function.name, frame.resume, frame.local_base]
            yield frame.values
            for name, value in frame.params.items():
                places.append(name)
                yield value.tobytes()
            frame = frame.caller
    if warp.copies is not None:
        places.append(warp.copies.begun)
    if warp.stores is not None:
        places.append(warp.stores.begun)
    yield repr((*places, idle)).encode()


def _number(frames: dict[int, tuple], frame) -> int:
    """Return the number of a frame among those of its warp, {id: (number, frame)}."""
    return frames.setdefault(id(frame), (len(frames), frame))[0]


def _memory(launch, blocks) -> bytes | None:
    """Return the contents of memory, None if it is too large to compare."""
    regions = [region for region in launch.memory.regions() if not region.read_only]
    for block in blocks:
        regions += block.shared.regions
        regions += [warp.local for warp in block.warps] if launch.local_bytes else []
    if sum(region.nbytes for region in regions) > MEMORY_BYTES:
        return None
    waiting = [
        (name, found.counted, found.threads, found.votes, len(found.splits))
        for block in blocks
        for name, found in block.barriers.items()
    ]
    flying = [
        (key, len(copies)) for block in blocks for key, copies in block.flying.items()
    ]
    parts = (region.data for region in regions)
    return _digest((*parts, repr((waiting, flying)).encode()))
