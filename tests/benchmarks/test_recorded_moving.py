"""The recorded copies, pipelines and launches, with a pretended CuPy and memory."""

from __future__ import annotations

import ctypes
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarking.records import measured, records
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import catalogue
from coursekit.benchmarks.moving import copies, launches, overlap
from coursekit.runtime import gpu as gpus

COPIES = ("moving/to_device", "moving/to_host", "moving/on_device", "moving/allocate")
N = 64
CACHES = (
    copies._buffer, copies._keeping_pool, overlap._streams, overlap._on_gpu,
)  # fmt: skip


class OnGpu(np.ndarray):
    """An array that stands for one in device memory."""

    @property
    def address(self) -> int:
        return self.ctypes.data


def to_device(values) -> OnGpu:
    return np.array(values).view(OnGpu)


class Runtime:
    """Copies between addresses at once, and remembers what it was asked for."""

    memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = 1, 2, 3

    def __init__(self):
        self.log: list[str] = []
        self.buffers: dict[int, np.ndarray] = {}
        self.pools: list[tuple] = []

    def memcpy(self, target, source, nbytes, kind):
        self.log.append({1: "in", 2: "out", 3: "inside"}[kind])
        ctypes.memmove(target, source, nbytes)

    def memcpyAsync(self, target, source, nbytes, kind, stream):
        self.memcpy(target, source, nbytes, kind)

    def malloc(self, nbytes):
        buffer = np.zeros(nbytes, np.uint8)
        self.buffers[buffer.ctypes.data] = buffer
        return buffer.ctypes.data

    def free(self, address):
        del self.buffers[address]

    def mallocAsync(self, nbytes, stream):
        return self.malloc(nbytes)

    def freeAsync(self, address, stream):
        self.free(address)

    MemPoolProps = staticmethod(lambda *properties: properties)

    def memPoolCreate(self, properties):
        self.pools.append(properties)
        return len(self.pools)

    def memPoolSetAttribute(self, pool, attribute, value):
        self.log.append((pool, attribute, value))

    def mallocFromPoolAsync(self, nbytes, pool, stream):
        assert 1 <= pool <= len(self.pools)
        return self.malloc(nbytes)


