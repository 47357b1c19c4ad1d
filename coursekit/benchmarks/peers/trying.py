"""Choose the fastest of several algorithms of a library, by the GPU's clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

HOLD_CYCLES = 3_000_000  # of the GPU's clock, in which the host queues all launches
LAUNCHES, TRIALS = 5, 2
HOPELESS = 3.0  # times as long as the best so far
HOST_MS = 0.1  # of a launch that is timed alone, at most
Way = TypeVar("Way")


def fastest(ways: Iterable[Way], time_ms: Callable[[Way, float], float]) -> Way | None:
    """Return the algorithm that takes least time, None where none runs.

    `time_ms` is given a way and the least time so far.
    """
    best, chosen = math.inf, None
    for way in ways:
        took = time_ms(way, best)
        if took < best:
            best, chosen = took, way
    return chosen


def best_ms(launch: Callable[[], None], best: float = math.inf) -> float:
    """Return the least time of a launch, on PyTorch's current stream.

    The stream is kept busy while the host queues several launches, or a small kernel
    would seem to take what the host takes. One that is far from the `best` is timed
    only once.
    """
    launch()  # what is loaded late is loaded now
    once = _mean_ms(launch, 1)
    if once > HOPELESS * best + HOST_MS:
        return once
    return min(_mean_ms(launch, LAUNCHES) for _ in range(TRIALS))


def _mean_ms(launch: Callable[[], None], count: int) -> float:
    from torch import cuda

    first, last = (cuda.Event(enable_timing=True) for _ in range(2))
    cuda._sleep(HOLD_CYCLES)
    first.record()
    for _ in range(count):
        launch()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / count
