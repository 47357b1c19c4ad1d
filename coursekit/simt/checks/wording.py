"""Messages of findings: the threads, the element and the source lines."""

from __future__ import annotations

import re

import numpy as np

from coursekit import errors
from coursekit.simt.checks.findings import NOTE
from coursekit.simt.memory import faults

LANES = 32
DOES = {"reads": "reads {}", "writes": "writes {}",
        "updates": "updates {} atomically"}  # fmt: skip
UNAWAITED = (
    "An asynchronous copy goes on by itself; a barrier waits for threads, not for "
    "copies.",
    "Let each thread wait for its copies, for example with __pipeline_commit() and "
    "__pipeline_wait_prior(0), and put a __syncthreads() behind that.",
)

STORED_EARLY = (
    "A bulk store goes on by itself. It reads shared memory until its thread has "
    "waited by wait_group.read, and writes global memory until it has waited by "
    "wait_group; a barrier waits for threads, not for copies.",
    "Let the thread that began it execute cp.async.bulk.commit_group, and "
    "cp.async.bulk.wait_group.read 0 before the shared bytes change, or "
    "cp.async.bulk.wait_group 0 before the global bytes are used; put a "
    "__syncthreads() behind that.",
)


def index(shape, linear: int) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in its block, or a block in the grid."""
    wide, high, _ = shape
    return linear % wide, linear // wide % high, linear // (wide * high)


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
        f"thread {me} of block {block} {DOES[access.verb].format(place)} while an "
        f"asynchronous copy {whose} is on its way there: nobody has waited for it."
    )
    _, begun = faults.source_place(launch.program, copy.instruction.location)
    found, shown = faults.source_place(launch.program, access.instruction.location)
    lines = (
        f"{begun or copy.instruction.text}    <- thread {they} begins to copy",
        f"{shown or access.instruction.text}    <- thread {me} {access.verb}",
    )
    error = errors.BarrierError.explained("\n  ".join([what, *lines]), *UNAWAITED)
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
    cause, cure = UNAWAITED if copied else _UNWRITTEN[region.space]
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
