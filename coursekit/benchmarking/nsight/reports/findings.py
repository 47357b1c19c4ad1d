"""What Nsight Compute found out about a launch: metrics, counts and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coursekit.benchmarking.nsight.reports import metrics
from coursekit.benchmarking.nsight.reports.metrics import Metric, Section

_HIGH = 60  # percent of a peak: Nsight Compute's own threshold for "latency bound"
_ALIKE = 1  # percent of a peak that count as the same
_PARTS = {
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": (
        "device memory. Move fewer bytes"
    ),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": (
        "L2. Ask it for fewer sectors: read neighbours, or reuse values"
    ),
    "l1tex__throughput.avg.pct_of_peak_sustained_active": (
        "L1. Ask it for fewer sectors, or keep values in registers"
    ),
}
_MEMORY = (
    ("global loads", "global_load", "sectors"),
    ("global stores", "global_store", "sectors"),
    ("global atomics", "global_atomic", "sectors"),
    ("shared loads", "shared_load", "wavefronts"),
    ("shared stores", "shared_store", "wavefronts"),
    ("shared atomics", "shared_atomic", "wavefronts"),
)


@dataclass(frozen=True, repr=False)
class Findings:
    """What a profiler found out about one launch.

    Attributes
    ----------
    kernel : str
    grid, block : tuple of int
        Empty where the source does not tell.
    metrics : dict of str to float
        By Nsight Compute's names, in base units; times in nanoseconds.
    counts : dict of str to int
        By the names of ``ck.count``.
    lines : dict of int to dict
        Samples, instructions and stalls of each source line.
    device, date, version : str
        The GPU, the day and Nsight Compute's version; empty where unknown.
    origin : str
        "ncu" for a recorded or measured report, "listing" for a text, "simulator".
    file, source, source_sha256 : str
        The kernel's file, its text and hash, where they are known.
    """

    kernel: str
    grid: Sequence[int] = ()
    block: Sequence[int] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    device: str = ""
    date: str = ""
    version: str = ""
    origin: str = "ncu"
    file: str = ""
    source: str = ""
    source_sha256: str = ""

    @property
    def note(self) -> str:
        """Where the numbers are from."""
        if self.origin == "simulator":
            return "counted on the simulator; it has no times and no caches"
        parts = [self.device or "device not told", self.date, self.version]
        return ", ".join(part for part in parts if part)

    def sections(self) -> Iterator[tuple[Section, tuple[tuple[Metric, float], ...]]]:
        """Yield each section with the metrics of it that the report has."""
        for section in metrics.SECTIONS:
            values = tuple(
                (metric, self.metrics[metric.name])
                for metric in section.metrics
                if metric.name in self.metrics
            )
            if values:
                yield section, values

    def stalls(self) -> list[tuple[str, float, str, str]]:
        """Return reason, cycles an instruction, meaning, advice; largest first."""
        rows = [
            (reason, self.metrics[metrics.STALL_METRIC.format(reason)], *texts)
            for reason, texts in metrics.STALLS.items()
            if self.metrics.get(metrics.STALL_METRIC.format(reason))
        ]
        return sorted(rows, key=lambda row: -row[1])

    def memory(self) -> list[tuple[str, int, int, int, str]]:
        """Return a row for each kind of access that the launch has.

        A row has the kind, its requests, its sectors or wavefronts, its bank
        conflicts, and which of "sectors" and "wavefronts" it counts.
        """
        rows = []
        for title, stem, unit in _MEMORY:
            requests = self.counts.get(f"{stem}_requests", 0)
            moved = self.counts.get(f"{stem}_{unit}", 0)
            if requests or moved:
                conflicts = self.counts.get(f"{stem}_bank_conflicts", 0)
                rows.append((title, requests, moved, conflicts, unit))
        return rows

    @property
    def elapsed_ns(self) -> float:
        """Time of the launch in ns; 0 where the source has none."""
        return self.metrics.get("gpu__time_duration.sum", 0.0)

    @property
    def memory_bytes(self) -> float:
        """Bytes to and from device memory; 0 where the source does not tell."""
        names = ("dram__bytes_read.sum", "dram__bytes_write.sum")
        return sum(self.metrics.get(name, 0.0) for name in names)

    @property
    def flops(self) -> int:
        """Floating-point operations of all types that were counted."""
        return sum(n for name, n in self.counts.items() if "flops" in name)

    @property
    def verdict(self) -> str:
        """Say what the launch is bound by, as far as the two throughputs tell."""
        compute, memory = (
            self.metrics.get(f"{name}_throughput.avg.pct_of_peak_sustained_elapsed")
            for name in ("sm_", "gpu__compute_memory")
        )
        if compute is None or memory is None:
            return ""
        both = f"SMs {compute:.0f} %, memory {memory:.0f} % of their peaks"
        if max(compute, memory) < _HIGH:
            return (
                f"{both}: neither is busy, so the warps wait. See the stalls, the "
                "occupancy, and whether the grid fills the GPU."
            )
        if memory > compute:
            return f"{both}: memory sets the pace{self._busiest(memory)}."
        return f"{both}: the SMs set the pace. Issue fewer or better instructions."

    def _busiest(self, memory: float) -> str:
        """Name the part of the memory system that is busiest, and what helps it.

        Where device memory is as busy as the whole, it is the part: what it is asked
        for has passed through the caches.
        """
        (dram, text), *caches = (
            (self.metrics.get(name, 0.0), text) for name, text in _PARTS.items()
        )
        if dram < memory - _ALIKE:
            dram, text = max(caches)
        return f", above all {text}" if dram else ""

    def hottest(self) -> list[tuple[int, int]]:
        """Return lines and their samples, hottest first."""
        rows = [(line, costs.get("samples", 0)) for line, costs in self.lines.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    @property
    def title(self) -> str:
        """The kernel and its launch configuration, in one line."""
        shape = ""
        if self.grid:
            shape = f" [{_extent(self.grid)}, {_extent(self.block)}]"
        return f"Report of {self.kernel}{shape}"


def shown(value: float, unit: str) -> str:
    """Format a value with its unit, scaled to a readable prefix."""
    if unit == "ns":
        return _scaled(value * 1e-9, ("ns", "us", "ms", "s"), 1e-9)
    if unit in ("B", "B/s", "Hz"):
        names = tuple(f"{prefix}{unit}" for prefix in ("", "K", "M", "G", "T"))
        return _scaled(value, names, 1.0)
    digits = f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    return f"{digits} {unit}".strip()


def _scaled(value: float, names: Sequence[str], least: float) -> str:
    """Format a value in the largest unit in which it is at least 1."""
    number, last = value / least, len(names) - 1
    step = 0
    while number >= 1000 and step < last:
        number, step = number / 1000, step + 1
    return f"{number:.4g} {names[step]}"


def _extent(extent: Sequence[int]) -> str:
    used = list(extent)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return str(used[0]) if len(used) == 1 else f"({', '.join(map(str, used))})"
