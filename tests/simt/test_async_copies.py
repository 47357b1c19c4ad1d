"""Asynchronous copies into shared memory: what they move, when, and what counts."""

import numpy as np
import pytest
from synchronised_kernels import TILES

import coursekit as ck

HELPERS = """
template <int SIZE> __device__ void copy(void* to, const void* from) {
  unsigned place = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
      ::"r"(place), "l"(from), "n"(SIZE) : "memory");
}
template <int SIZE> __device__ void copy(void* to, const void* from, int bytes) {
  unsigned place = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared::cta.global.L2::128B [%0], [%1], %2, %3;"
      ::"r"(place), "l"(from), "n"(SIZE), "r"(bytes) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
"""
WAIT = "    __pipeline_wait_prior(1);\n"
COOPERATIVE = """#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* out) {
  __shared__ alignas(16) float tile[96];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof(float) * 96);
  cg::wait(block);
  for (int i = threadIdx.x; i < 96; i += 64) out[i] = tile[95 - i];
}"""
PIPELINE = """#include <cuda/pipeline>
__global__ void k(const float* x, float* out) {
  __shared__ float tile[96];
  auto pipeline = cuda::make_pipeline();
  for (int i = threadIdx.x; i < 96; i += 64) {
    pipeline.producer_acquire();
    cuda::memcpy_async(tile + i, x + i, cuda::aligned_size_t<4>(4), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    __syncwarp();
    pipeline.consumer_release();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 96; i += 64) out[i] = tile[95 - i];
}"""


def kernel(body, parameters="const float* x, float* out"):
    source = f"{HELPERS}__global__ void k({parameters}) {{\n{body}\n}}"
    return ck.compile(source).k


def ramp(n):
    return np.arange(1, n + 1, dtype=np.float32)


def sums_of_tiles(source):
    x, sums = ramp(5 * 64), np.zeros(64, np.float32)
    ck.compile(source).k[1, 64](x, sums, 5)
    expected = (x.reshape(5, 64)[:, ::-1] * np.arange(1, 6)[:, None]).sum(axis=0)
    return sums, expected.astype(np.float32)


# ---------------------------------------------------------------- what moves


def test_two_buffers_that_take_turns_give_the_sums(backend):
    sums, expected = sums_of_tiles(TILES)
    np.testing.assert_array_equal(sums, expected, strict=True)


def test_without_the_wait_the_sums_are_wrong(simulated):
    assert WAIT in TILES
    sums, expected = sums_of_tiles(TILES.replace(WAIT, ""))
    assert (sums != expected).all()


def test_a_wait_that_leaves_one_group_too_many_gives_wrong_sums(simulated):
    sums, expected = sums_of_tiles(TILES.replace(WAIT, WAIT.replace("1", "2")))
    assert (sums != expected).all()


@pytest.mark.parametrize("source", [COOPERATIVE, PIPELINE])
def test_the_libraries_of_cuda_copy_through_it(backend, source):
    x, out = ramp(96), np.zeros(96, np.float32)
    ck.compile(source).k[1, 64](x, out)
    np.testing.assert_array_equal(out, x[::-1], strict=True)


@pytest.mark.parametrize(
    ("words", "size"),
    [("ca.shared", 4), ("ca.shared", 8), ("ca.shared::cta", 16), ("cg.shared", 16)],
)
def test_every_size_moves_whole(backend, words, size):
    count = size // 4
    body = f"""__shared__ alignas(16) float tile[128];
      unsigned to = (unsigned)__cvta_generic_to_shared(tile + {count} * threadIdx.x);
      const float* from = x + {count} * (31 - threadIdx.x);
      asm volatile("cp.async.{words}.global.L2::64B [%0], [%1], {size};"
          ::"r"(to), "l"(from) : "memory");
      wait_all();
      __syncthreads();
      for (int i = threadIdx.x; i < 32 * {count}; i += 32) out[i] = tile[i];"""
    x, out = ramp(32 * count), np.zeros(32 * count, np.float32)
    kernel(body)[1, 32](x, out)
    np.testing.assert_array_equal(out.reshape(32, -1), x.reshape(32, -1)[::-1])


