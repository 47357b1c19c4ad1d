"""Measure the times of kernels, or show those that were recorded on another GPU."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from coursekit.benchmarking import shown
from coursekit.benchmarking.ceilings import ceiling
from coursekit.benchmarking.results import Benchmark, Row
from coursekit.benchmarking.timed_cases import (
    OwnClock,
    Repeated,
    WallClock,
    own_clock,
    repeated,
    wall_clock,
)
from coursekit.errors import ArgumentError
from coursekit.runtime import backend as backends

if TYPE_CHECKING:
    from coursekit.benchmarking.stopwatch import Stopwatch

__all__ = [
    "Benchmark",
    "OwnClock",
    "Repeated",
    "Row",
    "WallClock",
    "benchmark",
    "own_clock",
    "repeated",
    "wall_clock",
]
# A record's hash covers the kernels that functions of this folder launch.
HOLDS_CASES = True
KEY = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")


def benchmark(
    cases: Mapping[str, Callable],
    *,
    sizes: Sequence[int],
    setup: Callable[[int], tuple],
    verify: Callable[..., Any],
    bytes_moved: Callable[[int], int] | None = None,
    flops: Any = None,
    record: str | None = None,
    definition: shown.Countable | None = None,
) -> Benchmark:
    """Time cases, or show what is recorded of them, as `ck.benchmark` does.

    `definition` is the recorded benchmark whose arrays count, on the simulator, the
    cases that the record has no time of.
    """
    _check(cases, sizes, setup, verify, record)
    sizes = tuple(map(int, sizes))
    if backends.current().space != "gpu":
        return shown.without_gpu(
            cases,
            sizes,
            bytes_moved=bytes_moved,
            flops=flops,
            record=record,
            definition=definition,
        )
    return on(
        default_stopwatch(),
        cases,
        sizes=sizes,
        setup=setup,
        verify=verify,
        bytes_moved=bytes_moved,
        flops=flops,
    )


def on(
    watch: Stopwatch,
    cases: Mapping[str, Callable],
    *,
    sizes: Sequence[int],
    setup: Callable[[int], tuple],
    verify: Callable[..., Any],
    bytes_moved: Callable[[int], int] | None = None,
    flops: Any = None,
) -> Benchmark:
    """Time cases with a stopwatch, as `benchmark` does with that of the GPU."""
    from coursekit.benchmarking.measuring import measure
    from coursekit.benchmarking.verification import Trial

    _check(cases, sizes, setup, verify, None)
    rows, sizes = [], tuple(map(int, sizes))
    limits = functools.partial(ceiling, watch.device, sizes, bytes_moved, flops)
    for size in sizes:
        trial = Trial(watch, size, setup, verify)
        rows += measure(watch, cases, trial, limits)
    limit = limits(trial.through)
    today = datetime.date.today().isoformat()
    return Benchmark(
        tuple(cases), sizes, tuple(rows), "measured", watch.device.name, today, limit
    )


@functools.cache
def default_stopwatch() -> Stopwatch:
    """Return the stopwatch of this machine's GPU."""
    from coursekit.benchmarking.gpu_stopwatch import GpuStopwatch

    return GpuStopwatch()


def _check(cases, sizes, setup, verify, record) -> None:
    if not isinstance(cases, Mapping) or not cases:
        raise ArgumentError.explained(
            f"benchmark got {type(cases).__name__} as its cases.",
            "Each case has a name and a function.",
            'Write ck.benchmark({"naive": naive, "tiled": tiled}, ...).',
        )
    named = {**cases, "setup": setup, "verify": verify}
    for name, function in named.items():
        if not callable(function):
            raise ArgumentError.explained(
                f"benchmark: {name!r} is {type(function).__name__}, which cannot be "
                "called.",
                "Cases, setup and verify are functions.",
                "Write for example lambda a, out, n: kernel[grid, block](a, out, n).",
            )
    whole = isinstance(sizes, Sequence) and not isinstance(sizes, str)
    if not whole or not sizes or not all(_is_size(size) for size in sizes):
        raise ArgumentError.explained(
            f"benchmark got sizes={sizes!r}.",
            "They are whole numbers, each given to setup in turn.",
            "Write for example sizes=[2**20, 2**25].",
        )
    if record is not None and not (isinstance(record, str) and KEY.fullmatch(record)):
        raise ArgumentError.explained(
            f"benchmark got record={record!r}.",
            "The key of a record is its path below assets/records, without .json.",
            'Write for example record="first/vec_add".',
        )


def _is_size(size: Any) -> bool:
    return isinstance(size, Integral) and not isinstance(size, bool) and size > 0
