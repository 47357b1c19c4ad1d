"""Prints what the first launch of each kernel takes, and what later ones take.

The difference is compiling, from parsed PTX. Run `COURSEKIT_CACHE=FOLDER python
simulator_compiling.py`: with an empty folder it is all that there is to do, with one
that a run has filled it is loading.
"""

from __future__ import annotations

import json

import simulator_cases as cases
from simulator_launching import Prepared, clock

import coursekit as ck
from coursekit.runtime import simulator
from coursekit.simt.compiled import machine

# The smallest launches; the shapes of the blocks are those of the large ones.
SMALLEST = {
    cases.matmul_tiled: 32,
    cases.matmul_naive: 32,
    cases.sgemm_patches: 128,
    cases.reduce_divergent: 256,
    cases.reduce_coalesced: 256,
    cases.transpose_naive: 32,
    cases.transpose_tile: 32,
    cases.transpose_padded: 32,
    cases.mandelbrot: 32,
    cases.gather: 256,
    cases.vec_add: 256,
}
WARM_UP = "__global__ void nothing(int *x) { *x = 1; }"


def helpers_seconds() -> float:
    """Seconds to compile, or load, what all kernels call."""
    machine.use_cache(simulator.machine_code)
    start = clock()
    machine.runtime_address("ck_run")
    return clock() - start


def main() -> None:
    """Print seconds, (first, later), by kernel as JSON."""
    found = {"helpers": (helpers_seconds(), 0)}
    with ck.simulator():
        ck.compile(WARM_UP).nothing.launch(1, 1, ck.empty(1, "int32"))
    module = ck.compile(cases.KERNELS)
    for make, n in SMALLEST.items():
        case = make(n)
        prepared = Prepared(module, case)
        first, *later = (prepared.seconds() for _ in range(6))
        prepared.check()
        found[case.kernel] = first, min(later)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
