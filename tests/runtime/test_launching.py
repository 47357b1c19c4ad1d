"""Launches on both backends: configurations, copies, aliasing, errors, counts."""

from __future__ import annotations

import gc
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime import backend as backends
from coursekit.runtime import launching, simulator
from coursekit.runtime.configuration import Configuration, Needs, check, configure
from coursekit.runtime.gpu import faults as gpu_faults
from coursekit.runtime.gpu.function import launch_attributes
from coursekit.runtime.progress_bar import ProgressBar
from coursekit.simt.compiled import engine
from coursekit.simt.run import engines

SOURCE = """
#include <cooperative_groups.h>
__global__ void scale(float* out, const float* in, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
__global__ void shift(float* to, float* from, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = from[i] + 1;
}
__global__ void add_to(float* first, float* second) {
    first[0] += 1;
    second[0] += 10;
}
__global__ void place(int* out) {
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = 100 * block + thread;
}
__global__ void dynamic(int* out, int words) {
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) room[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = room[words - 1 - i];
}
__global__ void __launch_bounds__(128) bounded(int* out) { out[0] = blockDim.x; }
__global__ void fixed(int* out) {
    __shared__ int room[1024];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
struct Point { int id; double weight; };
__global__ void point(Point* out, Point value, bool twice) {
    out[0].id = value.id;
    out[0].weight = value.weight * (twice ? 2 : 1);
}
__global__ void vectors(float4* values) {
    values[threadIdx.x].w = values[threadIdx.x].x;
}
__global__ void is_null(int* out, const float* maybe) { out[0] = maybe == nullptr; }
__global__ void nothing() {}
__global__ void whole_grid(int* sums, int* total) {
    sums[blockIdx.x] = blockIdx.x;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0)
        for (int i = 0; i < gridDim.x; ++i) total[0] += sums[i];
}
"""
UNSAFE = """
__global__ void past_the_end(float* out) { out[threadIdx.x] = 1; }
__global__ void order(int* out) {
    __shared__ int last;
    if (threadIdx.x % 32 == 0) last = threadIdx.x / 32;
    __syncthreads();
    out[0] = last;
}
__device__ int launches;
__global__ void count_launches(int* out) { out[0] = ++launches; }
"""
POINT = np.dtype([("id", "i4"), ("weight", "f8")], align=True)


@pytest.fixture(scope="module")
def kernels():
    return ck.compile(SOURCE, name="launching.cu")


@pytest.fixture(scope="module")
def unsafe():
    return ck.compile(UNSAFE, name="unsafe.cu")


def ramp(count, dtype=np.float32):
    return np.arange(count, dtype=dtype)


