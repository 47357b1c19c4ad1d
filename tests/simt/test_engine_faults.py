"""Every kind of fault on the simulator: the error names thread, place and line."""

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")


def launch(source, grid, block, *arguments, shared_bytes=0):
    module = ck.compile(source)
    module[module.kernels[0]][grid, block, shared_bytes](*arguments)


FAULTS = {
    "past the end": ("x[i + 1]", "reads x[8], but x has 8 elements"),
    "before the start": ("x[i - 1]", "reads x[-1], but x has 8 elements"),
    "far past the end": ("x[i + (1 << 30)]", "reads x[1073741824]"),
    "far before the start": ("x[i - (1 << 30)]", "reads x[-1073741824]"),
    "misaligned": ("*(int*)((char*)x + 1 + i)", "misaligned"),
    "wild": ("*(int*)((size_t)x * 3 + 4 * i)", "where no array is"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_bad_read_names_thread_place_and_line(kind):
    expression, text = FAULTS[kind]
    source = f"""__global__ void k(int* x, int* out) {{
      int i = threadIdx.x;
      out[i] = {expression};
    }}"""
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    with pytest.raises(ck.OutOfBoundsError, match="kernel.cu:3") as caught:
        launch(source, 1, 8, x, out)
    assert text in str(caught.value)
    assert caught.value.line == 3
    assert caught.value.block == (0, 0, 0)


def test_a_read_through_null_says_so():
    source = "__global__ void k(const int* x, int* out) { out[0] = x[threadIdx.x]; }"
    with pytest.raises(ck.OutOfBoundsError, match="through a null pointer"):
        launch(source, 1, 8, None, np.zeros(8, np.int32))


@pytest.mark.parametrize(("index", "shown"), [("i + 1", "x[8]"), ("i - 1", "x[-1]")])
def test_a_bad_write_changes_nothing_on_the_host(index, shown):
    source = f"__global__ void k(int* x) {{ int i = threadIdx.x; x[{index}] = 5; }}"
    x = np.arange(8, dtype=np.int32)
    with pytest.raises(ck.OutOfBoundsError) as caught:
        launch(source, 1, 8, x)
    assert f"writes {shown}, but x has 8 elements" in str(caught.value)
    np.testing.assert_array_equal(x, np.arange(8))


def test_a_bad_atomic_says_updates():
    source = "__global__ void k(int* x) { atomicAdd(x + threadIdx.x, 1); }"
    with pytest.raises(ck.OutOfBoundsError, match=r"updates x\[4\]"):
        launch(source, 1, 5, np.zeros(4, np.int32))


def test_the_thread_named_is_the_first_that_goes_wrong():
    source = """__global__ void k(float* x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      x[i] = i;
    }"""
    with pytest.raises(ck.OutOfBoundsError) as caught:
        launch(source, (4, 1), (8, 4), np.zeros(20, np.float32), 20)
    assert caught.value.thread == (4, 0, 0)
    assert caught.value.block == (2, 0, 0)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("32", "reads tile[32], but tile has 32 elements"),
        ("-1", "reads tile[-1], but tile has 32 elements"),
    ],
)
def test_leaving_a_shared_array_is_an_error_though_others_follow(index, text):
    source = """__global__ void k(float* out, int far) {
      __shared__ float tile[32], other[32];
      tile[threadIdx.x] = other[threadIdx.x] = 1;
      __syncthreads();
      out[threadIdx.x] = tile[far] + other[threadIdx.x];
    }"""
    with pytest.raises(ck.OutOfBoundsError) as caught:
        launch(source, 1, 32, np.zeros(32, np.float32), int(index))
    assert text in str(caught.value)


def test_leaving_dynamic_shared_memory_is_an_error():
    source = """__global__ void k(float* out) {
      extern __shared__ float tile[];
      tile[threadIdx.x] = 0;
      out[threadIdx.x] = tile[threadIdx.x];
    }"""
    out = np.zeros(32, np.float32)
    with pytest.raises(ck.OutOfBoundsError, match=r"tile\[16\]"):
        launch(source, 1, 32, out, shared_bytes=64)


