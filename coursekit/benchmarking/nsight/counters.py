"""Measure a script's kernels with Nsight Compute, by the names of `ck.count`."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

_T = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_W = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_B = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_C = "smsp__sass_l1tex_data_{}_pipe_lsu_mem_shared_op_ldgsts_cache_access.sum"
_D = "smsp__sass_l1tex_data_pipe_lsu_{}_mem_shared_op_ldgsts_cache_access.sum"
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
    # Asynchronous copies store, too: LDGSTS is no part of "op_st".
    "shared_store_requests": [
        (1, "smsp__sass_inst_executed_op_shared_st.sum"),
        (1, "smsp__sass_inst_executed_op_ldgsts.sum"),
    ],
    "shared_store_wavefronts": [
        (1, _W.format("st")), (1, _D.format("wavefronts")),
    ],
    "shared_store_bank_conflicts": [
        (1, _B.format("st")), (1, _C.format("bank_conflicts")),
    ],
    "shared_atomic_requests": [(1, "smsp__sass_inst_executed_op_shared_atom.sum")],
    "shared_atomic_wavefronts": [(1, _W.format("atom"))],
    "warps": [(1, "smsp__warps_launched.sum")],
    "flops_fp32": [
        (1, _F.format("fadd")), (1, _F.format("fmul")), (2, _F.format("ffma")),
    ],
    "flops_fp64": [
        (1, _F.format("dadd")), (1, _F.format("dmul")), (2, _F.format("dfma")),
    ],
}  # fmt: skip
# Of machine code: the simulator counts PTX here, so these are not compared with it.
OF_MACHINE_CODE = {
    "warp_instructions": [(1, "smsp__inst_executed.sum")],
    "thread_instructions": [(1, "smsp__thread_inst_executed.sum")],
}
_SECTOR_BYTES = 32


def metrics_of(capability: tuple[int, int]) -> dict[str, list]:
    """Return `METRICS` by their names on GPUs of a compute capability."""
    copies = capability >= (8, 0)  # the first GPUs that copy asynchronously
    return {
        name: [term for term in terms if copies or "ldgsts" not in term[1]]
        for name, terms in METRICS.items()
    }


class CountersForbidden(PermissionError):
    """Nsight Compute may not read the counters of this GPU (ERR_NVGPUCTRPERM)."""


def missing() -> str:
    """Return why nothing can be measured here; empty where it can."""
    return "" if shutil.which("ncu") else "Nsight Compute (ncu) is not installed"


def measure(
    script: Sequence[str],
    kernels: Sequence[str],
    metrics: Mapping[str, list] = METRICS,
) -> list[dict[str, int]]:
    """Run a Python script, and return the counters of each launch of some kernels.

    Parameters
    ----------
    script : sequence of str
        What Python runs: a file, or -m and a module, and arguments.
    kernels : sequence of str
        Names of functions, without template arguments.
    metrics : mapping
        Counters by name: what to add up, as (factor, metric).

    Raises
    ------
    CountersForbidden
        This account may not read the counters.
    RuntimeError
        Nsight Compute or the script failed, with its last words; or a counter could
        not be measured.
    """
    names = "|".join(sorted(set(kernels)))
    metric_names = sorted({metric for terms in metrics.values() for _, metric in terms})
    command = [
        "ncu", "--csv", "--clock-control", "none", "--print-units", "base",
        "--metrics", ",".join(metric_names), "--kernel-name", f"regex:^({names})$",
        sys.executable, *script,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise CountersForbidden("hardware counters need permission on this machine")
    if done.returncode or '"ID"' not in done.stdout:
        raise RuntimeError(_last_words(done.stdout, done.stderr))
    return _launches(done.stdout, metrics)


def _last_words(output: str, errors: str) -> str:
    """Return the errors that Nsight Compute printed, then the end of its output.

    The rows of the table, which were measured before an error, are left out.
    """
    table = [line for line in output.splitlines() if not line.startswith('"')]
    told = [line for line in table if line.startswith(("==ERROR==", "==WARNING=="))]
    rest = "\n".join(line for line in table if line not in told)
    return "\n".join([*told, rest[-2000:], errors[-2000:]]).strip()


def with_bytes(counts: Mapping[str, int]) -> dict[str, int]:
    """Add the bytes moved, which follow from the sectors; atomics count too."""
    atomic = counts["global_atomic_sectors"]
    return {
        **counts,
        "bytes_read": _SECTOR_BYTES * (counts["global_load_sectors"] + atomic),
        "bytes_written": _SECTOR_BYTES * (counts["global_store_sectors"] + atomic),
    }


def _launches(text: str, metrics: Mapping[str, list]) -> list[dict[str, int]]:
    start = text.index('"ID"')
    by_launch: dict[str, dict[str, int]] = {}
    for row in csv.DictReader(io.StringIO(text[start:])):
        value = float(row["Metric Value"].replace(",", ""))
        if value != value:
            raise RuntimeError(
                f"{row['Metric Name']} of launch {row['ID']} could not be measured "
                "(nan); another process may use the counters at the same time"
            )
        launch = by_launch.setdefault(row["ID"], {})
        launch[row["Metric Name"]] = round(value)
    return [
        {
            name: sum(factor * launch[metric] for factor, metric in terms)
            for name, terms in metrics.items()
        }
        for launch in by_launch.values()
    ]
