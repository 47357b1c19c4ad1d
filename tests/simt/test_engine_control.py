"""Control flow, warps and barriers: results equal a Python model, on both backends."""

import numpy as np
import pytest

import coursekit as ck

on_both = pytest.mark.usefixtures("backend")

SHAPES = [1, 31, 32, 33, 64, 100, (16, 3, 2), (5, 7)]


def run(
    source, n, *, block=64, grid=1, dtype=np.int32, inputs=(), shared_bytes=0, arch=None
):
    """Run the only kernel of `source`: first argument an output of n, then inputs."""
    module = ck.compile(source, arch=arch)
    out = np.full(n, -7, dtype)
    kernel = module[module.kernels[0]]
    kernel[grid, block, shared_bytes](out, *inputs)
    return out


def threads(block):
    return int(np.prod(block))


@on_both
@pytest.mark.parametrize("block", SHAPES)
def test_every_thread_of_every_block_shape_runs_once(block):
    source = """__global__ void k(int* out) {
      int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      out[t + blockIdx.x * blockDim.x * blockDim.y * blockDim.z] += 8 + t;
    }"""
    n = threads(block)
    out = run(source, 3 * n, block=block, grid=3)
    np.testing.assert_array_equal(out, np.tile(np.arange(n) + 1, 3))


@on_both
def test_nested_branches_reconverge_to_the_right_values():
    source = """__global__ void k(int* out) {
      int t = threadIdx.x, v = 0;
      if (t & 1) { if (t & 2) v = 10 + t; else v = 20 + t; v *= 2; }
      else if (t % 3 == 0) { v = 30 - t; }
      out[t] = v + 1;
    }"""
    t = np.arange(64)
    odd = np.where(t & 2, 10 + t, 20 + t) * 2
    even = np.where(t % 3 == 0, 30 - t, 0)
    np.testing.assert_array_equal(run(source, 64), np.where(t & 1, odd, even) + 1)


@on_both
def test_loops_with_a_trip_count_per_lane_end_at_different_times():
    source = """__global__ void k(int* out) {
      int t = threadIdx.x, v = 0;
      for (int i = 0; i < t * 7 % 13; ++i) {
        if (i == 5) continue;
        if (v > 40) break;
        v += i ^ t;
      }
      out[t] = v;
    }"""

    def model(t):
        v = 0
        for i in range(t * 7 % 13):
            if i == 5:
                continue
            if v > 40:
                break
            v += i ^ t
        return v

    np.testing.assert_array_equal(run(source, 64), [model(t) for t in range(64)])


@on_both
def test_a_switch_sends_lanes_to_their_cases():
    source = """__global__ void k(int* out, const int* in) {
      int t = threadIdx.x, v;
      switch (in[t]) {
        case 0: v = t; break;
        case 1: v = t * t; break;
        case 2: v = -t;
        case 3: v = t + 100; break;
        case 4: v = t ^ 21; break;
        case 5: v = 5 * t; break;
        case 6: v = 77; break;
        default: v = 1;
      }
      out[t] = v;
    }"""
    cases = np.arange(64, dtype=np.int32) * 5 % 9
    t = np.arange(64)
    rest = [np.full(64, v) for v in (77, 1, 1)]
    table = [t, t * t, t + 100, t + 100, t ^ 21, 5 * t, *rest]
    expected = np.choose(cases, table)
    np.testing.assert_array_equal(run(source, 64, inputs=(cases,)), expected)


@on_both
def test_goto_into_a_loop_is_executed_like_any_branch():
    source = """__global__ void k(int* out) {
      int t = threadIdx.x, i = 0, v = 0;
      if (t & 1) goto middle;
    top:
      v += 3;
    middle:
      v += 1;
      if (++i < (t & 7)) goto top;
      out[t] = v;
    }"""

    def model(t):
        i = v = 0
        skip = t & 1
        while True:
            v += 0 if skip else 3
            skip = False
            v += 1
            i += 1
            if i >= (t & 7):
                return v

    np.testing.assert_array_equal(
        run(source, 32, block=32), list(map(model, range(32)))
    )


@on_both
def test_a_lane_that_waits_for_a_lane_of_its_own_warp_makes_progress():
    source = """__global__ void k(int* out) {
      __shared__ volatile int turn;
      if (threadIdx.x == 0) turn = 0;
      __syncthreads();
      while (turn != threadIdx.x) {}
      out[threadIdx.x] = threadIdx.x * 3;
      turn = threadIdx.x + 1;
    }"""
    np.testing.assert_array_equal(run(source, 32, block=32), np.arange(32) * 3)


