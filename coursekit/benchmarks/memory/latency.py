"""Benchmarks of latency: how long one load takes, by footprint and stride.

The kernels read the GPU's own clock. The first case of a benchmark is one clock cycle,
so that the speed of a load relative to it is one over the clock cycles of a load.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import own_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.memory.footprints import footprints
from coursekit.runtime.modules import Module

SOURCE = r"""
// Loads between two readings of the clock; the compiler leaves `asm volatile` in order.
typedef unsigned long long u64;

__device__ unsigned from_l1(const char* address)
{
    unsigned value;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

__device__ unsigned from_l2(const char* address)
{
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

// The walk of kernels/memory/pointer_chase.cu. A comparison with a value that never
// occurs waits for the load. The two additions of an address are part of a step.
#define WALK(name, load)                                                            \
    __global__ void name(const char* chain, unsigned first, unsigned stride,        \
                         unsigned count, int steps, u64* result)                    \
    {                                                                               \
        unsigned seen = 0;                                                          \
        _Pragma("unroll 4")                                                         \
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x)                  \
            seen |= load(chain + first + (size_t)i * stride);                       \
        __syncthreads();                                                            \
        if (threadIdx.x >= 32 || seen == ~0u)                                       \
            return;                                                                 \
        unsigned at = first;                                                        \
        u64 began = nanoseconds();                                                  \
        long long ticks = clock64();                                                \
        _Pragma("unroll 8")                                                         \
        for (int step = 0; step < steps; step++)                                    \
            at = load(chain + at);                                                  \
        if (at == ~0u)                                                              \
            return;                                                                 \
        result[0] = clock64() - ticks;                                              \
        result[1] = nanoseconds() - began;                                          \
        result[2] = at;                                                             \
    }

WALK(walk, from_l1)
WALK(walk_past_l1, from_l2)

// ticks[line] = clock cycles of the fastest of 8 loads of a line's first word.
__global__ void time_lines(const int* words, unsigned* ticks, u64* result, int lines)
{
    unsigned sum = 0;
    u64 began = nanoseconds();
    long long first_tick = clock64();
    for (int line = 0; line < lines; line++) {
        unsigned fastest = ~0u, value = 0;
        for (int repeat = 0; repeat < 8; repeat++) {
            long long tick = clock64();
            value = from_l2((const char*)(words + 32 * (size_t)line));
            if (value == 0x80000000)
                return;
            fastest = min(fastest, (unsigned)(clock64() - tick));
        }
        sum += value;
        ticks[line] = fastest;
    }
    result[0] = clock64() - first_tick;
    result[1] = nanoseconds() - began;
    result[2] = sum;
}
"""
CYCLE = "one clock cycle"
STRIDES = {"stride 32 B": 32, "stride 128 B": 128}
STRIDES |= {"stride 4 KiB": 2**12, "stride 2 MiB": 2**21}
PAST_L1 = "stride 128 B, past L1"
STEPS = 4096  # loads of a walk
FACTOR = 1 + 12 * 87211  # the full period for every count 2^k and 3 * 2^k
BLOCK, BLOCKS = 256, 1056


@functools.cache
def clocked() -> Module:
    """Compile the kernels that read the clock."""
    return ck.compile(SOURCE, name="clocked.cu")


@functools.cache
def linker() -> Module:
    """Compile the kernel that links words to a chain."""
    return ck.compile("memory/link_chain.cu")


# ---------------------------------------------------------------- latency


def latency_cases() -> dict[str, Callable]:
    """Return walks along chains of four strides, and one that bypasses L1."""
    chase = functools.partial(_chase, clocked().walk)
    past_l1 = _chase(clocked().walk_past_l1, 128, _load_ms)
    cases = {CYCLE: chase(128, _cycle_ms)}
    cases |= {name: chase(stride, _load_ms) for name, stride in STRIDES.items()}
    return cases | {PAST_L1: past_l1}


def _chase(kernel, stride: int, elapsed_ms: Callable) -> Callable:
    first = _first(stride)

    def walk(chain, result, shift, footprint):
        count = max(footprint // stride, 1)
        kernel[1, 1024](chain, first, stride, count, STEPS, result)

    return own_clock(walk, elapsed_ms=elapsed_ms)


def _first(stride: int) -> int:
    """Return where a chain begins: each has a word of its own in a sector."""
    return 4 * list(STRIDES.values()).index(stride)


def _cycle_ms(chain, result, shift, footprint) -> float:
    ticks, nanoseconds, _ = map(int, ck.to_host(result))
    return 1e-6 * nanoseconds / max(ticks, 1)


def _load_ms(chain, result, shift, footprint) -> float:
    return 1e-6 * int(ck.to_host(result)[1]) / STEPS


def chains(footprint: int) -> tuple:
    """Link a chain of each stride through an array, from another element each time."""
    chain = ck.empty(footprint, np.uint8)
    shift = 1 + 6 * np.random.default_rng().integers(2**24, size=1, dtype=np.uint32)
    link = linker().link_chain
    for stride in STRIDES.values():
        count = max(footprint // stride, 1)
        grid = min(cover(count, BLOCK), BLOCKS)
        first = _first(stride)
        link[grid, BLOCK](chain, first, stride, count, FACTOR, shift[0])
    return chain, ck.empty(3, np.uint64), ck.to_device(shift), footprint


def has_walked(chain, result, shift, footprint: int) -> None:
    """Check that a walk has ended where the steps of one of the chains lead."""
    begun = int(ck.to_host(shift)[0])
    ends = [_end(footprint, stride, begun) for stride in STRIDES.values()]
    end = int(ck.to_host(result)[2])
    if end not in ends:
        raise AssertionError(f"the walk ended at {end}, and none of {ends}")


def _end(footprint: int, stride: int, shift: int) -> int:
    count, at = max(footprint // stride, 1), 0
    for _ in range(STEPS):
        at = (FACTOR * at + shift) % count
    return _first(stride) + at * stride


DEFINITIONS = (
    Definition(
        key="memory/latency",
        cases=latency_cases,
        sizes=footprints(2**12, 2**30),
        setup=chains,
        verify=has_walked,
        count_size=2**12,
    ),
)
