"""``python -m coursekit record [KEY ...]``: measure on a GPU and write the records."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit.benchmarking.ceilings import in_units
from coursekit.benchmarking.records import records
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarking.records.measured import record_of
from coursekit.benchmarks import catalogue
from coursekit.errors import CourseError, DeviceError
from coursekit.runtime import backend as backends


def main(arguments: Sequence[str]) -> int:
    """Record, list or check; return 1 if a record is stale or a measurement fails."""
    parser = argparse.ArgumentParser(prog="python -m coursekit record")
    add = parser.add_argument
    add("keys", nargs="*", metavar="KEY", help="all, where none is given")
    add("--list", action="store_true", help="say what can be recorded")
    add("--check", action="store_true", help="name records that are stale")
    add("--folder", type=Path, help="write elsewhere")
    options = parser.parse_args(arguments)
    chosen = _chosen(options.keys)
    if options.list:
        return _list(chosen)
    if options.check:
        return _check(chosen)
    if backends.current().space != "gpu":
        raise DeviceError.explained(
            "There is no GPU here to record with.",
            "A record holds times of a real GPU; the simulator has none.",
            "Run this on a machine with a GPU; `python -m coursekit doctor` tells why "
            "one is not used.",
        )
    return max([_record(definition, options.folder) for definition in chosen])


def _chosen(keys: Sequence[str]) -> list[Definition]:
    return [catalogue.defined(key) for key in keys or catalogue.definitions()]


def _record(definition: Definition, folder: Path | None) -> int:
    """Measure and write one record; print an error and return 1 if that fails."""
    try:
        record = record_of(definition)
    except CourseError as error:
        sys.stderr.write(f"{definition.key}: {error}\n")
        return 1
    path = records.write(record, folder)
    rows = (
        f"  {row.case}, {row.size:,}: {in_units(row.median_ms)}, "
        f"IQR {in_units(row.iqr_ms)}, {row.n} times, speedup {row.ratio:.3g}\n"
        for row in record.rows
    )
    sys.stdout.write(f"{path}: {record.device}, {record.date}\n{''.join(rows)}")
    return 0


def _list(chosen: Sequence[Definition]) -> int:
    for definition in chosen:
        record = records.load(definition.key)
        state = f"{record.device}, {record.date}" if record else "not recorded"
        sys.stdout.write(f"{definition.key}: {state}\n")
    return 0


def _check(chosen: Sequence[Definition]) -> int:
    code = 0
    for definition in chosen:
        record = records.load(definition.key)
        changed = records.stale(record, definition.cases()) if record else []
        if changed:
            sys.stdout.write(f"{definition.key}: stale: {', '.join(changed)}\n")
            code = 1
    return code
