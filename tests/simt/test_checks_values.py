"""initcheck: unwritten values are found where they are used, not where they rest."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")


def check(source: str, *arguments, grid=1, block=32, **options):
    return ck.initcheck(ck.compile(source)["k"], grid, block, arguments, **options)


SUM = (
    "__global__ void k(float* sum, const float* x) { atomicAdd(sum, x[threadIdx.x]); }"
)
STAGED = """__global__ void k(float* y, const float* x) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = 2 * s[31 - threadIdx.x];
}"""


def filled(n: int):
    return ck.to_device(np.ones(n, np.float32))


def test_adding_to_fresh_memory_is_found():
    (found,) = check(SUM, ck.empty(1), filled(32))
    assert (found.kind, found.line, found.count) == ("UninitializedReadError", 1, 32)
    assert "updates sum[0], which nothing has written" in found.message
    assert "ck.empty reserves memory" in found.message


@pytest.mark.parametrize(
    "total", [np.zeros(1, np.float32), ck.to_device(np.zeros(1, np.float32))]
)
def test_adding_to_filled_memory_is_fine(total):
    assert len(check(SUM, total, filled(32))) == 0


def test_an_earlier_launch_counts_as_writing():
    y = ck.empty(32)
    ck.compile(STAGED)["k"][1, 32](y, filled(32))
    found = check(STAGED, ck.empty(32), y)
    assert (len(found), found.notes) == (0, ())


NEGATED = """__global__ void k(float* y, const float* x) {
  y[threadIdx.x] = -x[threadIdx.x];
}"""


def test_only_a_part_that_was_written_may_be_read():
    x = ck.empty(64)
    ck.compile(STAGED)["k"][1, 32](x[:32], filled(32))
    (found,) = check(NEGATED, ck.empty(64), x, block=64)
    assert (found.count, found.thread) == (32, (32, 0, 0))
    assert "reads x[32]" in found.message


def test_a_copy_is_a_note_and_its_use_an_error():
    found = check(STAGED, ck.empty(32), ck.empty(32))
    assert [one.line for one in found] == [5]
    assert [one.line for one in found.notes] == [3]


def test_unset_shared_memory_that_leaves_the_chip_is_found():
    source = """__global__ void k(int* x, int n) {
      __shared__ int s[32];
      if (threadIdx.x < n) s[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = s[31 - threadIdx.x];
    }"""
    (found,) = check(source, np.zeros(32, np.int32), 20)
    assert (found.line, found.count) == (5, 12)
    assert "thread (0, 0, 0) of block (0, 0, 0) reads s[31]" in found.message


def test_every_block_starts_with_unset_shared_memory():
    source = """__global__ void k(int* x) {
      __shared__ int s[32];
      if (blockIdx.x == 0) s[threadIdx.x] = 1;
      __syncthreads();
      x[threadIdx.x] = s[threadIdx.x] + 1;
    }"""
    (found,) = check(source, np.zeros(32, np.int32), grid=2)
    assert (found.block, found.count) == ((1, 0, 0), 32)


def test_unset_element_of_a_local_array_is_found():
    source = """__global__ void k(int* x, int n) {
      int a[8];
      for (int i = 0; i < n; ++i) a[i * n % 8] = i;
      x[threadIdx.x] = a[threadIdx.x % 8] + 1;
    }"""
    (found,) = check(source, np.zeros(32, np.int32), 3)
    assert (found.line, found.thread) == (4, (1, 0, 0))
    assert "its own local memory" in found.message


def test_padding_of_a_struct_is_no_error():
    source = """struct P { char c; int i; };
    __global__ void k(int* out, P* p) {
      __shared__ P s[32];
      int t = threadIdx.x;
      s[t].c = t;
      s[t].i = 2 * t;
      __syncthreads();
      p[t] = s[31 - t];
      out[t] = s[31 - t].i + s[31 - t].c;
    }"""
    kernel = ck.compile(source)["k"]
    target = np.zeros(256, np.uint8)
    try:
        found = ck.initcheck(kernel, 1, 32, (np.zeros(32, np.int32), target))
    except ck.ArgumentError:
        pytest.skip("no argument type for a pointer to a struct")
    assert len(found) == 0


def test_lane_of_a_vector_that_nobody_uses_is_fine():
    source = """__global__ void k(float* y) {
      __shared__ float4 s[32];
      s[threadIdx.x].x = 1; s[threadIdx.x].y = 2; s[threadIdx.x].z = 3;
      __syncthreads();
      float4 v = s[31 - threadIdx.x];
      y[threadIdx.x] = v.x + v.y + v.z;
    }"""
    assert len(check(source, ck.empty(32))) == 0


def test_setting_a_lock_by_exchange_is_no_read():
    source = """__global__ void k(int* x) {
      __shared__ int lock;
      if (threadIdx.x == 0) atomicExch(&lock, 0);
      __syncthreads();
      atomicAdd(&lock, 1);
      __syncthreads();
      x[threadIdx.x] = lock;
    }"""
    assert len(check(source, np.zeros(32, np.int32))) == 0


def test_finding_is_raised_on_demand():
    with pytest.raises(ck.UninitializedReadError, match=r"updates sum\[0\]"):
        check(SUM, ck.empty(1), filled(32), raise_=True)


COPIED = """#include <cuda_pipeline.h>
__global__ void k(const int* x, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &x[t], 4);
  __pipeline_commit();
  WAIT
  __syncthreads();
  out[t] = s[63 - t];
}"""


@pytest.mark.parametrize(
    ("wait", "count"), [("", 64), ("__pipeline_wait_prior(0);", 0)]
)
def test_value_that_is_still_to_be_copied_is_found(wait, count):
    arrays = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    found = check(COPIED.replace("WAIT", wait), *arrays, block=64)
    assert [(one.line, one.count) for one in found] == [(11, count)] * bool(count)
    assert all("written yet" in one.message for one in found)
