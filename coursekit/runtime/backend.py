"""The choice of the backend for launches and allocations: a GPU, or the simulator.

Inside ``with ck.simulator():`` it is the simulator. Elsewhere it is the GPU where
CuPy finds one, else the simulator with its defaults. The environment variable
COURSEKIT_BACKEND, if it is set to ``gpu`` or ``simulator``, replaces the search.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Protocol

from coursekit.errors import DeviceError
from coursekit.runtime import simulator

if TYPE_CHECKING:
    import numpy as np

    from coursekit.runtime.configuration import Needs

VARIABLE = "COURSEKIT_BACKEND"


class Buffer(Protocol):
    """A run of bytes in device memory, freed with the last reference to it."""

    space: str
    address: int
    nbytes: int

    def read(self, offset: int, nbytes: int) -> np.ndarray:
        """Copy bytes to the host, as a fresh array of uint8."""

    def write(self, offset: int, data: np.ndarray) -> None:
        """Copy an array of uint8 from the host."""


class Backend(Protocol):
    """The interface of a GPU or of the simulator to a launch.

    Attributes
    ----------
    space : str
        "gpu" or "simulator": the memory that its kernels reach.
    device
        Properties of the device, whose limits a launch is checked against.
    """

    space: str

    def allocate(self, nbytes, *, name="", shape=None, dtype=None) -> Buffer:
        """Reserve memory, filled with the poison pattern."""

    def needs(self, kernel) -> Needs:
        """Return what the kernel itself asks of a launch."""

    def launch(self, kernel, configuration, staged, *, wait: bool):
        """Launch with staged arguments; wait for the end where `wait` says so."""


def current() -> Backend:
    """Return the backend that runs here and now."""
    active = simulator.active()
    if active is not None:
        return active.backend
    if _search() == "gpu":
        from coursekit.runtime import gpu

        return gpu.backend()
    return simulator.default().backend


@functools.cache
def _search() -> str:
    """Return "gpu" or "simulator"; a process looks for a GPU once."""
    choice = os.environ.get(VARIABLE, "")
    if choice not in ("", "gpu", "simulator"):
        raise DeviceError.explained(
            f"{VARIABLE} is {choice!r}.",
            "It chooses where kernels run outside of `with ck.simulator():`.",
            f"Set {VARIABLE} to gpu or simulator, or leave it unset.",
        )
    if choice == "simulator":
        return choice
    from coursekit.runtime import gpu

    missing = gpu.missing()
    if choice == "gpu" and missing:
        raise DeviceError.explained(
            f"{VARIABLE} is gpu, but no GPU can be used: {missing}.",
            "The variable forbids to fall back on the simulator.",
            f"Unset {VARIABLE}, or see `python -m coursekit doctor`.",
        )
    return "simulator" if missing else "gpu"
