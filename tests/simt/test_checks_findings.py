"""Findings as people see them: at most a screenful, with counts."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.simt.checks.findings import ERROR, NOTE, WARNING, Collector
from coursekit.simt.checks.watching import WatchedDecoder

SCREEN = 40


def error(line: int) -> ck.DataRaceError:
    found = ck.DataRaceError.explained(
        f"thread (0, 0, 0) of block (0, 0, 0) reads <a>[{line}].\n  kernel.cu:{line}",
        "A cause.",
        "A cure.",
    )
    found.thread = found.block = (0, 0, 0)
    found.file, found.line = "kernel.cu", line
    return found


def findings(*severities: str):
    collector = Collector()
    for line, severity in enumerate(severities, 1):
        collector.add(severity, line, 5 * line, lambda line=line: error(line))
    return collector.findings("racecheck", "k")


def test_nothing_found_says_so():
    assert repr(findings()) == "racecheck of k: no findings"
    assert not findings()


def test_errors_come_first_and_notes_are_apart():
    found = findings(NOTE, WARNING, ERROR)
    assert [one.severity for one in found] == [ERROR, WARNING]
    assert [one.severity for one in found.notes] == [NOTE]
    assert len(found) == 2


def test_occurrences_of_one_place_are_counted_together():
    collector = Collector()
    for _ in range(3):
        collector.add(ERROR, "place", 2, lambda: error(1))
    assert [one.count for one in collector.findings("racecheck", "k")] == [6]


def test_the_worst_severity_of_a_place_is_kept():
    collector = Collector()
    for severity in (NOTE, ERROR, WARNING):
        collector.add(severity, "place", 2, lambda: error(1))
    (found,) = collector.findings("racecheck", "k")
    assert (found.severity, found.count) == (ERROR, 2)


def test_finding_has_the_place_of_its_error():
    (found,) = findings(ERROR)
    assert (found.kind, found.file, found.line) == ("DataRaceError", "kernel.cu", 1)
    assert (found.thread, found.block) == ((0, 0, 0), (0, 0, 0))


def test_many_findings_fit_a_screen():
    shown = repr(findings(*[ERROR] * 50))
    assert len(shown.splitlines()) <= SCREEN
    assert shown.startswith("racecheck of k: 50 findings")
    assert shown.endswith("... and 41 more.")


def test_html_escapes_what_kernels_say():
    html = findings(ERROR, NOTE)._repr_html_()
    assert "&lt;a&gt;[1]" in html
    assert "<a>" not in html
    assert "racecheck of k: 1 finding, 1 note" in html


def test_first_error_is_raised():
    with pytest.raises(ck.DataRaceError, match=r"\[2\]"):
        findings(NOTE, ERROR, ERROR).raise_first()


def test_notes_are_not_raised():
    findings(NOTE).raise_first()


SILENT = """__global__ void k(int *x)
{
    __shared__ int s[32];
    x[threadIdx.x] = s[threadIdx.x];
}
"""


def test_checkers_decode_a_kernel_once_and_each_sees_all_of_it(simulated, monkeypatch):
    decoded, decode = [], WatchedDecoder.decode
    monkeypatch.setattr(
        WatchedDecoder, "decode", lambda self: decoded.append(self) or decode(self)
    )
    kernel, x = ck.compile(SILENT)["k"], np.zeros(32, np.int32)
    found = [
        [(one.kind, one.line, one.count) for one in checker(kernel, 1, 32, (x,))]
        for checker in (ck.initcheck, ck.synccheck, ck.initcheck)
    ]
    assert found == [[("UninitializedReadError", 4, 32)], [], found[0]]
    assert len(decoded) == 1
