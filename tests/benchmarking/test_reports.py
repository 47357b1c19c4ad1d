"""ck.report: recorded reports, texts of Nsight Compute, counters, and the page."""

from __future__ import annotations

import subprocess
import types

import numpy as np
import pytest

import coursekit as ck
from coursekit.__main__ import main
from coursekit.benchmarking.nsight.reports import command, metrics, parsing, store
from coursekit.benchmarking.nsight.reports.page import line_costs
from coursekit.benchmarking.nsight.reports.recorded import LAUNCHES
from coursekit.benchmarking.nsight.reports.report import Report, shown

# In the format of the details page; the figures are those of an RTX 3070 that the
# course's page quotes, for ampere_sgemm_128x64_tn with 2048 rows and columns.
LISTING = """\
==PROF== Disconnected from process 1
  ampere_sgemm_128x64_tn (16, 32, 3)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.6
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    SM Frequency            cycle/nsecond         1.48
    Duration                      msecond         1.66
    Compute (SM) Throughput             %        72.00
    ----------------------- ------------- ------------

    INF   Some words of the profiler
          about what it found.

    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Metric Name                          Metric Unit    Metric Value
    -------------------------------- --------------- ---------------
    Block Size                                                   128
    Function Cache Configuration                     CachePreferNone
    Grid Size                                                  1,536
    Registers Per Thread             register/thread             122
    Shared Memory Configuration Size           Kbyte           65.54
    Driver Shared Memory Per Block       Kbyte/block            1.02
    Static Shared Memory Per Block       Kbyte/block           12.80
    Waves Per SM                                                8.35
    -------------------------------- --------------- ---------------

    Section: Occupancy
    ------------------------------- ----------- ------------
    Metric Name                     Metric Unit Metric Value
    ------------------------------- ----------- ------------
    Block Limit SM                        block           16
    Block Limit Registers                 block            4
    Block Limit Shared Mem                block            4
    Block Limit Warps                     block           12
    Theoretical Active Warps per SM        warp           16
    Theoretical Occupancy                     %        33.33
    ------------------------------- ----------- ------------
"""
RAW = """\
"ID","Kernel Name","Block Size","Grid Size","CC","gpu__time_duration.sum","dram__bytes_read.sum","smsp__inst_executed.sum"
"","","","","","usecond","Mbyte","inst"
"0","void scale<float>(float *, int)","(256, 1, 1)","(4, 1, 1)","9.0","2.5","1,000.5","96"
"1","other(int)","(32, 1, 1)","(1, 1, 1)","9.0","1","0","1"
"""  # noqa: E501 (as it is written)


@pytest.fixture
def sgemm():
    return ck.report(LISTING)


# ---------------------------------------------------------------- reading


def test_listing_tells_kernel_grid_and_block(sgemm):
    found = (sgemm.kernel, sgemm.grid, sgemm.block)
    assert found == ("ampere_sgemm_128x64_tn", (16, 32, 3), (128, 1, 1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gpu__time_duration.sum", 1.66e6),
        ("gpc__cycles_elapsed.avg.per_second", 1.48e9),
        ("launch__grid_size", 1536),
        ("launch__shared_mem_config_size", 65_540),
        ("launch__shared_mem_per_block_static", 12_800),
        ("launch__waves_per_multiprocessor", 8.35),
        ("launch__occupancy_limit_shared_mem", 4),
        ("sm__maximum_warps_per_active_cycle_pct", 33.33),
    ],
)
def test_listing_is_read_in_base_units(sgemm, name, value):
    assert sgemm.metrics[name] == pytest.approx(value)


def test_what_is_no_number_is_left_out(sgemm):
    assert all(isinstance(value, float) for value in sgemm.metrics.values())


def test_occupancy_of_the_listing_is_what_the_calculator_says(sgemm):
    names = ("blocks", "registers", "shared_mem", "warps")
    listed = [sgemm.metrics[f"launch__occupancy_limit_{name}"] for name in names]
    needs = {
        "registers": int(sgemm.metrics["launch__registers_per_thread"]),
        "shared_bytes": int(sgemm.metrics["launch__shared_mem_per_block_static"]),
    }
    found = ck.occupancy(needs, sgemm.block, device="RTX 3070")
    assert list(found.limits.values()) == listed


def test_raw_page_is_read():
    found = ck.report(RAW)
    assert (found.kernel, found.elapsed_ns) == ("scale<float>", pytest.approx(2500))


def test_raw_page_in_larger_units_is_read_in_bytes():
    assert ck.report(RAW).memory_bytes == pytest.approx(1_000_500_000)


def test_counts_of_the_raw_page_have_the_names_of_ck_count():
    assert ck.report(RAW).counts == {"warp_instructions": 96}


def test_second_launch_can_be_chosen():
    assert ck.report(RAW, launch=1).kernel == "other"


def test_file_is_read(tmp_path):
    path = tmp_path / "listing.txt"
    path.write_text(LISTING)
    assert ck.report(path).kernel == "ampere_sgemm_128x64_tn"


