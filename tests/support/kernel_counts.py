"""Count a launch of every kernel file, and write the counts into a JSON file.

    python tests/support/kernel_counts.py FILE

`make upgrade` counts with the compiler before and with the one after. A file of
kernels/ is launched as tests/kernels/test_kernels.py does, at the last of its sizes.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import course_kernels

import coursekit as ck

RESOURCES = ("registers", "spill_store_bytes", "spill_load_bytes")


def cases() -> dict[str, dict[str, int]]:
    """Return the sizes at which each file is counted."""
    expected = {
        line.file: course_kernels.sizes_of(line.sizes)
        for line in course_kernels.EXPECTATIONS
    }
    return expected | dict(case.values for case in course_kernels.CASES)


def count(name: str, sizes: dict[str, int]) -> dict[str, int]:
    """Return the counts of a file's launch, and what its kernel takes."""
    launch = course_kernels.launch_of(name, sizes)
    path = course_kernels.KERNELS / name
    needed = course_kernels.NEEDS.search(course_kernels.text(name))
    special = needed[1] if needed and needed[1].endswith("a") else None
    module = ck.compile(path, arch=special, defines=launch.defines)
    kernel = module[launch.kernel]
    taken = module.resources[launch.kernel]
    found = {field: getattr(taken, field) for field in RESOURCES}
    if launch.cooperative:  # which ck.count cannot ask for
        return found
    arguments = launch.grid, launch.block, launch.arguments
    counters = ck.count(kernel, *arguments, shared_bytes=launch.shared_bytes)
    return found | dict(counters.values)


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):  # some kernels print
        counts = {name: count(name, sizes) for name, sizes in cases().items()}
    Path(sys.argv[1]).write_text(json.dumps(counts))
