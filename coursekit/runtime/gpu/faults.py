"""The error codes of CUDA, each with its meaning for a launch."""

from __future__ import annotations

from coursekit.errors import (
    CourseError,
    DeadlockError,
    DeviceError,
    IllegalInstructionError,
    KernelError,
    LaunchError,
    OutOfBoundsError,
)

_OUT_OF_MEMORY, _COOPERATIVE_TOO_LARGE = 2, 720
_REFUSED = {1: "invalid value", 9: "invalid configuration", 701: "out of resources"}
_CAPTURE = range(900, 910)
FAULTS = {
    700: (OutOfBoundsError, "accessed memory that belongs to no array"),
    702: (DeadlockError, "ran longer than the driver allows"),
    710: (IllegalInstructionError, "failed an assert"),
    714: (KernelError, "overflowed its stack"),
    715: (IllegalInstructionError, "executed a trap or an illegal instruction"),
    716: (OutOfBoundsError, "accessed a misaligned address"),
    717: (OutOfBoundsError, "used an address in the wrong memory space"),
    718: (IllegalInstructionError, "jumped to an address that holds no code"),
    719: (KernelError, "failed while it ran"),
}
RESTART = (
    "The GPU stops a context after a fault, and all its arrays are gone.",
    "Restart the kernel; then run the launch under `with ck.simulator():`, which "
    "names the thread and the line.",
)


def refusal(status: int, error: RuntimeError, what: str) -> CourseError:
    """Build the error for a call that the driver refused; the context still works."""
    if status == _COOPERATIVE_TOO_LARGE:
        return LaunchError.explained(
            f"{what}: the cooperative grid does not fit the GPU ({error}).",
            "All its blocks must be resident at once; registers and shared memory "
            "limit how many are.",
            "Launch fewer blocks and let each handle more elements in a loop.",
        )
    if status in _CAPTURE:
        return LaunchError.explained(
            f"{what}: not possible while a graph is captured ({error}).",
            "Copies from and to NumPy arrays, and waiting, cannot be captured.",
            "Pass DeviceArrays, CuPy arrays or CUDA tensors.",
        )
    if status in _REFUSED:
        return LaunchError.explained(
            f"{what}: the GPU refuses the launch ({error}).",
            "The block needs more registers or shared memory than the GPU has.",
            "Use a smaller block, or less shared memory.",
        )
    cause = "Another program may use its memory." if status == _OUT_OF_MEMORY else ""
    return DeviceError.explained(
        f"{what}: the GPU reports {error}.", cause, "Run `python -m coursekit doctor`."
    )
