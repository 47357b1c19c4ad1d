"""The stopwatch on a real GPU, and its kernels on the simulator too."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit import benchmarking
from coursekit.benchmarking.instruments import BLOCK, grid, instruments
from coursekit.benchmarks import catalogue
from coursekit.runtime.arguments import operands

N = 1 << 24
SOURCE = """
__global__ void twice(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
"""

# ---------------------------------------------------------------- its kernels


def different(a, b):
    found = ck.to_device(np.zeros(1, np.uint64))
    words = a.nbytes // 4
    instruments()["count_different"][grid(words), BLOCK](
        a.address, b.address, words, found
    )
    return int(ck.to_host(found)[0])


def touched(a, pattern):
    found = ck.to_device(np.zeros(1, np.uint64))
    words = a.nbytes // 4
    instruments()["count_touched"][grid(words), BLOCK](a.address, pattern, words, found)
    return int(ck.to_host(found)[0])


@pytest.mark.parametrize("n", [1, 255, 257, 1025])
def test_words_that_differ_are_counted(backend, n):
    a = np.arange(n, dtype=np.uint32)
    b = a.copy()
    b[:: max(n // 3, 1)] += 1
    wanted = int((a != b).sum())
    assert different(ck.to_device(a), ck.to_device(b)) == wanted


def test_words_that_differ_from_a_pattern_are_counted(backend):
    a = np.full(1000, 0xCBCBCBCB, np.uint32)
    a[[0, 500, 999]] = 1
    assert touched(ck.to_device(a), 0xCBCBCBCB) == 3


def test_fresh_memory_holds_the_pattern(backend):
    assert touched(ck.empty(100), 0xCBCBCBCB) == 0


def test_flush_reads_all_bytes(simulated):
    data, sink = ck.to_device(np.zeros(4096, np.uint8)), ck.empty(1, np.uint32)
    counts = ck.count(
        instruments()["flush"], 2, BLOCK, (data.address, 4096 // 16, sink)
    )
    assert counts.global_load_sectors == 4096 // 32


# ---------------------------------------------------------------- a real GPU


@pytest.fixture
def watch(gpu):
    return benchmarking.default_stopwatch()


@pytest.fixture
def twice(gpu):
    kernel = ck.compile(SOURCE).twice
    return lambda x, out, n: kernel[-(-n // 256), 256](x, out, n)


@pytest.fixture
def setup():
    rng = np.random.default_rng(7)

    def draw(n):
        x = rng.standard_normal(n, dtype=np.float32)
        return ck.to_device(x), ck.empty(n), n

    return draw


def is_twice(x, out, n):
    np.testing.assert_array_equal(ck.to_host(out), 2 * ck.to_host(x))


def bench(case, setup, **changes):
    given = {"sizes": [N], "setup": setup, "verify": is_twice}
    given["bytes_moved"] = lambda n: 8 * n
    return ck.benchmark({"case": case}, **(given | changes))


def refusal(case, setup, **changes) -> str:
    with pytest.raises(ck.CheckFailed) as caught:
        bench(case, setup, **changes)
    return str(caught.value)


@pytest.mark.gpu
def test_hold_lasts_as_long_as_asked(watch):
    first = watch.mark()
    watch.hold(2.0)
    last = watch.mark()
    watch.wait(last)
    assert 2.0 <= watch.elapsed_ms(first, last) < 2.5


@pytest.mark.gpu
def test_idle_gpu_has_no_persisting_l2(watch):
    assert watch.persisting_l2_bytes() == 0


@pytest.mark.gpu
def test_array_is_untouched_until_it_is_written(watch):
    array = ck.empty(10_000)
    found = operands.describe(array)
    before = watch.touched(found, 0xCB)
    watch.fill(found, 0)
    assert (before, watch.touched(found, 0xCB)) == (False, True)


@pytest.mark.gpu
def test_touched_does_not_wait_for_the_current_stream(watch):
    found = operands.describe(ck.empty(10_000))
    watch.hold(20.0)
    held = watch.mark()
    watch.touched(found, 0xCB)
    waited = watch.reached(held)
    watch.synchronize()
    assert not waited


@pytest.mark.gpu
def test_copy_kernel_is_near_the_memory_and_below_its_limit(twice, setup):
    found = bench(twice, setup)
    assert 0.5 < found.share(found.row("case")) <= 1.05


@pytest.mark.gpu
def test_two_measurements_agree(twice, setup):
    first, second = (bench(twice, setup).row("case").median_ms for _ in range(2))
    assert second == pytest.approx(first, rel=0.05)


@pytest.mark.gpu
def test_small_size_is_timed_without_the_launch_of_python(twice, setup):
    row = bench(twice, setup, sizes=[1 << 12]).row("case")
    assert row.median_ms < 0.012  # queueing the case takes the host longer


@pytest.mark.gpu
def test_numpy_arrays_pass_the_link(setup, gpu):
    rng = np.random.default_rng(2)

    def host(n):
        return rng.standard_normal(n, dtype=np.float32), ck.empty(n)

    def copy(x, out):
        out._buffer.write(0, x.view(np.uint8))

    found = bench(
        benchmarking.wall_clock(copy),
        host,
        verify=lambda x, out: np.array_equal(ck.to_host(out), x),
        bytes_moved=lambda n: 4 * n,
    )
    assert found.ceiling.through == "link"


@pytest.mark.gpu
def test_side_stream_without_an_event_is_refused(gpu, setup):
    import cupy

    side = cupy.cuda.Stream(non_blocking=True)
    kernel = ck.compile(SOURCE).twice

    def aside(x, out, n):
        kernel[-(-n // 256), 256, 0, side](x, out, n)
        cupy.cuda.get_current_stream().wait_event(side.record())

    assert "held back" in refusal(aside, setup)


@pytest.mark.gpu
def test_side_stream_that_nobody_joins_is_refused(gpu, setup):
    import cupy

    side = cupy.cuda.Stream(non_blocking=True)
    kernel = ck.compile(SOURCE).twice

    def aside(x, out, n):
        side.wait_event(cupy.cuda.get_current_stream().record())
        kernel[-(-n // 256), 256, 0, side](x, out, n)

    assert "synchronisation is missing" in refusal(aside, setup)


@pytest.mark.gpu
def test_replay_is_refused(twice, setup):
    done = set()

    def replay(x, out, n):
        if id(out) not in done:
            done.add(id(out))
            twice(x, out, n)

    assert "still hold the pattern" in refusal(replay, setup)


@pytest.mark.gpu
def test_kept_result_is_refused(gpu, setup):
    import cupy

    kept = {}

    def cached(x, out, n):
        if id(x) not in kept:
            kept[id(x)] = 2 * cupy.asarray(x)
        cupy.asarray(out)[...] = kept[id(x)]

    assert "wrong for fresh ones" in refusal(cached, setup)


@pytest.mark.gpu
def test_l2_set_aside_is_refused(twice, setup, gpu):
    from cuda.bindings import driver

    limit = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE
    _, usual = driver.cuCtxGetLimit(limit)
    driver.cuCtxSetLimit(limit, 1 << 20)
    try:
        assert "set aside" in refusal(twice, setup)
    finally:
        driver.cuCtxSetLimit(limit, usual)


@pytest.mark.gpu
def test_counted_twice_is_refused(twice, setup):
    assert "must move at most" in refusal(twice, setup, bytes_moved=lambda n: 16 * n)


@pytest.mark.gpu
def test_compiling_in_the_case_is_refused(gpu, setup):
    def lazy(x, out, n):
        ck.compile(SOURCE).twice[-(-n // 256), 256](x, out, n)

    assert "compiles kernel.cu" in refusal(lazy, setup)


@pytest.mark.gpu
@pytest.mark.parametrize("key", catalogue.definitions())
def test_definition_can_be_recorded(gpu, key):
    assert catalogue.find(key).benchmark().origin == "measured"
