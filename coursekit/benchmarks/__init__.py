"""The recorded benchmarks, one module for each problem of `kernels/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coursekit.benchmarking.results import Benchmark

# A record's hash covers the kernels that functions of this folder launch.
HOLDS_CASES = True


def recorded_benchmark(key: str) -> Benchmark:
    """Return a benchmark of the course: measured on a GPU here, else as recorded.

    Parameters
    ----------
    key : str
        One of those that `python -m coursekit record --list` names.

    Returns
    -------
    Benchmark
        As `ck.benchmark` does.

    Raises
    ------
    ArgumentError
        Nothing is defined by this key.
    """
    from coursekit.benchmarks.catalogue import defined

    return defined(key).benchmark()
