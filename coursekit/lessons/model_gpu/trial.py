"""The course's own benchmark, run on the modelled GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coursekit import benchmarking
from coursekit.benchmarking.results import Benchmark
from coursekit.lessons.model_gpu.gpu import ModelGpu


def benchmark(
    gpu: ModelGpu,
    cases: Mapping[str, Callable],
    *,
    sizes: Sequence[int],
    setup: Callable[[int], tuple],
    verify: Callable[..., Any],
    bytes_moved: Callable[[int], int] | None = None,
) -> Benchmark:
    """Time cases on the model, by the rules and refusals of ``ck.benchmark``.

    Parameters
    ----------
    gpu : ModelGpu
    cases, sizes, setup, verify, bytes_moved
        As for ``ck.benchmark``; arrays come from ``gpu.array`` and ``gpu.empty``.

    Returns
    -------
    Benchmark
        Its times are the model's, and it says so.

    Raises
    ------
    ArgumentError, CheckFailed
        As ``ck.benchmark`` does.
    """
    result = benchmarking.on(
        gpu, cases, sizes=sizes, setup=setup, verify=verify, bytes_moved=bytes_moved
    )
    return replace(result, origin="model")
