"""The counting plan of a kernel: from the cache, the machine code, or as shipped."""

from __future__ import annotations

from coursekit.analysis.machine_code import machine, matching, shipped
from coursekit.errors import CourseError, UnsupportedError
from coursekit.runtime.simulator import simulated_memory
from coursekit.simt import FIELDS, CountingPlan, SharedAccess
from coursekit.toolchain import sass

SCHEMA = 2  # part of the cache key: raise it when plans change
_SHARED = [name for name in FIELDS if name.startswith("shared_")]


def plan(kernel, device) -> CountingPlan:
    """Return how a kernel's shared accesses are counted.

    A kernel without any has nothing to compare. With a disassembler the plan comes
    from the machine code for `device`, once a kernel; without one from the course's
    shipped plans, and where there is none the PTX is counted as it stands.

    Parameters
    ----------
    kernel : Kernel
    device : DeviceProperties
        The simulated GPU.
    """
    found = shared_accesses(kernel)
    if not found:
        return CountingPlan(labels=dict.fromkeys(_SHARED, "exact"))
    major, minor = device.compute_capability
    architecture = f"sm_{10 * major + minor}"
    kind = f"plan {SCHEMA} {kernel.lowered_name}"
    try:
        stored = kernel.module.remember(
            kind, architecture, lambda: reconcile(kernel, architecture, found)
        )
    except CourseError:  # no disassembler, no compiler, or not for this device
        stored = shipped.find(kernel, architecture)
    return shipped.from_json(stored) if stored else CountingPlan()


def shared_accesses(kernel) -> list[SharedAccess]:
    """What the PTX of a kernel does with shared memory."""
    program = simulated_memory().program(kernel.module)
    return program.shared_accesses(kernel.lowered_name)


def reconcile(kernel, architecture: str, found: list[SharedAccess]) -> dict:
    """Compare with machine code; a plan that JSON can write.

    Raises
    ------
    UnsupportedError
        There is no disassembler.
    """
    if sass.find_disassembler() is None:
        raise UnsupportedError("there is no disassembler")
    text = kernel.module.machine_listing(architecture)
    real = machine.read(text).get(kernel.lowered_name, [])
    return shipped.as_json(matching.match(found, real))