@pytest.mark.parametrize("extent", [1, 31, 33, 62, 64])
def test_a_ragged_end_is_filled_with_zeros(backend, extent):
    body = """__shared__ alignas(16) float tile[64];
      int left = (n - 4 * (int)threadIdx.x) * 4;
      copy<16>(tile + 4 * threadIdx.x, x + 4 * threadIdx.x, min(max(left, 0), 16));
      wait_all();
      __syncthreads();
      for (int i = threadIdx.x; i < 64; i += 16) out[i] = tile[i];"""
    x, out = ramp(extent), np.full(64, np.nan, np.float32)
    kernel(body, "const float* x, float* out, int n")[1, 16](x, out, extent)
    expected = np.zeros(64, np.float32)
    expected[:extent] = x
    np.testing.assert_array_equal(out, expected, strict=True)


def test_a_source_that_is_ignored_counts_as_zeros(backend):
    body = """__shared__ float tile[32];
      unsigned to = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x);
      asm volatile("{.reg .pred p; setp.lt.s32 p, %2, 20;\\n"
          "cp.async.ca.shared.global [%0], [%1], 4, p;}"
          ::"r"(to), "l"(x + threadIdx.x), "r"((int)threadIdx.x) : "memory");
      wait_all();
      out[threadIdx.x] = tile[threadIdx.x];"""
    x, out = ramp(32), np.full(32, np.nan, np.float32)
    kernel(body)[1, 32](x, out)
    np.testing.assert_array_equal(out, np.where(np.arange(32) < 20, 0, x))


# ---------------------------------------------------------------- groups


GROUPS = """__shared__ float tile[4][32];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) tile[i][t] = 0;
  for (int i = 0; i < 3; ++i) { copy<4>(tile[i] + t, x + 32 * i + t); commit(); }
  copy<4>(tile[3] + t, x + 96 + t);
  WAIT;
  for (int i = 0; i < 4; ++i) out[32 * i + t] = tile[i][t];"""


@pytest.mark.parametrize(
    ("wait", "rows"),
    [("", 0), ("wait<3>()", 0), ("wait<2>()", 1), ("wait<1>()", 2), ("wait<0>()", 3),
     ("wait_all()", 4), ("commit(); wait<0>()", 4), ("commit(); wait<2>()", 2),
     ("commit(); commit(); commit(); wait<2>()", 4)],
)  # fmt: skip
def test_a_wait_moves_all_groups_but_the_last_ones(simulated, wait, rows):
    x, out = ramp(128), np.full(128, np.nan, np.float32)
    kernel(GROUPS.replace("WAIT", wait))[1, 32](x, out)
    expected = np.where(np.arange(128) < 32 * rows, x, 0).astype(np.float32)
    np.testing.assert_array_equal(out, expected, strict=True)


def test_every_thread_counts_its_own_groups(simulated):
    body = """__shared__ float tile[2][32];
      int t = threadIdx.x;
      tile[0][t] = tile[1][t] = 0;
      copy<4>(tile[0] + t, x + t);
      if (t % 3) commit();
      copy<4>(tile[1] + t, x + 32 + t);
      commit();
      wait<1>();
      out[t] = tile[0][t];
      out[32 + t] = tile[1][t];"""
    x, out = ramp(64), np.full(64, np.nan, np.float32)
    kernel(body)[1, 32](x, out)
    first = np.where(np.arange(32) % 3, x[:32], 0)
    np.testing.assert_array_equal(out, np.concatenate([first, np.zeros(32)]))


def test_a_wait_is_for_the_thread_that_executes_it(simulated):
    body = """__shared__ float tile[32];
      int t = threadIdx.x;
      tile[t] = 0;
      copy<4>(tile + t, x + t);
      if (t < 7) wait_all();
      __syncthreads();
      out[t] = tile[t];"""
    x, out = ramp(32), np.full(32, np.nan, np.float32)
    kernel(body)[1, 32](x, out)
    np.testing.assert_array_equal(out, np.where(np.arange(32) < 7, x, 0))