# -- arrays ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000])
def test_results_come_back_into_numpy_arrays(backend, kernels, n):
    out, values = np.zeros(n, np.float32), ramp(n)
    kernels.scale[(n + 63) // 64, 64](out, values, 2.0, n)
    np.testing.assert_array_equal(out, 2 * values, strict=True)


def test_device_arrays_are_used_where_they_lie(backend, kernels):
    values, out = ck.to_device(ramp(100)), ck.empty(100)
    kernels.scale[2, 64](out, values, 3, 100)
    np.testing.assert_array_equal(ck.to_host(out), 3 * ramp(100), strict=True)


def test_a_part_of_a_device_array_is_an_argument(backend, kernels):
    rows = ck.to_device(np.zeros((3, 4), np.float32))
    kernels.scale[1, 32](rows[1], ck.to_device(ramp(4)), 1.0, 4)
    assert ck.to_host(rows).tolist() == [[0] * 4, [0, 1, 2, 3], [0] * 4]


def test_numpy_and_device_arrays_mix(backend, kernels):
    out = ck.empty(8)
    kernels.scale[1, 32](out, ramp(8), 1.0, 8)
    assert ck.to_host(out).tolist() == ramp(8).tolist()


def test_a_cpu_tensor_receives_results(backend, kernels):
    torch = pytest.importorskip("torch")
    out = torch.zeros(8)
    kernels.scale[1, 32](out, torch.arange(8.0), 2.0, 8)
    assert out.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_const_array_may_be_read_only(backend, kernels):
    values, out = ramp(8), np.zeros(8, np.float32)
    values.flags.writeable = False
    kernels.scale[1, 32](out, values, 1.0, 8)
    assert out.tolist() == values.tolist()


def test_a_part_of_a_numpy_array_receives_results(backend, kernels):
    whole = np.zeros(10, np.float32)
    kernels.scale[1, 32](whole[2:6], ramp(4) + 1, 1.0, 4)
    assert whole.tolist() == [0, 0, 1, 2, 3, 4, 0, 0, 0, 0]


def test_one_array_passed_twice_is_one_array(backend, kernels):
    values = np.zeros(4, np.float32)
    kernels.add_to[1, 1](values, values)
    assert values.tolist() == [11, 0, 0, 0]


def test_overlapping_views_share_memory(backend, kernels):
    values = np.zeros(12, np.float32)
    kernels.add_to[1, 1](values, values[:6])
    assert values.tolist() == [11, *[0] * 11]


def test_a_view_further_on_lies_further_on(backend, kernels):
    values = ramp(8)
    kernels.shift[1, 32](values[1:], values, 7)
    # One warp reads all before it writes any.
    assert values.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_views_that_only_touch_stay_apart(simulated, unsafe):
    values = np.zeros(8, np.float32)
    with pytest.raises(ck.OutOfBoundsError, match="out has 4 elements"):
        unsafe.past_the_end[1, 8](values[:4])


def test_empty_arrays_are_legal(backend, kernels):
    nothing = np.zeros(0, np.float32)
    kernels.scale[1, 32](nothing, nothing, 1.0, 0)


def test_none_is_a_null_pointer(backend, kernels):
    out = np.zeros(1, np.int32)
    kernels.is_null[1, 1](out, None)
    assert out[0] == 1


def test_structs_go_by_value_and_come_back(backend, kernels):
    value, out = np.zeros((), POINT), np.zeros(1, POINT)
    value["id"], value["weight"] = 7, 1.25
    kernels.point[1, 1](out, value[()], True)
    assert out[0].tolist() == (7, 2.5)


def test_float4_takes_a_float32_array(backend, kernels):
    values = ramp(12)
    kernels.vectors[1, 3](values)
    assert values[3::4].tolist() == [0, 4, 8]


def test_a_kernel_without_parameters(backend, kernels):
    assert kernels.nothing[1, 1]() is None


# -- configurations --------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(2,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("block", [(5,), (5, 2), (5, 2, 3)])
def test_three_dimensions_of_grid_and_block(backend, kernels, grid, block):
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    out = np.zeros((blocks, threads), np.int32)
    kernels.place[grid, block](out)
    expected = 100 * ramp(blocks, np.int32)[:, None] + ramp(threads, np.int32)
    np.testing.assert_array_equal(out, expected, strict=True)


def test_numpy_integers_configure(backend, kernels):
    out = np.zeros(64, np.int32)
    kernels.place[np.int64(2), (np.int32(32),)](out)
    assert out[-1] == 131


@pytest.mark.parametrize("words", [1, 1000, 20_000])
def test_dynamic_shared_memory_up_to_the_limit(backend, kernels, words):
    out = np.zeros(words, np.int32)
    kernels.dynamic[1, 256, 4 * words](out, words)
    np.testing.assert_array_equal(out, ramp(words, np.int32)[::-1], strict=True)


def test_launch_takes_the_same_options(backend, kernels):
    out = np.zeros(100, np.int32)
    kernels.dynamic.launch(1, 32, out, 100, shared_bytes=400)
    assert out[0] == 99


def test_a_cooperative_grid_synchronises(backend, kernels):
    sums, total = np.zeros(9, np.int32), np.zeros(1, np.int32)
    kernels.whole_grid.launch(9, 32, sums, total, cooperative=True)
    assert total[0] == 36


def test_compiling_a_long_kernel_is_said_with_its_name_in_the_source(monkeypatch):
    monkeypatch.setattr(engine, "WORTH_A_WORD", 1)
    monkeypatch.setattr(engines, "TRIAL_BYTES", -1)  # no trial in the interpreter
    told = []
    monkeypatch.setattr(ProgressBar, "say", lambda bar, text: told.append(text))
    x = np.ones(32, np.float32)
    module = ck.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
    with ck.simulator():
        module.twice[1, 32](x)
    assert re.fullmatch(
        r"compiling twice for the simulator: \d+ instructions \.\.\.", told[0]
    )


BAD_SHAPES = {
    "grid 0": (0, 32, "grid.x is 0"),
    "grid y 0": ((1, 0), 32, "grid.y is 0"),
    "negative grid": (-1, 32, "grid.x is -1"),
    "block 0": (1, 0, "block.x is 0"),
    "float grid": (4.0, 32, "grid.x is 4.0"),
    "float block": (1, (8, 0.5), "block.y is 0.5"),
    "bool grid": (True, 32, "grid.x is True"),
    "text": ("1", 32, "grid.x is '1'"),
    "no dimension": ((), 32, "0 dimensions"),
    "four dimensions": ((1, 1, 1, 1), 32, "4 dimensions"),
    "1025 threads": (1, 1025, "1025 threads per block (1025 x 1 x 1), at most 1024"),
    "33 x 32 threads": (1, (33, 32), "1056 threads per block (33 x 32 x 1)"),
    "deep block": (1, (1, 1, 65), "block.z is 65, at most 64"),
    "wide grid": (2**31, 32, "grid.x is 2147483648, at most 2147483647"),
    "high grid": ((1, 65536), 32, "grid.y is 65536, at most 65535"),
    "deep grid": ((1, 1, 65536), 32, "grid.z is 65536, at most 65535"),
}


@pytest.mark.parametrize(
    ("grid", "block", "message"), BAD_SHAPES.values(), ids=BAD_SHAPES
)
def test_an_impossible_shape_is_refused(kernels, grid, block, message):
    with pytest.raises(ck.LaunchError) as caught:
        kernels.nothing[grid, block]()
    assert message in caught.value.what


ADVICE = {
    "empty grid": (0, 32, "fewer elements than threads per block"),
    "empty block": (1, 0, "A block has 1 to 1024 threads"),
    "deep block": (1, (1, 1, 65), "at most 1024 x 1024 x 64"),
    "high grid": ((1, 65536), 32, "only grid.x goes up to 2147483647"),
    "wide grid": (2**31, 32, "at most 2147483647 x 65535 x 65535"),
}


@pytest.mark.parametrize(("grid", "block", "words"), ADVICE.values(), ids=ADVICE)
def test_advice_fits_the_shape(kernels, grid, block, words):
    with pytest.raises(ck.LaunchError) as caught:
        kernels.nothing[grid, block]
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("grid", "block"), [(1, 0), (1, (1, 1, 65))], ids=["empty", "deep"]
)
def test_advice_on_a_block_says_nothing_of_the_grid(kernels, grid, block):
    with pytest.raises(ck.LaunchError) as caught:
        kernels.nothing[grid, block]
    assert "grid" not in str(caught.value)