@pytest.fixture
def runtime(monkeypatch):
    """Pretend that CuPy is here, and that NumPy arrays lie in device memory."""
    runtime, cupy = Runtime(), types.ModuleType("cupy")
    stream = types.SimpleNamespace(ptr=0)
    cupy.cuda = types.SimpleNamespace(
        runtime=runtime,
        Stream=lambda non_blocking: stream,
        get_current_stream=lambda: stream,
        alloc_pinned_memory=bytearray,
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    pretended = types.SimpleNamespace(
        to_device=to_device,
        to_host=np.array,
        empty=lambda n, dtype=np.float32: np.zeros(n, dtype).view(OnGpu),
        compile=lambda *args, **options: types.SimpleNamespace(newton_roots=Roots()),
    )
    for module in (copies, overlap):
        monkeypatch.setattr(module, "ck", pretended)
    monkeypatch.setattr(overlap, "N", N)
    for kept in CACHES:
        kept.cache_clear()
    yield runtime
    for kept in CACHES:
        kept.cache_clear()


class Roots:
    """Stand for the kernel of the pipeline."""

    def __getitem__(self, shape):
        def launch(x, roots, n, rounds):
            sys.modules["cupy"].cuda.runtime.log.append("work")
            roots[:n] = np.sqrt(x[:n])

        return launch


def cases_of(key):
    definition = catalogue.find(key)
    return [(definition, case) for case in definition.cases().values()]


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("key", COPIES)
def test_every_copy_brings_all_bytes(key, runtime):
    for definition, case in cases_of(key):
        arguments = definition.setup(4096)
        case(*arguments)
        definition.verify(*arguments)


@pytest.mark.parametrize("key", COPIES)
def test_a_copy_that_is_left_out_is_found(key, runtime):
    definition = catalogue.find(key)
    with pytest.raises(AssertionError):
        definition.verify(*definition.setup(4096))


def test_buffers_are_given_back(runtime):
    for definition, case in cases_of("moving/allocate"):
        case(*definition.setup(4096))
    assert runtime.buffers == {}


def test_one_pool_is_made_and_told_to_keep_its_memory(runtime):
    for _ in range(2):
        copies._keeping_pool()
    assert (len(runtime.pools), runtime.log) == (1, [(1, 4, 2**64 - 1)])


def test_pinned_copy_begins_in_pinned_memory(runtime):
    plain, locked, _ = copies.to_device_arrays(4096)
    assert np.array_equal(plain, locked)
    assert plain.ctypes.data != locked.ctypes.data


# ---------------------------------------------------------------- a pipeline


@pytest.mark.parametrize("chunks", overlap.CHUNKS)
def test_pipelines_compute_every_chunk(chunks, runtime):
    for definition, case in cases_of("moving/overlap"):
        arguments = definition.setup(chunks)
        case(*arguments)
        definition.verify(*arguments)


def test_depth_first_finishes_a_chunk_before_the_next(runtime):
    overlap.Pipeline(2)(*overlap.overlap_arrays(2))
    assert runtime.log == ["in", "work", "out"] * 2


def test_breadth_first_finishes_a_phase_before_the_next(runtime):
    overlap.Pipeline(2, depth_first=False)(*overlap.overlap_arrays(2))
    assert runtime.log == ["in", "in", "work", "work", "out", "out"]


def test_a_root_that_is_missing_is_found():
    x = np.array([4.0, 9.0], np.float32)
    with pytest.raises(AssertionError, match="a root is off"):
        overlap.are_roots(x, np.array([2.0, np.nan], np.float32), 1)


def test_the_kernel_of_the_pipeline_computes_roots(backend):
    x = 1 + 99 * np.random.default_rng(4).random(300, dtype=np.float32)
    roots = np.full_like(x, np.nan)
    kernel = ck.compile(overlap.SOURCE).newton_roots
    kernel[2, overlap.BLOCK](x, roots, x.size, 12)
    overlap.are_roots(x, roots, 1)


# ---------------------------------------------------------------- launches


@pytest.mark.parametrize("name", ["count_up", "count_up_early"])
def test_each_launch_adds_one(name, backend):
    counter = ck.to_device(np.array([41], np.uint32))
    for _ in range(3):
        launches.kernel(name)[1, 1](counter)
    assert ck.to_host(counter)[0] == 44


def test_a_launch_that_got_lost_is_found(simulated):
    start = ck.to_device(np.zeros(1, np.uint32))
    counter = ck.to_device(np.array([9], np.uint32))
    with pytest.raises(AssertionError, match="9 launches were counted, not 10"):
        launches.has_counted(start, counter, 10)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(launches.OneByOne, id="one by one"),
        pytest.param(launches.Compiled, id="machine code"),
        pytest.param(launches.InAGraph, id="graph"),
        pytest.param(lambda: launches.InAGraph(early=True), id="early dependents"),
    ],
)
def test_every_way_to_launch_counts(way, gpu):
    arguments = launches.counters(10)
    way()(*arguments)
    gpus.copy_to_host(arguments[1].address, 4)  # waits for the end
    launches.has_counted(*arguments)


def test_the_driver_reads_an_argument_through_a_list_of_places():
    arguments = launches.Arguments(0x7F0000001234)
    places = ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64))
    assert ctypes.cast(arguments.address, places)[0][0] == 0x7F0000001234


def test_a_failed_launch_is_told():
    with pytest.raises(ck.DeviceError, match="refuses a launch, with error 1"):
        launches._succeeded(1)


# ---------------------------------------------------------------- what was measured


def recorded(key):
    """Return the shipped record of a key, or skip."""
    found = records.load(key)
    if found is None:
        pytest.skip(f"{key} is not recorded yet: `make record` on a GPU writes it")
    return found


def test_shipped_pipeline_overlaps_copies_and_work():
    rows = recorded("moving/overlap").rows
    assert max(row.ratio for row in rows) > 1.2


@pytest.mark.parametrize("key", ["moving/to_device", "moving/to_host"])
def test_shipped_copies_are_faster_from_pinned_memory(key):
    times = {(row.case, row.size): row.median_ms for row in recorded(key).rows}
    largest = copies.SIZES[-1]
    assert times["pinned", largest] < times["pageable", largest]


def test_shipped_graph_costs_less_than_launches_from_python():
    times = {(r.case, r.size): r.median_ms for r in recorded("moving/launches").rows}
    assert times["graph", 1000] < times["Python", 1000]


# ---------------------------------------------------------------- what it passes


def test_limit_of_a_copy_is_the_link_before_anything_is_recorded():
    with ck.simulator():
        found = catalogue.find("moving/to_host").benchmark()
    assert found.ceiling.bandwidth_gbs == ck.device("H200").pcie_gbs


def test_record_refuses_a_definition_that_names_another_link(monkeypatch):
    definition = catalogue.find("moving/to_host")
    with ck.simulator():
        found = replace(definition.benchmark(), origin="measured")
    monkeypatch.setattr(Definition, "benchmark", lambda self: found)
    with pytest.raises(ck.CheckFailed, match="pass the link, but its definition says"):
        measured.record_of(replace(definition, through="memory"))
