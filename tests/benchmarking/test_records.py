"""Recorded times: shown without a GPU, written on one, stale with other sources."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from fake_stopwatch import install

import coursekit as ck
from coursekit import __main__, benchmarking, benchmarks
from coursekit.benchmarking import Row
from coursekit.benchmarking.records import case_sources, measured, records
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarking.records.records import Record
from coursekit.benchmarking.results import NO_RECORD
from coursekit.benchmarks import catalogue

KEY = "test/scale"
SOURCE = """
// A comment.
__global__ void scale(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
"""
OTHER = SOURCE.replace("2 *", "x[0] *")


def case_of(source, **options):
    kernel = ck.compile(source, **options).scale
    return lambda x, out, n: kernel[-(-n // 256), 256](x, out, n)


def arrays(n):
    x = np.random.default_rng().standard_normal(n, dtype=np.float32)
    return ck.to_device(x), ck.empty(n), n


def never(n):
    raise AssertionError("setup was called without a GPU")


def record(**changes) -> Record:
    hashes = {name: case_sources.sha256(case_of(SOURCE)) for name in ("a", "b")}
    given = {
        "key": KEY,
        "device": "NVIDIA H200",
        "driver": "580.159",
        "toolkit": "NVRTC 13.0",
        "libraries": {"numpy": "2.3"},
        "date": "2026-11-21",
        "source_sha256": measured.combined(hashes),
        "case_sha256": hashes,
        "commit": None,
        "rows": (
            Row("a", 1000, 0.0101, 0.0001, 50, 1.0),
            Row("b", 1000, 0.0051, 0.0001, 50, 1.98),
            Row("a", 4000, 0.0401, 0.0001, 50, 1.0),
        ),
    }
    return Record(**(given | changes))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep the records of a test apart."""
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    return tmp_path


def define(monkeypatch, definition):
    """Let a definition be the only one."""
    monkeypatch.setattr(catalogue, "PROBLEMS", ("test",))
    monkeypatch.setattr(catalogue, "of_problem", lambda problem: {KEY: definition})


@pytest.fixture
def defined(monkeypatch):
    """Define one benchmark to be recorded."""
    definition = Definition(
        key=KEY,
        cases=lambda: {"a": case_of(SOURCE), "b": case_of(SOURCE)},
        sizes=(1000,),
        setup=arrays,
        verify=lambda x, out, n: None,
        bytes_moved=lambda n: 8 * n,
        count_size=64,
    )
    define(monkeypatch, definition)
    return definition


@pytest.fixture
def recorded(folder):
    records.write(record())


def bench(cases, **changes):
    given = {"sizes": [1000], "setup": never, "verify": never, "record": KEY}
    given["bytes_moved"] = lambda n: 8 * n
    with ck.simulator():
        return ck.benchmark(cases, **(given | changes))


# ---------------------------------------------------------------- without a GPU


def test_recorded_times_are_shown(recorded):
    found = bench({"a": case_of(SOURCE), "b": case_of(SOURCE)})
    assert [(row.case, row.median_ms) for row in found.rows] == [
        ("a", 0.0101),
        ("b", 0.0051),
    ]


def test_recorded_times_name_device_and_day(recorded):
    found = bench({"a": case_of(SOURCE)})
    assert found.note == "recorded on NVIDIA H200, 2026-11-21; not measured here"


def test_comments_and_spaces_do_not_make_a_record_stale(recorded):
    found = bench({"a": case_of("\n" + SOURCE.replace("// A comment.", "/* B */"))})
    assert found.rows


def test_other_source_has_no_record(recorded, defined):
    found = bench({"a": case_of(SOURCE), "b": case_of(OTHER)})
    assert found.missing == {"b": NO_RECORD}


def test_other_macros_have_no_record(recorded, defined):
    found = bench({"a": case_of(SOURCE, defines={"TILE": 16})})
    assert found.missing == {"a": NO_RECORD}


def test_case_that_nobody_recorded_has_no_record(recorded, defined):
    assert bench({"mine": case_of(OTHER)}).missing == {"mine": NO_RECORD}


def test_version_without_a_record_has_counts(recorded, defined):
    found = bench({"b": case_of(OTHER)})
    # 64 threads read 64 * 4 B / 32 B = 8 sectors, and x[0] once for each of 2 warps.
    assert found.counts["b"].global_load_sectors == 10


def test_version_without_a_record_has_a_bound(recorded, defined):
    lines = bench({"b": case_of(OTHER)}).lines()
    assert "size 1,000: an H200 cannot move 8,000 bytes in less than 1.67 ns" in lines


def test_counts_are_of_a_small_size(recorded, defined):
    assert bench({"b": case_of(OTHER)}).counted == 64


def test_broken_version_raises_as_a_launch_does(recorded, defined):
    with pytest.raises(ck.OutOfBoundsError):
        bench({"b": case_of(SOURCE.replace("i < n", "i <= n"))})


def test_without_a_record_there_are_no_times(folder):
    found = bench({"a": case_of(SOURCE)})
    assert (found.rows, found.origin) == ((), "none")


def test_without_a_key_there_are_no_times(folder):
    assert "no GPU here" in bench({"a": print}, record=None).missing["a"]


def test_size_that_nobody_recorded_is_said(recorded):
    found = bench({"b": case_of(SOURCE)}, sizes=[4000])
    assert found.missing == {"b": "recorded at other sizes than 4000"}


def test_ratio_follows_the_first_case_asked_for(recorded):
    found = bench({"b": case_of(SOURCE), "a": case_of(SOURCE)})
    assert found.row("a").ratio == pytest.approx(0.0051 / 0.0101)


def test_limits_are_those_of_the_recorded_gpu(recorded, folder):
    records.write(record(device="NVIDIA A100-SXM4-40GB"))
    assert bench({"a": case_of(SOURCE)}).ceiling.bandwidth_gbs == pytest.approx(
        ck.device("A100 SXM4 40GB").memory_bandwidth_gbs
    )


def test_unknown_gpu_has_no_limits(folder):
    records.write(record(device="Something 9000"))
    found = bench({"a": case_of(SOURCE)})
    assert found.share(found.row("a")) is None


# ---------------------------------------------------------------- the files


def test_record_is_read_as_it_was_written(folder):
    records.write(record())
    assert records.load(KEY) == record()


def test_record_has_the_fields_of_its_schema(recorded, folder):
    content = json.loads((folder / f"{KEY}.json").read_text())
    assert {
        "schema", "key", "device", "driver", "toolkit", "libraries", "date",
        "source_sha256", "commit", "rows",
    } <= content.keys()  # fmt: skip


def test_rows_have_the_fields_of_the_schema(recorded, folder):
    content = json.loads((folder / f"{KEY}.json").read_text())
    assert list(content["rows"][0]) == [
        "case", "size", "median_ms", "iqr_ms", "n", "ratio",
    ]  # fmt: skip


def test_absent_record_is_none(folder):
    assert records.load("no/such") is None


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"schema": 2, "key": "test/scale"}'],
    ids=["empty", "no field", "list", "other schema"],
)
def test_damaged_record_is_refused(folder, text):
    (folder / "test").mkdir()
    (folder / f"{KEY}.json").write_text(text)
    with pytest.raises(ck.LaunchError, match="is no record"):
        records.load(KEY)