def test_advice_on_a_cluster_says_nothing_of_the_grid():
    with pytest.raises(ck.LaunchError, match=r"cluster.x is 0") as caught:
        configure("k", 1, 32, cluster=0)
    assert "grid" not in str(caught.value)


SHAPES = {
    "plain": ((2, 4), "scale[2, 4]"),
    "two dimensions": (((2, 3), (4, 1, 5)), "scale[(2, 3), (4, 1, 5)]"),
    "shared memory": ((2, 4, 64), "scale[2, 4, 64]"),
    "stream": ((2, 4, 0, 7), "scale[2, 4, 0, 7]"),
}


@pytest.mark.parametrize(("index", "shown"), SHAPES.values(), ids=SHAPES)
def test_a_launch_without_its_call_says_what_to_type(kernels, index, shown):
    arguments = ", ".join(each.name for each in kernels.scale.parameters)
    assert repr(kernels.scale[index]) == (
        f"{shown} by itself launches nothing; type {shown}({arguments})"
    )


@pytest.mark.parametrize("shared_bytes", [-1, 1.5, "48", None, True])
def test_impossible_shared_memory_is_refused(kernels, shared_bytes):
    with pytest.raises(ck.LaunchError, match="shared_bytes is"):
        kernels.nothing[1, 32, shared_bytes]()


@pytest.mark.parametrize("stream", ["fast", True, 1.5, -1, object()])
def test_what_is_no_stream_is_refused(kernels, stream):
    with pytest.raises(ck.LaunchError, match="is no stream"):
        kernels.nothing[1, 32, 0, stream]()


@pytest.mark.parametrize("index", [1, (1,), (1, 2, 0, None, 5)])
def test_brackets_take_two_to_four_entries(kernels, index):
    with pytest.raises(ck.LaunchError, match="no launch configuration"):
        kernels.nothing[index]


