"""Why a block cannot go on: threads wait that nothing will wake.

Since Volta a barrier of the block waits for all threads that have not exited. A thread
that is alive and waits elsewhere, or that spins, holds it up for ever.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter.collectives import Barrier
from coursekit.simt.interpreter.rendezvous import LANES, Collective
from coursekit.simt.memory import faults

_ALIVE = (
    "A barrier waits for all threads of the block that have not exited, and this one "
    "is alive: a GPU waits for ever, too."
)
_SAME_WARP = (
    "Lanes of one warp must come to the same barrier. Whether a GPU waits for ever "
    "depends on how the compiler arranged the branch."
)
_GUARD_WORK = (
    "Move the barrier to a place that every thread reaches; guard the work, not the "
    "barrier."
)


def stuck(block) -> errors.KernelError:
    """Build the error that explains why no warp of a block can continue."""
    for warp in block.warps:
        for split in warp.parked:
            if isinstance(split.waits_for, Collective):
                return split.waits_for.stuck(warp, split)
    waiting = at_barriers(block)
    for warp, split, barrier in waiting:
        if barrier.threads is not None:
            error = _too_few(block, warp, split)
            if error is not None:
                return error
    absent = _absent(block, waiting)
    if absent is not None:
        return _divergent(*waiting[0], f"{absent} took another branch", "")
    return _different_barriers(block, waiting)


def at_barriers(block) -> list[tuple[Any, Any, Any]]:
    """Return (warp, split, barrier) for lanes that wait at barriers of the block."""
    return [
        (warp, split, split.waits_for)
        for warp in block.warps
        for split in warp.parked
        if isinstance(split.waits_for, Barrier)
    ]


def check_aligned(arrivals) -> None:
    """Require that lanes of a warp wait at the same barrier as it opens.

    Lanes on the two sides of one branch may wait at two: a GPU then goes on, since the
    compiler makes predicated instructions of such a branch.

    Raises
    ------
    BarrierError
        Lanes of one warp wait at barriers of which one leads to the other: a GPU hangs.
    """
    by_warp: dict[int, list] = {}
    for arrival in arrivals.splits:
        by_warp.setdefault(arrival[0].index, []).append(arrival)
    for several in by_warp.values():
        for (_, first, one), (warp, split, other) in pairwise(several):
            if other.aligned and other is not one and not _apart(first, split):
                lane = int(np.argmax(first.mask))
                raise _divergent(
                    warp, split, other,
                    f"thread {warp.thread(lane)} of the same warp waits at another one",
                    _shown(warp, one.instruction),
                )  # fmt: skip


def _apart(one, other) -> bool:
    """Whether two splits wait where neither can come to the other's barrier."""
    code = one.frame.code
    return code is other.frame.code and not (
        code.leads(one.block, other.block) or code.leads(other.block, one.block)
    )


def held_up(spinning, split) -> errors.BarrierError | None:
    """Build the error for threads at a barrier which a spinning thread cannot reach.

    Parameters
    ----------
    spinning : Warp
        It runs for ever.
    split : Split
        Those of its lanes that do.

    Returns
    -------
    BarrierError or None
        None if nobody waits, or if the thread would come to the barrier after its loop:
        then the loop is what is wrong.
    """
    code = split.frame.code
    for warp, waits, barrier in at_barriers(spinning.block):
        excuses = barrier.threads is None and waits.frame.code is code
        if excuses and not code.leads(split.block, waits.block):
            lane = int(np.argmax(split.mask))
            return _divergent(
                warp, waits, barrier,
                f"thread {spinning.thread(lane)} runs for ever in a loop elsewhere",
                _shown(spinning, code.last_instruction(split.block)),
                _SAME_WARP if warp is spinning else _ALIVE,
            )  # fmt: skip
    return None


def _shown(warp, instruction) -> str:
    """Return the source line of an instruction, for a message."""
    program = warp.block.launch.program
    return faults.source_place(program, instruction.location)[1] or instruction.text


def _divergent(
    warp, split, barrier, other: str, shown: str, cause: str = _ALIVE
) -> errors.BarrierError:
    return faults.kernel_error(
        errors.BarrierError, warp, int(np.argmax(split.mask)), barrier.instruction,
        "{thread} waits at a barrier that not every thread of the block reaches: "
        f"{other}." + (f"\n  {shown}" if shown else ""),
        cause, _GUARD_WORK,
    )  # fmt: skip


def _absent(block, waiting) -> str | None:
    """Return a thread that is alive and did not come to a barrier."""
    for warp in block.warps:
        missing = warp.live.copy()
        for other, split, _ in waiting:
            if other is warp:
                missing &= ~split.mask
        if missing.any():
            return f"thread {warp.thread(int(np.argmax(missing)))}"
    return None


def _too_few(block, warp, split) -> errors.BarrierError | None:
    """Build the error for a barrier whose count includes threads that have exited."""
    barrier = split.waits_for
    gone = next((w for w in block.warps if not w.live.any()), None)
    wanted = int(split.frame.slots[barrier.threads][np.argmax(split.mask)])
    if gone is None or wanted <= LANES * sum(w.live.any() for w in block.warps):
        return None
    return faults.kernel_error(
        errors.BarrierError, warp, int(np.argmax(split.mask)), barrier.instruction,
        f"{{thread}} waits at a barrier until {wanted} threads have come, and fewer "
        f"are left: thread {gone.thread(0)} has left the kernel.",
        "A barrier with a count of threads does not excuse those that have exited: a "
        "GPU waits for ever, too.",
        "Let all counted threads come to the barrier, or count only those that do.",
    )  # fmt: skip


def _different_barriers(block, waiting) -> errors.DeadlockError:
    warp, split, barrier = waiting[0]
    places = [
        f"warp {one.index} waits at {_shown(one, other.instruction)}"
        for one, _, other in waiting
    ]
    listed = "\n  ".join(dict.fromkeys(places))
    return faults.kernel_error(
        errors.DeadlockError, warp, int(np.argmax(split.mask)), barrier.instruction,
        f"block {block.index} cannot go on: its warps wait at different "
        f"barriers.\n  {listed}",
        "Barriers are matched by number and thread count; these never fill up. A GPU "
        "waits for ever, too.",
        "Let all threads of the block meet at the same barriers.",
    )  # fmt: skip
