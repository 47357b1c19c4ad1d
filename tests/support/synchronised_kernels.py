"""Kernels that share data correctly, each in its own way, and how to launch them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Shared(NamedTuple):
    """A kernel `k`, its launch, and what makes it correct: text to be taken out."""

    source: str
    grid: int
    block: int
    arguments: tuple
    guards: tuple[str, ...] = ()


def ints(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def zeros(n: int, dtype=np.int32) -> np.ndarray:
    return np.zeros(n, dtype)


# Sums the rows of tiles of 64 values; the next tile is on its way meanwhile.
TILES = """#include <cuda_pipeline.h>
__global__ void k(const float* x, float* sums, int tiles) {
  __shared__ float tile[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], x + t, 4);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles)
      __pipeline_memcpy_async(&tile[(i + 1) % 2][t], x + (i + 1) * 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][63 - t] * (i + 1);
    __syncthreads();
  }
  sums[t] = sum;
}"""
BARRIER, WARP = "__syncthreads();", "__syncwarp();"
FENCE = "__threadfence();"

KERNELS = {
    "barrier": Shared(
        """__global__ void k(int* x) {
          __shared__ int s[64];
          s[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          x[threadIdx.x] = s[63 - threadIdx.x];
        }""", 1, 64, (ints(64),), (BARRIER,),
    ),
    "barrier that counts": Shared(
        """__global__ void k(int* x) {
          __shared__ int s[64];
          s[threadIdx.x] = x[threadIdx.x];
          int c = __syncthreads_count(x[threadIdx.x] > 3);
          x[threadIdx.x] = s[63 - threadIdx.x] + c;
        }""", 1, 64, (ints(64),),
    ),
    "named barriers": Shared(
        """__global__ void k(int* x) {
          __shared__ int s[128];
          int t = threadIdx.x;
          s[t] = x[t];
          if (t < 64) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            x[t] = s[63 - t];
          } else {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            x[t] = s[191 - t];
          }
        }""", 1, 128, (ints(128),), ('asm volatile("bar.sync 1, 64;" ::: "memory");',),
    ),
    "last block adds up": Shared(
        """__device__ unsigned int count = 0;
        __global__ void k(const float* x, float* partial, float* out) {
          __shared__ float s[128];
          __shared__ bool last;
          int t = threadIdx.x;
          s[t] = x[blockIdx.x * 128 + t];
          __syncthreads();
          for (int h = 64; h > 0; h /= 2) {
            if (t < h) s[t] += s[t + h];
            __syncthreads();
          }
          if (t == 0) {
            partial[blockIdx.x] = s[0];
            __threadfence();
            last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
            __threadfence();
          }
          __syncthreads();
          if (!last) return;
          float sum = 0;
          for (int i = t; i < gridDim.x; i += 128) sum += partial[i];
          s[t] = sum;
          __syncthreads();
          for (int h = 64; h > 0; h /= 2) {
            if (t < h) s[t] += s[t + h];
            __syncthreads();
          }
          if (t == 0) { out[0] = s[0]; count = 0; }
        }""", 5, 128,
        (np.ones(640, np.float32), zeros(5, np.float32), zeros(1, np.float32)),
        (BARRIER, FENCE),
    ),
    "lock of a warp": Shared(
        """__global__ void k(int* lock, int* total) {
          bool done = false;
          while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
              __threadfence();
              *total = *total + 1;
              __threadfence();
              atomicExch(lock, 0);
              done = true;
            }
          }
        }""", 3, 40, (zeros(1), zeros(1)), (FENCE,),
    ),
    "lock of blocks": Shared(
        """__global__ void k(int* lock, int* total) {
          if (threadIdx.x != 0) return;
          while (atomicCAS(lock, 0, 1) != 0) {}
          __threadfence();
          *total += 1;
          __threadfence();
          atomicExch(lock, 0);
        }""", 30, 64, (zeros(1), zeros(1)), (FENCE,),
    ),
    "lock in shared memory": Shared(
        """__global__ void k(int* out) {
          __shared__ int lock, sum;
          if (threadIdx.x == 0) { lock = 0; sum = 0; }
          __syncthreads();
          bool done = false;
          while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
              __threadfence_block();
              sum += threadIdx.x;
              __threadfence_block();
              atomicExch(&lock, 0);
              done = true;
            }
          }
          __syncthreads();
          if (threadIdx.x == 0) out[blockIdx.x] = sum;
        }""", 2, 96, (zeros(2),), ("__threadfence_block();",),
    ),
    "bytes of one word": Shared(
        """__global__ void k(char* out) {
          __shared__ char s[64];
          s[threadIdx.x] = threadIdx.x;
          out[threadIdx.x] = s[threadIdx.x];
          out[64 + threadIdx.x] = 1;
        }""", 1, 64, (zeros(128, np.int8),),
    ),
    "volatile flag": Shared(
        """__global__ void k(volatile int* flag, int* data, int* out) {
          if (blockIdx.x == 0) {
            data[threadIdx.x] = threadIdx.x;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) *flag = 1;
          } else {
            if (threadIdx.x == 0) while (*flag == 0) {}
            __threadfence();
            __syncthreads();
            out[threadIdx.x] = data[threadIdx.x];
          }
        }""", 2, 64, (zeros(1), zeros(64), zeros(64)), (FENCE,),
    ),
    "release and acquire": Shared(
        """#include <cuda/atomic>
        __global__ void k(int* flag, int* data, int* out) {
          cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
          if (blockIdx.x == 0) {
            data[0] = 5;
            f.store(1, cuda::memory_order_release);
          } else {
            while (f.load(cuda::memory_order_acquire) == 0) {}
            out[0] = data[0];
          }
        }""", 2, 1, (zeros(1), zeros(1), zeros(1)),
    ),
    "warp sums": Shared(
        """__global__ void k(int* x) {
          __shared__ int s[64];
          int t = threadIdx.x, lane = t % 32;
          s[t] = x[t];
          __syncwarp();
          for (int h = 16; h; h /= 2) {
            if (lane < h) s[t] += s[t + h];
            __syncwarp();
          }
          if (lane == 0) x[t] = s[t];
        }""", 1, 64, (ints(64),), (WARP,),
    ),
    "butterfly": Shared(
        """__global__ void k(int* x) {
          __shared__ int s[64];
          int t = threadIdx.x, v = x[t];
          s[t] = v;
          __syncwarp();
          for (int h = 16; h; h /= 2) {
            int other = s[t ^ h];
            __syncwarp();
            s[t] = v += other;
            __syncwarp();
          }
          x[t] = v;
        }""", 1, 64, (ints(64),), (WARP,),
    ),
    "tiles of a warp": Shared(
        """#include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void k(int* x) {
          __shared__ int s[64];
          auto tile = cg::tiled_partition<8>(cg::this_thread_block());
          int t = threadIdx.x;
          s[t] = x[t];
          tile.sync();
          int v = s[t ^ 7];
          tile.sync();
          s[t] = v;
          tile.sync();
          x[t] = s[t ^ 3];
        }""", 1, 64, (ints(64),), ("tile.sync();",),
    ),
    "histogram": Shared(
        """__global__ void k(const int* x, int* out) {
          __shared__ int s[16];
          if (threadIdx.x < 16) s[threadIdx.x] = 0;
          __syncthreads();
          atomicAdd(&s[x[threadIdx.x + 64 * blockIdx.x] % 16], 1);
          __syncthreads();
          if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
        }""", 3, 64, (ints(192), zeros(16)), (BARRIER,),
    ),
    "pair of numbers from one thread": Shared(
        """__global__ void k(float4* x, float* y) {
          int i = blockIdx.x * 64 + threadIdx.x;
          x[i] = make_float4(i, 1, 2, 3);
          y[i] = x[i].x + ((float*)x)[4 * i + 3];
        }""", 2, 64, (zeros(512, np.float32), zeros(128, np.float32)),
    ),
}  # fmt: skip


def spoiled() -> list[tuple[str, str, int]]:
    """Name, guard, and which of its occurrences may be taken out."""
    return [
        (name, guard, number)
        for name, kernel in KERNELS.items()
        for guard in kernel.guards
        for number in range(kernel.source.count(guard))
    ]


def without(kernel: Shared, guard: str, number: int) -> str:
    """Source of a kernel without the numbered occurrence of a guard."""
    parts = kernel.source.split(guard)
    before, after = guard.join(parts[: number + 1]), guard.join(parts[number + 1 :])
    return before + after
