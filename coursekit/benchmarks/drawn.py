"""Arrays for benchmarks: random numbers, pinned memory, scratch memory."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import DeviceArray
from coursekit.runtime.modules import Module

SOURCE = r"""
typedef unsigned long long u64;

// A permuted congruential generator's output for a place and a seed.
__device__ unsigned drawn(unsigned place, unsigned seed)
{
    unsigned state = place * 747796405u + seed * 2891336453u + 2891336453u;
    unsigned word = (state >> (state >> 28) + 4 ^ state) * 277803737u;
    return word >> 22 ^ word;
}

__global__ void draw_words(u64 out, unsigned n, unsigned seed)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        ((unsigned*)out)[i] = drawn(i, seed);
}

// A whole number from -64 to 64, of mean 0: sums of 2^29 of them deviate by
// some 2^20, and float32 has all whole numbers up to 2^24.
__device__ int whole(unsigned word)
{
    return int(word >> 25) - 64 + int(word & 1);
}

__global__ void draw_whole(u64 out, unsigned n, unsigned seed)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        ((float*)out)[i] = whole(drawn(i, seed));
}

__global__ void draw_integers(u64 out, unsigned n, unsigned seed)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        ((int*)out)[i] = whole(drawn(i, seed));
}

// Multiples of 2^-24 from 0 to 1.
__global__ void draw_uniform(u64 out, unsigned n, unsigned seed)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        ((float*)out)[i] = (drawn(i, seed) >> 8) * 0x1p-24f;
}

// A normal distribution, by Box and Muller.
__global__ void draw_normal(u64 out, unsigned n, unsigned seed)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float u = (drawn(i, seed) + 0.5f) * 0x1p-32f, v = drawn(i, ~seed) * 0x1p-32f;
        ((float*)out)[i] = sqrtf(-2 * logf(u)) * cospif(2 * v);
    }
}
"""
BLOCK, BLOCKS = 256, 1056
_seeds = itertools.count(1)


def octets(n: int) -> DeviceArray:
    """Draw n random bytes, uint8; n a multiple of 4."""
    return _filled("draw_words", ck.empty(n, np.uint8))


def words(n: int) -> DeviceArray:
    """Draw n random numbers of 32 bits, uint32."""
    return _filled("draw_words", ck.empty(n, np.uint32))


def whole(n: int, dtype=np.float32) -> DeviceArray:
    """Draw n whole numbers from -64 to 64 of mean 0, float32 or int32."""
    kind = "whole" if dtype == np.float32 else "integers"
    return _filled(f"draw_{kind}", ck.empty(n, dtype))


def uniform(*shape: int) -> DeviceArray:
    """Draw float32 from 0 to 1 uniformly."""
    return _filled("draw_uniform", ck.empty(shape, np.float32))


def normal(*shape: int) -> DeviceArray:
    """Draw float32 of mean 0 and variance 1."""
    return _filled("draw_normal", ck.empty(shape, np.float32))


def _filled(kernel: str, array: DeviceArray) -> DeviceArray:
    """Fill an array by a kernel, with another seed in each call."""
    words = array.nbytes // 4
    grid = max(min(-(-words // BLOCK), BLOCKS), 1)
    _module()[kernel][grid, BLOCK](array.address, words, next(_seeds))
    return array


@functools.cache
def _module() -> Module:
    return ck.compile(SOURCE, name="drawn.cu")


def pinned(like: np.ndarray) -> np.ndarray:
    """Copy an array into page-locked memory."""
    import cupy

    memory = cupy.cuda.alloc_pinned_memory(like.nbytes)
    copy = np.frombuffer(memory, like.dtype, like.size)
    copy[:] = like
    return copy


def viewed(*arrays: object) -> tuple:
    """Return a module and arrays of it: CuPy and views on a GPU, NumPy and copies."""
    if all(getattr(array, "space", "") == "gpu" for array in arrays):
        import cupy

        return cupy, *map(cupy.asarray, arrays)
    return np, *map(ck.to_host, arrays)


def zeros() -> Callable[..., DeviceArray]:
    """Return a function that allocates zeroed arrays and reuses them by name and shape.

    A kernel's scratch memory is no argument of a benchmark: it would be filled with
    a pattern there, and kernels that count in it would start from that.
    """
    held: dict[tuple, DeviceArray] = {}

    def array(name: str, shape, dtype=np.float32) -> DeviceArray:
        key = backends.current().space, name, shape
        if key not in held:
            held[key] = ck.to_device(np.zeros(shape, dtype))
        return held[key]

    return array
