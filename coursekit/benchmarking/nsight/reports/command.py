"""``python -m coursekit report [KEY ...]``: profile kernels and write their reports."""

from __future__ import annotations

import argparse
import datetime
import glob
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from coursekit.benchmarking.nsight import counters
from coursekit.benchmarking.nsight.reports import metrics, parsing, store
from coursekit.benchmarking.nsight.reports.recorded import LAUNCHES
from coursekit.benchmarking.nsight.reports.report import Report
from coursekit.errors import ArgumentError, DeviceError
from coursekit.runtime import backend as backends

_PYTHON_INTERFACE = (
    "/opt/nvidia/nsight-compute/*/extras/python",
    "/usr/local/cuda*/nsight-compute*/extras/python",
)


def main(arguments: Sequence[str]) -> int:
    """Record, list or check; returns 1 where a report is stale."""
    parser = argparse.ArgumentParser(prog="python -m coursekit report")
    add = parser.add_argument
    add("keys", nargs="*", metavar="KEY", help="all, where none is given")
    add("--list", action="store_true", help="say what can be recorded")
    add("--check", action="store_true", help="name reports that are stale")
    add("--folder", type=Path, default=None, help="write elsewhere")
    add("--keep", type=Path, help="keep the profiler's own files in this folder")
    options = parser.parse_args(arguments)
    chosen = _chosen(options.keys)
    if options.list or options.check:
        return _tell(chosen, only_stale=options.check)
    _require_profiler()
    for key in chosen:
        report = record(key, options.keep)
        path = store.write(report, (options.folder or store.folder()) / f"{key}.json")
        sys.stdout.write(f"{path}: {report.note}\n{report}\n")
    return 0


def _chosen(keys: Sequence[str]) -> list[str]:
    unknown = [key for key in keys if key not in LAUNCHES]
    if unknown:
        raise ArgumentError.explained(
            f"No launch is defined to be reported on as {unknown[0]!r}.",
            f"Defined are {', '.join(LAUNCHES)}.",
            "coursekit/benchmarking/nsight/reports/recorded.py says how to add one.",
        )
    return list(keys or LAUNCHES)


def _tell(chosen: Sequence[str], *, only_stale: bool) -> int:
    code = 0
    for key in chosen:
        path = store.folder() / f"{key}.json"
        report = store.load(path) if path.exists() else None
        stale = report is not None and store.is_stale(report)
        code |= stale and only_stale
        state = "not recorded" if report is None else report.note
        if stale:
            state += "; stale: the kernel has changed since"
        if stale or not only_stale:
            sys.stdout.write(f"{key}: {state}\n")
    return int(code)


def _require_profiler() -> None:
    reason = counters.missing()
    if backends.current().space != "gpu":
        reason = "there is no GPU here"
    if reason:
        raise DeviceError.explained(
            f"No report can be recorded: {reason}.",
            "A report is what Nsight Compute measures on a real GPU.",
            "Run this on a machine with a GPU and Nsight Compute.",
        )


def record(key: str, keep: Path | None = None) -> Report:
    """Profile one launch of the table with every section of Nsight Compute.

    Raises
    ------
    DeviceError
        Nsight Compute failed; its last words.
    """
    definition = LAUNCHES[key]
    with tempfile.TemporaryDirectory(prefix="coursekit-report-") as place:
        file = Path(place) / f"{key.replace('/', '_')}.ncu-rep"
        _run(
            "ncu", "--set", "full", "--metrics", ",".join(_more_metrics()),
            "--clock-control", "none", "--force-overwrite", "--export", str(file),
            "--kernel-name", f"regex:^{definition.kernel}$", "--launch-count", "1",
            sys.executable, "-m", "coursekit.benchmarking.nsight.reports.recorded", key,
        )  # fmt: skip
        raw = _run(
            "ncu", "--import", str(file), "--page", "raw", "--csv",
            "--print-units", "base",
        )  # fmt: skip
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, keep)
            (keep / file.with_suffix(".csv").name).write_text(raw)
        lines = lines_of(file, Path(definition.file).name)
    launch = parsing.launches(raw)[0]
    return Report(
        definition.kernel,
        launch.grid,
        launch.block,
        kept(launch.metrics),
        parsing.counts_of(launch.metrics),
        lines,
        device=backends.current().device.name,
        date=datetime.date.today().isoformat(),
        version=f"Nsight Compute {_version()}",
        file=definition.file,
        source_sha256=store.hash_of(definition.file),
    )


def kept(values: dict[str, float]) -> dict[str, float]:
    """Return the values of the metrics that a report shows."""
    names = {*metrics.every(), *map(metrics.STALL_METRIC.format, metrics.STALLS)}
    return {name: value for name, value in values.items() if name in names}


def _more_metrics() -> list[str]:
    capability = backends.current().device.compute_capability
    terms = counters.metrics_of(capability) | counters.OF_MACHINE_CODE
    names = {metric for parts in terms.values() for _, metric in parts}
    return sorted(names | set(metrics.every()))


def lines_of(file: Path, source: str) -> dict[int, dict]:
    """Return samples, instructions and stalls by source line; empty where unknown."""
    folders = [place for pattern in _PYTHON_INTERFACE for place in glob.glob(pattern)]
    if not folders:
        return {}
    sys.path.insert(0, sorted(folders)[-1])
    try:
        import ncu_report
    except ImportError:
        return {}
    finally:
        sys.path.pop(0)
    action = ncu_report.load_report(str(file)).range_by_idx(0).action_by_idx(0)
    return source_lines(action, source)


_SPELT = {"no_instructions": "no_instruction"}  # samples and ratios differ
_SAMPLED = re.compile(r"smsp__pcsamp_warps_issue_stalled_(\w+?)(_not_issued)?$")


def source_lines(action, source: str) -> dict[int, dict]:
    """Sum the profiler's numbers per instruction into numbers per source line."""
    by_line: dict[int, dict] = {}
    for name in action.metric_names():
        sampled = _SAMPLED.match(name)
        executed = name == "inst_executed"
        if not executed and (not sampled or sampled[2]):
            continue
        for address, number in _instances(action.metric_by_name(name)):
            where = action.source_info(address)
            if not number or where is None or Path(where.file_name()).name != source:
                continue
            row = by_line.setdefault(where.line(), {"samples": 0, "instructions": 0})
            if executed:
                row["instructions"] += number
                continue
            row["samples"] += number
            reason = _SPELT.get(sampled[1], sampled[1])
            stalls = row.setdefault("stalls", {})
            stalls[reason] = stalls.get(reason, 0) + number
    return dict(sorted(by_line.items()))


def _instances(metric) -> list[tuple[int, int]]:
    if not metric.has_correlation_ids():
        return []
    places = metric.correlation_ids()
    return [
        (places.as_uint64(index), metric.as_uint64(index))
        for index in range(metric.num_instances())
    ]


def _version() -> str:
    match = re.search(r"Version ([\d.]+)", _run("ncu", "--version"))
    return match[1] if match else "of unknown version"


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout[-1500:] + done.stderr[-1500:]).strip()
        raise DeviceError.explained(
            f"Nsight Compute failed: {said}",
            "It may not read this GPU's counters, or the launch failed.",
            "Run `python -m coursekit doctor`.",
        )
    return done.stdout