def test_a_call_without_brackets_is_refused(kernels):
    with pytest.raises(ck.LaunchError, match=r"Write nothing\[grid, block\]"):
        kernels.nothing()


def test_launch_bounds_are_a_limit(backend, kernels):
    with pytest.raises(ck.LaunchError, match="256 threads per block.*at most 128"):
        kernels.bounded[1, 256](np.zeros(1, np.int32))


def test_static_and_dynamic_shared_memory_count_together(simulated, kernels):
    out = np.zeros(32, np.int32)
    with pytest.raises(ck.LaunchError) as caught:
        kernels.fixed[1, 32, 232_448 - 4096 + 1](out)
    assert caught.value.what == (
        "fixed: 232,449 bytes of shared memory per block (4,096 static, 228,353 "
        "dynamic), but the H200 has 232,448."
    )


def test_static_shared_memory_has_a_limit_of_its_own(simulated):
    source = "__global__ void wide(int* out) { __shared__ int room[12289]; "
    module = ck.compile(source + "room[threadIdx.x] = 1; out[0] = room[0]; }")
    with pytest.raises(ck.LaunchError, match="wide: 49,156 bytes of static shared"):
        module.wide[1, 32](np.zeros(1, np.int32))


def test_shared_memory_may_fill_the_limit(simulated, kernels):
    out = np.zeros(32, np.int32)
    kernels.fixed[1, 32, 232_448 - 4096](out)
    assert out[0] == 31


def test_the_limit_is_that_of_the_simulated_device(kernels):
    with ck.simulator(device="T4"), pytest.raises(ck.LaunchError, match="has 65,536"):
        kernels.dynamic[1, 32, 80_000](np.zeros(1, np.int32), 1)


CLUSTERS = {
    "before Hopper": ("RTX 4090", 4, 2, "compute capability 8.9"),
    "too large": ("H200", 34, 17, "at most 16"),
    "two-dimensional": ("H200", (8, 8), (8, 4), "32 blocks a cluster (8 x 4 x 1)"),
    "uneven": ("H200", 5, 2, "grid.x is not a multiple"),
    "uneven height": ("H200", (4, 3), (1, 2), "grid.y is not a multiple"),
}


@pytest.mark.parametrize(
    ("device", "grid", "cluster", "message"), CLUSTERS.values(), ids=CLUSTERS
)
def test_impossible_clusters_are_refused(device, grid, cluster, message):
    with pytest.raises(ck.LaunchError) as caught:
        check(
            "k", configure("k", grid, 32, cluster=cluster), Needs(), ck.device(device)
        )
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("block", "shared_bytes", "resident"),
    [(1024, 0, 264), (32, 0, 132 * 32), (128, 100_000, 264), (33, 0, 132 * 32)],
)
def test_a_cooperative_grid_has_to_be_resident(block, shared_bytes, resident):
    def checked(blocks):
        options = {"shared_bytes": shared_bytes, "cooperative": True}
        check("k", configure("k", blocks, block, **options), Needs(), ck.device("H200"))

    checked(resident)
    with pytest.raises(ck.LaunchError, match=f"holds {resident} of them at once"):
        checked(resident + 1)


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_simulator_runs_clusters(simulated, kernels, blocks):
    assert kernels.nothing.launch(4, 32, cluster=blocks) is None


def test_attributes_of_a_cooperative_cluster_launch():
    driver = pytest.importorskip("cuda.bindings.driver")
    shape = Configuration((8, 1, 1), (32, 1, 1), 0, None, True, (2, 1, 1))
    cooperative, cluster = launch_attributes(driver, shape)
    dims = cluster.value.clusterDim
    assert (cooperative.value.cooperative, dims.x, dims.y, dims.z) == (1, 2, 1, 1)


# -- errors ----------------------------------------------------------------------------


def test_a_wrong_argument_names_the_parameter(backend, kernels):
    with pytest.raises(ck.ArgumentError, match=r"scale: parameter factor \(float\)"):
        kernels.scale[1, 32](ramp(4), ramp(4), None, 4)


def test_an_error_of_the_kernel_names_the_array(simulated, unsafe):
    with pytest.raises(ck.OutOfBoundsError, match=r"out\[4\], but out has 4 elements"):
        unsafe.past_the_end[1, 8](np.zeros(4, np.float32))


