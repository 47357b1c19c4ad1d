"""The result of a benchmark: times, their spread, and their share of the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any

from coursekit.benchmarking.ceilings import Ceiling, in_units
from coursekit.errors import ArgumentError

NO_RECORD = "no record of your version"


@dataclass(frozen=True)
class Row:
    """The times of one case at one size.

    Attributes
    ----------
    case : str
    size : int
    median_ms, iqr_ms : float
        Median of the times, and the width of their middle half, in milliseconds.
    n : int
        Number of times.
    ratio : float
        Speed relative to the first case: the median over pairs measured one right
        after the other.
    """

    case: str
    size: int
    median_ms: float
    iqr_ms: float
    n: int
    ratio: float


@dataclass(frozen=True, repr=False)
class Benchmark:
    """Times of several cases at several sizes, measured here or recorded.

    Attributes
    ----------
    cases, sizes : tuple
        What was asked for; the first case is what ratios refer to.
    rows : tuple of Row
        What is known of it.
    origin : str
        "measured" on this machine, "recorded" on another, "model", or "none".
    device, date : str
        The GPU of the times and the day; empty without times.
    ceiling : Ceiling
        The limits of that GPU, else of the one that is simulated.
    missing : dict of str to str
        Why a case has no times.
    counts : dict of str to Counters
        What such a case does at the size `counted`, on the simulator.
    """

    cases: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    origin: str
    device: str
    date: str
    ceiling: Ceiling
    missing: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    counted: int | None = None

    @property
    def note(self) -> str:
        """The origin of the times, which every plot shows in its corner."""
        if self.origin == "measured":
            return f"measured here on {self.device}, {self.date}"
        if self.origin == "recorded":
            return f"recorded on {self.device}, {self.date}; not measured here"
        if self.origin == "model":
            return "times of a model that follows rules; no GPU was timed"
        return f"no times; limits by the data sheet of the {self.ceiling.device}"

    def row(self, case: str, size: int | None = None) -> Row:
        """Return the row of a case, at the largest size unless told otherwise.

        Raises
        ------
        ArgumentError
            There is none; the message says why.
        """
        size = max(self.sizes) if size is None else size
        row = self.find(case, size)
        if row is None:
            raise ArgumentError.explained(
                f"The benchmark has no time of {case!r} at the size {size}.",
                f"{self.missing.get(case, 'It was not asked for')}.",
                f"It has the cases {', '.join(self.cases)} at {self.sizes}.",
            )
        return row

    def find(self, case: str, size: int) -> Row | None:
        """Return the row of a case at a size, None where there is none."""
        return next((r for r in self.rows if (r.case, r.size) == (case, size)), None)

    def bandwidth_gbs(self, row: Row) -> float | None:
        """Return the bandwidth of a row, in GB/s (10^9 bytes per second)."""
        moved = self.ceiling.bytes_moved.get(row.size)
        return moved / row.median_ms * 1e-6 if moved else None

    def tflops(self, row: Row) -> float | None:
        """Return the rate of a row, in TFLOP/s."""
        done = self.ceiling.flops.get(row.size)
        return done / row.median_ms * 1e-9 if done else None

    def share(self, row: Row) -> float | None:
        """Return the least possible time over the median: 1 is the limit."""
        bound = self.ceiling.bound_ms(row.size)
        return bound / row.median_ms if bound else None

    def counted_text(self, case: str) -> str:
        """Return the counts of a case without times, as text; empty without counts."""
        counts = self.counts.get(case)
        return f"at size {self.counted:,}: {_counted(counts)}" if counts else ""

    def lines(self, *sizes: int) -> list[str]:
        """Return text on the cases without times: why, their counts, the limits."""
        why_not: dict[str, list[str]] = {}
        for case, why in self.missing.items():
            why_not.setdefault(why, []).append(case)
        told = [f"{', '.join(cases)}: {why}" for why, cases in why_not.items()]
        told += [f"{case} counts, {self.counted_text(case)}" for case in self.counts]
        if self.missing:
            told += _bounds(self.ceiling, sizes or self.sizes)
        return told

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, and the rows as texts."""
        columns = list(_columns(self))
        rows = [[text(row) for _, text in columns] for row in self.rows]
        return [heading for heading, _ in columns], rows

    def __repr__(self) -> str:
        headings, rows = self.table()
        told = [f"Benchmark, {self.note}"]
        if rows:
            told += _aligned([headings, *rows])
        return "\n".join([*told, *self.lines()])

    def _repr_html_(self) -> str:
        headings, rows = self.table()
        left, right = "text-align:left", "text-align:right"
        head = "".join(
            f'<th scope="col" style="{left if n == 0 else right}">{escape(text)}</th>'
            for n, text in enumerate(headings)
        )
        body = "".join(
            f'<tr><th scope="row" style="{left}">{escape(case)}</th>'
            + "".join(f'<td style="{right}">{escape(cell)}</td>' for cell in cells)
            + "</tr>"
            for case, *cells in rows
        )
        caption = f'<caption style="{left}">Times, {escape(self.note)}</caption>'
        shown = f"<table>{caption}<thead><tr>{head}</tr></thead>{body}</table>"
        told = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return (shown if rows else f"<p>{escape(self.note)}</p>") + (
            f"<ul>{told}</ul>" if told else ""
        )


def _bounds(ceiling: Ceiling, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the limit of each size as text; equal ones of neighbours are joined."""
    for text, run in groupby(sizes, key=ceiling.sentence):
        same = list(run)
        where = f"size {same[0]:,}"
        if len(same) > 1:
            where = f"sizes {same[0]:,} to {same[-1]:,}"
        if text:
            yield f"{where}: {text}"


def _counted(counts: Any) -> str:
    """Format the counts of a case that are equal on every machine."""
    named = counts.exact.as_dict() if hasattr(counts, "exact") else dict(counts)
    shown = {k: v for k, v in named.items() if k not in ("blocks", "warps")}
    return ", ".join(f"{v:,} {k.replace('_', ' ')}" for k, v in shown.items())


def _columns(result: Benchmark) -> Iterator[tuple[str, Any]]:
    """Yield each column's heading, and the function that formats its cell of a row."""
    ceiling = result.ceiling
    yield "case", lambda row: row.case
    yield "size", lambda row: f"{row.size:,}"
    yield "median", lambda row: in_units(row.median_ms)
    yield "IQR", lambda row: in_units(row.iqr_ms)
    yield "times", lambda row: str(row.n)
    yield "speedup", lambda row: f"{row.ratio:.3g}"
    if ceiling.bytes_moved:
        yield "GB/s", lambda row: f"{result.bandwidth_gbs(row):,.4g}"
    if ceiling.flops:
        yield "TFLOP/s", lambda row: f"{result.tflops(row):,.3g}"
    if any(ceiling.bound_ms(size) for size in result.sizes):
        yield "of the limit", lambda row: f"{result.share(row):.1%}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
