"""Messages of findings: the threads, the element and the source lines."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from coursekit import errors
from coursekit.simt.checks.findings import NOTE
from coursekit.simt.memory import faults

LANES = 32
GUESS, COPY, SCOPE = "guess", "copy", "scope"
_DOES = {"reads": "reads {}", "writes": "writes {}",
         "updates": "updates {} atomically"}  # fmt: skip


_FIRST = {"reads": 0, "writes": 1, "updates": 2}


def index(shape, linear: int) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in its block, or a block in the grid."""
    wide, high, _ = shape
    return linear % wide, linear // wide % high, linear // (wide * high)


class Side(NamedTuple):
    """One of two racing accesses, with its thread and block."""

    access: object
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


def race(
    touch, earlier, position: int, other: int, severity: str, *, near=False, seen=False
):
    """Build the error for two unordered accesses to one place.

    `position` counts the lanes of the later access, `other` is the grid-wide number of
    the thread of the earlier one. `near` says that both are in one warp, `seen` that
    the later thread was told of the earlier access but lacks a fence. The error names a
    reader first, since there the wrong value enters, whichever access came first.
    """
    launch, (region, _, offsets) = touch.warp.block.launch, touch.part
    mine = int(touch.threads[position * touch.each])
    later = _side(touch.access, launch, divmod(mine, touch.order.size))
    before = _side(earlier, launch, divmod(other, touch.order.size))
    me, they = sorted((later, before), key=lambda side: _FIRST[side.access.verb])
    same_block = me.block == they.block
    there = "of the same block" if same_block else f"of block {they.block}"
    place = faults.element(region, int(offsets[position]), touch.access.width)
    kind = severity
    if severity == NOTE and me.access.verb != they.access.verb:
        kind = GUESS
    if me.access.strong and they.access.strong and not same_block:
        kind = SCOPE
    other = f"thread {they.thread} {there}"
    if same_block and me.thread == they.thread:
        other = "a copy that it began itself"
    what = (
        f"thread {me.thread} of block {me.block} "
        f"{_DOES[me.access.verb].format(place)}, and {other} "
        f"{_DOES[they.access.verb].format('it')}: {_lack(same_block, near, kind)}"
    )
    found, lines = _lines(launch.program, (they, me))
    verbs = {me.access.verb, they.access.verb}
    advice = _ADVICE.get(kind) or (_SEEN if seen else None)
    cause, cure = advice or _race_advice(region, same_block, near, verbs)
    error = errors.DataRaceError.explained("\n  ".join([what, *lines]), cause, cure)
    return placed(error, me.thread, me.block, found)


def _side(access, launch, number: tuple[int, int]) -> Side:
    block, thread = number
    return Side(
        access,
        index(launch.configuration.block_shape, thread),
        index(launch.configuration.grid, block),
    )


def _lack(same_block: bool, near: bool, severity: str) -> str:
    if severity == NOTE:
        return "no order between them, but the value is the same."
    if severity == GUESS:
        return "no order between them, but the read may be out of date."
    if severity == COPY:
        return "nobody has waited for that copy."
    if severity == SCOPE:
        return "one of the two is atomic within its own block only."
    if near:
        return "one warp, but no __syncwarp() between them."
    return "no barrier between them." if same_block else "nothing orders blocks."


def _lines(program, sides):
    """Return the lines of both accesses, each with its thread and verb, and a place."""
    lines, place = [], None
    for access, thread, _ in sides:
        place, shown = faults.source_place(program, access.instruction.location)
        shown = shown or access.instruction.text
        lines.append(f"{shown}    <- thread {thread} {access.verb}")
    return place, lines


def _race_advice(region, same_block, near, verbs):
    if near:
        return (
            "Threads of a warp need not run in step since Volta.",
            "Put a __syncwarp() between the two lines.",
        )
    if "updates" in verbs:
        between, later = "Put a __syncthreads() between", "Do it in another launch"
        apart = f"{between} the two" if same_block else later
        return (
            "Atomics are safe from each other only: a plain read or write of the same "
            "element may come between them at any time.",
            f"{apart}, or use an atomic here as well.",
        )
    if not same_block:
        return (
            "Blocks run in any order and at the same time.",
            "Use an atomic, give each block its own elements, or use two launches.",
        )
    if region.space == "shared":
        return (
            "Threads of a block run in any order between two barriers.",
            "Put a __syncthreads() between the two, or use an atomic.",
        )
    if verbs == {"writes"}:
        return (
            "Several threads write the same element: an index that is not unique.",
            "Give each thread its own elements, or use an atomic.",
        )
    return (
        "Threads run in any order. Either several of them add up a result, or one "
        "reads what another changes in place.",
        "Use an atomic, write to another array, or put a barrier between the two.",
    )