def test_device_arrays_are_named_too(simulated, unsafe):
    with pytest.raises(ck.OutOfBoundsError, match=r"out\[4\], but out has 4 elements"):
        unsafe.past_the_end[1, 8](ck.empty(4))


def test_after_an_error_host_arrays_are_unchanged(simulated, unsafe):
    values = np.zeros(4, np.float32)
    with pytest.raises(ck.OutOfBoundsError):
        unsafe.past_the_end[1, 8](values)
    assert values.tolist() == [0, 0, 0, 0]


def test_temporary_copies_are_freed(simulated, kernels):
    memory, values = simulator.simulated_memory(), ramp(1000)
    kernels.scale[4, 256](values, values, 1.0, 1000)
    gc.collect()
    memory.sweep()
    before = memory.memory.used
    kernels.scale[4, 256](values, values, 1.0, 1000)
    memory.sweep()
    assert memory.memory.used == before


# -- choice of the backend -------------------------------------------------------------


@pytest.fixture
def search(monkeypatch):
    """Decide afresh which backend runs outside of simulations."""

    def choose(wanted, missing=""):
        monkeypatch.setenv("COURSEKIT_BACKEND", wanted)
        monkeypatch.setattr("coursekit.runtime.gpu.missing", lambda: missing)
        backends._search.cache_clear()
        return backends._search()

    yield choose
    backends._search.cache_clear()


@pytest.mark.parametrize(
    ("wanted", "missing", "expected"),
    [
        ("", "", "gpu"),
        ("", "no driver", "simulator"),
        ("simulator", "", "simulator"),
        ("gpu", "", "gpu"),
    ],
)
def test_the_backend_is_found_or_forced(search, wanted, missing, expected):
    assert search(wanted, missing) == expected


def test_forcing_a_gpu_that_is_missing_fails(search):
    with pytest.raises(ck.DeviceError, match="no GPU can be used: no driver"):
        search("gpu", "no driver")


def test_forcing_an_unknown_backend_fails(search):
    with pytest.raises(ck.DeviceError, match="COURSEKIT_BACKEND is 'cpu'"):
        search("cpu")


def test_simulations_nest():
    with ck.simulator(device="T4") as outer:
        with ck.simulator(device="H200"):
            inner = backends.current().device.name
        assert (inner, backends.current().device.name) == ("H200", outer.device.name)


def test_a_simulation_can_be_entered_again():
    one = ck.simulator(order="reverse")
    with one, one:
        pass
    with one as entered:
        assert simulator.active() is entered
    assert simulator.active() is None


@pytest.mark.parametrize(
    ("order", "expected"), [("forward", 3), ("reverse", 0), ([3, 1], 2), ((0, 2), 3)]
)
def test_the_order_of_warps_decides_a_race(unsafe, order, expected):
    out = np.zeros(1, np.int32)
    with ck.simulator(order=order):
        unsafe.order[1, 128](out)
    assert out[0] == expected


@pytest.mark.parametrize("order", ["up", -1, 1.5, True, [0, 0], [-1], ["a"], None])
def test_an_unknown_order_is_refused(order):
    with pytest.raises(ck.LaunchError, match="cannot use order="):
        ck.simulator(order=order)


@pytest.mark.parametrize("timeout_s", [0, -1, "30", None, True])
def test_an_impossible_timeout_is_refused(timeout_s):
    with pytest.raises(ck.LaunchError, match="cannot use timeout_s="):
        ck.simulator(timeout_s=timeout_s)


def test_an_unknown_device_is_refused():
    with pytest.raises(ck.DeviceError, match="X1000"):
        ck.simulator(device="X1000")


def test_ck_device_is_the_simulated_one():
    with ck.simulator(device="A100 SXM4 40GB"):
        assert ck.device().name == "A100 SXM4 40GB"


def test_a_module_is_loaded_once(simulated, unsafe):
    out = np.zeros(1, np.int32)
    for _ in range(3):
        unsafe.count_launches[1, 1](out)
    assert out[0] >= 3


def test_printf_goes_to_standard_output(simulated, capsys):
    module = ck.compile(
        '__global__ void hello() { printf("hello from %d\\n", threadIdx.x); }'
    )
    module.hello[1, 2]()
    assert capsys.readouterr().out == "hello from 0\nhello from 1\n"


# -- counting --------------------------------------------------------------------------


def test_count_counts(kernels):
    counted = ck.count(kernels.scale, 2, 32, (ramp(64), ramp(64), 2.0, 64))
    assert counted.global_load_sectors == 8


