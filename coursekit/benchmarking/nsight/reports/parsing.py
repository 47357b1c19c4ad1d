"""Read the output of Nsight Compute: its details page, or its raw page as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coursekit.benchmarking.nsight import counters
from coursekit.benchmarking.nsight.reports.metrics import SECTIONS
from coursekit.errors import ArgumentError, CourseError

_KERNEL = re.compile(
    r"^\s*(?P<name>\S.*?)\s\((?P<grid>\d+, \d+, \d+)\)x"
    r"\((?P<block>\d+, \d+, \d+)\), Context.*?CC (?P<capability>\d+\.\d+)"
)
_SECTION = re.compile(r"^\s*Section: (.+?)\s*$")
_RULE = re.compile(r"^\s*-{5,}( -{5,})+\s*$")
_PREFIX = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_WORDS = ("byte", "cycle", "second", "hz", "inst", "sector")
_SHORT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Launch:
    """One launch of a report: what it was, and its metrics in base units."""

    kernel: str
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    capability: str = ""
    metrics: dict[str, float] = field(default_factory=dict)


def launches(text: str) -> list[Launch]:
    """Read the launches of a details page, or of a raw page in CSV.

    Raises
    ------
    ArgumentError
        The text is neither.
    """
    launches_read = _of_csv(text) if '"ID"' in text else _of_details(text)
    if not launches_read or not any(launch.metrics for launch in launches_read):
        raise _unreadable(text)
    return launches_read


def counts_of(metrics: dict[str, float]) -> dict[str, int]:
    """Add up the counters that `ck.count` has, as far as the metrics go."""
    terms = counters.METRICS | counters.OF_MACHINE_CODE
    counts = {
        name: round(sum(factor * metrics.get(metric, 0) for factor, metric in parts))
        for name, parts in terms.items()
        if all(metric in metrics for _, metric in parts)
    }
    return {name: number for name, number in counts.items() if number}


def _of_details(text: str) -> list[Launch]:
    launches_read: list[Launch] = []
    section, columns = "", []
    for line in text.splitlines():
        if match := _KERNEL.match(line):
            grid, block = (_extent(match[key]) for key in ("grid", "block"))
            launches_read.append(
                Launch(_bare(match["name"]), grid, block, match["capability"])
            )
        elif match := _SECTION.match(line):
            section, columns = match[1], []
        elif _RULE.match(line):
            columns = [(m.start(), m.end()) for m in re.finditer(r"-+", line)]
        elif launches_read and columns and line.strip():
            row = [line[start : end + 1].strip() for start, end in columns]
            _put(launches_read[-1].metrics, section, row)
    return launches_read


def _put(metrics: dict[str, float], section: str, row: list[str]) -> None:
    """Store the value of a row of the details page under the metric's name."""
    if len(row) != 3 or row[0] == "Metric Name":
        return
    label, unit, text = row
    value = _number(text)
    if value is None:
        return
    value, base = in_base_units(value, unit)
    for name, heading, kind in _labels(section):
        if heading == label and _alike(base, kind):
            metrics[name] = 1e9 * value if kind == "ns" else value


def _labels(section: str) -> Iterator[tuple[str, str, str]]:
    for each in SECTIONS:
        if section in each.headings:
            for metric in each.metrics:
                yield metric.name, metric.label, metric.unit


def _alike(base: str, kind: str) -> bool:
    """Return whether a unit of the page is the one that the table expects."""
    expected = {
        "%": ("%",), "B": ("byte", "byte/block"), "B/s": ("byte/second",),
        "ns": ("second",), "Hz": ("cycle/second", "hz"),
    }  # fmt: skip
    return kind not in expected or base in expected[kind]


def in_base_units(value: float, unit: str) -> tuple[float, str]:
    """Undo the prefixes of a unit: 6.79 cycle/nsecond are 6.79e9 cycle/second."""
    above, slash, below = unit.partition("/")
    factor, above = _unprefixed(above)
    if not slash:
        return value * factor, above
    under, below = _unprefixed(below)
    return value * factor / under, f"{above}/{below}"


def _unprefixed(unit: str) -> tuple[float, str]:
    if unit in _SHORT:
        return _SHORT[unit], "second"
    rest = unit[1:].lower()
    if unit[:1] in _PREFIX and rest in _WORDS:
        return _PREFIX[unit[0]], rest
    return 1.0, unit.lower()


def _of_csv(text: str) -> list[Launch]:
    """Read the raw page: a row of names, a row of units, a row for each launch."""
    rows = list(csv.reader(io.StringIO(text[text.index('"ID"') :])))
    if len(rows) < 3 or "Metric Name" in rows[0]:
        return []
    names, units, *values = rows
    launches_read = []
    for row in values:
        if len(row) != len(names):
            continue
        cells = dict(zip(names, row, strict=True))
        launch = Launch(
            _bare(cells.get("Kernel Name", "")),
            _extent(cells.get("Grid Size", "")),
            _extent(cells.get("Block Size", "")),
            cells.get("CC", ""),
        )
        for name, unit, cell in zip(names, units, row, strict=True):
            value = _number(cell)
            if "__" in name and value is not None:
                value, base = in_base_units(value, unit)
                launch.metrics[name] = 1e9 * value if base == "second" else value
        launches_read.append(launch)
    return launches_read


def _bare(name: str) -> str:
    """Return a kernel's name without its parameters."""
    return re.sub(r"\(.*", "", name).removeprefix("void ")


def _extent(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _unreadable(text: str) -> CourseError:
    start = text.strip().splitlines()[0][:60] if text.strip() else ""
    return ArgumentError.explained(
        f"This is no report of Nsight Compute: it begins with {start!r}.",
        "What can be read is its details page, as `ncu` prints it, and its raw page "
        "in CSV.",
        "Save it with `ncu --import FILE.ncu-rep --page raw --csv`, or with "
        "`--page details`.",
    )
