"""Bulk stores of bytes that ordinary stores wrote without a proxy fence behind them.

Ordinary accesses use the generic proxy, and bulk copies the async proxy. A barrier
orders accesses of one proxy only. Between the two, each thread that wrote executes
`fence.proxy.async` and then comes to the barrier. Where the thread that begins the bulk
store executes the fence instead, behind the barrier, it may work on a GPU: that is a
warning.
"""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.analysis.instructions import is_bulk
from coursekit.simt.checks.clashes import Touch
from coursekit.simt.checks.findings import ERROR, WARNING
from coursekit.simt.checks.race_wording import Pair, lines_of
from coursekit.simt.checks.shadow import Last
from coursekit.simt.checks.wording import placed
from coursekit.simt.memory import faults


def is_fence(instruction) -> bool:
    """Whether an instruction orders ordinary accesses and bulk copies."""
    words = instruction.modifiers
    return "proxy" in words and any(word.startswith("async") for word in words)


def unfenced(touch: Touch, writes: Last, accesses: list):
    """Yield (severity, positions, pair) of bytes that a bulk store may read too early.

    Parameters
    ----------
    touch : Touch
        What the store is to read.
    writes : Last
        The last writes to that array.
    accesses : list of WatchedAccess
        By number.
    """
    order, places = touch.order, touch.places
    stamps, writers = writes.stamps[places], writes.threads[places].astype(np.int64)
    mine = (stamps > order.began) & (writers // order.size == order.number)
    fences = order.proxied[np.where(mine, writers - order.first, 0)]
    bad = mine & (fences < stamps) & order.knows(touch.threads, writers, stamps)
    own = order.proxied[int(touch.threads[0]) - order.first]
    late = (own > stamps) & (own > order.barrier)
    numbers = writes.numbers[places]
    for number in np.unique(numbers[bad]).tolist():
        if is_bulk(accesses[number].instruction):
            continue
        for severity, some in ((ERROR, ~late), (WARNING, late)):
            at = np.flatnonzero(bad & some & (numbers == number))
            if len(at):
                first, writer = int(at[0]) // touch.each, int(writers[at[0]])
                yield severity, at, Pair(touch, accesses[number], first, writer)


def missing_fence(pair: Pair):
    """Build the error for a bulk store of bytes that no fence followed."""
    touch, (me, they) = pair.touch, pair.sides
    region, _, offsets = touch.part
    place = faults.element(region, int(offsets[pair.position]), touch.access.width)
    what = (
        f"thread {me.thread} of block {me.block} stores {place} by a bulk copy, and "
        f"thread {they.thread} wrote it without a fence.proxy.async behind that."
    )
    found, lines = lines_of(touch.warp.block.launch.program, (they, me))
    error = errors.DataRaceError.explained(
        "\n  ".join([what, *lines]),
        "Bulk copies read shared memory through the async proxy. A barrier alone does "
        "not let it see what ordinary stores wrote: on a GPU it may read old bytes.",
        "Let each thread that wrote execute fence.proxy.async.shared::cta, then "
        "__syncthreads(), and then let one thread begin the bulk store.",
    )
    return placed(error, me.thread, me.block, found)
