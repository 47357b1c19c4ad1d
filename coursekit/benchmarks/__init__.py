"""The recorded benchmarks, one module for each group of kernels."""

from __future__ import annotations


def benchmark(key: str):
    """Run a recorded benchmark: measured on a GPU, else what is recorded.

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
    from coursekit.benchmarking.records.definitions import known

    return known(key).benchmark()
