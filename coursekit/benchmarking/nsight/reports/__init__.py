"""`report`: read what Nsight Compute found out about a launch."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from coursekit.benchmarking.nsight.reports import parsing, store
from coursekit.benchmarking.nsight.reports.report import Report
from coursekit.errors import ArgumentError, CourseError, UnsupportedError
from coursekit.simt import Counters

_BINARY = ".ncu-rep"


def report(source: Any, launch: int = 0) -> Report:
    """Read a report of Nsight Compute and explain each of its metrics.

    Parameters
    ----------
    source : str, Path or Counters
        The key of a report that the course has recorded, ``"first/matmul_naive"``; a
        file, or the text itself, of a details page or of a raw page in CSV; an
        .ncu-rep file where ``ncu`` is installed; or what ``ck.profile`` returns.
    launch : int
        Which launch of a file or text that has several.

    Returns
    -------
    Report

    Raises
    ------
    ArgumentError
        There is no such report, or it cannot be read.
    UnsupportedError
        An .ncu-rep file, and no ``ncu`` here.

    Examples
    --------
    >>> found = report("first/matmul_naive")
    >>> found.kernel, found.grid, found.device
    ('matmul_naive', [64, 64, 1], 'NVIDIA H200')
    """
    if isinstance(source, Counters):
        return of_counters(source)
    if not isinstance(source, str | os.PathLike):
        raise _unknown(source)
    text = os.fspath(source)
    if "\n" in text:
        return _of_text(text, launch)
    recorded = store.keys()
    if text in recorded:
        return store.load(store.folder() / f"{text}.json")
    path = Path(text)
    if not os.path.isfile(path):
        raise _unknown(text)
    if path.suffix == ".json":
        return store.load(path)
    return _of_text(
        _exported(path) if path.suffix == _BINARY else path.read_text(), launch
    )


def of_counters(counters: Counters) -> Report:
    """Show counters of ``ck.profile`` or ``ck.count`` as a report."""
    files = {file for file, _ in counters.by_line()}
    file = min(files, default="")
    lines = {
        line: {"samples": 0, "instructions": counts.warp_instructions}
        for (name, line), counts in counters.by_line().items()
        if name == file
    }
    return Report(
        "the launch",
        counts=counters.as_dict(),
        lines=lines,
        origin="ncu" if counters.source == "ncu" else "simulator",
        device="the GPU of this machine" if counters.source == "ncu" else "",
        file=file,
        source=counters.texts.get(file, ""),
    )


def _of_text(text: str, launch: int) -> Report:
    launches = parsing.launches(text)
    if not 0 <= launch < len(launches):
        raise ArgumentError.explained(
            f"The report has no launch {launch}: it has {len(launches)}.",
            cure=f"Give a number from 0 to {len(launches) - 1}.",
        )
    chosen = launches[launch]
    device = (
        f"a GPU of compute capability {chosen.capability}" if chosen.capability else ""
    )
    return Report(
        chosen.kernel, chosen.grid, chosen.block, chosen.metrics,
        parsing.counts_of(chosen.metrics), device=device, origin="listing",
    )  # fmt: skip


def _exported(path: Path) -> str:
    if shutil.which("ncu") is None:
        raise UnsupportedError.explained(
            f"{path.name} is in Nsight Compute's own format, and ncu is not here.",
            "Only the program itself reads that format.",
            "Where it is installed, write a text that can be read anywhere: "
            "`ncu --import FILE.ncu-rep --page raw --csv > FILE.csv`.",
        )
    command = ["ncu", "--import", str(path), "--page", "raw", "--csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout


def _unknown(given: Any) -> CourseError:
    return ArgumentError.explained(
        f"ck.report finds no report {given!r}.",
        f"Recorded are {', '.join(store.keys())}.",
        "Give one of these, a file, the text that ncu printed, or what ck.profile "
        "returns.",
    )
