"""`profile`: hardware counters of one launch, by Nsight Compute in another process."""

from __future__ import annotations

import math
import pickle
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.analysis.counting import count, spelt
from coursekit.benchmarking.nsight import counters
from coursekit.errors import DeviceError
from coursekit.runtime import backend as backends
from coursekit.runtime.arguments import operands
from coursekit.runtime.arrays import DeviceArray, to_device
from coursekit.runtime.compiler import compile
from coursekit.runtime.configuration import Shape, check, configure
from coursekit.runtime.launching import Kernel
from coursekit.runtime.ptx_modules import load_ptx
from coursekit.simt import FIELDS, Counters

_PERMISSION = (
    "An administrator permits it with the module option "
    "NVreg_RestrictProfilingToAdminUsers=0: "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)


class ProfilerWarning(UserWarning):
    """The hardware counters cannot be read here, so that the counts are simulated."""


@spelt
def profile(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
) -> Counters:
    """Count one launch with the hardware's own counters, where that is permitted.

    Nsight Compute runs the launch in another process, on copies: the arguments stay
    as they are. Without a GPU, and inside `ck.simulator`, the launch is simulated;
    `source` says which. Where a GPU is here and its counters cannot be read, a
    warning says why, and the launch is simulated too.

    Parameters
    ----------
    kernel : Kernel
    grid, block : int or tuple of int
        Blocks and threads per block, (x, y, z).
    args : tuple or list
        One for each parameter of the kernel, together in a tuple.
    shared_bytes : int
        Dynamic shared memory of each block.

    Returns
    -------
    Counters
        `source` is "ncu", and so is the label of each counter that was measured.

    Raises
    ------
    LaunchError, ArgumentError, KernelError
        As a launch does.
    DeviceError
        Nsight Compute failed; the message has its last words.
    """
    backend = backends.current()
    if backend.space != "gpu":
        return count(kernel, grid, block, args, shared_bytes)
    configuration = configure(kernel.name, grid, block, shared_bytes=shared_bytes)
    kernel.signature.convert(args)
    check(kernel.name, configuration, backend.needs(kernel), backend.device)
    obstacle = counters.missing()
    if not obstacle:
        try:
            return _measured(kernel, configuration, args, backend.device)
        except counters.CountersForbidden:
            obstacle = (
                "Nsight Compute may not read this GPU's counters (ERR_NVGPUCTRPERM). "
                + _PERMISSION
            )
    told = f"The counts of {kernel.name} are simulated: {obstacle}."
    warnings.warn(told, ProfilerWarning, stacklevel=3)
    return count(kernel, grid, block, args, shared_bytes)


def _measured(kernel, configuration, args, device) -> Counters:
    metrics = counters.metrics_of(device.compute_capability) | counters.OF_MACHINE_CODE
    with tempfile.TemporaryDirectory(prefix="coursekit-profile-") as folder:
        _pack(Path(folder), kernel, configuration, args)
        name = _plain_name(kernel).partition("<")[0].rpartition("::")[2]
        try:
            measured = counters.measure(
                ["-m", "coursekit.benchmarking.nsight.profiling", folder],
                [name],
                metrics,
            )
        except RuntimeError as error:
            raise DeviceError.explained(
                f"Nsight Compute could not count {kernel.name}: {error}",
                "The profiler failed, or the launch did in the profiled process.",
                "Launch the kernel once without it, and run "
                "`python -m coursekit doctor`.",
            ) from error
    counts = counters.with_bytes(measured[-1]) | {
        "blocks": math.prod(configuration.grid)
    }
    return Counters(
        {name: number for name, number in counts.items() if number},
        "ncu",
        dict.fromkeys(counts, "ncu") | {"blocks": "exact"},
        left_out=frozenset(FIELDS) - set(counts),
        device=device.name,
    )


def _pack(folder: Path, kernel, configuration, args: Sequence[Any]) -> None:
    """Save a launch for the profiled process; an array passed twice is saved once."""
    module, arrays, plan = kernel.module, {}, []
    for value in kernel.signature.flat(args):
        operand = operands.describe(value)
        if operand is None:
            plan.append(("value", value))
            continue
        name = f"{operand.space}-{operand.address}-{operand.nbytes}"
        arrays[name] = operand.read()
        plan.append(("array", name, operand.shape, str(operand.dtype)))
    np.savez(folder / "arrays.npz", **arrays)
    launch = {
        **_compiled_from(module),
        "kernel": _plain_name(kernel),
        "shape": (configuration.grid, configuration.block, configuration.shared_bytes),
        "arguments": plan,
    }
    (folder / "launch.pickle").write_bytes(pickle.dumps(launch))


def _plain_name(kernel) -> str:
    """Return a kernel's name in its source, or in PTX of another language."""
    ours = kernel.module.language == "CUDA C++"
    return kernel.name if ours else kernel.lowered_name


def _compiled_from(module) -> dict[str, Any]:
    """Return what makes the module anew: its source, or PTX of another language."""
    if module.language != "CUDA C++":
        return {"ptx": module.ptx}
    names = "options", "name"
    options = {"arch": str(module.target)} | {n: getattr(module, n) for n in names}
    return {"source": module.path or module.source, "compile": options}


def launch(folder: Path) -> None:
    """Load what `_pack` saved and launch it: the profiled process runs this."""
    packed = pickle.loads((folder / "launch.pickle").read_bytes())
    if "ptx" in packed:
        kernel = load_ptx(packed["ptx"])[packed["kernel"]]
    else:
        kernel = compile(packed["source"], **packed["compile"])[packed["kernel"]]
    with np.load(folder / "arrays.npz") as stored:
        buffers = {name: to_device(stored[name]) for name in stored.files}
    arguments = [_argument(buffers, *plan) for plan in packed["arguments"]]
    kernel[packed["shape"]](*arguments)


def _argument(buffers: dict, kind: str, value: Any, shape=(), dtype="") -> Any:
    if kind == "value":
        return value
    return DeviceArray(buffers[value]._buffer, 0, tuple(shape), np.dtype(dtype))


if __name__ == "__main__":
    launch(Path(sys.argv[1]))