@pytest.mark.parametrize("arch", ["compute_90", "compute_100"])
def test_a_spin_lock_within_a_warp_protects_a_counter(simulated, arch):
    source = """__global__ void k(int* out) {
      __shared__ int lock, total;
      if (threadIdx.x == 0) { lock = 0; total = 0; }
      __syncthreads();
      bool done = false;
      while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
          total = total + threadIdx.x;
          __threadfence_block();
          atomicExch(&lock, 0);
          done = true;
        }
      }
      __syncthreads();
      out[threadIdx.x] = total;
    }"""
    out = run(source, 48, block=48, arch=arch)
    np.testing.assert_array_equal(out, np.full(48, 48 * 47 // 2))


@on_both
def test_blocks_that_wait_for_each_other_run_side_by_side():
    source = """__global__ void k(int* out, volatile int* flag) {
      if (blockIdx.x == 0) { while (*flag == 0) {} out[0] = 5; }
      else { *flag = 1; out[1] = 6; }
    }"""
    flag = np.zeros(1, np.int32)
    out = run(source, 2, block=1, grid=2, inputs=(flag,))
    np.testing.assert_array_equal(out, [5, 6])


@on_both
def test_grid_sync_orders_phases_across_blocks():
    source = """#include <cooperative_groups.h>
    __global__ void k(int* out, int* stage) {
      auto grid = cooperative_groups::this_grid();
      if (threadIdx.x == 0) stage[blockIdx.x] = blockIdx.x + 1;
      grid.sync();
      if (threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += stage[b];
        out[blockIdx.x] = sum;
      }
    }"""
    module = ck.compile(source)
    out, stage = np.zeros(5, np.int32), np.zeros(5, np.int32)
    module.k.launch(5, 40, out, stage, cooperative=True)
    np.testing.assert_array_equal(out, [15] * 5)


@pytest.mark.parametrize("order", ["forward", "reverse", 3, [1, 0]])
def test_a_correct_tile_reversal_is_right_in_every_warp_order(order):
    source = """__global__ void k(int* out) {
      __shared__ int tile[96];
      tile[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = tile[95 - threadIdx.x];
    }"""
    with ck.simulator(order=order):
        out = run(source, 96, block=96)
    np.testing.assert_array_equal(out, np.arange(96)[::-1])


def test_a_missing_barrier_shows_in_one_order_and_hides_in_the_other():
    source = """__global__ void k(int* out) {
      __shared__ int tile[64];
      tile[threadIdx.x] = threadIdx.x;
      out[threadIdx.x] = tile[63 - threadIdx.x];
    }"""
    with ck.simulator(order="forward"):
        forward = run(source, 64)
    with ck.simulator(order="reverse"):
        reverse = run(source, 64)
    right = np.arange(64)[::-1]
    wrong = [int((one != right).sum()) for one in (forward, reverse)]
    assert wrong == [32, 32] and (forward != reverse).any()


def test_a_seed_gives_the_same_order_twice():
    source = """__global__ void k(int* out) {
      __shared__ int next;
      if (threadIdx.x == 0) next = 0;
      __syncthreads();
      if (threadIdx.x % 32 == 0) out[atomicAdd(&next, 1)] = threadIdx.x / 32;
    }"""
    with ck.simulator(order=11):
        first, second = (run(source, 8, block=256) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert sorted(first) == list(range(8)) and list(first) != list(range(8))


@on_both
def test_dynamic_shared_memory_has_the_size_of_the_launch():
    source = """__global__ void k(int* out) {
      extern __shared__ int tile[];
      tile[threadIdx.x] = 2 * threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
    }"""
    out = run(source, 50, block=50, shared_bytes=200)
    np.testing.assert_array_equal(out, 2 * np.arange(50)[::-1])


@on_both
def test_local_arrays_and_constant_tables_hold_their_values():
    source = """__constant__ int table[4] = {3, 1, 4, 1};
    __global__ void k(int* out, int n) {
      int own[8];
      for (int i = 0; i < 8; ++i) own[i] = threadIdx.x * i + table[i & 3];
      int sum = 0;
      for (int i = 0; i < n; ++i) sum = sum * 2 + own[(i * 3 + threadIdx.x) & 7];
      out[threadIdx.x] = sum;
    }"""
    table = [3, 1, 4, 1]

    def model(t):
        own = [t * i + table[i & 3] for i in range(8)]
        total = 0
        for i in range(5):
            total = total * 2 + own[(i * 3 + t) & 7]
        return total

    out = run(source, 40, block=40, inputs=(5,))
    np.testing.assert_array_equal(out, list(map(model, range(40))))


@on_both
def test_recursive_device_functions_return_under_divergence():
    source = """__device__ __noinline__ int fibonacci(int n) {
      return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }
    __global__ void k(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 9); }"""
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    out = run(source, 33, block=33)
    np.testing.assert_array_equal(out, [fibonacci[t % 9] for t in range(33)])


@on_both
@pytest.mark.parametrize(
    ("call", "model"),
    [
        ("__shfl_sync(~0u, v, 5)", lambda t, v: v[(t & ~31) + 5]),
        ("__shfl_up_sync(~0u, v, 3)", lambda t, v: v[t - 3] if t % 32 >= 3 else v[t]),
        (
            "__shfl_down_sync(~0u, v, 4, 8)",
            lambda t, v: v[t + 4] if t % 8 < 4 else v[t],
        ),
        ("__shfl_xor_sync(~0u, v, 9)", lambda t, v: v[t ^ 9]),
        ("__shfl_sync(~0u, v, 1, 4)", lambda t, v: v[(t & ~3) + 1]),
        ("__ballot_sync(~0u, v & 1)", lambda t, v: _ballot(t, v)),
        ("__any_sync(~0u, v == 9)", lambda t, v: int(9 in v[t & ~31 :][:32])),
        ("__all_sync(~0u, v < 41)", lambda t, v: int((v[t & ~31 :][:32] < 41).all())),
        ("__match_any_sync(~0u, v % 3)", lambda t, v: _matching(t, v)),
        ("__reduce_add_sync(~0u, v)", lambda t, v: int(v[t & ~31 :][:32].sum())),
        ("__reduce_max_sync(~0u, v)", lambda t, v: int(v[t & ~31 :][:32].max())),
        ("__popc(__activemask())", lambda t, v: 32),
    ],
)
def test_warp_functions_follow_the_manual(call, model):
    source = f"""__global__ void k(int* out, const int* in) {{
      int v = in[threadIdx.x];
      out[threadIdx.x] = {call};
    }}"""
    v = (np.arange(64, dtype=np.int32) * 29) % 43
    expected = np.array([model(t, v) for t in range(64)], np.int64)
    out = run(source, 64, inputs=(v,))
    np.testing.assert_array_equal(out, expected.astype(np.uint32).view(np.int32))


def _ballot(t, v):
    lanes = v[t & ~31 :][:32]
    return sum(int(x & 1) << i for i, x in enumerate(lanes))


def _matching(t, v):
    lanes = v[t & ~31 :][:32]
    return sum(int(x % 3 == v[t] % 3) << i for i, x in enumerate(lanes))


@on_both
def test_lanes_of_a_divergent_warp_meet_at_a_collective():
    source = """__global__ void k(int* out) {
      int v = threadIdx.x;
      if (threadIdx.x < 16) v += __shfl_xor_sync(0x0000ffff, v, 1);
      else v -= __shfl_xor_sync(0xffff0000, v, 1);
      out[threadIdx.x] = v;
    }"""
    t = np.arange(32)
    expected = np.where(t < 16, t + (t ^ 1), t - (t ^ 1))
    np.testing.assert_array_equal(run(source, 32, block=32), expected)


@on_both
def test_barrier_reductions_count_the_votes_of_the_block():
    source = """__global__ void k(int* out) {
      int odd = __syncthreads_count(threadIdx.x & 1);
      int any = __syncthreads_or(threadIdx.x == 70);
      int all = __syncthreads_and(threadIdx.x < 70);
      out[threadIdx.x] = odd * 100 + any * 10 + all;
    }"""
    np.testing.assert_array_equal(run(source, 71, block=71), [3510] * 71)


@on_both
def test_named_barriers_let_half_a_block_meet():
    source = """__global__ void k(int* out) {
      __shared__ int tile[128];
      int t = threadIdx.x, half = t / 64;
      tile[t] = t;
      asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
      out[t] = tile[half * 64 + 63 - t % 64];
    }"""
    t = np.arange(128)
    expected = t // 64 * 64 + 63 - t % 64
    np.testing.assert_array_equal(run(source, 128, block=128), expected)


def _tile(t):
    return range(t & ~3, (t & ~3) + 4)


TILE_CALLS = {
    "ballot": ("__ballot_sync(mask, t % 3 == 0)",
               lambda t: sum((u % 3 == 0) << u % 32 for u in _tile(t))),
    "any": ("__any_sync(mask, t == 6)", lambda t: 6 in _tile(t)),
    "all": ("__all_sync(mask, t > 3)", lambda t: t > 3),
    "match": ("__match_any_sync(mask, 5)", lambda t: 15 << _tile(t)[0] % 32),
    "reduce": ("__reduce_add_sync(mask, t)", lambda t: sum(_tile(t))),
}  # fmt: skip


@on_both
@pytest.mark.parametrize("call", TILE_CALLS)
def test_tiles_of_a_warp_name_different_masks_in_one_instruction(call):
    text, model = TILE_CALLS[call]
    source = f"""__global__ void k(int* out) {{
      int t = threadIdx.x;
      unsigned mask = 0xfu << (t & 28);
      out[t] = {text};
    }}"""
    found = run(source, 64).view(np.uint32)
    np.testing.assert_array_equal(found, [int(model(t)) for t in range(64)])


@on_both
def test_lanes_in_two_calls_of_one_function_exchange_values():
    source = """__device__ __noinline__ int twice(int x) {
      return 2 * __shfl_xor_sync(0xffffffff, x, 16);
    }
    __global__ void k(int* out) {
      int t = threadIdx.x;
      out[t] = t < 16 ? twice(t + 100) + 1 : twice(3 * t) - 1;
    }"""
    expected = [
        2 * 3 * (t ^ 16) + 1 if t < 16 else 2 * ((t ^ 16) + 100) - 1 for t in range(32)
    ]
    np.testing.assert_array_equal(run(source, 32, block=32), expected)


@on_both
def test_results_of_calls_are_kept_while_other_lanes_call_from_the_same_line():
    source = """__device__ __noinline__ int slow(int n, int* one) {
      int sum = 0;
      for (int i = 0; i < n; ++i) sum += 1 + atomicAdd(one, 0);
      return sum;
    }
    __global__ void k(int* out, int* one) {
      int t = threadIdx.x, sum = -1;
      if (t & 1 || *(volatile int*)one + t > 20) sum = slow(1000 + 10 * t, one);
      out[t] = sum;
    }"""
    found = run(source, 32, block=32, inputs=(np.ones(1, np.int32),))
    t = np.arange(32)
    called = (t & 1 == 1) | (t > 19)
    np.testing.assert_array_equal(found, np.where(called, 2 * (1000 + 10 * t), -1))


@on_both
def test_lanes_that_only_wait_to_return_do_not_hold_up_a_collective():
    source = """__global__ void k(int* out) {
      int t = threadIdx.x;
      out[t] = 1;
      if (t & 1) { if (t % 5 == 0) return; out[t] = 2; }
      __ballot_sync(__activemask(), 1);
      __syncwarp();
      out[t] += 7;
    }"""
    expected = [1 if t % 2 and t % 5 == 0 else 8 + t % 2 for t in range(32)]
    np.testing.assert_array_equal(run(source, 32, block=32), expected)


@on_both
def test_syncwarps_of_two_branches_meet_while_other_lanes_spin():
    source = """__global__ void k(int* out) {
      __shared__ volatile int flag;
      int t = threadIdx.x;
      if (t == 0) flag = 0;
      __syncwarp();
      if (t < 8) { out[t] = 1; __syncwarp(0xffff); if (t == 0) flag = 1; }
      else if (t < 16) { out[t] = 2; __syncwarp(0xffff); }
      else { while (!flag) {} out[t] = 3; }
    }"""
    found = run(source, 32, block=32)
    np.testing.assert_array_equal(found, np.repeat([1, 2, 3], [8, 8, 16]))


@on_both
def test_lanes_exit_from_within_a_function():
    source = """__device__ __noinline__ void f(int* out, int t) {
      if (t % 3 == 0) asm volatile("exit;");
      out[t] = 2;
    }
    __global__ void k(int* out) {
      int t = threadIdx.x;
      out[t] = 1;
      if (t & 1) f(out, t);
      out[t] += 5;
    }"""
    expected = [6 if t % 2 == 0 else 1 if t % 3 == 0 else 7 for t in range(64)]
    np.testing.assert_array_equal(run(source, 64), expected)


@on_both
def test_a_guarded_exit_ends_its_lanes_alone():
    source = """__global__ void k(int* out) {
      int t = threadIdx.x;
      asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 40; @p exit; }" :: "r"(t));
      out[t] = t;
    }"""
    expected = np.where(np.arange(64) > 40, -7, np.arange(64))
    np.testing.assert_array_equal(run(source, 64), expected)


def test_a_counted_barrier_waits_for_all_lanes_of_a_divergent_warp(simulated):
    source = """__global__ void k(int* out) {
      __shared__ int tile[64];
      int t = threadIdx.x;
      tile[t] = 0;
      __syncthreads();
      if (t & 1) { if (t == 77) return; tile[t] = t; } else { tile[t] = 2 * t; }
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[t] = tile[63 - t];
    }"""
    module = ck.compile(source, options=("-G",))
    out = np.zeros(64, np.int32)
    module.k[1, 64](out)
    t = 63 - np.arange(64)
    np.testing.assert_array_equal(out, np.where(t & 1, t, 2 * t))
