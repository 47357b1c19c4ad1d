"""Nsight Compute's counters of a script, by the names that coursekit uses."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

_T = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_W = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_B = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_F = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

# Counter: what to add up, as (factor, metric).
METRICS = {
    "global_load_requests": [(1, _T.format("requests", "ld"))],
    "global_load_sectors": [(1, _T.format("sectors", "ld"))],
    "global_store_requests": [(1, _T.format("requests", "st"))],
    "global_store_sectors": [(1, _T.format("sectors", "st"))],
    "global_atomic_requests": [
        (1, _T.format("requests", "atom")), (1, _T.format("requests", "red")),
    ],
    "global_atomic_sectors": [
        (1, _T.format("sectors", "atom")), (1, _T.format("sectors", "red")),
    ],
    "shared_load_requests": [(1, "smsp__sass_inst_executed_op_shared_ld.sum")],
    "shared_load_wavefronts": [(1, _W.format("ld"))],
    "shared_load_bank_conflicts": [(1, _B.format("ld"))],
    "shared_store_requests": [(1, "smsp__sass_inst_executed_op_shared_st.sum")],
    "shared_store_wavefronts": [(1, _W.format("st"))],
    "shared_store_bank_conflicts": [(1, _B.format("st"))],
    "warps": [(1, "smsp__warps_launched.sum")],
    "flops_fp32": [
        (1, _F.format("fadd")), (1, _F.format("fmul")), (2, _F.format("ffma")),
    ],
    "flops_fp64": [
        (1, _F.format("dadd")), (1, _F.format("dmul")), (2, _F.format("dfma")),
    ],
}  # fmt: skip
PER_LAUNCH = sorted({metric for terms in METRICS.values() for _, metric in terms})


def missing() -> str:
    """Why nothing can be measured here; empty when it can."""
    return "" if shutil.which("ncu") else "Nsight Compute (ncu) is not installed"


def measure(script: Path, kernels) -> list[dict[str, int]]:
    """Counters of every launch of these kernels by a Python script, in order."""
    names = "|".join(sorted(set(kernels)))
    command = [
        "ncu", "--csv", "--clock-control", "none", "--print-units", "base",
        "--metrics", ",".join(PER_LAUNCH), "--kernel-name", f"regex:^({names})$",
        sys.executable, str(script),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise PermissionError("hardware counters need permission on this machine")
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return _launches(done.stdout)


def _launches(text: str) -> list[dict[str, int]]:
    start = text.index('"ID"')
    found: dict[str, dict[str, int]] = {}
    for row in csv.DictReader(io.StringIO(text[start:])):
        value = row["Metric Value"].replace(",", "")
        metrics = found.setdefault(row["ID"], {})
        metrics[row["Metric Name"]] = round(float(value))
    return [
        {
            name: sum(factor * metrics[metric] for factor, metric in terms)
            for name, terms in METRICS.items()
        }
        for metrics in found.values()
    ]
