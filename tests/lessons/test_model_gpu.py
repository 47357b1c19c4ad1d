"""The modelled GPU keeps its seven rules, and the course's benchmark judges on it."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarking.stopwatch import Stopwatch
from coursekit.lessons import model_gpu
from coursekit.lessons.model_gpu import ModelGpu

N = 2**16  # 256 KiB of float32: 26.2144 us at 10 GB/s, a quarter of that from L2
ARRAY_US = 26.2144


@pytest.fixture
def gpu():
    return ModelGpu()


def doubling(gpu, **facts):
    def double(x, y):
        np.multiply(x, 2, out=y)

    return gpu.kernel("double", double, writes=(1,), **facts)


def arrays(gpu, n=N):
    return gpu.array(np.arange(n, dtype=np.float32)), gpu.empty(n)


def microseconds(gpu, call) -> float:
    """Return what two events round a call tell, with the host well ahead."""
    gpu.hold(1.0)
    first = gpu.mark()
    call()
    last = gpu.mark()
    gpu.wait(last)
    return 1e3 * gpu.elapsed_ms(first, last)


def benchmark(gpu, case, **changes):
    rng = np.random.default_rng(2)

    def setup(n):
        return gpu.array(rng.random(n, dtype=np.float32)), gpu.empty(n)

    def verify(x, y):
        np.testing.assert_array_equal(ck.to_host(y), 2 * ck.to_host(x))

    given = {"sizes": [N], "setup": setup, "verify": verify}
    return model_gpu.benchmark(gpu, {"case": case}, **(given | changes))


# ---------------------------------------------------------------- the rules


def test_launch_costs_the_host_its_call_alone(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    before = gpu.clock()
    double(x, y)
    assert gpu.clock() - before == pytest.approx(5e-6)


def test_kernel_takes_its_start_and_its_bytes(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    assert microseconds(gpu, lambda: double(x, y)) == pytest.approx(2 + 2 * ARRAY_US)


def test_kernels_of_a_stream_run_in_order(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu, 2**20)
    once = microseconds(gpu, lambda: double(x, y))
    twice = microseconds(gpu, lambda: (double(x, y), double(x, y)))
    assert twice == pytest.approx(2 * once)


def test_array_in_the_cache_is_read_four_times_as_fast(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    double(x, y)
    warm = microseconds(gpu, lambda: double(x, y))
    assert warm == pytest.approx(2 + ARRAY_US / 4 + ARRAY_US)


def test_array_larger_than_the_cache_is_never_warm(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu, 2**19)
    cold = microseconds(gpu, lambda: double(x, y))
    assert microseconds(gpu, lambda: double(x, y)) == pytest.approx(cold)


def test_flush_makes_the_cache_cold(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    double(x, y)
    gpu.flush()
    assert microseconds(gpu, lambda: double(x, y)) == pytest.approx(2 + 2 * ARRAY_US)


def test_updated_array_moves_twice(gpu):
    raise_all = gpu.kernel("raise", lambda x: np.add(x, 1, out=x), updates=(0,))
    x, _ = arrays(gpu)
    assert microseconds(gpu, lambda: raise_all(x)) == pytest.approx(2 + 2 * ARRAY_US)


def test_lazy_kernel_compiles_for_each_shape_once(gpu):
    double, before = doubling(gpu, lazy=True), gpu.clock()
    for n in (8, 8, 16):
        double(*arrays(gpu, n))
    gpu.synchronize()
    assert 0.08 < gpu.clock() - before < 0.081


def test_kernel_is_otherwise_compiled_when_it_is_made(gpu):
    before = gpu.clock()
    doubling(gpu)
    assert gpu.clock() - before == pytest.approx(0.04)


def test_heat_slows_later_kernels_down():
    gpu = ModelGpu(heat=0.2)
    double, (x, y) = doubling(gpu), arrays(gpu, 2**20)
    times = [microseconds(gpu, lambda: double(x, y)) for _ in range(40)]
    assert times[-1] / times[0] == pytest.approx(1.2, rel=0.04)


def test_rest_cools_the_gpu_down():
    gpu = ModelGpu(heat=0.2)
    double, (x, y) = doubling(gpu), arrays(gpu, 2**20)
    first = microseconds(gpu, lambda: double(x, y))
    double(x, y)
    gpu.rest(1)
    assert microseconds(gpu, lambda: double(x, y)) == pytest.approx(first)


def test_noise_is_the_same_for_the_same_seed():
    def run(seed):
        gpu = ModelGpu(noise=0.1, seed=seed)
        double, (x, y) = doubling(gpu), arrays(gpu, 64)
        return [microseconds(gpu, lambda: double(x, y)) for _ in range(5)]

    assert run(1) == run(1) != run(2)


def test_values_arrive_when_the_kernel_ends(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    double(x, y)
    now = gpu.clock()
    found = ck.to_host(y)  # waits
    assert found[5] == 10 and gpu.clock() > now


def test_other_stream_is_not_in_order_with_the_first(gpu):
    double, (x, y) = doubling(gpu), arrays(gpu)
    gpu.hold(1.0)
    double(x, y, stream=1)
    assert gpu.mark(1) < gpu.mark()


def test_event_that_is_to_come_has_no_time_yet(gpu):
    first = gpu.mark()
    gpu.hold(1.0)
    with pytest.raises(ck.DeviceError, match="cudaErrorNotReady"):
        gpu.elapsed_ms(first, gpu.mark())


def test_memory_is_counted_while_arrays_live(gpu):
    x = gpu.empty(1000)
    y = gpu.empty(500)
    del x
    assert (gpu.allocated_bytes, gpu.peak_bytes, y.nbytes) == (2000, 6000, 2000)


def test_array_of_the_host_is_refused(gpu):
    with pytest.raises(ck.ArgumentError, match="lies on the host"):
        doubling(gpu)(np.zeros(4, np.float32), gpu.empty(4))


# ---------------------------------------------------------------- the harness


def test_model_does_all_that_a_benchmark_asks_of_a_stopwatch():
    asked = {name for name in vars(Stopwatch) if not name.startswith("_")}
    assert asked <= set(dir(ModelGpu))


def test_benchmark_says_that_its_times_are_a_models(gpu):
    assert "no GPU was timed" in repr(benchmark(gpu, doubling(gpu)))


def test_benchmark_finds_the_time_of_the_rule(gpu):
    row = benchmark(gpu, doubling(gpu)).row("case")
    assert 1e3 * row.median_ms == pytest.approx(2 + 2 * ARRAY_US)


def test_benchmark_refuses_a_time_below_the_models_bound(gpu):
    hasty = doubling(gpu, slow=0.5)
    with pytest.raises(ck.CheckFailed, match="of what is possible: a model GPU"):
        benchmark(gpu, hasty, bytes_moved=lambda n: 8 * n)


def test_benchmark_refuses_a_lazy_kernel(gpu):
    with pytest.raises(ck.CheckFailed, match="compiles double in its call"):
        benchmark(gpu, doubling(gpu, lazy=True))


def test_benchmark_refuses_work_beside_the_stream(gpu):
    double = doubling(gpu)
    with pytest.raises(ck.CheckFailed, match="stream is held back"):
        benchmark(gpu, lambda x, y: double(x, y, stream=1))
