"""The recorded benchmarks, one module for each problem of `kernels/`."""

from __future__ import annotations

# A record's hash covers the kernels that functions of this folder launch.
HOLDS_CASES = True


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
    from coursekit.benchmarks.catalogue import defined

    return defined(key).benchmark()