def test_count_leaves_numpy_arrays_unchanged(kernels):
    out = np.zeros(32, np.float32)
    ck.count(kernels.scale, 1, 32, (out, ramp(32), 2.0, 32))
    assert not out.any()


def test_count_leaves_device_arrays_unchanged(backend, kernels):
    out = ck.to_device(np.zeros(32, np.float32))
    ck.count(kernels.scale, 1, 32, (out, ramp(32), 2.0, 32))
    assert not ck.to_host(out).any()


def test_count_aliases_an_array_that_is_passed_twice(kernels):
    out = ck.to_device(np.zeros(4, np.float32))
    counted = ck.count(kernels.add_to, 1, 1, (out, out))
    assert counted.global_store_requests == 2


def test_count_checks_the_launch(kernels):
    with pytest.raises(ck.LaunchError, match="1025 threads"):
        ck.count(kernels.nothing, 1, 1025, ())


# -- the GPU ---------------------------------------------------------------------------


@pytest.mark.gpu
def test_a_gpu_array_is_copied_into_a_simulation_and_back(gpu, kernels):
    out = ck.to_device(np.zeros(4, np.float32))
    with ck.simulator():
        kernels.scale[1, 32](out, ramp(4), 2.0, 4)
    assert ck.to_host(out).tolist() == [0, 2, 4, 6]


@pytest.mark.gpu
def test_a_simulated_array_is_copied_to_the_gpu_and_back(gpu, kernels):
    with ck.simulator():
        out = ck.to_device(np.zeros(4, np.float32))
    kernels.scale[1, 32](out, ramp(4), 2.0, 4)
    assert ck.to_host(out).tolist() == [0, 2, 4, 6]


@pytest.mark.gpu
def test_cupy_arrays_are_used_where_they_lie(gpu, kernels):
    import cupy

    out, values = cupy.zeros(100, cupy.float32), cupy.arange(100, dtype=cupy.float32)
    kernels.scale[2, 64](out, values, 2.0, 100)
    np.testing.assert_array_equal(cupy.asnumpy(out), 2 * ramp(100), strict=True)


@pytest.mark.gpu
def test_cuda_tensors_are_used_where_they_lie(gpu, kernels):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch was built without CUDA")
    out = torch.zeros(8, device="cuda")
    kernels.scale[1, 32](out, torch.arange(8.0, device="cuda"), 2.0, 8)
    assert out.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.mark.gpu
@pytest.mark.parametrize("times", [1, 5])
def test_launches_on_a_stream_run_in_order(gpu, kernels, times):
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    values = ck.to_device(np.ones(4, np.float32))
    for _ in range(times):
        kernels.scale[1, 32, 0, stream](values, values, 2.0, 4)
    stream.synchronize()
    assert ck.to_host(values).tolist() == [2.0**times] * 4


@pytest.mark.gpu
def test_a_launch_on_a_stream_checks_arguments_every_time(gpu, kernels):
    import cupy

    launch = kernels.scale[1, 32, 0, cupy.cuda.Stream()]
    values = ck.to_device(np.ones(4, np.float32))
    launch(values, values, 2.0, 4)
    with pytest.raises(ck.ArgumentError, match="parameter n"):
        launch(values, values, 2.0, 2**31)


@pytest.mark.gpu
def test_a_captured_launch_replays(gpu, kernels):
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    values = ck.to_device(np.ones(4, np.float32))
    kernels.scale[1, 32, 0, stream](values, values, 1.0, 4)
    with stream:
        stream.begin_capture()
        kernels.scale[1, 32](values, values, 2.0, 4)
        graph = stream.end_capture()
        graph.launch()
        graph.launch()
    stream.synchronize()
    assert ck.to_host(values).tolist() == [4, 4, 4, 4]


@pytest.mark.gpu
def test_deferred_launches_need_no_stream(gpu, kernels):
    values = ck.to_device(np.ones(4, np.float32))
    with launching.deferred():
        kernels.scale[1, 32](values, values, 2.0, 4)
    assert ck.to_host(values).tolist() == [2, 2, 2, 2]


