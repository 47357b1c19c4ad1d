"""Bugs that students write: each raises its error, with thread and line."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("own_folders")

CHECKERS = ("memcheck", "racecheck", "initcheck", "synccheck")


class Bug(NamedTuple):
    """A kernel `k`, its launch, and what must come of it.

    `found` is (checker or "launch", error, line, thread or None).
    """

    source: str
    grid: object
    block: object
    arguments: tuple
    found: tuple


def floats(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def ints(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def bad_indices() -> np.ndarray:
    found = ints(64)
    found[40] = -7
    return found


BUGS = {
    "stencil reads above the first row": Bug(
        """__global__ void k(const float* in, float* out, int rows, int cols) {
          int col = blockIdx.x * blockDim.x + threadIdx.x;
          int row = blockIdx.y * blockDim.y + threadIdx.y;
          if (row < rows && col < cols)
            out[row * cols + col] = in[(row - 1) * cols + col];
        }""", (1, 2), (32, 8), (floats(300), floats(300), 10, 30),
        ("launch", "OutOfBoundsError", 5, (0, 0, 0)),
    ),
    "index from data is negative": Bug(
        """__global__ void k(const int* index, const float* in, float* out) {
          out[threadIdx.x] = in[index[threadIdx.x]];
        }""", 1, 64, (bad_indices(), floats(64), floats(64)),
        ("launch", "OutOfBoundsError", 2, (40, 0, 0)),
    ),
    "some threads write through null": Bug(
        """__global__ void k(const float* in, float* out) {
          if (in[threadIdx.x] > 50)
            *out = in[threadIdx.x];
        }""", 1, 64, (floats(64), None),
        ("launch", "OutOfBoundsError", 3, (51, 0, 0)),
    ),
    "countdown without a sign": Bug(
        """__global__ void k(float* x, int n) {
          for (unsigned i = n - 1; i >= 0; --i)
            x[i] *= 2;
        }""", 1, 1, (floats(64), 64),
        ("launch", "OutOfBoundsError", 3, (0, 0, 0)),
    ),
    "rows are no multiple of float4": Bug(
        """__global__ void k(const float* x, float* y, int cols) {
          const float4* row = (const float4*)(x + blockIdx.x * cols);
          float4 v = row[threadIdx.x];
          y[blockIdx.x] = v.x + v.y + v.z + v.w;
        }""", 5, 1, (floats(30), floats(5), 6),
        ("launch", "OutOfBoundsError", 3, (0, 0, 0)),
    ),
    "offset of a row overflows": Bug(
        """__global__ void k(float* x, int rows, int cols) {
          int at = (blockIdx.x * blockDim.x + threadIdx.x) * cols * 1000;
          if (at < rows * cols)
            x[at] = 1;
        }""", 4, 64, (floats(1000), 100000, 70000),
        ("launch", "OutOfBoundsError", 4, (31, 0, 0)),
    ),
    "scan in one array": Bug(
        """__global__ void k(float* x) {
          __shared__ float s[128];
          int t = threadIdx.x;
          s[t] = x[t];
          __syncthreads();
          for (int d = 1; d < 128; d *= 2) {
            if (t >= d) s[t] += s[t - d];
            __syncthreads();
          }
          x[t] = s[t];
        }""", 1, 128, (floats(128),), ("racecheck", "DataRaceError", 7, (32, 0, 0)),
    ),
    "largest value without an atomic": Bug(
        """__global__ void k(const float* x, float* best) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (x[i] > *best)
            *best = x[i];
        }""", 4, 64, (floats(256), np.zeros(1, np.float32)),
        ("racecheck", "DataRaceError", 3, (0, 0, 0)),
    ),
    "sums of warps are read too early": Bug(
        """__global__ void k(const float* x, float* sum) {
          __shared__ float s[8];
          float v = x[threadIdx.x];
          for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
          if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
          if (threadIdx.x == 0)
            for (int i = 0; i < 8; ++i)
              *sum += s[i];
        }""", 1, 256, (floats(256), np.zeros(1, np.float32)),
        ("racecheck", "DataRaceError", 8, (0, 0, 0)),
    ),
    "blocks write the same elements": Bug(
        """__global__ void k(const int* x, int* y) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          y[i % 32] = x[i];
        }""", 4, 32, (ints(128), ints(32)),
        ("racecheck", "DataRaceError", 3, (0, 0, 0)),
    ),
    "bins of a thread are not zeroed": Bug(
        """__global__ void k(const float* x, float* y, int n) {
          float bins[4];
          for (int i = threadIdx.x; i < n; i += blockDim.x)
            bins[(int)x[i] % 4] += x[i];
          for (int b = 0; b < 4; ++b) atomicAdd(y + b, bins[b]);
        }""", 1, 32, (floats(100), np.zeros(4, np.float32), 100),
        ("initcheck", "UninitializedReadError", 4, (0, 0, 0)),
    ),
    "histogram of a block is not zeroed": Bug(
        """__global__ void k(const int* x, int* counts, int n) {
          __shared__ int h[16];
          for (int i = threadIdx.x; i < n; i += blockDim.x)
            atomicAdd(&h[x[i] % 16], 1);
          __syncthreads();
          if (threadIdx.x < 16) counts[threadIdx.x] = h[threadIdx.x];
        }""", 1, 64, (ints(200), np.zeros(16, np.int32), 200),
        ("initcheck", "UninitializedReadError", 4, (0, 0, 0)),
    ),
    "edges of a tile are not set": Bug(
        """__global__ void k(float* x) {
          __shared__ float s[66];
          int t = threadIdx.x + 1;
          s[t] = x[t - 1];
          __syncthreads();
          x[t - 1] = (s[t - 1] + s[t + 1]) / 2;
        }""", 1, 64, (floats(64),),
        ("initcheck", "UninitializedReadError", 6, (63, 0, 0)),
    ),
    "barrier in a loop of different lengths": Bug(
        """__global__ void k(float* x, int n) {
          __shared__ float s;
          for (int i = threadIdx.x; i < n; i += blockDim.x) {
            if (threadIdx.x == 0) s = x[i];
            __syncthreads();
            x[i] += s;
            __syncthreads();
          }
          x[threadIdx.x] *= 2;
        }""", 1, 64, (floats(100), 100),
        ("synccheck", "BarrierError", 5, (32, 0, 0)),
    ),
    "barrier on both sides of a branch": Bug(
        """__global__ void k(int* x) {
          if (threadIdx.x < 16) {
            x[threadIdx.x] = 1;
            __syncthreads();
          } else {
            __syncthreads();
            x[threadIdx.x] = 2;
          }
        }""", 1, 32, (ints(32),), ("synccheck", "BarrierError", 4, (0, 0, 0)),
    ),
    "waiting for a flag that nobody sets": Bug(
        """__global__ void k(volatile int* flag, int* out) {
          if (threadIdx.x == 0)
            while (*flag == 0) { }
          __syncthreads();
          out[threadIdx.x] = 1;
        }""", 1, 64, (np.zeros(1, np.int32), ints(64)),
        ("launch", "DeadlockError", 3, (0, 0, 0)),
    ),
    "the block is too large": Bug(
        "__global__ void k(float* x) { x[threadIdx.x] = 1; }",
        1, (32, 64), (floats(2048),), ("launch", "LaunchError", None, None),
    ),
}  # fmt: skip
CHECKED = [name for name, bug in BUGS.items() if bug.found[1] != "LaunchError"]


def act(bug: Bug, how: str, **options):
    kernel = ck.compile(bug.source)["k"]
    arguments = copy.deepcopy(bug.arguments)
    endless = bug.found[1] == "DeadlockError"
    with ck.simulator(timeout_s=0.5 if endless else 60):
        if how == "launch":
            return kernel[bug.grid, bug.block](*arguments)
        return getattr(ck, how)(kernel, bug.grid, bug.block, arguments, **options)


@pytest.mark.parametrize("name", BUGS)
def test_bug_raises_its_error(name):
    how, kind, line, thread = BUGS[name].found
    options = {} if how == "launch" else {"raise_": True}
    with pytest.raises(getattr(ck, kind)) as caught:
        act(BUGS[name], how, **options)
    place = getattr(caught.value, "line", None), getattr(caught.value, "thread", None)
    assert place == (line, thread)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("name", CHECKED)
def test_checker_lives_and_names_what_ends_the_launch(name, checker):
    how, kind, *_ = BUGS[name].found
    found = [one.kind for one in act(BUGS[name], checker)]
    assert (kind in found) or how not in ("launch", checker)
