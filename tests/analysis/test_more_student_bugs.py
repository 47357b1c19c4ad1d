"""More bugs of students, in other styles; and tricky kernels that have none."""

from __future__ import annotations

import numpy as np
import pytest
from test_student_bugs import CHECKERS, Bug, act, floats, ints

import coursekit as ck

pytestmark = pytest.mark.usefixtures("own_folders")


def zeros(n: int, dtype=np.float32) -> np.ndarray:
    return np.zeros(n, dtype)


OUT, RACE, UNSET = "OutOfBoundsError", "DataRaceError", "UninitializedReadError"
BARRIER, ENDLESS = "BarrierError", "DeadlockError"
BUGS = {
    "functor reads one too far": Bug(
        """class Blur {
          const float* p;
         public:
          __device__ Blur(const float* x) : p(x) {}
          __device__ float operator()(int i) const { return p[i] + p[i + 1]; }
        };
        __global__ void k(const float* x, float* y, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] = Blur(x)(i);
        }""", 2, 64, (floats(100), zeros(100), 100), ("launch", OUT, 5, (35, 0, 0)),
    ),
    "bytes taken for elements": Bug(
        """extern __shared__ double s[];
        __global__ void k(const float* x, float* y) {
          int t = threadIdx.x;
          s[t] = x[t];
          __syncthreads();
          y[t] = s[127 - t];
        }""", 1, 128, (floats(128), zeros(128)), ("launch", OUT, 4, (0, 0, 0)),
    ),
    "neighbour by remainder": Bug(
        """__device__ int wrap(int i, int n) { return i % n; }
        __global__ void k(const float* x, float* y, int n) {
          int i = threadIdx.x;
          y[i] = x[wrap(i - 1, n)] + x[wrap(i + 1, n)];
        }""", 1, 64, (floats(64), zeros(64), 64), ("launch", OUT, 4, (0, 0, 0)),
    ),
    "search that finds nothing": Bug(
        """__device__ const int* find(const int* a, int n, int key) {
          for (int j = 0; j < n; ++j)
            if (a[j] == key) return a + j;
          return nullptr;
        }
        __global__ void k(const int* a, int* out) {
          out[threadIdx.x] = *find(a, 32, threadIdx.x * 2);
        }""", 1, 32, (ints(32), zeros(32, np.int32)),
        ("launch", OUT, 7, (16, 0, 0)),
    ),
    "array of a function that has returned": Bug(
        """__device__ __noinline__ float* make() {
          float a[4];
          for (int i = 0; i < 4; ++i) a[i] = i + threadIdx.x;
          float* volatile p = a;
          return p;
        }
        __global__ void k(float* y) {
          float* p = make();
          y[threadIdx.x] = p[1];
        }""", 1, 32, (zeros(32),), ("launch", OUT, 9, (0, 0, 0)),
    ),
    "sum of a block is used again": Bug(
        """__device__ float all(float v) {
          __shared__ float part[4];
          for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
          if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
          __syncthreads();
          return part[0] + part[1] + part[2] + part[3];
        }
        __global__ void k(const float* x, float* out) {
          float a = all(x[threadIdx.x]), b = all(x[threadIdx.x] * 2);
          if (threadIdx.x == 0) out[0] = a * b;
        }""", 1, 128, (floats(128), zeros(2)), ("racecheck", RACE, 6, (0, 0, 0)),
    ),
    "halves of a struct": Bug(
        """struct State { short count; char done; };
        __global__ void k(int* out) {
          __shared__ State s[8];
          int t = threadIdx.x;
          if (t < 8) s[t] = State{0, 0};
          __syncthreads();
          s[t % 8].count = t;
          __syncthreads();
          out[t] = s[t % 8].count;
        }""", 1, 64, (zeros(64, np.int32),), ("racecheck", RACE, 7, (32, 0, 0)),
    ),
    "neighbour's output": Bug(
        """__global__ void k(const float* x, float* y) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          y[i] = x[i] * 2;
          __syncthreads();
          float d = y[i] - y[i > 0 ? i - 1 : 0];
          __syncthreads();
          if (d > 100) y[i] = 0;
        }""", 4, 64, (floats(256), zeros(256)), ("racecheck", RACE, 5, (0, 0, 0)),
    ),
    "total read where it is added up": Bug(
        """__global__ void k(const int* v, int* total, int* out) {
          atomicAdd(total, v[blockIdx.x * blockDim.x + threadIdx.x]);
          __syncthreads();
          if (threadIdx.x == 0) out[blockIdx.x] = *total;
        }""", 4, 64, (ints(256), zeros(1, np.int32), zeros(4, np.int32)),
        ("racecheck", RACE, 4, (0, 0, 0)),
    ),
    "buffers change too early": Bug(
        """__global__ void k(const float* in, float* out) {
          __shared__ float buf[2][128];
          int t = threadIdx.x;
          float sum = 0;
          buf[0][t] = in[t];
          __syncthreads();
          for (int s = 0; s < 4; ++s) {
            buf[(s + 1) & 1][t] = in[t] + s;
            sum += buf[s & 1][127 - t];
            if (s & 1) __syncthreads();
          }
          out[t] = sum;
        }""", 1, 128, (floats(128), zeros(128)), ("racecheck", RACE, 9, (127, 0, 0)),
    ),
    "sum starts anywhere": Bug(
        """template <class T> __global__ void f(const T* x, T* y, int n);
        __global__ void k(const float* __restrict__ x, float* __restrict__ y, int n) {
          float sum;
          for (int i = threadIdx.x; i < n; i += blockDim.x)
            sum += x[i];
          y[threadIdx.x] = sum;
        }""", 1, 32, (floats(64), zeros(32), 64), ("initcheck", UNSET, 5, (0, 0, 0)),
    ),
    "sums of a thread's tile": Bug(
        """__global__ void k(const float* A, const float* B, float* C, int n) {
          float acc[2][2];
          int r = 2 * threadIdx.y, c = 2 * threadIdx.x;
          for (int m = 0; m < n; ++m)
            for (int i = 0; i < 2; ++i)
              for (int j = 0; j < 2; ++j)
                acc[i][j] += A[(r + i) * n + m] * B[m * n + c + j];
          C[r * n + c] = acc[0][0] + acc[0][1] + acc[1][0] + acc[1][1];
        }""", 1, (4, 4), (floats(64), floats(64), zeros(64), 8),
        ("initcheck", UNSET, 7, (0, 0, 0)),
    ),
    "only block 0 sets the factor": Bug(
        """__global__ void k(const float* x, float* y) {
          __shared__ float scale;
          int i = blockIdx.x * 64 + threadIdx.x;
          if (i == 0) scale = 2;
          __syncthreads();
          y[i] = x[i] * scale;
        }""", 2, 64, (floats(128), zeros(128)), ("initcheck", UNSET, 6, (0, 0, 0)),
    ),
    "barrier inside of a helper": Bug(
        """__device__ float share(float* s, float v) {
          s[threadIdx.x] = v;
          __syncthreads();
          return s[(threadIdx.x + 1) % 64];
        }
        __global__ void k(const float* x, float* y) {
          __shared__ float s[64];
          float v = x[threadIdx.x];
          if (v > 9) v = share(s, v);
          y[threadIdx.x] = v;
        }""", 1, 64, (floats(64), zeros(64)), ("synccheck", BARRIER, 3, (10, 0, 0)),
    ),
    "vote in a loop of different lengths": Bug(
        """__global__ void k(const int* x, int* y) {
          int c = 0;
          for (int j = 0; j < x[threadIdx.x]; ++j)
            c += __any_sync(0xffffffff, j == 5);
          y[threadIdx.x] = c;
        }""", 1, 32, (ints(32), zeros(32, np.int32)),
        ("launch", BARRIER, 4, (1, 0, 0)),
    ),
    "step of the loop is 0": Bug(
        """__global__ void k(float* x, int n, int parts) {
          int step = blockDim.x / parts / 4;
          for (int i = threadIdx.x; i < n; i += step)
            x[i] *= 2;
        }""", 1, 32, (floats(100), 100, 16), ("launch", ENDLESS, 3, (0, 0, 0)),
    ),
    "halving that stays at 1": Bug(
        """__global__ void k(int* x, int s) {
          while (s != 0)
            s = (s + 1) / 2;
          x[threadIdx.x] = s;
        }""", 1, 32, (ints(64), 7), ("launch", ENDLESS, 2, (0, 0, 0)),
    ),
    "barrier of the grid in a branch": Bug(
        """#include <cooperative_groups.h>
        __global__ void k(float* x) {
          if (blockIdx.x == 0)
            cooperative_groups::this_grid().sync();
          x[threadIdx.x] = 2;
        }""", 2, 64, (floats(128),), ("racecheck", ENDLESS, 4, (0, 0, 0)),
    ),
}  # fmt: skip
OPTIONS = {"barrier of the grid in a branch": {"cooperative": True}}


