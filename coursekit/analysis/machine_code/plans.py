"""The counting plan of a kernel, from the cache, the machine code or the course."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit.analysis.machine_code import machine, matching, shipped
from coursekit.errors import CourseError, UnsupportedError
from coursekit.runtime.simulator import simulated_memory
from coursekit.simt import FIELDS, CountingPlan, SharedAccess
from coursekit.toolchain import sass

if TYPE_CHECKING:
    from coursekit.hardware import DeviceProperties
    from coursekit.runtime.protocols import CompiledKernel

SCHEMA = 2  # part of the cache key: raise it when plans change
_SHARED = [name for name in FIELDS if name.startswith("shared_")]


def plan(kernel: CompiledKernel, device: DeviceProperties) -> CountingPlan:
    """Return how a kernel's shared accesses are counted.

    A kernel without shared accesses is counted exactly. With a disassembler the plan
    comes from the machine code for `device`, and is cached. Without one it comes from
    the plans that the course ships; where there is none, the PTX is counted as it is.

    Parameters
    ----------
    kernel : Kernel
    device : DeviceProperties
        The simulated GPU.
    """
    accesses = shared_accesses(kernel)
    if not accesses:
        return CountingPlan(labels=dict.fromkeys(_SHARED, "exact"))
    major, minor = device.compute_capability
    architecture = f"sm_{10 * major + minor}"
    kind = f"plan {SCHEMA} {kernel.lowered_name}"
    stored: dict[str, Any] | None
    try:
        stored = kernel.module.remember(
            kind, architecture, lambda: reconcile(kernel, architecture, accesses)
        )
    except CourseError:  # no disassembler, no compiler, or not for this device
        stored = shipped.find(kernel, architecture)
    return shipped.from_json(stored) if stored else CountingPlan()


def shared_accesses(kernel: CompiledKernel) -> list[SharedAccess]:
    """List the accesses of shared memory in the PTX of a kernel."""
    program = simulated_memory().program(kernel.module)
    return program.shared_accesses(kernel.lowered_name)


def reconcile(
    kernel: CompiledKernel, architecture: str, accesses: list[SharedAccess]
) -> dict[str, Any]:
    """Compare shared accesses with the machine code; return the plan for JSON.

    Raises
    ------
    UnsupportedError
        There is no disassembler.
    """
    if sass.find_disassembler() is None:
        raise UnsupportedError("there is no disassembler")
    text = kernel.module.machine_listing(architecture)
    real = machine.read(text).get(kernel.lowered_name, [])
    return shipped.as_json(matching.match(accesses, real))
