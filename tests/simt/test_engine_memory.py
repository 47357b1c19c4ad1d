"""Memory: atomics, vectors, structures, variables and printf, on both backends."""

import numpy as np
import pytest

import coursekit as ck
from coursekit.simt.interpreter import transfers

pytestmark = pytest.mark.usefixtures("backend")


def launch(source, grid, block, *arguments):
    module = ck.compile(source)
    module[module.kernels[0]][grid, block](*arguments)


@pytest.mark.parametrize(
    ("call", "start", "expected"),
    [
        ("atomicAdd(x, t)", 5, 5 + 99 * 50),
        ("atomicSub(x, t)", 5, 5 - 99 * 50),
        ("atomicMax(x, t)", 7, 99),
        ("atomicMin(x, t - 3)", 7, -3),
        ("atomicAnd(x, ~(1 << t % 8))", 0x1FF, 0x100),
        ("atomicOr(x, 1 << t % 8)", 0, 0xFF),
        ("atomicXor(x, t)", 0, 0),
    ],
)
def test_atomics_on_one_int_lose_nothing(call, start, expected):
    source = f"__global__ void k(int* x) {{ int t = threadIdx.x; {call}; }}"
    x = np.array([start], np.int32)
    launch(source, 1, 100, x)
    assert x[0] == expected


@pytest.mark.parametrize(
    ("call", "expected"), [("atomicExch(x, t)", 99), ("atomicCAS(x, t, t + 1)", 100)]
)
def test_simulated_atomics_take_effect_in_ascending_thread_order(call, expected):
    source = f"__global__ void k(int* x) {{ int t = threadIdx.x; {call}; }}"
    x = np.zeros(1, np.int32)
    with ck.simulator():
        launch(source, 1, 100, x)
    assert x[0] == expected


@pytest.mark.parametrize("space", ["", "__shared__ "])
@pytest.mark.parametrize(
    "kind", ["int", "unsigned", "unsigned long long", "float", "double"]
)
def test_atomic_add_sums_every_type_in_both_spaces(space, kind):
    source = f"""__global__ void k({kind}* out) {{
      {space}{kind} sum[3]{"" if space else " = {0, 0, 0}"};
      {kind}* to = {"sum" if space else "out"};
      if (threadIdx.x < 3 && {int(bool(space))}) sum[threadIdx.x] = 0;
      __syncthreads();
      atomicAdd(to + threadIdx.x % 3, ({kind})threadIdx.x);
      __syncthreads();
      if (threadIdx.x < 3 && {int(bool(space))}) out[threadIdx.x] = sum[threadIdx.x];
    }}"""
    dtype = {
        "int": np.int32,
        "unsigned": np.uint32,
        "unsigned long long": np.uint64,
        "float": np.float32,
        "double": np.float64,
    }[kind]
    out = np.zeros(3, dtype)
    launch(source, 1, 65, out)
    expected = np.array([sum(range(r, 65, 3)) for r in range(3)], dtype)
    np.testing.assert_array_equal(out, expected, strict=True)


def test_an_atomic_returns_the_value_before_it():
    source = """__global__ void k(int* x, int* before) {
      before[threadIdx.x] = atomicAdd(x, 2);
    }"""
    x, before = np.zeros(1, np.int32), np.zeros(70, np.int32)
    launch(source, 1, 70, x, before)
    np.testing.assert_array_equal(np.sort(before), 2 * np.arange(70))


def test_vector_types_move_whole():
    source = """__global__ void k(const float4* in, float2* out, int n) {
      int i = threadIdx.x;
      if (i < n) { float4 v = in[i]; out[2*i] = {v.w, v.z}; out[2*i+1] = {v.y, v.x}; }
    }"""
    data = np.arange(40, dtype=np.float32)
    out = np.zeros(40, np.float32)
    launch(source, 1, 32, data, out, 10)
    np.testing.assert_array_equal(out, data.reshape(10, 4)[:, ::-1].ravel())


def test_small_integers_are_extended_by_their_sign():
    source = """
    __global__ void k(const signed char* a, const unsigned short* b, int* out) {
      out[threadIdx.x] = a[threadIdx.x] * 1000 + b[threadIdx.x];
    }"""
    a = np.array([-128, -1, 0, 127], np.int8)
    b = np.array([65535, 1, 2, 40000], np.uint16)
    out = np.zeros(4, np.int32)
    launch(source, 1, 4, a, b, out)
    np.testing.assert_array_equal(out, a.astype(np.int32) * 1000 + b)


def test_structures_arrive_by_value():
    source = """struct Pair { float scale; int shift; double base; };
    __global__ void k(double* out, Pair p) {
      out[threadIdx.x] = p.base + p.scale * threadIdx.x + p.shift;
    }"""
    layout = np.dtype([("scale", "f4"), ("shift", "i4"), ("base", "f8")])
    pair = np.array((0.5, 3, 10.0), layout)[()]
    out = np.zeros(5)
    launch(source, 1, 5, out, pair)
    np.testing.assert_array_equal(out, 13 + 0.5 * np.arange(5))


def test_device_variables_keep_their_values_between_launches():
    module = ck.compile("""__device__ int visits = 40;
    __global__ void k(int* out) { out[0] = atomicAdd(&visits, 1); }""")
    out = np.zeros(1, np.int32)
    seen = []
    for _ in range(3):
        module.k[1, 1](out)
        seen.append(int(out[0]))
    assert seen == [40, 41, 42]


def test_printf_formats_like_c(capfd):
    source = """__global__ void k() {
      if (threadIdx.x == 1)
        printf("%d|%5.2f|%s|%llu|%c|%%|%x\\n", -3, 2.5f, "text", 1ull << 40, 'z', 255);
    }"""
    launch(source, 1, 3)
    assert capfd.readouterr().out == "-3| 2.50|text|1099511627776|z|%|ff\n"


def test_simulated_printf_comes_in_thread_order(capfd):
    with ck.simulator():
        launch('__global__ void k() { printf("%d ", threadIdx.x); }', 2, 40)
    expected = " ".join(str(t) for _ in range(2) for t in range(40)) + " "
    assert capfd.readouterr().out == expected


@pytest.mark.parametrize(
    ("call", "start"),
    [
        ("atomicAdd(x, 0)", 4),
        ("atomicCAS(x, 0, 1)", 1),
        ("atomicMax(x, 3)", 7),
        ("atomicExch(x, 7)", 7),
    ],
)
def test_lanes_that_poll_by_an_atomic_take_one_update(call, start, monkeypatch):
    passes = []
    split = transfers.repeated_passes
    monkeypatch.setattr(
        transfers, "repeated_passes", lambda index: passes.append(1) or split(index)
    )
    source = f"__global__ void k(int* x, int* got) {{ got[threadIdx.x] = {call}; }}"
    x, got = np.array([start], np.int32), np.zeros(32, np.int32)
    with ck.simulator():
        launch(source, 1, 32, x, got)
    assert (x[0], got.tolist(), passes) == (start, [start] * 32, [])


def test_zeros_of_both_signs_are_added_lane_by_lane():
    source = """__global__ void k(float* x, float* got) {
      got[threadIdx.x] = atomicAdd(x, threadIdx.x == 0 ? -0.0f : 0.0f); }"""
    x, got = np.array([-0.0], np.float32), np.ones(32, np.float32)
    with ck.simulator():
        launch(source, 1, 32, x, got)
    assert np.signbit(got).tolist() == [True, True] + [False] * 30
    assert not np.signbit(x[0])
