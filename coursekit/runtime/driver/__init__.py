"""The CUDA driver API by hand, with and without a GPU.

The functions have the names, arguments and results of `cuda.bindings.driver`, and
where a GPU is used they *are* its functions. Elsewhere, and inside of ``with
ck.simulator():``, a stand-in answers: it checks handles, the order of calls and the
packing of arguments, launches on the simulator, and returns CUDA's own `CUresult`.
Types and enumerations are those of `cuda.bindings.driver` in both cases.

Examples
--------
>>> from coursekit.runtime import driver as cu
>>> cu.CUresult.CUDA_ERROR_INVALID_CONTEXT.name
'CUDA_ERROR_INVALID_CONTEXT'
"""

from __future__ import annotations

import importlib
from typing import Any

from coursekit.errors import UnsupportedError
from coursekit.runtime import backend
from coursekit.runtime.driver.calls import bindings
from coursekit.runtime.driver.standin import FUNCTIONS, StandIn
from coursekit.runtime.once import once

__all__ = ["StandIn", "explain", "image", *FUNCTIONS]


@once
def stand_in() -> StandIn:
    """Return the one stand-in of this process."""
    return StandIn()


def explain(result: Any) -> str:
    """Say what a `CUresult` means, and what the stand-in knows about the last one.

    Parameters
    ----------
    result : CUresult
        The first value that a call has returned.

    Returns
    -------
    str
        CUDA's name and description; without a GPU also the reason for which the
        latest call with this result was refused.
    """
    if backend.current().space == "gpu":
        _, text = bindings().cuGetErrorString(result)
        return f"{result.name}: {text.decode()}"
    return stand_in().explain(result)


def image(module: Any) -> bytes:
    """Return what `cuModuleLoadData` can load here of a compiled module.

    That is machine code on a GPU, for a driver refuses PTX of a newer compiler
    (CUDA_ERROR_UNSUPPORTED_PTX_VERSION), and PTX for the stand-in.

    Parameters
    ----------
    module : Module
        What ``ck.compile`` has returned.
    """
    if backend.current().space == "gpu":
        return bytes(module.cubin())
    return bytes(module.ptx.encode())


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    library = bindings()
    found = getattr(library, name)
    on_gpu = not name.startswith("cu") or backend.current().space == "gpu"
    if on_gpu:
        return found
    if name in FUNCTIONS:
        return getattr(stand_in(), name)
    raise UnsupportedError.explained(
        f"ck.driver.{name} needs a GPU.",
        f"Without one a stand-in answers, and it has {', '.join(FUNCTIONS)}.",
        "Use one of these functions, or run the cell on a machine with a GPU.",
    )


def __dir__() -> list[str]:
    driver = importlib.import_module("cuda.bindings.driver")
    return sorted({*globals(), *dir(driver)})