def test_threads_that_leave_do_not_finish_their_copies(simulated):
    body = """__shared__ float tile[64];
      int t = threadIdx.x;
      tile[t] = 0;
      __syncthreads();
      copy<4>(tile + (t ^ 32), x + t);
      commit();
      if (t >= 32) return;
      wait_all();
      for (int i = 0; i < 1000; ++i) __nanosleep(1);
      out[t] = tile[t] + tile[t + 32];"""
    x, out = ramp(64), np.full(32, np.nan, np.float32)
    kernel(body)[1, 64](x, out)
    np.testing.assert_array_equal(out, x[:32])


def test_blocks_begin_without_copies_of_the_block_before(simulated):
    body = """__shared__ float tile[32];
      int t = threadIdx.x;
      tile[t] = 0;
      if (blockIdx.x == 0) copy<4>(tile + t, x + t);
      else wait_all();
      out[32 * blockIdx.x + t] = tile[t];"""
    x, out = ramp(32), np.full(64, np.nan, np.float32)
    kernel(body)[2, 32](x, out)
    np.testing.assert_array_equal(out, np.zeros(64))


# ---------------------------------------------------------------- faults


def place(call, parameters="const float* x, int i"):
    return kernel(f"__shared__ float tile[64];\n{call};\nwait_all();", parameters)


FAULTS = {
    "past the source": (
        "copy<4>(tile + threadIdx.x, x + threadIdx.x)",
        "reads x[40], but x has 40 elements", (40, 0, 0),
    ),
    "past the tile": (
        "copy<4>(tile + threadIdx.x + 30, x)",
        "writes tile[64], but tile has 64 elements", (34, 0, 0),
    ),
    "misaligned source": (
        "copy<8>(tile + 2 * (threadIdx.x % 32), x + 1)", "misaligned", (0, 0, 0),
    ),
    "misaligned place": (
        "copy<8>(tile + threadIdx.x % 62, x)", "misaligned", (1, 0, 0),
    ),
    "past the source, ragged": (
        "copy<16>(tile, x + 4 * threadIdx.x, 12)",
        "reads x[40], but x has 40 elements", (10, 0, 0),
    ),
    "misaligned ragged source": (
        "copy<16>(tile, x + threadIdx.x, 4)", "misaligned", (1, 0, 0),
    ),
    "more than its size": ("copy<4>(tile, x, 8 - i)", "copies 8 bytes", (0, 0, 0)),
}  # fmt: skip


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_copy_names_thread_and_line(name):
    call, text, thread = FAULTS[name]
    line = HELPERS.count("\n") + 3
    with pytest.raises(ck.OutOfBoundsError) as caught:
        place(call)[1, 64](ramp(40), 0)
    assert text in str(caught.value)
    assert caught.value.thread == thread
    assert f"kernel.cu:{line}" in str(caught.value)


def test_a_copy_of_nothing_may_come_from_anywhere(simulated):
    call = "copy<16>(tile, x + 4 * i * threadIdx.x, 0)"
    place(call)[1, 64](ramp(4), 1 << 20)


@pytest.mark.parametrize(
    "instruction",
    ["cp.async.mbarrier.arrive.noinc.shared.b64 [%0]",
     "cp.async.mbarrier.arrive.shared.b64 [%0]"],
)  # fmt: skip
def test_copies_that_signal_a_barrier_in_memory_are_refused(simulated, instruction):
    body = f"""__shared__ unsigned long long full;
      unsigned at = (unsigned)__cvta_generic_to_shared(&full);
      asm volatile("{instruction};" ::"r"(at) : "memory");
      out[0] = x[0];"""
    name = instruction.split()[0].replace(".", r"\.")
    with pytest.raises(ck.UnsupportedError, match=f"the simulator has no `{name}"):
        kernel(body)[1, 1](ramp(1), np.zeros(1, np.float32))


# ---------------------------------------------------------------- counts


COUNTED = """__shared__ alignas(16) float tile[4096];
  int t = threadIdx.x;
  if (t < n) copy<SIZE>(tile + t * to, x + t * from);
  wait_all();"""


