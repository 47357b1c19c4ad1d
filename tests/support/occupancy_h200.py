"""Compare `ck.occupancy` with CUDA's own answer for every course kernel; on a GPU.

`python tests/support/occupancy_h200.py tests/golden/occupancy_h200.json` asks this
machine's GPU, writes what the course's tests compare with, and prints what differs.
"""

from __future__ import annotations

import datetime
import functools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from kernel_launches import plans

import coursekit as ck
from coursekit import hardware, paths
from coursekit.analysis.occupancy import rules
from coursekit.benchmarking.nsight import counters
from coursekit.errors import CourseError
from coursekit.toolchain.cubin import Resources

GOLDEN = Path(__file__).parents[1] / "golden" / "occupancy_h200.json"
BLOCKS = (1, 32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
DYNAMIC_BYTES = (0, 1, 1000, 8192, 20_000, 49_000, 100_000, 200_000)
# Launches that Nsight Compute lists the limits of: (threads, dynamic bytes).
LISTED = {
    "few": (
        (32, 0), (64, 0), (128, 0), (256, 0), (1024, 0), (128, 1000), (96, 3000),
        (128, 5000), (256, 20_000), (512, 49_000), (1024, 100_000), (64, 200_000),
    ),
    "many": (
        (32, 0), (64, 0), (96, 0), (128, 0), (128, 12_800), (256, 0), (256, 30_000),
        (512, 0), (512, 100_000),
    ),
}  # fmt: skip
LISTED_METRICS = {
    "SM": [(1, "launch__occupancy_limit_blocks")],
    "registers": [(1, "launch__occupancy_limit_registers")],
    "shared": [(1, "launch__occupancy_limit_shared_mem")],
    "warps": [(1, "launch__occupancy_limit_warps")],
    "configuration": [(1, "launch__shared_mem_config_size")],
    "registers_per_thread": [(1, "launch__registers_per_thread")],
}
SOURCE = """
__global__ void few(float* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void many(float* out) {
    float held[96];
    for (int i = 0; i < 96; i++) held[i] = out[i * 32 + threadIdx.x % 32];
    for (int k = 0; k < 4; k++) {
        float first = held[0];
        for (int i = 0; i < 95; i++) held[i] = held[i] * held[i + 1] + first;
    }
    float sum = 0;
    for (int i = 0; i < 96; i++) sum += held[i];
    out[threadIdx.x] = sum;
}
"""


def files() -> list[str]:
    """Every kernel file of the course, complete programs apart."""
    root = paths.kernels()
    found = (path.relative_to(root).as_posix() for path in root.rglob("*.cu"))
    elsewhere = "programs/", "libraries/"
    return sorted(path for path in found if not path.startswith(elsewhere))


def kernels(path: str) -> Iterator:
    """Yield the kernels of a file; of templates, the instance that the tests launch."""
    text = (paths.kernels() / path).read_text()
    module = ck.compile(path, arch="sm_90a" if "needs: sm_90a" in text else None)
    names = list(module.kernels)
    plan = plans().get(path)
    if plan and plan.sizes:
        names.append(plan.launch(**plan.sizes[0]).kernel)
    for name in dict.fromkeys(names):
        yield module[name]


def launches(resources: Resources) -> list[tuple[int, int]]:
    """Return block sizes and dynamic shared bytes that the kernel can have."""
    most = hardware.device("H200").shared_bytes_per_block_optin
    return [
        (threads, dynamic)
        for threads in BLOCKS
        for dynamic in DYNAMIC_BYTES
        if threads <= resources.max_threads and resources.shared_bytes + dynamic <= most
    ]


@functools.cache  # most kernels need the same
def computed(resources: Resources, device) -> list[int]:
    """Blocks an SM by the rules, for each of `launches`."""
    return [
        ck.occupancy(resources, threads, dynamic, device).blocks
        for threads, dynamic in launches(resources)
    ]


def asked(kernel, resources: Resources, backend) -> list[int]:
    """Blocks an SM by the driver of this GPU, for each of `launches`."""
    from cuda.bindings import driver

    loaded = backend._loaded(kernel)
    function = driver.CUfunction(loaded.function.ptr)
    ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
    most = backend.device.shared_bytes_per_block_optin - resources.shared_bytes
    loaded._set(8, most)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    answers = [ask(function, *launch) for launch in launches(resources)]
    assert not any(int(status) for status, _ in answers), kernel
    return [blocks for _, blocks in answers]


def seen_by_driver(kernel, backend) -> dict[str, int]:
    """Registers and shared bytes of a loaded kernel, as the driver tells them."""
    attribute = backend._loaded(kernel)._attribute
    return {"registers": attribute(4), "shared_bytes": attribute(1)}


def launch_listed() -> None:
    """Launch what `LISTED` lists; Nsight Compute looks on."""
    module, out = ck.compile(SOURCE), ck.to_device(np.ones(32 * 96, np.float32))
    for name, shapes in LISTED.items():
        for threads, dynamic in shapes:
            module[name][1, threads, dynamic](out)


def listed() -> list[dict[str, int]]:
    """Limits that Nsight Compute lists, one row a launch."""
    found = counters.measure([__file__, "--launch"], list(LISTED), LISTED_METRICS)
    shapes = [(name, *shape) for name, each in LISTED.items() for shape in each]
    assert len(found) == len(shapes), (len(found), len(shapes))
    names = ("kernel", "threads", "dynamic_bytes")
    return [
        dict(zip(names, shape, strict=True)) | row
        for shape, row in zip(shapes, found, strict=True)
    ]


def listed_wrong(row: dict, device) -> dict[str, tuple[int, int]]:
    """What `ck.occupancy` says otherwise than Nsight Compute, as (ours, theirs).

    The driver may set aside more shared memory than the blocks need; how much is not
    documented. So the limit by shared memory is compared for the driver's choice.
    """
    needs = {"registers": row["registers_per_thread"]}
    found = ck.occupancy(needs, row["threads"], row["dynamic_bytes"], device)
    ours = dict(found.limits)
    ours["shared"] = rules.shared_limit(device, found.demand, row["configuration"])
    ours["blocks"] = found.blocks
    ours["configuration"] = max(found.shared_configuration_bytes, row["configuration"])
    names = ("SM", "registers", "shared", "warps")
    theirs = row | {"blocks": min(row[name] for name in names)}
    return {k: (n, theirs[k]) for k, n in ours.items() if n != theirs[k]}


def record(path: Path) -> dict:
    """Ask the driver about every kernel and write what it answers."""
    from coursekit.benchmarking.records.measured import driver_version
    from coursekit.runtime import backend as backends

    backend = backends.current()
    assert backend.space == "gpu", "there is no GPU here"
    rows, left_out = {}, {}
    for file in files():
        try:
            for kernel in kernels(file):
                needs = kernel.module.resources_on(kernel.name, backend.device.arch)
                rows[f"{file} {kernel.name}"] = {
                    "resources": asdict(needs),
                    "driver": seen_by_driver(kernel, backend),
                    "blocks": asked(kernel, needs, backend),
                }
        except CourseError as error:
            left_out[file] = str(error).splitlines()[0]
    content = {
        "device": backend.device.name,
        "driver": driver_version(),
        "date": datetime.date.today().isoformat(),
        "block_sizes": BLOCKS,
        "dynamic_bytes": DYNAMIC_BYTES,
        "left_out": left_out,
    }
    try:
        content["nsight_compute"] = listed()
    except (RuntimeError, PermissionError) as error:
        content["nsight_compute"] = []
        print("Nsight Compute:", error)
    lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
    head = json.dumps(content, indent=1)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head},\n "kernels": {{\n{lines}\n }}\n}}\n')
    return json.loads(path.read_text())


def wrong(row: dict, device) -> list[tuple]:
    """Launches for which the rules say something else than the driver did."""
    resources = Resources(**row["resources"])
    pairs = zip(
        launches(resources), computed(resources, device), row["blocks"], strict=True
    )
    return [pair for pair in pairs if pair[1] != pair[2]]


def main() -> None:
    """Record, then print every difference and how many answers agree."""
    if sys.argv[1] == "--launch":
        return launch_listed()
    found = record(Path(sys.argv[1]))
    device, answers, differ = hardware.device(), 0, 0
    for name, row in found["kernels"].items():
        bad = wrong(row, device)
        answers, differ = answers + len(row["blocks"]), differ + len(bad)
        for each in bad:
            print(name, *each)
        mine = {key: row["resources"][key] for key in row["driver"]}
        if mine != row["driver"]:
            print(name, "resources", mine, "driver", row["driver"])
    print(f"{len(found['kernels'])} kernels, {answers} launches, {differ} differ")
    for row in found["nsight_compute"]:
        print(row, listed_wrong(row, device))
    print("left out:", found["left_out"])


if __name__ == "__main__":
    main()
