"""What ladders are compared with: left out where absent, shown where recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarking import Row
from coursekit.benchmarking.records import case_sources, records
from coursekit.benchmarking.records.definitions import Definition, absent
from coursekit.benchmarking.records.records import Record
from coursekit.benchmarks import catalogue, drawn
from coursekit.benchmarks.peers import peers

KEY = "test/twice"
SOURCE = """
__global__ void twice(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
"""


def cases():
    kernel = ck.compile(SOURCE).twice
    return {"ours": lambda x, out, n: kernel[-(-n // 256), 256](x, out, n)}


def inputs(n):
    return drawn.uniform(n), ck.empty(n), n


DEFINITION = Definition(
    key=KEY,
    cases=cases,
    sizes=(1000,),
    setup=inputs,
    verify=lambda x, out, n: True,
    count_size=64,
    peers={"library": lambda: None},
    reference="library",
)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Record times of our case, and of one that launches no kernel of ours."""
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    monkeypatch.setattr(catalogue, "PROBLEMS", (KEY.partition("/")[0],))
    monkeypatch.setattr(catalogue, "of_problem", lambda problem: {KEY: DEFINITION})
    hashes = {
        "library": case_sources.LIBRARY,
        "ours": case_sources.sha256(cases()["ours"]),
    }
    rows = (Row("library", 1000, 0.02, 0.0, 50, 1.0), Row("ours", 1000, 0.01, 0, 50, 2))
    record = Record(
        key=KEY,
        device="NVIDIA H200",
        driver="580.159",
        toolkit="NVRTC 13.0",
        libraries={},
        date="2026-11-21",
        source_sha256="",
        case_sha256=hashes,
        commit=None,
        rows=rows,
    )
    records.write(record)
    return record


# ---------------------------------------------------------------- a case of a library


def test_absent_peer_cannot_be_called():
    with pytest.raises(ck.UnsupportedError, match="only on a machine with a GPU"):
        absent(1, 2)


def test_absent_peer_has_the_hash_of_a_library():
    assert case_sources.sha256(absent) == case_sources.LIBRARY


def test_torch_without_a_gpu_is_absent(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert peers.torch(lambda torch, x: x) is None


def test_torch_that_is_not_installed_is_absent(monkeypatch):
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None)
    assert peers.torch(lambda torch, x: x) is None


def test_cub_without_nvcc_is_absent(monkeypatch):
    monkeypatch.setattr(peers.shutil, "which", lambda name: None)
    peers._library.cache_clear()
    assert peers.cub("sum") is None


@pytest.mark.gpu
def test_cub_sums_what_is_drawn(gpu):
    case = peers.cub("sum")
    if case is None:
        pytest.skip("no nvcc: CUB's functions cannot be built")
    x, total = drawn.whole(5000), ck.empty(1)
    case(x, total, 5000)
    assert ck.to_host(total)[0] == ck.to_host(x).sum(dtype=np.float64)


# ---------------------------------------------------------------- a definition with one


def test_absent_peer_is_left_out_on_a_gpu(monkeypatch):
    on_gpu = type("Backend", (), {"space": "gpu"})()
    monkeypatch.setattr("coursekit.runtime.backend.current", lambda: on_gpu)
    assert list(DEFINITION.with_peers()) == ["ours"]


def test_reference_is_the_first_case():
    assert list(DEFINITION.with_peers()) == ["library", "ours"]


def test_without_a_reference_our_cases_come_first():
    assert list(replace(DEFINITION, reference=None).with_peers())[0] == "ours"


def test_recorded_times_of_a_library_are_shown(recorded):
    with ck.simulator():
        found = DEFINITION.benchmark()
    assert [row.case for row in found.rows] == ["library", "ours"]


def test_library_without_a_record_has_no_times(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    with ck.simulator():
        found = DEFINITION.benchmark()
    assert set(found.missing) == {"library", "ours"}


def test_library_that_is_absent_makes_no_record_stale(recorded):
    assert records.stale(recorded, cases()) == []


def test_case_of_ours_that_is_gone_makes_a_record_stale(recorded):
    assert records.stale(recorded, {}) == ["ours"]


# ---------------------------------------------------------------- what is drawn


@pytest.mark.usefixtures("simulated")
class TestDrawn:
    def test_two_draws_differ(self):
        first, second = (ck.to_host(drawn.uniform(64)) for _ in range(2))
        assert (first != second).mean() > 0.9

    def test_bytes_have_all_values(self):
        assert len(np.unique(ck.to_host(drawn.octets(2**13)))) == 256

    def test_uniform_values_are_hardly_ever_equal(self):
        assert len(np.unique(ck.to_host(drawn.uniform(2**10)))) > 1020

    @pytest.mark.parametrize("dtype", [np.float32, np.int32])
    def test_whole_numbers_are_whole_and_small(self, dtype):
        x = ck.to_host(drawn.whole(2**12, dtype))
        assert (x.dtype, x.min(), x.max(), (x % 1).any()) == (dtype, -64, 64, False)

    def test_normal_values_have_mean_0_and_variance_1(self):
        x = ck.to_host(drawn.normal(64, 128)).astype(np.float64)
        # Standard errors of 8192 values: 0.011 and 0.016; five of each.
        assert (abs(x.mean()) < 0.055, abs(x.var() - 1) < 0.08) == (True, True)

    def test_scratch_of_a_shape_is_always_the_same(self):
        scratch = drawn.zeros()
        assert scratch("parts", 4) is scratch("parts", 4)

    def test_scratch_begins_with_zeros(self):
        assert not ck.to_host(drawn.zeros()("parts", (3, 2))).any()
