"""ck.profile: Nsight Compute where it may count, the simulator elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import types

import numba.cuda
import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarking.nsight import counters, profiling
from coursekit.runtime import simulator
from coursekit.runtime.launching import Launcher

SOURCE = """
template<class T> __global__ void scale(T* out, const T* x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
"""
HEADINGS = '"ID","Kernel Name","Metric Name","Metric Value"\n'


@pytest.fixture(scope="module")
def kernel():
    return ck.compile(SOURCE, name="scale.cu", defines={"TILE": 16})["scale<float>"]


@pytest.fixture
def arguments():
    x = np.arange(64, dtype=np.float32)
    return np.zeros(64, np.float32), x, 2.0, 64


@pytest.fixture
def gpu_here(monkeypatch, kernel):
    """Pretend a GPU with Nsight Compute; `gpu_here.text` is what ncu answers."""
    fake = types.SimpleNamespace(
        text=ncu_says(), returncode=0, space="gpu", device=ck.device("H200")
    )
    fake.needs = lambda kernel: simulator.default().backend.needs(kernel)
    monkeypatch.setattr(profiling.backends, "current", lambda: fake)
    monkeypatch.setattr(counters.shutil, "which", lambda name: "/usr/bin/ncu")

    def run(command, **options):
        fake.command = command
        return subprocess.CompletedProcess(command, fake.returncode, fake.text, "")

    monkeypatch.setattr(counters.subprocess, "run", run)
    return fake


def ncu_says(**values):
    """Write what ncu writes: each metric as 8, unless told otherwise."""
    terms = (counters.METRICS | counters.OF_MACHINE_CODE).values()
    names = sorted({metric for each in terms for _, metric in each})
    rows = (f'"0","scale","{name}","{values.get(name, "8")}"\n' for name in names)
    return "==PROF== Connected\n" + HEADINGS + "".join(rows)


def test_without_a_gpu_the_launch_is_simulated(kernel, arguments):
    with ck.simulator():
        counts = ck.profile(kernel, 2, 32, arguments)
    assert (counts.source, counts.global_load_sectors) == ("simulator", 8)


def test_counts_of_nsight_compute_say_so(gpu_here, kernel, arguments):
    counts = ck.profile(kernel, 2, 32, arguments)
    assert (counts.source, counts.label("global_load_sectors")) == ("ncu", "ncu")


def test_metrics_are_added_up(gpu_here, kernel, arguments):
    # fadd + fmul + 2 ffma, 8 each.
    assert ck.profile(kernel, 2, 32, arguments).flops_fp32 == 32


def test_bytes_follow_from_the_sectors(gpu_here, kernel, arguments):
    # 8 of loads, and 8 each of atom and red.
    assert ck.profile(kernel, 2, 32, arguments).bytes_read == 32 * 24


def test_counters_that_are_not_measured_are_left_out(gpu_here, kernel, arguments):
    counts = ck.profile(kernel, 2, 32, arguments)
    with pytest.raises(AttributeError):
        counts.barriers  # noqa: B018


def test_numbers_with_separators_are_read(gpu_here, kernel, arguments):
    gpu_here.text = ncu_says(**{"smsp__warps_launched.sum": "1,024"})
    assert ck.profile(kernel, 2, 32, arguments).warps == 1024


def test_kernel_is_asked_for_by_its_bare_name(gpu_here, kernel, arguments):
    ck.profile(kernel, 2, 32, arguments)
    assert "regex:^(scale)$" in gpu_here.command


def test_clocks_are_left_alone(gpu_here, kernel, arguments):
    ck.profile(kernel, 2, 32, arguments)
    assert "--clock-control none" in " ".join(gpu_here.command)


def test_forbidden_counters_are_simulated_with_a_warning(gpu_here, kernel, arguments):
    gpu_here.text, gpu_here.returncode = "==ERROR== ERR_NVGPUCTRPERM", 1
    with pytest.warns(profiling.ProfilerWarning, match="ERR_NVGPUCTRPERM.*administra"):
        counts = ck.profile(kernel, 2, 32, arguments)
    assert counts.source == "simulator"


def test_missing_profiler_is_told(gpu_here, kernel, arguments, monkeypatch):
    monkeypatch.setattr(counters.shutil, "which", lambda name: None)
    with pytest.warns(profiling.ProfilerWarning, match="ncu\\) is not installed"):
        ck.profile(kernel, 2, 32, arguments)


def test_failing_profiler_is_an_error_with_its_words(gpu_here, kernel, arguments):
    gpu_here.text, gpu_here.returncode = "==ERROR== Unknown metric", 1
    with pytest.raises(ck.DeviceError, match="Unknown metric"):
        ck.profile(kernel, 2, 32, arguments)


def test_words_of_a_profiler_that_fails_midway_stand_above_its_table(
    gpu_here, kernel, arguments
):
    gpu_here.text = "==ERROR== Failed to profile" + "\n" + 99 * ncu_says()
    gpu_here.returncode = 1
    with pytest.raises(ck.DeviceError, match="Failed to profile") as caught:
        ck.profile(kernel, 2, 32, arguments)
    assert "smsp__warps_launched" not in str(caught.value)


def test_counter_without_a_value_is_an_error(gpu_here, kernel, arguments):
    gpu_here.text = ncu_says(**{"smsp__warps_launched.sum": "nan"})
    with pytest.raises(ck.DeviceError, match="smsp__warps_launched.sum of launch 0"):
        ck.profile(kernel, 2, 32, arguments)


def test_run_without_any_launch_is_an_error(gpu_here, kernel, arguments):
    gpu_here.text = "==WARNING== No kernels were profiled."
    with pytest.raises(ck.DeviceError, match="No kernels were profiled"):
        ck.profile(kernel, 2, 32, arguments)


def test_wrong_arguments_are_refused_before(gpu_here, kernel, arguments):
    with pytest.raises(ck.ArgumentError, match="takes 4 arguments, got 3"):
        ck.profile(kernel, 2, 32, arguments[:3])


def test_arguments_of_a_launch_are_recognised(kernel):
    with pytest.raises(ck.ArgumentError, match="profile cannot tell"):
        ck.profile(kernel, 2, 32, 5)


# ---------------------------------------------------------------- the other process


def packed(folder, kernel, arguments, grid=2, block=32):
    configuration = profiling.configure(kernel.name, grid, block, shared_bytes=0)
    profiling._pack(folder, kernel, configuration, arguments)


def launched(folder, monkeypatch):
    """Run what the other process runs; return the arguments of its launch."""
    seen = []

    def compile(*given, **named):
        module = ck.compile(*given, **named)

        class Recorded:
            def __getitem__(self, name):
                kernel = module[name]

                class Shaped:
                    def __getitem__(self, shape):
                        def call(*arguments):
                            seen.append((shape, arguments))
                            kernel[shape](*arguments)

                        return call

                return Shaped()

        return Recorded()

    monkeypatch.setattr(profiling, "compile", compile)
    with ck.simulator():
        profiling.launch(folder)
    return seen[0]


def test_other_process_launches_the_same(tmp_path, monkeypatch, kernel, arguments):
    packed(tmp_path, kernel, arguments)
    shape, (out, x, factor, n) = launched(tmp_path, monkeypatch)
    assert (shape[:2], factor, n) == (((2, 1, 1), (32, 1, 1)), 2.0, 64)
    np.testing.assert_array_equal(ck.to_host(out), 2 * arguments[1])


def test_one_array_passed_twice_stays_one(tmp_path, monkeypatch, kernel):
    x = np.arange(64, dtype=np.float32)
    packed(tmp_path, kernel, (x, x, 2.0, 64))
    _, (out, source, *_) = launched(tmp_path, monkeypatch)
    assert out.address == source.address


def test_arguments_stay_as_they_are(tmp_path, monkeypatch, kernel, arguments):
    packed(tmp_path, kernel, arguments)
    launched(tmp_path, monkeypatch)
    assert not arguments[0].any()


def test_module_of_a_file_is_packed_by_its_path(tmp_path, monkeypatch):
    kernel = ck.compile("start/scale.cu").scale
    x = np.arange(40, dtype=np.float32)
    packed(tmp_path, kernel, (x, 3.0, np.zeros_like(x), 40))
    _, (_, _, y, _) = launched(tmp_path, monkeypatch)
    np.testing.assert_array_equal(ck.to_host(y), 3 * x)


def doubled(x, out):
    i = numba.cuda.grid(1)
    out[i] = 2 * x[i]


def test_kernel_of_another_language_is_packed_as_ptx(tmp_path, monkeypatch):
    kernel = ck.from_numba(doubled, "float32[:], float32[:]")
    x = np.arange(64, dtype=np.float32)
    packed(tmp_path, kernel, (x, np.zeros_like(x)))
    given = []
    run = Launcher.__call__
    monkeypatch.setattr(
        Launcher, "__call__", lambda self, *args: (given.append(args), run(self, *args))
    )
    with ck.simulator():
        profiling.launch(tmp_path)
    out = given[0][11]  # data of the second array, each of which is seven parameters
    np.testing.assert_array_equal(ck.to_host(out), 2 * x)


def test_other_process_can_be_started(tmp_path, kernel, arguments):
    packed(tmp_path, kernel, arguments)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "coursekit.benchmarking.nsight.profiling",
            str(tmp_path),
        ],
        check=True,
        env={**os.environ, "COURSEKIT_BACKEND": "simulator"},
    )


@pytest.mark.gpu
def test_counts_of_a_gpu_equal_the_simulators(gpu, kernel, arguments):
    try:
        real = ck.profile(kernel, 2, 32, arguments)
    except profiling.ProfilerWarning as warning:  # the tests make warnings errors
        pytest.skip(str(warning))
    simulated = ck.count(kernel, 2, 32, arguments)
    fields = ("global_load_sectors", "global_store_sectors", "warps", "blocks")
    assert [getattr(real, f) for f in fields] == [getattr(simulated, f) for f in fields]