def test_forgotten_dynamic_shared_memory_names_the_third_index():
    source = """__global__ void k(float* out) {
      extern __shared__ float tile[];
      tile[threadIdx.x] = 0;
      out[threadIdx.x] = tile[threadIdx.x];
    }"""
    with pytest.raises(ck.OutOfBoundsError, match="third index"):
        launch(source, 1, 32, np.zeros(32, np.float32))


def test_a_recursion_that_never_ends_overflows_the_stack():
    source = """__device__ __noinline__ int climb(int n) { return climb(n + 1) + n; }
    __global__ void k(int* x) { x[threadIdx.x] = climb(threadIdx.x); }"""
    with pytest.raises(ck.OutOfBoundsError, match="overflows its stack"):
        launch(source, 1, 4, np.zeros(4, np.int32))


def test_leaving_a_local_array_is_an_error():
    source = """__global__ void k(int* out, int n) {
      int own[4];
      for (int i = 0; i < n; ++i) own[i] = i * threadIdx.x;
      out[threadIdx.x] = own[threadIdx.x & 3];
    }"""
    with pytest.raises(ck.OutOfBoundsError, match="local array"):
        launch(source, 1, 4, np.zeros(4, np.int32), 500)


def test_constant_memory_cannot_be_written():
    source = """__constant__ int table[4] = {1, 2, 3, 4};
    __global__ void k(int* out) {
      const int* p = table;
      asm volatile("" : "+l"(p));
      const_cast<int*>(p)[threadIdx.x] = 5;
      out[threadIdx.x] = table[threadIdx.x];
    }"""
    with pytest.raises(ck.OutOfBoundsError, match="read-only"):
        launch(source, 1, 4, np.zeros(4, np.int32))


@pytest.mark.parametrize("operator", ["/", "%"])
def test_integer_division_by_zero_names_the_thread(operator):
    source = f"""__global__ void k(int* x) {{
      int i = threadIdx.x;
      x[i] = 100 {operator} x[i];
    }}"""
    x = np.array([4, 3, 0, 2], np.int32)
    with pytest.raises(ck.DivisionByZeroError, match="kernel.cu:3") as caught:
        launch(source, 1, 4, x)
    assert caught.value.thread == (2, 0, 0)


def test_trap_raises():
    source = "__global__ void k(int n) { if (threadIdx.x == n) __trap(); }"
    with pytest.raises(ck.IllegalInstructionError) as caught:
        launch(source, 1, 64, 37)
    assert caught.value.thread == (37, 0, 0)


def test_a_trap_of_some_lanes_names_the_first_of_them():
    source = """__global__ void k(int* x) {
      asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 60; @p trap; }"
                   :: "r"((int)threadIdx.x));
    }"""
    with pytest.raises(ck.IllegalInstructionError, match=r"thread \(61, 0, 0\)"):
        launch(source, 1, 64, np.zeros(1, np.int32))


def test_a_recursion_without_end_overflows_the_stack():
    source = """__device__ __noinline__ int f(int x, int* p) {
      return x == p[0] ? 3 : f(x + 1, p) * 3 + f(x + 2, p);
    }
    __global__ void k(int* p) { p[0] = f(threadIdx.x, p); }"""
    with pytest.raises(ck.OutOfBoundsError, match="overflows its stack"):
        launch(source, 1, 32, np.full(1, -7, np.int32))


def test_a_failed_assert_quotes_its_condition():
    source = "__global__ void k(int n) { assert(threadIdx.x < n); }"
    with pytest.raises(ck.IllegalInstructionError, match="threadIdx.x < n"):
        launch(source, 1, 8, 5)


def test_an_endless_loop_stops_after_the_timeout():
    source = """__global__ void k(volatile int* x) {
      while (*x == 0) x[1]++;
    }"""
    with (
        ck.simulator(timeout_s=0.3),
        pytest.raises(ck.DeadlockError, match=r"still running after 0.3 s") as caught,
    ):
        launch(source, 1, 32, np.zeros(2, np.int32))
    assert caught.value.line == 2


