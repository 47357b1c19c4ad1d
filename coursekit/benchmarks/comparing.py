"""`benchmark`: time several ways to do the same work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coursekit import benchmarking
from coursekit.benchmarking.results import Benchmark
from coursekit.benchmarks import catalogue


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
    return benchmarking.benchmark(
        cases,
        sizes=sizes,
        setup=setup,
        verify=verify,
        bytes_moved=bytes_moved,
        flops=flops,
        record=record,
        definition=catalogue.find(record) if isinstance(record, str) else None,
    )
