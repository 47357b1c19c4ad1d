"""The choice of the backend for launches and allocations: a GPU, or the simulator.

Inside ``with ck.simulator():`` it is the simulator. Elsewhere it is the GPU where
CuPy finds one, else the simulator with its defaults. The environment variable
COURSEKIT_BACKEND, if it is set to ``gpu`` or ``simulator``, replaces the search.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from coursekit.errors import DeviceError
from coursekit.runtime import simulator

if TYPE_CHECKING:
    from coursekit.runtime.protocols import Backend

VARIABLE = "COURSEKIT_BACKEND"


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
