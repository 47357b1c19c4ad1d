"""The ladder of matrix products: its last step, its preconditions, its peers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import course_kernels as kernels
import fake_stopwatch
import numpy as np
import pytest
from kernel_launches import ROUNDING, matrices

import coursekit as ck
from coursekit.benchmarking import repeated
from coursekit.benchmarks import catalogue, matmul, tilings
from coursekit.benchmarks.peers import cublas
from coursekit.toolchain import building

SPLIT = kernels.KERNELS / "matmul" / "step_12_tf32_split.cu"


def digits(x: np.ndarray) -> np.ndarray:
    """Digits of float32 numbers that TF32 has no room for."""
    return x.view(np.uint32) & 0x1FFF


# ---------------------------------------------------------------- step 12


def split(module, B):
    K, N = B.shape
    high, low = np.full((2, N, K), np.nan, np.float32)
    grid = -(-N // 32), -(-K // 32)
    module.split_transposed[grid, (32, 8)](B, high, low, K, N)
    return high, low


@pytest.fixture(scope="module")
def step_12():
    """Step 12 with a ring of three stages."""
    return ck.compile(SPLIT, arch="sm_90a", defines={"STAGES": 3})


def test_both_parts_of_a_number_have_the_digits_of_tf32(step_12, simulated):
    B = np.random.default_rng(0).standard_normal((33, 70), dtype=np.float32)
    high, low = split(step_12, B)
    assert not digits(high).any() and not digits(low).any()


def test_the_parts_make_up_the_number(step_12, simulated):
    B = np.random.default_rng(0).standard_normal((33, 70), dtype=np.float32)
    high, low = split(step_12, B)
    # 11 digits of the number, then 11 of a rest of at most half a unit of these.
    np.testing.assert_allclose(high.astype(np.float64) + low, B.T, rtol=2.0**-23)


# Four steps through a ring of three; every extent is ragged.
@pytest.mark.parametrize(("M", "N", "K"), [(70, 100, 100)])
def test_three_products_are_as_exact_as_float32(step_12, simulated, M, N, K):
    A, B, C, wanted = (array[0] for array in matrices(1, M, N, K))
    high, low = split(step_12, B)
    arrays = [ck.to_device(array) for array in (A, high, low)]
    maps = [ck.tensor_map(array, (128, 32), 128) for array in arrays]
    step_12.matmul_tf32_split[1, 256, 3 * 48 * 1024](*maps, C, M, N, K)
    # K roundings of sums, and what is lost of two numbers and by leaving one product.
    rtol = (K + 2 * 2 + 4) * ROUNDING
    np.testing.assert_allclose(C, wanted, rtol=rtol, atol=0, equal_nan=False)


def test_the_products_run_side_by_side():
    module = ck.compile(SPLIT, arch="sm_90a")
    report = building.machine_code(module._unit, module.target, ()).report
    assert "serialized" not in report


@pytest.mark.parametrize("name", ["10_tma_ring", "11_tuned", "12_tf32_split"])
def test_no_register_is_spilled(name):
    source = kernels.KERNELS / "matmul" / f"step_{name}.cu"
    used = ck.compile(source, arch="sm_90a").resources
    assert {found.spill_store_bytes for found in used.values()} == {0}


@pytest.mark.parametrize(("depth", "stages", "group"), matmul.TRIED)
def test_no_choice_of_sizes_spills(depth, stages, group):
    tiling = tilings.Tiling(depth=depth, stages=stages, group=group)
    used = tiling.module().resources
    assert {found.spill_store_bytes for found in used.values()} == {0}


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1000, 4096])
def test_the_split_is_no_less_exact_than_cublas(gpu, n):
    A, B, C, *sizes = matmul.squares(n)
    matmul.split_case()(A, B, C, *sizes)
    ours = matmul.errors(A, B, C)[0]
    cublas.case()(A, B, C, *sizes)
    assert ours <= matmul.errors(A, B, C)[0]


@pytest.mark.gpu
@pytest.mark.parametrize("depth", [8, 16, 32])
@pytest.mark.parametrize("n", [4, 260, 1000])
def test_every_depth_gives_the_product(gpu, n, depth):
    A, B, C, *sizes = matmul.squares(n)
    matmul.tuned_case(tilings.Tiling(depth=depth, stages=2))(A, B, C, *sizes)
    matmul.is_product(A, B, C, *sizes)


# ---------------------------------------------------------------- the cases


@pytest.mark.parametrize("make", [matmul.ring_case, matmul.tuned_case])
@pytest.mark.parametrize(("N", "K"), [(5, 4), (4, 6)])
def test_rows_that_are_no_16_bytes_are_refused(simulated, make, N, K):
    A, B, C = ck.empty((4, K)), ck.empty((K, N)), ck.empty((4, N))
    with pytest.raises(ck.ArgumentError, match="multiples of 4"):
        make()(A, B, C, 4, N, K)


def test_a_step_of_fours_refuses_what_step_1_takes(simulated):
    A, B, C = ck.to_device(np.ones((3, 3), np.float32)), *(ck.empty((3, 3)),) * 2
    with pytest.raises(ck.ArgumentError, match="matmul_vectorised got N = 3"):
        matmul.step_case("06_vectorised")(A, B, C, 3, 3, 3)


def test_a_product_of_rounded_numbers_is_refused():
    A, B = np.random.default_rng(0).standard_normal((2, 256, 256), dtype=np.float32)
    short = [(x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (A, B)]
    with pytest.raises(AssertionError, match="off by"):
        matmul.is_product(A, B, short[0] @ short[1], 256, 256, 256)


def test_a_product_in_float32_is_accepted():
    A, B = np.random.default_rng(0).standard_normal((2, 256, 256), dtype=np.float32)
    C = np.zeros((256, 256), np.float32)
    for k in range(256):
        C += A[:, k : k + 1] * B[k]
    matmul.is_product(A, B, C, 256, 256, 256)


def test_a_missing_number_is_refused():
    A, B = np.random.default_rng(0).standard_normal((2, 64, 64), dtype=np.float32)
    C = A @ B
    C[3, 5] = np.nan
    with pytest.raises(AssertionError):
        matmul.is_product(A, B, C, 64, 64, 64)


def test_small_tiles_spill_no_register():
    used = tilings.SMALL.module().resources
    assert {found.spill_store_bytes for found in used.values()} == {0}


@pytest.mark.parametrize(
    ("n", "tiling"), [(1024, tilings.SMALL), (1536, tilings.Tiling())]
)
def test_small_tiles_are_taken_where_large_ones_are_too_few(n, tiling):
    assert tilings.tiling_of(n, n, 132) == tiling


# The second launch finds the counters as the first one left them.
def test_parts_of_k_are_added_at_each_launch(simulated):
    A, B, C, wanted = (array[0] for array in matrices(1, 2, 4, 512))
    device = [ck.to_device(array) for array in (A, B, C)]
    case = matmul.tuned_case(tilings.Tiling(stages=2))
    for _ in range(2):
        case(*device, 2, 4, 512)
    np.testing.assert_allclose(ck.to_host(device[2]), wanted, rtol=512 * ROUNDING)


# Three tiles pass through a ring that has room for two.
@pytest.mark.parametrize("depth", [8, 16, 32])
def test_the_smallest_ring_does_not_stall(simulated, depth):
    K = 3 * depth
    A, B, C, wanted = (array[0] for array in matrices(1, 2, 4, K))
    device = [ck.to_device(array) for array in (A, B, C)]
    case = matmul.tuned_case(tilings.Tiling(depth=depth, stages=2))
    case(*device, 2, 4, K)
    np.testing.assert_allclose(ck.to_host(device[2]), wanted, rtol=K * ROUNDING)


@pytest.mark.parametrize("key", ["cublas", "cublas_sustained", "ladder", "tf32_split"])
def test_speedups_refer_to_cublas(key):
    assert catalogue.find(f"matmul/{key}").reference == "cuBLAS"


# ---------------------------------------------------------------- cuBLAS


def test_a_proposal_has_the_size_of_the_library_s():
    assert ctypes.sizeof(cublas.Proposal) == 96


def test_the_fastest_way_is_kept_for_a_shape(monkeypatch):
    times = {"cublasSgemm": 3.0, "cublasLt 0": 2.0, "cublasLt 1": float("inf")}
    called = []
    found = cublas.Fastest(None, None)
    ways = {name: lambda *a, name=name: called.append(name) for name in times}
    monkeypatch.setattr(found, "_sgemm", lambda shape, *a: called.append("cublasSgemm"))
    others = {name: way for name, way in ways.items() if name != "cublasSgemm"}
    monkeypatch.setattr(found, "_ways", lambda shape: others)
    by_way = {id(way): times[name] for name, way in ways.items()}
    monkeypatch.setattr(cublas, "_best_ms", lambda way, *a: by_way.get(id(way), 3.0))
    for _ in range(2):
        found(None, None, None, 8, 8, 8)
    assert called == ["cublasLt 0"] * 2
    assert found.names == {(8, 8, 8): "cublasLt 0"}


# ---------------------------------------------------------------- several calls a time


@pytest.fixture
def fake(monkeypatch):
    return fake_stopwatch.install(monkeypatch)


def doubled(fake, **options):
    """Benchmark a case of 2 ms that is called several times for each time."""
    rng = np.random.default_rng(0)

    def setup(n):
        return rng.standard_normal(n, dtype=np.float32), np.empty(n, np.float32)

    def case(x, out):
        fake.run(2.0, lambda: np.multiply(x, 2, out=out))

    return ck.benchmark(
        {"case": repeated(case, **options)},
        sizes=[64],
        setup=setup,
        verify=lambda x, out: np.array_equal(out, 2 * x),
    )


def test_several_calls_are_timed_by_their_mean(fake):
    assert doubled(fake, calls=4).row("case").median_ms == pytest.approx(2.0)


def test_a_burst_begins_after_a_rest(fake):
    doubled(fake, calls=3, idle_s=0.5)
    at = fake.log.index("rest")
    assert fake.log[at : at + 4] == ["rest", "run", "run", "run"]


def test_without_a_rest_calls_follow_each_other(fake):
    doubled(fake, calls=3)
    assert "rest" not in fake.log


# ---------------------------------------------------------------- on the CPU


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory):
    """The three functions of on_cpu.c."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    built = tmp_path_factory.mktemp("cpu") / "on_cpu.so"
    source = kernels.KERNELS / "matmul" / "on_cpu.c"
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    subprocess.run([compiler, *flags, str(source), "-o", str(built)], check=True)
    return ctypes.CDLL(str(built))


@pytest.mark.parametrize("name", ["by_sums", "by_rows", "by_blocks"])
@pytest.mark.parametrize(("M", "N", "K"), [(1, 1, 1), (7, 300, 130), (33, 31, 65)])
def test_the_cpu_gives_the_product(on_cpu, name, M, N, K):
    A, B, C, wanted = (array[0].copy() for array in matrices(1, M, N, K))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (A, B, C)]
    getattr(on_cpu, f"matmul_{name}")(*pointers, M, N, K)
    # A product and a sum are rounded for every k.
    np.testing.assert_allclose(C, wanted, rtol=2 * K * ROUNDING, equal_nan=False)