@pytest.mark.parametrize(
    ("source", "launch", "message"),
    [
        ("no/such/report", 0, "first/matmul_naive"),
        (42, 0, "finds no report 42"),
        ("hello\nworld", 0, "no report of Nsight Compute"),
        (RAW.splitlines()[0] + "\n", 0, "no report of Nsight Compute"),
        (LISTING, 1, "no launch 1: it has 1"),
    ],
)
def test_what_cannot_be_read_is_refused(source, launch, message):
    with pytest.raises(ck.ArgumentError, match=message):
        ck.report(source, launch)


def test_binary_report_needs_the_profiler(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "coursekit.benchmarking.nsight.reports.shutil.which", lambda name: None
    )
    path = tmp_path / "mine.ncu-rep"
    path.touch()
    with pytest.raises(ck.UnsupportedError, match="--page raw --csv"):
        ck.report(path)


def test_binary_report_is_exported_by_the_profiler(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "coursekit.benchmarking.nsight.reports.shutil.which",
        lambda name: "/usr/bin/ncu",
    )
    done = subprocess.CompletedProcess([], 0, RAW, "")
    monkeypatch.setattr(
        "coursekit.benchmarking.nsight.reports.subprocess.run", lambda *a, **k: done
    )
    path = tmp_path / "mine.ncu-rep"
    path.touch()
    assert ck.report(path).kernel == "scale<float>"


@pytest.mark.parametrize(
    ("value", "unit", "base"),
    [
        (6.79, "cycle/nsecond", (6.79e9, "cycle/second")),
        (3.2, "Ghz", (3.2e9, "hz")),
        (1.66, "ms", (1.66e-3, "second")),
        (2.0, "Kbyte/block", (2000.0, "byte/block")),
        (5.0, "inst/cycle", (5.0, "inst/cycle")),
        (7.0, "%", (7.0, "%")),
    ],
)
def test_prefixes_of_units_are_undone(value, unit, base):
    found = parsing.in_base_units(value, unit)
    assert found == (pytest.approx(base[0]), base[1])


# ---------------------------------------------------------------- recorded


@pytest.fixture(params=LAUNCHES)
def recorded(request):
    return ck.report(request.param)


def test_every_launch_of_the_table_is_recorded():
    assert store.keys() == sorted(LAUNCHES)


def test_recorded_report_names_device_day_and_version(recorded):
    assert recorded.note == "NVIDIA H200, 2026-11-21, Nsight Compute 2025.3.1.0"


def test_recorded_report_is_of_the_kernel_of_today(recorded):
    assert not store.is_stale(recorded)


def test_recorded_report_has_every_metric_that_is_explained(recorded):
    assert [name for name in metrics.every() if name not in recorded.metrics] == []


def test_occupancy_of_a_recorded_launch_is_what_the_calculator_says(recorded):
    needs = {
        "registers": int(recorded.metrics["launch__registers_per_thread"]),
        "shared_bytes": int(recorded.metrics["launch__shared_mem_per_block_static"]),
    }
    found = ck.occupancy(needs, recorded.block, device="H200", grid=recorded.grid)
    theirs = (
        recorded.metrics["sm__maximum_warps_avg_per_active_cycle"],
        f"{recorded.metrics['launch__waves_per_multiprocessor']:.2f}",
    )
    assert (found.active_warps, f"{found.waves:.2f}") == theirs


def test_hottest_line_of_the_product_is_the_one_that_loads(recorded):
    line = recorded.hottest()[0][0]
    text = recorded.source.split("\n")[line - 1]
    assert "[" in text and "=" in text or "atomicAdd" in text


def test_stalls_add_up_to_the_cycles_between_two_instructions(recorded):
    whole = recorded.metrics["smsp__average_warp_latency_per_inst_issued.ratio"]
    # Measured in several passes, which differ by a little: 2 %.
    parts = sum(cycles for _, cycles, _, _ in recorded.stalls())
    assert parts == pytest.approx(whole, rel=0.02)


def test_changed_kernel_makes_a_report_stale(monkeypatch):
    report = ck.report("start/vec_add")
    monkeypatch.setattr(store, "hash_of", lambda file: "another")
    assert store.is_stale(report)


def test_stale_report_shows_no_source(monkeypatch):
    monkeypatch.setattr(store, "hash_of", lambda file: "another")
    assert ck.report("start/vec_add").source == ""


