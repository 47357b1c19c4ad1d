"""Findings in words: who did what to which element, on which line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coursekit import errors
from coursekit.simt import faults
from coursekit.simt.checks.findings import NOTE, WARNING

LANES = 32
GUESS, COPY = "guess", "copy"
_DOES = {"reads": "reads {}", "writes": "writes {}",
         "updates": "updates {} atomically"}  # fmt: skip


_FIRST = {"reads": 0, "writes": 1, "updates": 2}


def index(shape, linear: int) -> tuple[int, int, int]:
    """Index (x, y, z) of a thread in its block, or of a block in the grid."""
    wide, high, _ = shape
    return linear % wide, linear // wide % high, linear // (wide * high)


class Side(NamedTuple):
    """One of two accesses that race, and the thread and block of it."""

    access: object
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


def race(touch, earlier, position: int, other: int, severity: str, near: bool):
    """Build the error for two accesses to one place that nothing orders.

    `position` counts the lanes of the later access, `other` is the number in the
    grid of the thread of the earlier one. The error names a reader first, since
    that is where a wrong value comes in, whichever thread happened to be first.
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
    other = f"thread {they.thread} {there}"
    if same_block and me.thread == they.thread:
        other = "a copy that it began itself"
    what = (
        f"thread {me.thread} of block {me.block} "
        f"{_DOES[me.access.verb].format(place)}, and {other} "
        f"{_DOES[they.access.verb].format('it')}: {_lack(same_block, near, kind)}"
    )
    found, lines = _lines(launch.program, (they, me))
    cause, cure = _race_advice(region, same_block, near, kind)
    error = errors.DataRaceError.explained("\n  ".join([what, *lines]), cause, cure)
    return placed(error, me.thread, me.block, found)


def _side(access, launch, number: tuple[int, int]) -> Side:
    block, thread = number
    return Side(access, index(launch.block_shape, thread), index(launch.grid, block))


def _lack(same_block: bool, near: bool, severity: str) -> str:
    if severity == NOTE:
        return "no order between them, but the value is the same."
    if severity == GUESS:
        return "no order between them, but the read may be out of date."
    if severity == COPY:
        return "nobody has waited for that copy."
    if near:
        return "one warp, but no __syncwarp() between them."
    return "no barrier between them." if same_block else "nothing orders blocks."


def _lines(program, sides):
    """Lines of two accesses, each with who does what there; also the last place."""
    lines, place = [], None
    for access, thread, _ in sides:
        place, shown = faults.source_place(program, access.instruction.location)
        shown = shown or access.instruction.text
        lines.append(f"{shown}    <- thread {thread} {access.verb}")
    return place, lines


def _race_advice(region, same_block, near, severity):
    if severity == NOTE:
        return (
            "Several threads do the same; the result does not depend on their order.",
            "Let one thread do it, for example with `if (threadIdx.x == 0)`.",
        )
    if severity == GUESS:
        return (
            "The value read is a guess, which an atomic on the same element confirms.",
            "Nothing is wrong as long as the guess alone decides nothing.",
        )
    if severity == COPY:
        return _UNAWAITED
    if near and severity == WARNING:
        return (
            "Threads of a warp need not run in step since Volta.",
            "Put a __syncwarp() between the two lines.",
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
    return (
        "Two threads use the same element: an index that is not unique, or results "
        "that several threads add up.",
        "Use an atomic, give each thread its own elements, or put a barrier between.",
    )


_UNAWAITED = (
    "An asynchronous copy goes on by itself; a barrier waits for threads, not for "
    "copies.",
    "Let each thread wait for its copies, for example with "
    "__pipeline_wait_prior(0), and put a __syncthreads() behind that.",
)


def unwritten(access, warp, part, position: int, severity: str, *, copied: bool):
    """Build the error for a read of memory that nothing wrote.

    `copied` says that an asynchronous copy is to write it.
    """
    region, lanes, offsets = part
    lane = int(np.arange(LANES)[lanes][position])
    offset = int(offsets[position])
    if region.space == "local":
        offset %= int(warp.local_stride)
        place = f"byte {offset} of its own local memory"
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


_UNWRITTEN = {
    "shared": (
        "Shared memory starts with whatever an earlier block left there.",
        "Let the block write every element that it reads, for example zeros at the "
        "edges, and put a __syncthreads() behind that.",
    ),
    "local": (
        "An array of a thread starts with arbitrary values.",
        "Give it values where it is declared, for example `float sum[4] = {};`.",
    ),
    "global": (
        "ck.empty reserves memory and does not set it.",
        "Write it first, or start from ck.to_device(np.zeros(...)).",
    ),
}


def placed(error, thread, block, place):
    """Give an error its thread, block and source position."""
    error.thread, error.block = thread, block
    if place is not None:
        error.file, error.line = place.file, place.line
    return error
