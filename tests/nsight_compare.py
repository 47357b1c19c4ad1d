"""Compare every counter of every case with Nsight Compute; run on a GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import nsight
import nsight_cases

import coursekit as ck


def compare() -> tuple[Counter, list[tuple[str, str, int, int, str]]]:
    """Equal counts by field; (case, field, simulated, measured, label) where not."""
    cases = nsight_cases.all_cases()
    measured = nsight.measure(Path(nsight_cases.__file__))
    assert len(measured) == len(cases), (len(measured), len(cases))
    equal, unequal = Counter(), []
    for case, real in zip(cases, measured, strict=True):
        module = ck.compile(case.source)
        kernel = module[module.kernels[0]]
        counts = ck.count(kernel, case.grid, case.block, case.arguments)
        for name in nsight.METRICS:
            if getattr(counts, name) == real[name]:
                equal[name] += 1
            else:
                ours, label = getattr(counts, name), counts.label(name)
                unequal.append((case.name, name, ours, real[name], label))
    return equal, unequal


if __name__ == "__main__":
    equal, unequal = compare()
    for row in unequal:
        print(*row, sep=" | ")
    for name, count in equal.items():
        wrong = sum(row[1] == name for row in unequal)
        print(f"{name:28} equal {count:4}  unequal {wrong:4}")
