"""Doctor: what works on this machine, what does not, and how to get it.

In a terminal: ``python -m coursekit doctor``. In a notebook: ``ck.doctor.examine()``.
"""

from __future__ import annotations

import argparse
import html
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from coursekit.runtime.doctor import checkup, checkup_gpu
from coursekit.runtime.doctor.findings import Finding
from coursekit.runtime.doctor.probe import Probe

_SIGNS = {"ok": "✓", "info": "i", "warning": "!", "problem": "✗"}
_CHECKS = (
    checkup.check_python,
    checkup.check_platform,
    checkup.check_packages,
    checkup.check_optional,
    checkup.check_compiler,
    checkup.check_host_compiler,
    checkup.check_simulator,
    checkup.check_resources,
    checkup_gpu.check_gpu,
    checkup_gpu.check_versions,
)


@dataclass(frozen=True)
class Tier:
    """One of the three ways to study a kernel, and whether it works here."""

    name: str
    works: bool
    explanation: str


@dataclass(frozen=True, repr=False)
class Report:
    """The findings of doctor, and the tiers that work."""

    findings: tuple[Finding, ...]
    tiers: tuple[Tier, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Findings that keep the course from being followed."""
        return tuple(item for item in self.findings if item.status == "problem")

    @property
    def exit_code(self) -> int:
        """0 when the course can be followed here, else 1."""
        return 1 if self.problems else 0

    @property
    def verdict(self) -> str:
        """The report in a sentence."""
        if not self.problems:
            return "The course can be followed on this machine."
        topics = ", ".join(dict.fromkeys(item.topic for item in self.problems))
        return f"The course cannot be followed yet. To put right: {topics}."

    def as_dict(self) -> dict[str, object]:
        """Everything as plain data, for JSON."""
        return {
            "findings": [asdict(item) for item in self.findings],
            "tiers": [asdict(tier) for tier in self.tiers],
            "exit_code": self.exit_code,
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        """Set the report in lines of at most 88 columns."""
        lines = [line for item in self.findings for line in _finding_lines(item)]
        tiers = [
            f"{tier.name:<11}{_state(tier):<15}{tier.explanation}"
            for tier in self.tiers
        ]
        return "\n".join([*lines, "", "Tiers", *tiers, "", self.verdict])

    def _repr_html_(self) -> str:
        findings = "".join(
            _row(
                item.topic,
                f"{_SIGNS[item.status]} {item.status}",
                item.found,
                item.cure,
            )
            for item in self.findings
        )
        tiers = "".join(
            _row(tier.name, _state(tier), tier.explanation) for tier in self.tiers
        )
        wrong = any(item.status in ("problem", "warning") for item in self.findings)
        return (
            f"<p><strong>{html.escape(self.verdict)}</strong></p>"
            + _table("Tiers", ("tier", "state", "what it is"), tiers)
            + f"<details{' open' if wrong else ''}><summary>What was found</summary>"
            + _table("Findings", ("topic", "state", "what was found"), findings)
            + "</details>"
        )


def _finding_lines(item: Finding) -> Iterator[str]:
    margin = " " * 27
    head = f"{item.status:<9}{item.topic:<18}"
    for text, first in ((item.found, head), (item.cure, margin)):
        if text:
            yield textwrap.fill(
                text,
                width=88,
                initial_indent=first,
                subsequent_indent=margin,
                break_long_words=False,
                break_on_hyphens=False,
            )


def _state(tier: Tier) -> str:
    return "works" if tier.works else "does not work"


def _row(heading: str, state: str, *texts: str) -> str:
    """Return a table row, whose state is a word with a sign beside it."""
    cells = "<br>".join(html.escape(text) for text in texts if text)
    return (
        f"<tr><th scope='row' style='text-align:left'>{html.escape(heading)}</th>"
        f"<td style='text-align:left'>{html.escape(state)}</td>"
        f"<td style='text-align:left'>{cells}</td></tr>"
    )


def _table(caption: str, headings: Sequence[str], rows: str) -> str:
    left = "style='text-align:left'"  # JupyterLab sets headings to the right
    head = "".join(f"<th scope='col' {left}>{text}</th>" for text in headings)
    return (
        f"<table><caption {left}>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _tiers(probe: Probe, findings: Sequence[Finding]) -> tuple[Tier, ...]:
    good = {item.topic for item in findings if item.status == "ok"}
    missing = _gpu_missing(probe, "GPU" in good)
    return (
        Tier("simulated", "simulator" in good, "kernels run and are counted, no GPU"),
        Tier("compiled", "NVRTC" in good, "PTX, registers and spills of any kernel"),
        Tier("GPU", not missing, missing or "kernels run at full speed, and are timed"),
    )


def _gpu_missing(probe: Probe, is_fit: bool) -> str:
    """Say what keeps kernels off the GPU; the backend is asked if a GPU is fit."""
    if not is_fit:
        return "no GPU that CUDA 13 can use was found; kernels are simulated"
    try:
        return probe.gpu_missing()
    except Exception as error:  # whatever it is, it is what keeps them off
        return f"{type(error).__name__}: {error}"


def examine(probe: Probe | None = None) -> Report:
    """Look at this machine.

    Parameters
    ----------
    probe : Probe, optional
        Where facts come from; tests pass a machine of their own.

    Returns
    -------
    Report
        Shows itself in a notebook and in a terminal.
    """
    probe = probe or Probe()
    findings = tuple(item for check in _CHECKS for item in check(probe))
    return Report(findings, _tiers(probe, findings))


def main(arguments: Sequence[str]) -> int:
    """Print the report; returns 0 when the course can be followed here, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit doctor",
        description="Say what works on this machine, what does not, how to get it.",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(arguments)
    report = examine()
    text = json.dumps(report.as_dict(), indent=2) if options.json else repr(report)
    sys.stdout.write(f"{text}\n")
    return report.exit_code