def test_time_of_zero_is_refused(folder):
    records.write(record(rows=(Row("a", 1, 0.0, 0.0, 5, 1.0),)))
    with pytest.raises(ck.LaunchError, match="not positive"):
        records.load(KEY)


@pytest.mark.parametrize("key", records.keys())
def test_shipped_record_is_of_these_sources(key):
    definition = catalogue.find(key)
    assert definition is not None
    assert records.stale(records.load(key), definition.cases()) == []


def test_stale_names_the_case(folder):
    cases = {"a": case_of(SOURCE), "b": case_of(OTHER)}
    assert records.stale(record(), cases) == ["b"]


def test_stale_names_a_case_that_is_gone(folder):
    assert records.stale(record(), {"a": case_of(SOURCE)}) == ["b"]


COUNTABLE = [k for k, one in catalogue.definitions().items() if one.count_size]
OF_A_GPU_ALONE = {
    "batched_matmul/attention",  # of libraries alone, as these of cuDNN
    "cudnn/determinism",
    "cudnn/engines",
    "cudnn/fusion",
    "fft/block",  # these eight: the kernels' own tests count them, with few rows
    "fft/cluster",
    "fft/convolution",
    "fft/factors",
    "fft/long",
    "fft/mixed",
    "fft/real",
    "fft/squares",
    "matmul/ladder_large",  # these three: as matmul/ladder and matmul/cublas
    "matmul/largest",
    "matmul/sizes",
    "matmul/tf32_split",
    "matmul/tuning",
    "mnist/autotuned_fp32",
    "mnist/autotuned_tf32",
    "mnist/layers_fp32",
    "mnist/step_fp32",
    "mnist/step_tf32",
    "moving/allocate",
    "moving/launches",
    "moving/nodes",
    "moving/on_device",
    "moving/overlap",
    "moving/to_device",
    "moving/to_host",
}


