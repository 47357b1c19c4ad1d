"""Which atomics are labelled as counts of the PTX, and why."""

import numpy as np
import pytest

import coursekit as ck

STATEMENTS = {
    "atomicAdd(x, 1)": "ptx",  # one lane does it for the warp
    "atomicMax(x, t)": "ptx",
    "atomicAdd(x + index[0], 1)": "ptx",
    "if (t == 3) atomicAdd(x, 1)": "exact",  # it does so anyhow
    "atomicExch(x, t)": "exact",
    "atomicAdd((float*)x, 1.0f)": "exact",
    "atomicAdd(x + t, 1)": "exact",
    "atomicAdd(x + 3 * t + n, 1)": "exact",
    "atomicAdd(x + index[t], 1)": "ptx",  # scattered
    "atomicAdd(x + t * t, 1)": "ptx",
    "atomicAdd(x + __shfl_sync(~0u, t, 3), 1)": "ptx",
}


def kernel(statement):
    source = f"""__global__ void k(int* x, const int* index, int n) {{
      int t = threadIdx.x;
      {statement};
    }}"""
    return ck.compile(source).k


@pytest.mark.parametrize(("statement", "label"), STATEMENTS.items())
def test_label_of_the_sectors_of_an_atomic(statement, label):
    x, index = np.zeros(2048, np.int32), np.arange(32, dtype=np.int32)
    counts = ck.count(kernel(statement), 1, 32, (x, index, 1))
    names = ("global_atomic_sectors", "bytes_read", "bytes_written")
    assert {counts.label(name) for name in names} == {label}


def test_requests_of_an_atomic_stay_exact():
    x, index = np.zeros(32, np.int32), np.zeros(32, np.int32)
    counts = ck.count(kernel("atomicAdd(x, 1)"), 1, 32, (x, index, 1))
    assert counts.label("global_atomic_requests") == "exact"


def test_reduction_of_a_warp_to_one_shared_word_is_a_count_of_the_ptx():
    source = """__global__ void k(int* out) {
      __shared__ int sum;
      sum = 0;
      __syncthreads();
      atomicAdd(&sum, (int)threadIdx.x);
      __syncthreads();
      out[threadIdx.x] = sum;
    }"""
    counts = ck.count(ck.compile(source).k, 1, 32, (np.zeros(32, np.int32),))
    assert counts.label("shared_atomic_wavefronts") == "ptx"


def test_shared_floats_are_added_in_a_loop_of_unknown_length():
    source = """__global__ void k(float* out) {
      __shared__ float sum[32];
      sum[threadIdx.x] = 0;
      __syncthreads();
      atomicAdd(&sum[threadIdx.x / 2], 1.0f);
      __syncthreads();
      out[threadIdx.x] = sum[threadIdx.x];
    }"""
    counts = ck.count(ck.compile(source).k, 1, 32, (np.zeros(32, np.float32),))
    assert counts.label("flops_fp32") == "ptx"