SPINS = "{ __syncthreads(); x[0] = 1; } else while (*(volatile int*)x == 0) {}"
BARRIERS = {
    "half a warp spins": f"if (threadIdx.x < 16) {SPINS}",
    "one warp of two spins": f"if (threadIdx.x < 32) {SPINS}",
    "as many barriers as the number of the lane": (
        "for (int i = 0; i < threadIdx.x % 32; ++i) __syncthreads();"
    ),
    "a count that includes exited threads": (
        'if (threadIdx.x >= 32) return; asm volatile("bar.sync 1, 64;");'
    ),
}


@pytest.mark.parametrize("kind", BARRIERS)
def test_divergent_barrier_names_a_thread_that_left(kind):
    source = f"""__global__ void k(int* x) {{
      {BARRIERS[kind]}
      x[threadIdx.x + 2] = 3;
    }}"""
    with pytest.raises(ck.BarrierError, match=r"thread \(\d+, 0, 0\)") as caught:
        launch(source, 1, 64, np.zeros(70, np.int32))
    assert caught.value.line == 2


def test_warps_at_different_barriers_are_a_deadlock():
    source = """__global__ void k() {
      if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
      else asm volatile("bar.sync 2, 64;");
    }"""
    with pytest.raises(ck.DeadlockError, match="different"):
        launch(source, 1, 64)


def test_a_shuffle_whose_partners_are_elsewhere_is_an_error():
    source = """__global__ void k(int* x) {
      int v = threadIdx.x;
      if (v < 16) v = __shfl_down_sync(0xffffffff, v, 1);
      x[threadIdx.x] = v;
    }"""
    with pytest.raises(ck.BarrierError, match="never gets there"):
        launch(source, 1, 32, np.zeros(32, np.int32))


def test_a_mask_without_its_caller_is_an_error():
    source = """__global__ void k(int* x) {
      x[threadIdx.x] = __shfl_sync(0x0000ffff, threadIdx.x, 0);
    }"""
    with pytest.raises(ck.BarrierError, match="does not contain its own lane 16"):
        launch(source, 1, 32, np.zeros(32, np.int32))


def test_an_instruction_the_simulator_lacks_is_named_with_its_line():
    source = """__global__ void k(unsigned* x) {
      unsigned r;
      asm volatile("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(x[0]));
      x[0] = r;
    }"""
    with pytest.raises(ck.UnsupportedError, match=r"vadd4[\s\S]*kernel.cu:3"):
        launch(source, 1, 1, np.zeros(1, np.uint32))


def test_an_unsigned_index_below_zero_is_explained():
    source = """__global__ void k(float* x, int n) {
      for (unsigned i = n - 1; i >= 0; --i)
        x[i] *= 2;
    }"""
    with pytest.raises(ck.OutOfBoundsError, match="unsigned index went below 0") as one:
        launch(source, 1, 1, np.ones(64, np.float32), 64)
    assert one.value.line == 3


def test_missing_dynamic_shared_memory_has_no_advice_on_guards():
    source = """extern __shared__ float s[];
    __global__ void k(float* x) { s[threadIdx.x] = x[threadIdx.x]; }"""
    with pytest.raises(ck.OutOfBoundsError, match="third index") as one:
        launch(source, 1, 32, np.ones(32, np.float32))
    assert "<=" not in str(one.value)


def test_an_array_too_large_for_a_thread_is_refused():
    source = """__global__ void k(float* x, int n) {
      float a[1000000];
      for (int i = 0; i < n; ++i) a[i] = x[i % 64];
      x[threadIdx.x] = a[threadIdx.x * 7 % n];
    }"""
    with pytest.raises(ck.LaunchError, match="4,000,000 bytes; 524,288"):
        launch(source, 1, 64, np.ones(64, np.float32), 64)


def test_a_grid_barrier_without_a_cooperative_launch_is_explained():
    source = """#include <cooperative_groups.h>
    __global__ void k(int* x) {
      x[blockIdx.x] = 1;
      cooperative_groups::this_grid().sync();
      x[blockIdx.x + 4] = x[(blockIdx.x + 1) % 4];
    }"""
    with pytest.raises(ck.IllegalInstructionError, match="cooperative=True") as one:
        launch(source, 4, 32, np.zeros(8, np.int32))
    assert one.value.line == 4
