"""Compare the counters of every case with Nsight Compute, or record them; on a GPU.

`python tests/support/nsight_compare.py tests/golden/ncu_h200.json` measures on this
machine's GPU, writes the file, and prints what differs from the simulator.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from pathlib import Path

import nsight_cases

import coursekit as ck
from coursekit.benchmarking.nsight import counters

GOLDEN = Path(__file__).parents[1] / "golden" / "ncu_h200.json"


def measured() -> dict[str, dict[str, int]]:
    """Nsight Compute's counters of every case, by name."""
    cases = nsight_cases.all_cases()
    found = counters.measure([nsight_cases.__file__], [case.kernel for case in cases])
    names = [case.name for case in cases]
    assert len(found) == len(names) == len(set(names)), (len(found), len(names))
    return dict(zip(names, found, strict=True))


def differences(case, real: dict[str, int]) -> list[tuple[str, int, int, str]]:
    """(field, simulated, measured, label) of each counter that differs."""
    with ck.simulator():  # where a tensor map is of an array there
        counts = ck.count(
            case.function, case.grid, case.block, case.arguments, case.shared_bytes,
            cooperative=case.cooperative,
        )  # fmt: skip
    return [
        (name, getattr(counts, name), value, counts.label(name))
        for name, value in real.items()
        if getattr(counts, name) != value
    ]


def record(path: Path) -> dict[str, dict[str, int]]:
    """Measure on this machine and write what was found."""
    found = measured()
    from coursekit.hardware import present_gpu

    content = {
        "device": present_gpu().name,
        "date": datetime.date.today().isoformat(),
        "metrics": counters.METRICS,
        "cases": {
            name: {field: value for field, value in counts.items() if value}
            for name, counts in found.items()
        },
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
        equal.update(set(counters.METRICS) - {row[0] for row in rows})
    for name in counters.METRICS:
        print(f"{name:28} equal {equal[name]:4}  unequal {unequal[name]:4}")


if __name__ == "__main__":
    main()
