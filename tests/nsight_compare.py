"""Compare the counters of every case with Nsight Compute, or record them; on a GPU.

`python tests/nsight_compare.py tests/golden/ncu_h200.json` measures on this
machine's GPU, writes the file, and prints what differs from the simulator.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nsight_cases

import coursekit as ck
from coursekit import nsight

# What may be counted of the machine's LDGSTS; see `known`.
COPY_METRICS = [
    f"{metric}{cache}.sum"
    for metric in (
        "smsp__inst_executed_op_ldgsts",
        "smsp__sass_inst_executed_op_ldgsts",
        "sm__sass_inst_executed_op_ldgsts",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts",
        "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts",
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ldgsts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts",
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts",
    )
    for cache in ("", "_cache_access", "_cache_bypass")
]
GOLDEN = Path(__file__).parent / "golden" / "ncu_h200.json"


def measured() -> dict[str, dict[str, int]]:
    """Nsight Compute's counters of every case, by name."""
    cases = nsight_cases.all_cases()
    found = nsight.measure([nsight_cases.__file__], [case.kernel for case in cases])
    names = [case.name for case in cases]
    assert len(found) == len(names) == len(set(names)), (len(found), len(names))
    return dict(zip(names, found, strict=True))


def measured_copies() -> dict[str, dict[str, int]]:
    """What Nsight Compute says of asynchronous copies alone, by case and metric.

    Metrics that it does not know on this GPU are left out.
    """
    metrics = known(COPY_METRICS)
    if not metrics:
        return {}
    name = nsight_cases.COPY
    cases = [case.name for case in nsight_cases.all_cases() if case.kernel == name]
    terms = {metric: [(1, metric)] for metric in metrics}
    found = nsight.measure([nsight_cases.__file__, name], [name], terms)
    return dict(zip(cases, found, strict=True))


def known(metrics) -> list[str]:
    """Those of some metrics that Nsight Compute has on this GPU."""
    done = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True)
    names = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    return [metric for metric in metrics if metric.partition(".")[0] in names]


def differences(case, real: dict[str, int]) -> list[tuple[str, int, int, str]]:
    """(field, simulated, measured, label) of each counter that differs."""
    counts = ck.count(
        case.function, case.grid, case.block, case.arguments, case.shared_bytes
    )
    return [
        (name, getattr(counts, name), value, counts.label(name))
        for name, value in real.items()
        if getattr(counts, name) != value
    ]


def is_known(case: str, field: str, simulated: int, real: int) -> bool:
    """Reductions to scattered addresses: an H200 now and then adds a sector.

    Of 48 random patterns of 32 lanes 2 took one sector more than the rule, whose
    cause is not found; a histogram of random bytes takes 2 % more.
    """
    scattered = case == "histogram" and field == "global_atomic_sectors"
    return scattered and simulated <= real <= 1.03 * simulated


def record(path: Path) -> dict[str, dict[str, int]]:
    """Measure on this machine and write what was found."""
    found = measured()
    from coursekit.hardware import present_gpu

    content = {
        "device": present_gpu().name,
        "date": datetime.date.today().isoformat(),
        "metrics": nsight.METRICS,
        "cases": {
            name: {field: value for field, value in counts.items() if value}
            for name, counts in found.items()
        },
        "async_copies": measured_copies(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = json.dumps(content, indent=1)
    path.write_text(rows + "\n")
    return found


def main() -> None:
    """Record, then print every difference and a table by field."""
    found = record(Path(sys.argv[1]))
    equal, unequal = Counter(), Counter()
    for case in nsight_cases.all_cases():
        rows = differences(case, found[case.name])
        for row in rows:
            print(case.name, *row, sep=" | ")
            unequal[row[0]] += 1
        equal.update(set(nsight.METRICS) - {row[0] for row in rows})
    for name in nsight.METRICS:
        print(f"{name:28} equal {equal[name]:4}  unequal {unequal[name]:4}")


if __name__ == "__main__":
    main()
