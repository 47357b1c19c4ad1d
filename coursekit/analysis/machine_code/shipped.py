"""Counting plans that the course ships, for machines without a disassembler.

`assets/sass/` has a JSON file, at the same path, for each kernel file that uses shared
memory. A plan numbers instructions, so it serves only the PTX that it was made for.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit import paths
from coursekit.simt import CountingPlan

if TYPE_CHECKING:
    from coursekit.runtime.protocols import CompiledKernel

_VARYING = re.compile(r"^\s*(?://.*|\.version .*)?\n", re.MULTILINE)


def folder() -> Path:
    """Return the folder of the shipped plans."""
    return paths.repository() / "assets" / "sass"


def file_of(source: Path) -> Path | None:
    """Return the plans' file for a kernel file; None for one outside `kernels/`."""
    source, kernels = source.resolve(), paths.kernels()
    if not source.is_relative_to(kernels):
        return None
    return folder() / source.relative_to(kernels).with_suffix(".json")


def find(kernel: CompiledKernel, architecture: str) -> dict[str, Any] | None:
    """Return the shipped plan of a kernel, if it was made for the same PTX."""
    path = kernel.module.path
    file = file_of(path) if path else None
    if file is None or not file.exists():
        return None
    content = json.loads(file.read_text())
    plan = content["kernels"].get(kernel.lowered_name)
    same = content["ptx_sha256"] == ptx_hash(kernel.module.ptx)
    return plan if same and content["architecture"] == architecture else None


def ptx_hash(ptx: str) -> str:
    """Return the SHA-256 of PTX without its comments and its version."""
    return hashlib.sha256(_VARYING.sub("", ptx).encode()).hexdigest()


def as_json(plan: CountingPlan) -> dict[str, Any]:
    """Return a plan as a dict that JSON can write."""
    widths = {str(index): list(pair) for index, pair in plan.widths.items()}
    unrolled = [list(loop) for loop in plan.unrolled]
    return {"widths": widths, "labels": dict(plan.labels), "unrolled": unrolled}


def from_json(stored: dict[str, Any]) -> CountingPlan:
    """Return the plan of a dict that `as_json` made."""
    widths = {int(index): tuple(pair) for index, pair in stored["widths"].items()}
    unrolled = tuple(tuple(loop) for loop in stored["unrolled"])
    return CountingPlan(widths, stored["labels"], unrolled)
