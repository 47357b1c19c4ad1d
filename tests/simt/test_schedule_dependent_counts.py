"""Counts are exact unless the order of threads decides about them."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

ATOMICS, LOADS = "global_atomic_requests", "global_load_requests"
STORES, STORED = "global_store_requests", "global_store_sectors"
HEAD = """__device__ __noinline__ int wait(volatile int* x) {
  while (*x == 0) { }
  return *x;
}
__global__ void k(int* x, volatile int* flag, int* out) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  (void)i;
"""
UNSURE = {
    "spin lock": (
        "if (t == 0) { while (atomicCAS(x, 0, 1) != 0) { } __threadfence();"
        " out[0] += 1; __threadfence(); atomicExch(x, 0); }", ATOMICS,
    ),
    "lock that each lane tries": (
        "bool done = false; while (!done) if (atomicCAS(x, 0, 1) == 0) {"
        " out[0] += 1; __threadfence(); atomicExch(x, 0); done = true; }", STORES,
    ),
    "poll of a volatile flag": (
        "if (blockIdx.x) { if (t == 0) while (*flag == 0) { } } else *flag = 1;", LOADS,
    ),
    "poll in a function": (
        "if (blockIdx.x == 0) *flag = 1; out[i] = wait(flag);", LOADS,
    ),
    "loop around atomicCAS": (
        "int old = 0, seen; do { seen = old; old = atomicCAS(x, seen, seen + i); }"
        " while (old != seen);", ATOMICS,
    ),
    "poll by an atomic": (
        "atomicAdd(x, 1); while (atomicAdd(x, 0) < 128) { }", ATOMICS,
    ),
    "queue of work": (
        "while (atomicAdd(x, 1) < 300) atomicAdd(out, 1);", ATOMICS,
    ),
    "some of many lanes": ("if (atomicAdd(x, 1) < 40) out[i] = 1;", STORES),
    "place from an atomic": ("if (i % 3) out[atomicAdd(x, 1)] = i;", STORED),
}  # fmt: skip
SURE = {
    "plain atomics": ("atomicAdd(x, 1); out[i] = atomicMax(x + i, 2);", ATOMICS),
    "lock beside which others load": (
        "out[i] = x[i]; if (t == 0) atomicExch(x, 1);", LOADS,
    ),
    "last block": (
        "__shared__ bool last; if (t == 0) last = atomicAdd(x, 1) == gridDim.x - 1;"
        " __syncthreads(); if (last) out[t] = x[i];", STORES,
    ),
    "last block by its rank": (
        "if (t) return; if (atomicAdd(x, 1) < gridDim.x - 1) return; out[0] = x[1];",
        STORES,
    ),
    "volatile values": ("out[i] = flag[i];", LOADS),
    "place from an atomic, requests": ("out[atomicAdd(x, 1)] = i;", STORES),
}  # fmt: skip


def count(body: str):
    kernel = ck.compile(HEAD + body + "}")["k"]
    arguments = tuple(np.zeros(512, np.int32) for _ in range(3))
    return ck.count(kernel, 2, 64, arguments)


@pytest.mark.parametrize("name", UNSURE)
def test_count_that_depends_on_the_order_of_threads_is_not_exact(name):
    body, field = UNSURE[name]
    counts = count(body)
    assert (counts.label(field), getattr(counts, field) > 0) == ("ptx", True)


@pytest.mark.parametrize("name", SURE)
def test_count_that_any_order_gives_is_exact(name):
    body, field = SURE[name]
    counts = count(body)
    assert (counts.label(field), getattr(counts, field) > 0) == ("exact", True)


def test_fields_that_nothing_doubtful_counts_stay_exact():
    counts = count(UNSURE["poll of a volatile flag"][0])
    assert {counts.label(field) for field in (STORES, ATOMICS, "barriers")} == {"exact"}


def test_bytes_are_as_doubtful_as_the_sectors():
    counts = count(UNSURE["poll of a volatile flag"][0])
    labels = [counts.label(field) for field in ("bytes_read", "bytes_written")]
    assert labels == ["ptx", "exact"]


def test_a_single_thread_has_nobody_to_wait_for():
    kernel = ck.compile(HEAD + UNSURE["spin lock"][0] + "}")["k"]
    arguments = tuple(np.zeros(512, np.int32) for _ in range(3))
    assert ck.count(kernel, 1, 1, arguments).label(ATOMICS) == "exact"


GRID = "x[i] = i; cooperative_groups::this_grid().sync(); out[i] = x[127 - i];"


def grid_counts():
    text = "#include <cooperative_groups.h>\n" + HEAD + GRID + "}"
    arguments = tuple(np.zeros(512, np.int32) for _ in range(3))
    return ck.count(ck.compile(text)["k"], 2, 64, arguments, cooperative=True)


def test_cooperative_launches_can_be_counted():
    assert grid_counts().global_store_requests == 8


def test_polls_of_a_grid_barrier_are_not_exact():
    counts = grid_counts()
    assert (counts.label(LOADS), counts.label(STORES)) == ("ptx", "exact")
