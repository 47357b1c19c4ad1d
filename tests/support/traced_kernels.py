"""Kernels that the tests of traces, the microscope and the scheduler look at."""

from __future__ import annotations

import functools

import numpy as np

import coursekit as ck

SOURCE = """
// Row sums, one row a thread.
__global__ void row_sums(float* out, const float* a, int n, int stride) {
    __shared__ float tile[32][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; ++k)
        s += a[i * stride + k];
    tile[threadIdx.x][0] = s;
    __syncthreads();
    if (i < 40) out[i] = tile[31 - threadIdx.x % 32][0];
}
"""
SHIFT = """
__global__ void shift_left(float* out, const float* in, int n) {
    __shared__ float tile[128];
    int i = threadIdx.x;
    tile[i] = in[i];
    if (i + 1 < n) {
        out[i] = tile[i + 1];
    } else {
        out[i] = 0;
    }
}
"""
SMALL = """
__global__ void small(int* out, const int* in) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
N = 7


@functools.cache
def kernel(source: str, name: str):
    """Compile a kernel once."""
    return ck.compile(source)[name]


def row_sums(source: str = SOURCE):
    """Return the kernel, grid, block and arguments of a launch of row sums."""
    out = np.zeros(64, np.float32)
    values = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    return kernel(source, "row_sums"), 2, 32, (out, values, N, 64)


def shift_left(source: str = SHIFT):
    """Return the kernel, block and arguments of four warps without a barrier."""
    values = np.arange(1, 129, dtype=np.float32)
    return kernel(source, "shift_left"), 128, (np.zeros_like(values), values, 128)


def small(source: str = SMALL):
    """Return the kernel, block and arguments of two warps that reverse a block."""
    values = np.arange(1, 65, dtype=np.int32)
    return kernel(source, "small"), 64, (np.zeros_like(values), values)
