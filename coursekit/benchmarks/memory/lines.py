"""Benchmark of single lines of L2: some lie nearer to an SM, others farther."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import own_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.runtime.modules import Module

SOURCE = r"""
typedef unsigned long long u64;

__device__ unsigned from_l2(const unsigned* words, unsigned offset)
{
    const char* address = (const char*)words + offset;
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

__device__ u64 nanoseconds()
{
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Each line's first word holds its own offset: loads that wait for each other. Both
// times the clock is read right behind a load, so that 8 latencies lie between.
__global__ void time_lines(const unsigned* words, unsigned* ticks, u64* result,
                           int lines)
{
    unsigned sum = 0;
    u64 began = nanoseconds();
    long long first_tick = clock64();
    for (int line = 0; line < lines; line++) {
        unsigned at = 128 * line;
        for (int warm = 0; warm < 8; warm++)
            at = from_l2(words, at);
        long long tick = clock64();
        for (int step = 0; step < 8; step++)
            at = from_l2(words, at);
        ticks[line] = clock64() - tick;
        sum += at;
    }
    result[0] = clock64() - first_tick;
    result[1] = nanoseconds() - began;
    result[2] = sum;
}
"""
CYCLE = "one clock cycle"
LINES, LOADS = 4096, 8  # lines of 128 B, loads of each
PERCENT = tuple(range(5, 100, 5))


@functools.cache
def clocked() -> Module:
    """Compile the kernel that reads the clock."""
    return ck.compile(SOURCE, name="time_lines.cu")


def line_cases() -> dict[str, Callable]:
    """Return one clock cycle, and how long a load takes from each share of lines."""
    kernel = clocked().time_lines

    def measure(words, ticks, result, lines):
        kernel[1, 32](words, ticks, result, lines)

    def cycle_ms(words, ticks, result, lines):
        cycles, nanoseconds, _ = map(int, ck.to_host(result))
        return 1e-6 * nanoseconds / max(cycles, 1)

    def percentile(percent: int) -> Callable:
        def elapsed_ms(words, ticks, result, lines):
            cycles = float(np.percentile(ck.to_host(ticks), percent)) / LOADS
            return cycles * cycle_ms(words, ticks, result, lines)

        return own_clock(measure, elapsed_ms=elapsed_ms)

    cycle = own_clock(measure, elapsed_ms=cycle_ms)
    return {CYCLE: cycle} | {f"{p} % of the lines": percentile(p) for p in PERCENT}


def lines(count: int) -> tuple:
    """Draw words, the first of each line being its own offset; allocate the times."""
    words = np.random.default_rng().integers(2**32, size=32 * count, dtype=np.uint32)
    words[::32] = 128 * np.arange(count)
    results = ck.empty(count, np.uint32), ck.empty(3, np.uint64)
    return ck.to_device(words), *results, count


def have_ended(words, ticks, result, count: int) -> None:
    """Check that the walks have ended at the lines where they began."""
    if int(ck.to_host(result)[2]) != sum(range(0, 128 * count, 128)) % 2**32:
        raise AssertionError("other words were read")


DEFINITIONS = (
    Definition(
        key="memory/lines",
        cases=line_cases,
        sizes=(LINES,),
        setup=lines,
        verify=have_ended,
        count_size=16,
    ),
)
