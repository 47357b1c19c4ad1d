"""Times of kernels that mean something, measured here or recorded on another GPU."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

from coursekit.benchmarking import shown
from coursekit.benchmarking.ceilings import ceiling
from coursekit.benchmarking.measuring import (
    Repeated,
    WallClock,
    measure,
    repeated,
    wall_clock,
)
from coursekit.benchmarking.results import Benchmark, Row
from coursekit.benchmarking.stopwatch import Stopwatch
from coursekit.benchmarking.verification import Trial
from coursekit.errors import ArgumentError
from coursekit.runtime import backend as backends

__all__ = [
    "Benchmark",
    "Repeated",
    "Row",
    "WallClock",
    "benchmark",
    "repeated",
    "wall_clock",
]
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
) -> Benchmark:
    """Time several ways to do the same work, and compare them with what is possible.

    On a GPU every case is verified, warmed up, timed in turn with the others from a
    cold L2 cache, and verified again with inputs that it has not seen. Without a GPU,
    and inside `ck.simulator`, nothing is timed and `setup` is never called: recorded
    times are shown, with the GPU and the day that they are from.

    Parameters
    ----------
    cases : mapping of str to callable
        Each is called with the arguments that `setup` returns, and must give the same
        result whatever its outputs held before. The first is what speedups refer to.
    sizes : sequence of int
    setup : callable
        ``setup(n)`` returns the arguments of the cases for size n, a tuple. It is
        called several times a size and draws other random data each time.
    verify : callable
        ``verify(*arguments)`` compares the outputs with a reference, computed from
        these arguments; it raises AssertionError or returns False where they differ.
    bytes_moved : callable, optional
        ``bytes_moved(n)``: bytes that the problem must move, each array once.
    flops : callable or (str, callable), optional
        ``flops(n)``: floating-point operations, an FMA being two, on the FP32 lanes;
        or a pair such as ``("bf16_tensor", function)``.
    record : str, optional
        Key of the recorded times, for machines without a GPU.

    Returns
    -------
    Benchmark
        Medians, spreads, speedups and shares of the limit, by case and size.

    Raises
    ------
    ArgumentError
        An argument is not as described.
    CheckFailed
        A result is wrong, or a time would not say what it seems to: the message says
        which of the rules is broken.

    Examples
    --------
    ``ck.benchmark({"add": add}, sizes=[2**25], setup=vectors, verify=is_sum,
    bytes_moved=lambda n: 12 * n)``
    """
    _check(cases, sizes, setup, verify, record)
    sizes = tuple(map(int, sizes))
    if backends.current().space != "gpu":
        return shown.without_gpu(
            cases, sizes, bytes_moved=bytes_moved, flops=flops, record=record
        )
    return on(
        stopwatch(),
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
def stopwatch() -> Stopwatch:
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