def test_all_but_copies_launches_and_tensor_cores_can_be_counted():
    assert set(catalogue.definitions()) - set(COUNTABLE) == OF_A_GPU_ALONE


@pytest.mark.parametrize("key", COUNTABLE)
def test_definition_can_be_counted(key):
    definition = catalogue.find(key)
    with ck.simulator():
        for case in definition.cases().values():
            arguments = definition.setup(definition.count_size)
            case(*arguments)
            definition.verify(*arguments)


# ---------------------------------------------------------------- what a case launches


def kernel_of(source=SOURCE):
    return ck.compile(source).scale


SCALE = kernel_of()


def helper(x):
    SCALE[1, 32](x, x, 1)


class Runner:
    def __init__(self):
        self.kernel = SCALE

    def run(self, x):
        self.kernel[1, 32](x, x, 1)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(SCALE, id="kernel"),
        pytest.param(SCALE[1, 32], id="launcher"),
        pytest.param(helper, id="global"),
        pytest.param(lambda x: helper(x), id="function of a function"),
        pytest.param(lambda x, k=SCALE: k[1, 1](x), id="default"),
        pytest.param(lambda x: [SCALE for _ in x], id="comprehension"),
        pytest.param(Runner().run, id="method"),
        pytest.param(benchmarking.wall_clock(helper), id="wall clock"),
        pytest.param(benchmarking.own_clock(helper, elapsed_ms=max), id="own clock"),
        pytest.param(types.SimpleNamespace(all=[{"k": SCALE}]), id="containers"),
    ],
)
def test_kernel_of_a_case_is_found(case):
    assert case_sources.modules(case) == [SCALE.module]


def test_case_of_a_library_has_the_hash_of_nothing():
    assert case_sources.sha256(np.add) == case_sources.sha256(np.multiply)


def test_text_that_looks_like_a_comment_counts():
    kept = case_sources.code_of('printf("// %d");  // gone')
    assert kept == 'printf("// %d");'


# ---------------------------------------------------------------- python -m coursekit


def main(capsys, *words):
    code = __main__.main(["record", *map(str, words)])
    return code, "".join(capsys.readouterr())


@pytest.fixture
def gpu_here(monkeypatch):
    """Pretend that there is a GPU."""
    return install(monkeypatch)