# Address 16 belongs to nobody. One relative to an array may lie in the window of local
# or of shared memory, which the driver tells as another fault.
FAULT = """
import numpy as np, coursekit as ck
source = "__global__ void stray(unsigned long long p) { *(float*)p = 1; }"
module = ck.compile(source, name="a.cu")
array = ck.empty(4)
for attempt in range(2):
    try:
        module.stray[1, 1](16)
    except ck.CourseError as error:
        print(type(error).__name__)
try:
    ck.to_host(array)
except ck.DeviceError as error:
    print(error.cure)
"""


@pytest.mark.gpu
def test_a_fault_is_reported_once_and_then_the_context_is_lost(gpu):
    ran = subprocess.run([sys.executable, "-c", FAULT], capture_output=True, text=True)
    first, second, cure = ran.stdout.splitlines()
    assert (first, second) == ("OutOfBoundsError", "DeviceError")
    assert cure.startswith("Restart the kernel")


STATUSES = {
    1: ck.LaunchError, 2: ck.DeviceError, 701: ck.LaunchError, 720: ck.LaunchError,
    900: ck.LaunchError, 999: ck.DeviceError,
}  # fmt: skip


@pytest.mark.parametrize(("status", "kind"), STATUSES.items())
def test_what_the_driver_refuses_harms_nothing(status, kind):
    error = gpu_faults.refusal(status, RuntimeError("code"), "kernel")
    assert type(error) is kind and "code" in error.what


WRONG_COUNTS = {
    "arguments one by one": lambda k, x: ck.count(k, 2, 4, x, x, 2.0, 8),
    "one argument alone": lambda k, x: ck.count(k, 2, 4, x),
    "a second one for shared bytes": lambda k, x: ck.count(k, 2, 4, x, x),
    "launch configuration": lambda k, x: ck.count(k[2, 4], (x, x, 2.0, 8)),
    "configuration and shape": lambda k, x: ck.count(k[2, 4], 2, 4, (x, x, 2.0, 8)),
}


@pytest.mark.parametrize("call", WRONG_COUNTS.values(), ids=WRONG_COUNTS)
def test_count_says_how_it_is_spelt(kernels, call):
    names = ", ".join(each.name for each in kernels.scale.parameters)
    with pytest.raises(ck.ArgumentError) as caught:
        call(kernels.scale, ramp(8))
    assert f"ck.count(scale, 2, 4, ({names}))" in str(caught.value)


def test_count_writes_a_single_argument_as_a_tuple(kernels):
    with pytest.raises(ck.ArgumentError, match=r"count\(bounded, 1, 32, \(\w+,\)\)"):
        ck.count(kernels.bounded, 1, 32, ramp(8))


def test_count_refuses_what_is_no_kernel():
    with pytest.raises(ck.ArgumentError, match="count got float, which is no kernel"):
        ck.count(1.0, 1, 32, ())


def test_count_takes_a_list_and_names(kernels):
    arguments = [ramp(8), ramp(8), 2.0, 8]
    counts = ck.count(kernels.scale, args=arguments, grid=1, block=32)
    assert counts.blocks == 1


def test_signature_of_count_is_that_of_the_contract():
    parameters = inspect.signature(ck.count).parameters.values()
    named = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    assert named == ["kernel", "grid", "block", "args", "shared_bytes"]


FORK_WHILE_IMPORTING = """
import os, signal, sys, threading, coursekit as ck
inside, go_on = threading.Event(), threading.Event()

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "coursekit.runtime.compiler" and not inside.is_set():
            inside.set()
            go_on.wait()

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: ck.compile)
thread.start()
inside.wait()
os.register_at_fork(before=go_on.set)
child = os.fork()
if child == 0:
    signal.alarm(30)
    ck.compile
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
"""


def test_a_child_that_is_forked_while_a_thread_imports_can_import():
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK_WHILE_IMPORTING],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (told.stderr, told.stdout) == ("", "7\n")


FORKING = """
import os, signal, threading, numpy as np, coursekit as ck
kernel = ck.compile('''__global__ void k(float* x) {
  for (int i = 0; i < 400; i++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
}''')["k"]
end = threading.Event()

def work():
    while not end.is_set():
        kernel[2, 64](np.zeros(64, np.float32))

thread = threading.Thread(target=work)
thread.start()
left = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        kernel[1, 32](np.zeros(32, np.float32))
        os._exit(7)
    left.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
end.set()
thread.join()
print(set(left))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system has no fork.")
def test_a_child_that_is_forked_while_a_thread_launches_can_launch():
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True
    )
    assert (told.stderr, told.stdout) == ("", "{7}\n")
