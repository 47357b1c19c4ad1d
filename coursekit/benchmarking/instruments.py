"""Kernels of the stopwatch: they delay a stream, flush the L2 cache, compare arrays."""

from __future__ import annotations

import functools

from coursekit.runtime.compiler import compile
from coursekit.runtime.modules import Module

BLOCK, BLOCKS = 256, 1056  # eight blocks for each SM of an H200; any number works

SOURCE = r"""
typedef unsigned long long u64;

// Keep one thread busy for some nanoseconds; what is queued behind it waits.
__global__ void hold(u64 nanoseconds)
{
    u64 begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        __nanosleep(500);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < nanoseconds);
}

// Read everything once, so that the L2 cache holds these bytes, and clean ones.
__global__ void flush(u64 address, u64 words, unsigned* sink)
{
    const uint4* data = (const uint4*)address;
    u64 threads = (u64)gridDim.x * blockDim.x;
    unsigned mixed = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads) {
        uint4 value = data[i];
        mixed += value.x ^ value.y ^ value.z ^ value.w;
    }
    if (mixed == 0x9e3779b9u) *sink = mixed;  // keeps the reads; hardly ever true
}

// Count the words of four bytes that differ from another array.
__global__ void count_different(u64 a, u64 b, u64 words, u64* found)
{
    const unsigned *one = (const unsigned*)a, *two = (const unsigned*)b;
    u64 threads = (u64)gridDim.x * blockDim.x, own = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads)
        own += one[i] != two[i];
    if (own) atomicAdd(found, own);
}

// Count the words of four bytes that differ from a pattern.
__global__ void count_touched(u64 a, unsigned pattern, u64 words, u64* found)
{
    const unsigned* one = (const unsigned*)a;
    u64 threads = (u64)gridDim.x * blockDim.x, own = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads)
        own += one[i] != pattern;
    if (own) atomicAdd(found, own);
}
"""


@functools.cache
def instruments() -> Module:
    """Compile the kernels, once per process."""
    return compile(SOURCE, name="stopwatch.cu")


def grid(words: int) -> int:
    """Return the number of blocks for an array of so many words."""
    return max(min(-(-words // BLOCK), BLOCKS), 1)
