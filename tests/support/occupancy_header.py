"""The toolkit's own rules, `cuda_occupancy.h`, as a program that answers in bulk."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

PROGRAM = r"""
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
    int major, minor, sms, threads_sm, registers_sm, shared_sm, reserved, optin;
    int registers, shared, barriers, block;
    while (scanf("%d %d %d %d %d %d %d %d %d %d %d %d", &major, &minor, &sms,
                 &threads_sm, &registers_sm, &shared_sm, &reserved, &optin,
                 &registers, &shared, &barriers, &block) == 12) {
        cudaOccDeviceProp device;
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads_sm;
        device.regsPerBlock = device.regsPerMultiprocessor = registers_sm;
        device.warpSize = 32;
        device.sharedMemPerBlock = 49152;
        device.sharedMemPerMultiprocessor = shared_sm;
        device.numSms = sms;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = 0;
        kernel.maxDynamicSharedSizeBytes = shared;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state;
        cudaOccResult result;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &device, &kernel, &state, block, shared);
        printf("%d\n", status ? -status : result.activeBlocksPerMultiprocessor);
    }
}
"""


@functools.cache
def missing() -> str:
    """Why the header cannot be compiled here; empty where it can."""
    if shutil.which("g++") is None:
        return "no g++ here, which compiles cuda_occupancy.h"
    return "" if _headers() else "cuda_occupancy.h is not installed"


def blocks(cases) -> list[int]:
    """Answers of the header, blocks an SM, for pairs of a device and a demand."""
    lines = [
        " ".join(
            map(str, (*_device(sm), d.registers, d.shared_bytes, d.barriers, d.threads))
        )
        for sm, d in cases
    ]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "header.cpp"), Path(folder, "header")
        source.write_text(PROGRAM)
        command = ["g++", "-w", f"-I{_headers()}", str(source), "-o", str(program)]
        subprocess.run(command, check=True)
        done = subprocess.run(
            [program],
            input="\n".join(lines),
            text=True,
            capture_output=True,
            check=True,
        )
    return [int(line) for line in done.stdout.split()]


def _device(sm) -> tuple[int, ...]:
    return (
        *sm.compute_capability, 100, sm.max_threads_per_sm, sm.registers_per_sm,
        sm.shared_bytes_per_sm, sm.shared_reserved_bytes_per_block,
        sm.shared_bytes_per_block_optin,
    )  # fmt: skip


def _kernel(demand) -> tuple[int, ...]:
    return demand.registers, demand.shared_bytes, demand.barriers, demand.threads


def _headers() -> Path | None:
    found = find_spec("nvidia")
    roots = list(found.submodule_search_locations) if found else []
    folders = [path.parent for r in roots for path in Path(r).rglob("cuda_occupancy.h")]
    return folders[0] if folders else None