def test_written_report_is_read_back(tmp_path, recorded):
    path = store.write(recorded, tmp_path / "again.json")
    assert store.load(path) == recorded


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 0}', '{"schema": 1}'])
def test_file_that_is_no_report_is_refused(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(ck.LaunchError, match="no recorded report"):
        ck.report(path)


# ---------------------------------------------------------------- counters


@pytest.fixture
def counted(simulated):
    kernel = ck.compile("start/vec_add.cu")["vec_add"]
    x = np.arange(64, dtype=np.float32)
    return ck.profile(kernel, 2, 32, (x, x.copy(), x.copy(), 64))


def test_counters_are_shown_as_a_report(counted):
    rows = ck.report(counted).memory()
    assert rows[0] == ("global loads", 4, 16, 0, "sectors")


def test_counters_of_the_simulator_say_so(counted):
    assert "counted on the simulator" in repr(ck.report(counted))


def test_lines_of_counters_are_heated_by_instructions(counted):
    assert "instructions of warps" in line_costs(ck.report(counted)).caption


# ---------------------------------------------------------------- the page


def test_page_explains_every_metric_it_shows(recorded):
    html = recorded._repr_html_()
    texts = [text for m in metrics.every().values() for text in (m.means, m.do)]
    missing = [text for text in texts if text.replace("'", "&#x27;") not in html]
    assert missing == []


def test_every_explanation_is_one_sentence():
    texts = [text for m in metrics.every().values() for text in (m.means, m.do)]
    wrong = [t for t in texts if not t.endswith(".") or ". " in t or not t[0].isupper()]
    assert wrong == []


def test_page_heats_the_source(recorded):
    assert "\N{BLACK SQUARE}" * 10 in recorded._repr_html_()


def test_text_has_the_verdict(recorded):
    assert recorded.verdict and recorded.verdict in repr(recorded)


@pytest.mark.parametrize(
    ("compute", "memory", "words"),
    [
        (30, 40, "so the warps wait"),
        (90, 40, "SMs set the pace"),
        (30, 90, "memory sets"),
    ],
)
def test_verdict_follows_the_two_throughputs(compute, memory, words):
    end = "throughput.avg.pct_of_peak_sustained_elapsed"
    values = {f"sm__{end}": compute, f"gpu__compute_memory_{end}": memory}
    assert words in Report("k", metrics=values).verdict


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (425_760, "ns", "425.8 us"),
        (12_800, "B", "12.8 KB"),
        (3.317e12, "B/s", "3.317 TB/s"),
        (33.333, "%", "33.33 %"),
        (16.0, "", "16"),
    ],
)
def test_values_are_shown_in_readable_units(value, unit, text):
    assert shown(value, unit) == text


# ---------------------------------------------------------------- recording


def test_command_lists_what_is_recorded(capsys):
    assert main(["report", "--list"]) == 0
    assert "first/matmul_naive: NVIDIA H200, 2026-11-21" in capsys.readouterr().out


def test_command_finds_nothing_stale():
    assert main(["report", "--check"]) == 0


def test_command_without_a_gpu_is_refused(capsys, simulated):
    assert main(["report", "start/vec_add"]) == 1
    assert "No report can be recorded" in capsys.readouterr().err


def test_command_knows_only_the_launches_of_the_table(capsys):
    assert main(["report", "no/such"]) == 1
    assert "'no/such'" in capsys.readouterr().err


class FakeMetric:
    """A metric of the profiler's Python interface: a number for each instruction."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def has_correlation_ids(self):
        return True

    def correlation_ids(self):
        return types.SimpleNamespace(as_uint64=lambda index: index)

    def num_instances(self):
        return len(self.numbers)

    def as_uint64(self, index):
        return self.numbers[index]


class FakeAction:
    """Three instructions: line 7, line 9, and one of a header."""

    metrics = {
        "inst_executed": FakeMetric(10, 20, 40),
        "smsp__pcsamp_warps_issue_stalled_wait": FakeMetric(1, 2, 3),
        "smsp__pcsamp_warps_issue_stalled_wait_not_issued": FakeMetric(5, 5, 5),
        "smsp__pcsamp_warps_issue_stalled_no_instructions": FakeMetric(0, 4, 0),
        "launch__grid_size": FakeMetric(1, 1, 1),
    }

    def metric_names(self):
        return tuple(self.metrics)

    def metric_by_name(self, name):
        return self.metrics[name]

    def source_info(self, address):
        file, line = [("/a/k.cu", 7), ("/a/k.cu", 9), ("/b/header.h", 9)][address]
        return types.SimpleNamespace(file_name=lambda: file, line=lambda: line)


def test_samples_are_added_up_by_line_of_the_kernels_own_file():
    assert command.source_lines(FakeAction(), "k.cu") == {
        7: {"samples": 1, "instructions": 10, "stalls": {"wait": 1}},
        9: {
            "samples": 6,
            "instructions": 20,
            "stalls": {"wait": 2, "no_instruction": 4},
        },
    }


def test_recording_asks_the_profiler_for_one_launch(monkeypatch):
    asked = []

    def run(*arguments):
        asked.append(arguments)
        return "Version 2025.3" if "--version" in arguments else RAW

    device = types.SimpleNamespace(name="a GPU", compute_capability=(9, 0))
    backend = types.SimpleNamespace(space="gpu", device=device)
    monkeypatch.setattr(command, "_run", run)
    monkeypatch.setattr(command.backends, "current", lambda: backend)
    monkeypatch.setattr(command, "lines_of", lambda file, source: {})
    report = command.record("start/vec_add")
    assert "regex:^vec_add$" in asked[0]
    assert (report.device, report.version) == ("a GPU", "Nsight Compute 2025.3")


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("start/vec_add", "device memory"),
        ("start/read_strided", "device memory"),
        ("first/matmul_naive", "L1"),
    ],
)
def test_verdict_names_the_busiest_part_of_the_memory_system(key, part):
    assert f"above all {part}" in ck.report(key).verdict