@pytest.mark.parametrize("name", BUGS)
def test_bug_raises_its_error(name):
    how, kind, line, thread = BUGS[name].found
    options = {} if how == "launch" else {"raise_": True, **OPTIONS.get(name, {})}
    with pytest.raises(getattr(ck, kind)) as caught:
        act(BUGS[name], how, **options)
    assert (caught.value.line, caught.value.thread) == (line, thread)


def test_barrier_of_the_grid_that_is_not_reached_is_explained():
    found = act(BUGS["barrier of the grid in a branch"], "synccheck", cooperative=True)
    assert "waits for all blocks at a barrier of the grid" in found[0].message


TRICKY = {
    "tickets of a lock": (
        """__global__ void k(unsigned* next, volatile unsigned* serving, float* total) {
          if (threadIdx.x == 0) {
            unsigned mine = atomicAdd(next, 1u);
            while (*serving != mine) { }
            __threadfence();
            *total += 1;
            __threadfence();
            *serving = mine + 1;
          }
        }""", 4, 32, (zeros(1, np.uint32), zeros(1, np.uint32), zeros(1)),
    ),
    "look back": (
        """__global__ void k(const int* x, volatile int* state, int* out) {
          int b = blockIdx.x, before = 0;
          if (threadIdx.x) return;
          if (b > 0) {
            while (state[2 * b - 2] == 0) { }
            __threadfence();
            before = state[2 * b - 1];
          }
          state[2 * b + 1] = before + x[b];
          __threadfence();
          state[2 * b] = 1;
          out[b] = before;
        }""", 4, 32, (ints(4), zeros(8, np.int32), zeros(4, np.int32)),
    ),
    "three buffers ahead": (
        """#include <cuda_pipeline.h>
        __global__ void k(const float* in, float* out) {
          __shared__ float s[3][64];
          int t = threadIdx.x;
          float sum = 0;
          for (int j = 0; j < 2; ++j) {
            __pipeline_memcpy_async(&s[j][t], &in[j * 64 + t], 4);
            __pipeline_commit();
          }
          for (int j = 0; j < 6; ++j) {
            __pipeline_wait_prior(1);
            __syncthreads();
            sum += s[j % 3][63 - t];
            int m = j + 2;
            if (m < 6) __pipeline_memcpy_async(&s[m % 3][t], &in[m * 64 + t], 4);
            __pipeline_commit();
          }
          out[t] = sum;
        }""", 1, 64, (floats(384), zeros(64)),
    ),
    "member that is not needed": (
        """struct Hit { float t; int id; };
        __device__ __noinline__ float shade(Hit h) { return h.id < 0 ? 0 : h.t; }
        __device__ bool load(const float* x, int i, float& v) {
          if (i >= 20) return false;
          v = x[i];
          return true;
        }
        __global__ void k(const float* x, float* out) {
          Hit h;
          h.id = -1;
          float v;
          if (load(x, threadIdx.x, v)) { h.t = v; h.id = 1; }
          out[threadIdx.x] = shade(h);
        }""", 1, 32, (floats(32), zeros(32)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("name", TRICKY)
def test_tricky_kernel_without_a_bug_is_silent(name, checker):
    source, grid, block, arguments = TRICKY[name]
    kernel = ck.compile(source)["k"]
    with ck.simulator():
        found = getattr(ck, checker)(kernel, grid, block, arguments)
    assert (list(found), found.notes) == ([], ())