_SEEN = (
    "An atomic or a volatile read told the thread that the value is there. That "
    "orders nothing that follows it: the value itself may still be an older one.",
    "Put a __threadfence() directly behind that atomic or read (in one block, "
    "__threadfence_block() will do), or let it acquire: cuda::atomic_ref can.",
)
_UNAWAITED = (
    "An asynchronous copy goes on by itself; a barrier waits for threads, not for "
    "copies.",
    "Let each thread wait for its copies, for example with __pipeline_commit() and "
    "__pipeline_wait_prior(0), and put a __syncthreads() behind that.",
)
_ADVICE = {
    COPY: _UNAWAITED,
    NOTE: (
        "Several threads do the same; the result does not depend on their order.",
        "Let one thread do it, for example with `if (threadIdx.x == 0)`.",
    ),
    GUESS: (
        "The value read is a guess, which an atomic on the same element confirms.",
        "Nothing is wrong as long as the guess alone decides nothing.",
    ),
    SCOPE: (
        "Functions whose names end in _block, and thread_scope_block, are atomic "
        "among the threads of one block; other blocks may come in between.",
        "Use the function without _block, for example atomicAdd(), or "
        "thread_scope_device.",
    ),
}


def unawaited(touch, copy, position: int, other: int):
    """Build the error for an access to bytes that an unfinished copy is to write.

    `position` counts the lanes of the access, `other` is the number in its block of
    the thread that began the copy.
    """
    access, warp, (region, _, offsets) = touch.access, touch.warp, touch.part
    launch, block = warp.block.launch, warp.block.index
    number = int(touch.threads[position * touch.each])
    me, they = (index(launch.configuration.block_shape, one) for one in (number, other))
    place = faults.element(region, int(offsets[position]), access.width)
    whose = "that it began itself" if me == they else f"of thread {they}"
    what = (
        f"thread {me} of block {block} {_DOES[access.verb].format(place)} while an "
        f"asynchronous copy {whose} is on its way there: nobody has waited for it."
    )
    _, begun = faults.source_place(launch.program, copy.instruction.location)
    found, shown = faults.source_place(launch.program, access.instruction.location)
    lines = (
        f"{begun or copy.instruction.text}    <- thread {they} begins to copy",
        f"{shown or access.instruction.text}    <- thread {me} {access.verb}",
    )
    error = errors.BarrierError.explained("\n  ".join([what, *lines]), *_UNAWAITED)
    return placed(error, me, block, found)


def unwritten(
    access, warp, part, position: int, severity: str, *, copied=False, names=frozenset()
):
    """Build the error for a read of uninitialised memory.

    With `copied` an asynchronous copy is to write it; `names` are the variables that
    the source declares without a value.
    """
    region, lanes, offsets = part
    lane = int(np.arange(LANES)[lanes][position])
    offset = int(offsets[position])
    if region.space == "local":
        offset %= int(warp.local_stride)
        name = _own_variable(access, warp, names)
        place = f"{name}, in" if name else f"byte {offset} of"
        place += " its own local memory"
    else:
        place = faults.element(region, offset, access.width)
    cause, cure = _UNAWAITED if copied else _UNWRITTEN[region.space]
    if severity == NOTE:
        cause, cure = "It is only copied; bytes that nobody uses do no harm.", ""
    yet = " yet" if copied else ""
    return faults.kernel_error(
        errors.UninitializedReadError, warp, lane, access.instruction,
        f"{{thread}} {access.verb} {place}, which nothing has written{yet}.",
        cause, cure,
    )  # fmt: skip


def handed_out(access, warp, part, position: int):
    """Build the error for a store of an uninitialised value."""
    region, lanes, offsets = part
    place = faults.element(region, int(offsets[position]), access.width)
    return faults.kernel_error(
        errors.UninitializedReadError, warp, int(np.arange(LANES)[lanes][position]),
        access.instruction,
        f"{{thread}} writes a value to {place} that nothing has written where it was "
        "read.",
        "It is a copy of memory that ck.empty reserved, and that nobody has set.",
        "Set that memory first, or start from ck.to_device(np.zeros(...)).",
    )  # fmt: skip


def _own_variable(access, warp, names) -> str:
    """Return the one uninitialised variable that the line of an access names."""
    program = warp.block.launch.program
    place = access.instruction.location
    while place is not None:
        _, shown = faults.source_place(program, place)
        found = names.intersection(re.findall(r"\w+", shown))
        if found:
            return next(iter(found)) if len(found) == 1 else ""
        place = place.inlined_at
    return ""


_UNWRITTEN = {
    "shared": (
        "Shared memory starts with whatever an earlier block left there.",
        "Let the block write every element that it reads, for example zeros at the "
        "edges, and put a __syncthreads() behind that.",
    ),
    "local": (
        "A variable of a thread, array or not, starts with arbitrary values.",
        "Give it a value where it is declared, for example `float sum = 0;` or "
        "`float sums[4] = {};`.",
    ),
    "global": (
        "ck.empty reserves memory and does not set it.",
        "Write it first, or start from ck.to_device(np.zeros(...)).",
    ),
}


def placed(error, thread, block, place):
    """Return an error with thread, block and source position."""
    error.thread, error.block = thread, block
    if place is not None:
        error.file, error.line = place.file, place.line
    return error
