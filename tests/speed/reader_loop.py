"""Times that a reader's own loop shows, beside `ck.benchmark` of the same case.

Run `python tests/speed/reader_loop.py` on a machine with a GPU. Each case is called as
a notebook calls it, again and again between two CUDA events: once without a stream,
where each launch waits for its end, once inside `launching.deferred`, as `ck.benchmark`
calls it. Nothing is flushed from the L2 cache between the calls. The benchmark runs on
this device, right before; the record is shown beside it, with its own device.
"""

from __future__ import annotations

import statistics

import coursekit as ck
from coursekit.benchmarking.records import records
from coursekit.benchmarks import catalogue
from coursekit.runtime.launching import deferred

CASES = (
    ("matmul/cublas", "tuned", 8192),
    ("matmul/cublas", "tuned", 4096),
    ("transpose/square", None, 8192),
    ("reduction/sum", None, 1 << 29),
    ("softmax/long", None, 65536),
    ("softmax/short", None, 1024),
    ("mnist/step_tf32", None, 1024),
)
CALLS, ROUNDS = 20, 7
LIBRARIES = ("torch", "cub", "compile", "cupy", "copy", "cublas", "cudnn")


def elapsed_ms(cupy, case, arguments, calls: int) -> float:
    """Milliseconds per call between two events."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(calls):
        case(*arguments)
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) / calls


def fastest(rows, size: int):
    """Our fastest row of a record at a size."""
    ours = [
        row
        for row in rows
        if row.size == size and not any(word in row.case.lower() for word in LIBRARIES)
    ]
    return min(ours, key=lambda row: row.median_ms)


def measured(definition, cases, name: str, size: int) -> float:
    """Milliseconds of a case by `ck.benchmark`, on this device."""
    timed = ck.benchmark(
        {name: cases[name]},
        sizes=(size,),
        setup=definition.setup,
        verify=definition.verify,
    )
    return timed.row(name, size).median_ms


def main() -> None:
    """Print a line per case: the record, and what both loops say of it."""
    import cupy

    print(f"{ck.device().name}: ms per call; shares are of the benchmark's time here")
    for key, name, size in CASES:
        definition, record = catalogue.defined(key), records.load(key)
        rows = [row for row in record.rows if name in (None, row.case)]
        row = fastest(rows, size)
        cases = definition.cases()
        case, here = cases[row.case], measured(definition, cases, row.case, size)
        arguments = definition.setup(size)
        case(*arguments)
        waiting, queued = [], []
        for _ in range(ROUNDS):
            waiting.append(elapsed_ms(cupy, case, arguments, CALLS))
            with deferred():
                queued.append(elapsed_ms(cupy, case, arguments, CALLS))
        plain, quick = statistics.median(waiting), statistics.median(queued)
        print(
            f"{key:18} {row.case:22} {size:>11,} here {here:8.4f}  "
            f"no stream {plain:8.4f} ({plain / here:.3f})  "
            f"queued {quick:8.4f} ({quick / here:.3f})  "
            f"record {row.median_ms:8.4f} ({record.device})",
            flush=True,
        )


if __name__ == "__main__":
    main()