@pytest.fixture
def measurable(gpu_here, monkeypatch, defined):
    """Define a benchmark that the pretended GPU can run."""
    rng = np.random.default_rng(1)

    def case(x, out):
        gpu_here.run(0.01, lambda: np.multiply(x, 2, out=out))

    definition = replace(
        defined,
        cases=lambda: {"a": case},
        setup=lambda n: (rng.standard_normal(n), np.zeros(n)),
        verify=lambda x, out: np.array_equal(out, 2 * x),
        bytes_moved=None,
    )
    define(monkeypatch, definition)
    return definition


def test_record_refuses_to_work_without_a_gpu(folder, defined, capsys):
    with ck.simulator():
        code, said = main(capsys)
    assert (code, "no GPU here to record with" in said) == (1, True)


def test_record_writes_what_it_measures(folder, measurable, capsys):
    assert main(capsys, KEY)[0] == 0
    assert records.load(KEY).rows[0].median_ms == pytest.approx(0.01)


def test_record_names_where_it_was_measured(folder, measurable, capsys):
    main(capsys, KEY)
    found = records.load(KEY)
    assert (found.device, found.libraries["numpy"]) == ("H200", np.__version__)


def test_compiler_is_the_loaded_one_and_not_the_installed_one(monkeypatch):
    monkeypatch.setattr(measured, "_version", lambda package: "13.5.37")
    for loaded, said in (((13, 5), "13.5.37"), ((13, 0), "13.0")):
        monkeypatch.setattr(measured.nvrtc, "version", lambda loaded=loaded: loaded)
        assert measured.compiler_version() == said


def test_refused_benchmark_writes_nothing(folder, measurable, capsys, gpu_here):
    gpu_here.persisting = 1
    code, said = main(capsys, KEY)
    assert (code, "set aside" in said, records.keys()) == (1, True, [])


def test_benchmark_itself_writes_nothing(folder, measurable):
    assert measurable.benchmark().rows
    assert records.keys() == []


def test_record_writes_elsewhere_when_asked(folder, measurable, capsys, tmp_path):
    main(capsys, KEY, "--folder", tmp_path / "out")
    assert (tmp_path / "out" / f"{KEY}.json").exists()


def test_check_names_what_is_stale(recorded, monkeypatch, defined, capsys):
    changed = replace(
        defined, cases=lambda: {"a": case_of(SOURCE), "b": case_of(OTHER)}
    )
    define(monkeypatch, changed)
    assert main(capsys, "--check") == (1, f"{KEY}: stale: b\n")


def test_list_says_what_is_recorded(recorded, defined, capsys):
    assert main(capsys, "--list") == (0, f"{KEY}: NVIDIA H200, 2026-11-21\n")


def test_unknown_key_is_refused(folder, defined, capsys):
    code, said = main(capsys, "no/such")
    assert (code, "Nothing is defined to be recorded as 'no/such'" in said) == (1, True)


def test_benchmark_by_its_key_shows_what_is_recorded(recorded, defined):
    with ck.simulator():
        assert benchmarks.recorded_benchmark(KEY).row("b").median_ms == 0.0051


def test_benchmark_by_an_unknown_key_is_refused(defined):
    with pytest.raises(ck.ArgumentError, match="defined to be recorded as 'no/such'"):
        benchmarks.recorded_benchmark("no/such")


def test_commit_of_a_folder_without_git_is_none(tmp_path):
    assert measured.commit(tmp_path) is None


LOADED = """
import sys
from coursekit.benchmarks import catalogue
catalogue.find(sys.argv[1])
prefix = "coursekit.benchmarks."
print(*sorted(name.removeprefix(prefix) for name in sys.modules if prefix in name))
"""


@pytest.mark.parametrize(
    ("key", "modules"),
    [
        ("first/vec_add", "catalogue first"),
        (
            "matmul/ladder",
            "catalogue drawn grids matmul peers peers.cublas pieces tilings",
        ),
    ],
)
def test_a_key_loads_its_problem_and_what_that_needs(key, modules):
    command = [sys.executable, "-c", LOADED, key]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == modules.split()
