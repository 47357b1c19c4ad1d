"""The results of the driver API that the stand-in returns, and their meanings."""

from __future__ import annotations

from coursekit.errors import (
    DeadlockError,
    IllegalInstructionError,
    KernelError,
    OutOfBoundsError,
)

# As cuGetErrorString of a driver says it.
MEANINGS = {
    "CUDA_SUCCESS": "no error",
    "CUDA_ERROR_INVALID_VALUE": "invalid argument",
    "CUDA_ERROR_OUT_OF_MEMORY": "out of memory",
    "CUDA_ERROR_NOT_INITIALIZED": "initialization error",
    "CUDA_ERROR_INVALID_DEVICE": "invalid device ordinal",
    "CUDA_ERROR_INVALID_IMAGE": "device kernel image is invalid",
    "CUDA_ERROR_INVALID_CONTEXT": "invalid device context",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "no kernel image is available for execution on "
    "the device",
    "CUDA_ERROR_INVALID_PTX": "a PTX JIT compilation failed",
    "CUDA_ERROR_INVALID_HANDLE": "invalid resource handle",
    "CUDA_ERROR_NOT_FOUND": "named symbol not found",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "an illegal memory access was encountered",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "the launch timed out and was terminated",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "an illegal instruction was encountered",
    "CUDA_ERROR_LAUNCH_FAILED": "unspecified launch failure",
}
_FAULTS = (
    (OutOfBoundsError, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    (DeadlockError, "CUDA_ERROR_LAUNCH_TIMEOUT"),
    (IllegalInstructionError, "CUDA_ERROR_ILLEGAL_INSTRUCTION"),
)


class Refused(Exception):
    """A call is refused with a result of CUDA.

    Attributes
    ----------
    result : str
        The name of the CUresult.
    why : str
        The reason, in sentences.
    """

    def __init__(self, result: str, why: str):
        super().__init__(f"{result}: {why}")
        self.result, self.why = result, why


def of_fault(error: KernelError) -> str:
    """Return the result that a GPU reports for an error inside of a kernel."""
    for kind, result in _FAULTS:
        if isinstance(error, kind):
            return result
    return "CUDA_ERROR_LAUNCH_FAILED"
