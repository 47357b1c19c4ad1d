"""Read and write recorded reports, the files of `assets/reports/`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from coursekit import paths
from coursekit.benchmarking.nsight.reports.report import Report
from coursekit.benchmarking.records.case_sources import code_of
from coursekit.errors import LaunchError

SCHEMA = 1


def folder() -> Path:
    """Return the folder of the recorded reports."""
    return paths.repository() / "assets" / "reports"


def keys() -> list[str]:
    """List the keys of all recorded reports."""
    files = sorted(folder().rglob("*.json"))
    return [path.relative_to(folder()).with_suffix("").as_posix() for path in files]


def hash_of(file: str) -> str:
    """Hash the code of a kernel file; comments and spacing do not count."""
    text = (paths.kernels() / file).read_text(encoding="utf-8")
    return hashlib.sha256(code_of(text).encode()).hexdigest()


def is_stale(report: Report) -> bool:
    """Return whether the kernel's code has changed since the report was recorded."""
    return report.source_sha256 != hash_of(report.file)


def load(path: Path) -> Report:
    """Read a recorded report; the source comes from the kernel's file of today.

    Raises
    ------
    LaunchError
        The file is no recorded report.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        content["lines"] = {int(k): v for k, v in content["lines"].items()}
        report = Report(**content)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise LaunchError.explained(
            f"{path.name} is no recorded report: {error}.",
            "It was written by hand, or by another version of the course.",
            "Restore the file, or run `python -m coursekit report` on a GPU.",
        ) from error
    if not report.file or is_stale(report):
        return report
    text = (paths.kernels() / report.file).read_text(encoding="utf-8")
    return Report(**{**_fields(report), "source": text})


def write(report: Report, path: Path) -> Path:
    """Write a report, a line each for metrics, counts and source lines."""
    content = {"schema": SCHEMA, **_fields(report)}
    del content["source"]
    content["metrics"] = {
        name: float(f"{value:.6g}") for name, value in sorted(report.metrics.items())
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (f" {json.dumps(key)}: {json.dumps(v)}" for key, v in content.items())
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    return path


def _fields(report: Report) -> dict:
    return asdict(report)
