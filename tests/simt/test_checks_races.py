"""racecheck: silent where accesses are ordered, and precise where they are not."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from synchronised_kernels import KERNELS, spoiled, without

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")


def check(source: str, grid, block, *arguments, **options):
    with ck.simulator(timeout_s=20, order=options.pop("order", "forward")):
        kernel = ck.compile(source)["k"]
        return ck.racecheck(kernel, grid, block, copy.deepcopy(arguments), **options)


@pytest.mark.parametrize("order", ["forward", "reverse", 1])
@pytest.mark.parametrize("name", KERNELS)
def test_ordered_accesses_are_no_race(name, order):
    kernel = KERNELS[name]
    found = check(
        kernel.source, kernel.grid, kernel.block, *kernel.arguments, order=order
    )
    assert (list(found), found.notes) == ([], ())


@pytest.mark.parametrize("order", ["forward", "reverse", 2])
@pytest.mark.parametrize(("name", "guard", "number"), spoiled())
def test_race_is_found_where_a_guard_is_missing(name, guard, number, order):
    kernel = KERNELS[name]
    source = without(kernel, guard, number)
    found = check(source, kernel.grid, kernel.block, *kernel.arguments, order=order)
    assert found[0].kind == "DataRaceError"


WARPS = """__global__ void k(int* x) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  x[t] = s[t ^ DISTANCE];
}"""


@pytest.mark.parametrize(("distance", "severity"), [(1, "warning"), (32, "error")])
def test_race_within_a_warp_is_a_warning(distance, severity):
    found = check(
        WARPS.replace("DISTANCE", str(distance)), 1, 64, np.arange(64, dtype=np.int32)
    )
    assert [one.severity for one in found] == [severity]


@pytest.mark.parametrize("distance", [1, 32])
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_message_names_both_accesses(distance, order):
    source = WARPS.replace("DISTANCE", str(distance))
    (found,) = check(source, 1, 64, np.arange(64, dtype=np.int32), order=order)
    x, other = found.thread[0], found.thread[0] ^ distance
    assert f"thread ({x}, 0, 0) of block (0, 0, 0) reads s[{other}]" in found.message
    assert f"thread ({other}, 0, 0) of the same block writes it" in found.message
    assert f"kernel.cu:4    s[t] = x[t];    <- thread ({other}" in found.message
    assert f"kernel.cu:5    x[t] = s[t ^ {distance}];    <- thread" in found.message
    assert (found.line, found.block, found.count) == (5, (0, 0, 0), 64)


def test_race_between_blocks_names_both_blocks():
    source = "__global__ void k(int* x) { x[threadIdx.x] = blockIdx.x; }"
    (found,) = check(source, 2, 1, np.zeros(4, np.int32))
    assert "of block (1, 0, 0) writes x[0]" in found.message
    assert "of block (0, 0, 0) writes it: nothing orders blocks" in found.message


def test_lanes_of_one_store_race():
    source = "__global__ void k(int* x) { x[threadIdx.x / 2] = threadIdx.x; }"
    (found,) = check(source, 1, 32, np.zeros(16, np.int32))
    assert (found.severity, found.count) == ("error", 16)


@pytest.mark.parametrize("grid", [1, 2])
def test_same_value_is_a_note(grid):
    source = "__global__ void k(int* x) { x[0] = 7; }"
    found = check(source, grid, 64, np.zeros(1, np.int32))
    assert len(found) == 0
    assert "the value is the same" in found.notes[0].message


def test_guess_before_an_atomic_is_a_note():
    source = """__global__ void k(const int* x, int* most) {
      int mine = x[threadIdx.x], old = *most, seen;
      do {
        seen = old;
        if (seen >= mine) break;
        old = atomicCAS(most, seen, mine);
      } while (old != seen);
    }"""
    found = check(source, 1, 64, np.arange(64, dtype=np.int32), np.zeros(1, np.int32))
    assert len(found) == 0
    assert "a guess" in found.notes[0].message


def test_plain_read_of_what_others_update_is_a_race():
    source = """__global__ void k(int* sum, int* out) {
      atomicAdd(sum, 1);
      out[threadIdx.x] = sum[threadIdx.x / 64];
    }"""
    found = check(source, 1, 64, np.zeros(1, np.int32), np.zeros(64, np.int32))
    assert [one.line for one in found] == [3]


def test_old_warp_code_with_volatile_is_a_warning():
    source = """__global__ void k(int* x) {
      __shared__ volatile int s[64];
      int t = threadIdx.x;
      s[t] = x[t];
      if (t % 32 < 16) s[t] = s[t] + s[t + 16];
      x[t] = s[t];
    }"""
    found = check(source, 1, 64, np.arange(64, dtype=np.int32))
    assert {one.severity for one in found} == {"warning"}


def test_a_fence_of_the_block_does_not_reach_other_blocks():
    source = KERNELS["lock of blocks"].source.replace("fence()", "fence_block()")
    found = check(source, 3, 1, np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert [one.kind for one in found] == ["DataRaceError"]


def test_arguments_stay_as_they_are():
    source = "__global__ void k(int* x) { x[threadIdx.x] += 1; }"
    x = ck.to_device(np.zeros(32, np.int32))
    ck.racecheck(ck.compile(source)["k"], 1, 32, (x,))
    np.testing.assert_array_equal(ck.to_host(x), 0)


def test_error_that_ends_the_launch_is_a_finding():
    source = "__global__ void k(int* x) { x[threadIdx.x] = 1; }"
    (found,) = check(source, 1, 32, np.zeros(31, np.int32))
    assert type(found.error) is ck.OutOfBoundsError


COPIED = """#include <cuda_pipeline.h>
__global__ void k(const int* x, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&s[t], &x[t], 4);
  __pipeline_commit();
  WAIT __syncthreads();
  out[t] = s[t ^ DISTANCE];
}"""


@pytest.mark.parametrize(
    ("wait", "kinds"),
    [("__pipeline_wait_prior(0);", []), ("", ["DataRaceError"]),
     ("__pipeline_wait_prior(1);", ["DataRaceError"])],
)  # fmt: skip
@pytest.mark.parametrize("distance", [0, 1, 32])
def test_copy_that_nobody_waited_for_is_a_race(distance, wait, kinds):
    source = COPIED.replace("WAIT", wait).replace("DISTANCE", str(distance))
    x = np.arange(64, dtype=np.int32)
    found = check(source, 3, 64, x, zeros())
    # The blocks write the same values to `out`, which is a note.
    assert [one.kind for one in found] == kinds


def test_copy_that_nobody_waited_for_is_named():
    source = COPIED.replace("WAIT", "").replace("DISTANCE", "32")
    (found,) = check(source, 1, 64, np.arange(64, dtype=np.int32), zeros())
    x = found.thread[0]
    assert (found.line, found.count) == (10, 64)
    assert f"thread ({x}, 0, 0) of block (0, 0, 0) reads s[{x ^ 32}]" in found.message
    assert "nobody has waited for that copy" in found.message
    assert "__pipeline_wait_prior(0)" in found.message


def test_own_copy_that_was_not_waited_for_is_named():
    source = COPIED.replace("WAIT", "").replace("DISTANCE", "0")
    (found,) = check(source, 1, 64, np.arange(64, dtype=np.int32), zeros())
    assert "and a copy that it began itself writes it" in found.message


def zeros():
    return np.zeros(64, np.int32)


GRID = """#include <cooperative_groups.h>
__global__ void k(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int other = x[127 - i];
  SYNC
  x[i] = other;
}"""
SYNC = "cooperative_groups::this_grid().sync();"


@pytest.mark.parametrize(("sync", "kinds"), [(SYNC, []), ("", ["DataRaceError"])])
def test_barrier_of_the_grid_orders_blocks(sync, kinds):
    x = np.arange(128, dtype=np.int32)
    found = check(GRID.replace("SYNC", sync), 2, 64, x, cooperative=True)
    assert [one.kind for one in found] == kinds


SCOPES = {
    "_block in two blocks": ("atomicAdd_block(x, 1);", 2, "own block only"),
    "one of the two _block": (
        "if (blockIdx.x) atomicAdd_block(x, 1); else atomicAdd(x, 1);", 2, "own block",
    ),
    "plain read": ("atomicAdd(x, 1); x[1 + blockIdx.x] = x[0];", 2, "plain read"),
    "plain write": ("if (threadIdx.x) atomicAdd(x, 1); else x[0] = 7;", 1, "plain"),
    "test before atomicMax": ("if (x[0] < 9) atomicMax(x, 9);", 2, "plain read"),
}  # fmt: skip
PERMITTED = {
    "_block in one block": ("atomicAdd_block(x, 1);", 1),
    "_block on one's own element": ("atomicAdd_block(x + blockIdx.x, 1);", 2),
    "volatile read": ("atomicAdd(x, 1); x[1] = ((volatile int*)x)[0] * 0;", 1),
    "barrier between": ("atomicAdd(x, 1); __syncthreads(); if (x[0] < 0) x[1] = 1;", 1),
}


@pytest.mark.parametrize("name", SCOPES)
def test_atomic_that_others_do_not_respect_is_a_race(name):
    body, grid, words = SCOPES[name]
    source = f"__global__ void k(int* x) {{ {body} }}"
    found = check(source, grid, 64, np.zeros(4, np.int32))
    assert [(one.kind, one.line) for one in found] == [("DataRaceError", 1)]
    assert words in found[0].message


@pytest.mark.parametrize("name", PERMITTED)
def test_atomic_that_others_respect_is_no_race(name):
    body, grid = PERMITTED[name]
    source = f"__global__ void k(int* x) {{ {body} }}"
    assert len(check(source, grid, 64, np.zeros(4, np.int32))) == 0