AROUND = """__shared__ alignas(16) float tile[4096];
  int t = threadIdx.x;
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + t * to);
  if (t < n)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"(at), "l"(x + t * from) : "memory");
  wait_all();"""


def counts_of(size, origin, to, lanes=32, body=COUNTED):
    body = body.replace("SIZE", str(size))
    function = kernel(body, "const float* x, int from, int to, int n")
    return ck.count(function, 1, 32, (ramp(1024), origin, to, lanes))


@pytest.mark.parametrize(
    ("size", "stride", "lanes", "sectors"),
    [(4, 1, 32, 4), (4, 8, 32, 32), (4, 0, 32, 1), (8, 2, 32, 8), (16, 4, 32, 16),
     (16, 4, 9, 5)],
)  # fmt: skip
def test_a_copy_is_one_global_load_of_its_sectors(size, stride, lanes, sectors):
    counts = counts_of(size, stride, size // 4, lanes)
    assert (counts.global_load_requests, counts.global_load_sectors) == (1, sectors)
    assert counts.global_store_requests == counts.shared_load_requests == 0


@pytest.mark.parametrize(
    ("size", "stride", "lanes", "wavefronts", "conflicts"),
    [(4, 1, 32, 1, 0), (4, 2, 32, 2, 1), (4, 32, 32, 32, 31), (4, 33, 32, 1, 0),
     (8, 2, 32, 2, 0), (8, 4, 32, 4, 2), (16, 4, 32, 4, 0), (16, 4, 9, 2, 0),
     (16, 32, 32, 32, 28)],
)  # fmt: skip
def test_a_copy_is_one_shared_store(size, stride, lanes, wavefronts, conflicts):
    counts = counts_of(size, size // 4, stride, lanes)
    assert counts.shared_store_requests == 1
    assert counts.shared_store_wavefronts == wavefronts
    assert counts.shared_store_bank_conflicts == conflicts


@pytest.mark.parametrize(
    ("size", "stride", "wavefronts"), [(4, 0, 32), (4, 8, 8), (8, 0, 32), (8, 4, 4)]
)
def test_a_copy_conflicts_where_it_reads_too(size, stride, wavefronts):
    counts = counts_of(size, stride, size // 4)
    assert counts.shared_store_wavefronts == wavefronts


@pytest.mark.parametrize(
    ("origin", "to", "sectors"), [(4, 4, 16), (0, 4, 16), (8, 4, 16), (32, 4, 32)]
)
def test_a_copy_around_l1_loads_a_sector_for_each_written(origin, to, sectors):
    # An H200 counts pairs of a line that is read and a sector that is written.
    counts = counts_of(16, origin, to, body=AROUND)
    assert counts.global_load_sectors == sectors


def test_shared_counts_of_copies_through_l1_equal_the_machines():
    counts = counts_of(8, 2, 2)
    assert counts.label("shared_store_wavefronts") == "sass"


def test_shared_counts_of_copies_around_l1_do_not():
    counts = counts_of(16, 4, 4, body=AROUND)
    assert counts.label("shared_store_wavefronts") == "ptx"


def test_a_copy_that_no_lane_makes_counts_nothing():
    assert counts_of(4, 1, 1, lanes=0).global_load_requests == 0


# ---------------------------------------------------------------- checks


def findings_of(check, source):
    return check(
        ck.compile(source).k, 1, 64, (ramp(5 * 64), np.zeros(64, np.float32), 5)
    )


@pytest.mark.parametrize("check", [ck.racecheck, ck.initcheck, ck.memcheck])
def test_the_checks_find_nothing_in_a_right_pipeline(check):
    assert len(findings_of(check, TILES)) == 0


def test_a_missing_wait_is_found_as_a_read_of_what_nothing_wrote():
    line = TILES[: TILES.index(WAIT)].count("\n") + 2
    found = findings_of(ck.initcheck, TILES.replace(WAIT, ""))
    assert [one.line for one in found] == [line]


def test_a_race_is_found_where_a_buffer_is_filled_too_early():
    early = TILES.replace("    __syncthreads();\n  }", "  }")
    assert early != TILES
    assert len(findings_of(ck.racecheck, early)) == 1
