"""A report: what a profiler found out about a launch, as a text and as a page."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.benchmarking.nsight.reports.findings import Findings, shown
from coursekit.benchmarking.nsight.reports.page import html


@dataclass(frozen=True, repr=False)
class Report(Findings):
    """What a profiler found out about one launch; a notebook shows it as a page.

    `Findings` describes the attributes.
    """

    def __repr__(self) -> str:
        lines = [f"{self.title} ({self.note})"]
        if self.verdict:
            lines.append(f"  {self.verdict}")
        for section, values in self.sections():
            lines.append(f"  {section.title}")
            for metric, value in values:
                label = metric.label or metric.means.rstrip(".")
                lines.append(f"    {label:<40}{shown(value, metric.unit):>16}")
        if rows := self.memory():
            lines.append("  Requests")
            lines += [f"    {memory_text(row)}" for row in rows]
        if stalls := self.stalls():
            lines.append("  Cycles between two instructions of a warp, waiting for")
            lines += [f"    {n:6.2f}  {means}" for _, n, means, _ in stalls[:5]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html(self)


def memory_text(row: tuple) -> str:
    """Format a row of `Findings.memory` as a line of text."""
    title, requests, moved, conflicts, unit = row
    each = f", {moved / requests:.3g} a request" if requests else ""
    more = f", {conflicts:,} bank conflicts" if conflicts else ""
    return f"{title}: {requests:,} requests, {moved:,} {unit}{each}{more}"
