"""What random PTX programs leave in memory on a GPU: recorded there, compared anywhere.

`python tests/support/ptx_corpus.py tests/golden/ptx_corpus.json` runs the programs on
this machine's GPU, writes the file, and prints where the simulator differs.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from ptx_fuzz import BUFFERS, first_word, run
from ptx_generator import Case, program

GOLDEN = Path(__file__).parents[1] / "golden" / "ptx_corpus.json"
SEEDS = 500
GUARD = 4096  # bytes around a buffer, that no program writes


def portable_cases(count: int = SEEDS):
    """Yield the first programs with one result on every GPU."""
    seed = 0
    while count:
        case = program(seed)
        if case.portable:
            count -= 1
            yield case
        seed += 1


def digest(*parts: bytes) -> str:
    """A short name for bytes."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:20]


def identity(case: Case) -> str:
    """What tells one program and its input from another."""
    shape = repr((case.grid, case.block, case.shared_bytes)).encode()
    return digest(case.text.encode(), shape, case.scalars, *case.buffers)


def compared(seed: int, name: str, left: str) -> str:
    """How the simulator differs from what is recorded for a seed."""
    case = program(seed)
    if identity(case) != name:
        return "the generator writes another program now: record the corpus again"
    found = run(case)
    if found.error:
        return found.error
    return "" if digest(*found.memory) == left else "the GPU left other bytes"


class Gpu:
    """The first GPU of this machine, through the CUDA driver."""

    def __init__(self):
        from cuda.bindings import driver

        self.driver = driver
        self.call("cuInit", 0)
        self.device = self.call("cuDeviceGet", 0)
        self.context = self.call("cuDevicePrimaryCtxRetain", self.device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *arguments):
        """Call the driver; raises RuntimeError where it fails."""
        status, *found = getattr(self.driver, name)(*arguments)
        if int(status):
            raise RuntimeError(f"{name}: {status.name}")
        return found[0] if len(found) == 1 else found

    @property
    def name(self) -> str:
        """What the device is called."""
        return self.call("cuDeviceGetName", 64, self.device).strip(b"\0").decode()

    def run(self, case: Case, level: int = 4) -> tuple[bytes, ...]:
        """Bytes of every buffer after the program, optimised so much, has run."""
        option = self.driver.CUjit_option.CU_JIT_OPTIMIZATION_LEVEL
        text = case.text.encode() + b"\0"
        module = self.call("cuModuleLoadDataEx", text, 1, [option], [level])
        places = [self.call("cuMemAlloc", len(b) + 2 * GUARD) for b in case.buffers]
        try:
            starts = [int(place) + GUARD for place in places]
            for start, given in zip(starts, case.buffers, strict=True):
                self.call("cuMemcpyHtoD", start, given, len(given))
            self._launch(self.call("cuModuleGetFunction", module, b"k"), case, starts)
            found = [bytearray(len(given)) for given in case.buffers]
            for start, into in zip(starts, found, strict=True):
                self.call("cuMemcpyDtoH", into, start, len(into))
        finally:
            for place in places:
                self.call("cuMemFree", place)
            self.call("cuModuleUnload", module)
        return tuple(map(bytes, found))

    def _launch(self, function, case: Case, starts) -> None:
        given = np.frombuffer(case.parameters(starts), np.uint8).copy()
        sizes = [8] * len(BUFFERS) + [4, 4, 8, 16]
        places = given.ctypes.data + np.cumsum([0, *sizes[:-1]])
        pointers = np.array(places, np.uint64)
        self.call(
            "cuLaunchKernel", function, *case.grid, *case.block, case.shared_bytes,
            0, pointers.ctypes.data, 0,
        )  # fmt: skip
        self.call("cuCtxSynchronize")


def difference(one, two) -> str:
    """Where the buffers of two runs first differ."""
    for name, a, b in zip(BUFFERS, one, two, strict=True):
        if a != b:
            return first_word(name, a, b)
    return ""


def record(path: Path) -> dict:
    """Run the corpus on this machine's GPU and write what it leaves.

    Left out are programs that do something else when ptxas does not optimise them.
    """
    gpu, found = Gpu(), {}
    for case in portable_cases():
        plain, real = gpu.run(case, 0), gpu.run(case)
        if plain != real:
            print(f"seed {case.seed}: left out, depends on the optimiser: "
                  f"{difference(plain, real)}")  # fmt: skip
            continue
        found[str(case.seed)] = [identity(case), digest(*real)]
        simulated = run(case)
        if simulated.error or simulated.memory != real:
            found_here = simulated.error or difference(simulated.memory, real)
            print(f"seed {case.seed}: simulator and GPU: {found_here}")
    content = {
        "device": gpu.name,
        "date": datetime.date.today().isoformat(),
        "programs": found,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"{len(found)} programs on {gpu.name}")
    return content


if __name__ == "__main__":
    record(Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN)
