"""Images for `cuModuleLoadData`: PTX, which is compiled, or machine code."""

from __future__ import annotations

import re
import struct
from typing import Any

from coursekit.errors import UnsupportedError
from coursekit.runtime.driver.refusals import Refused
from coursekit.runtime.simulator import simulated_memory

_ELF = b"\x7fELF"
_FLAGS_AT, _SM_SHIFT = 48, 8
_TARGET = re.compile(r"^\.target\s+sm_(\d+)([af]?)", re.MULTILINE)


def loaded(image: bytes, capability: tuple[int, int]) -> tuple[Any, str]:
    """Return a program of the simulator and its PTX, if the device can run the image.

    Parameters
    ----------
    image : bytes
        PTX text, or a cubin.
    capability : tuple of int
        Compute capability of the device, (9, 0).

    Raises
    ------
    Refused
        With the result that the driver returns.
    UnsupportedError
        The image is machine code that this device could run, or PTX that the
        simulator cannot read.
    """
    if image.startswith(_ELF):
        _refuse_machine_code(image, capability)
    text = image.split(b"\0", 1)[0].decode(errors="replace")
    target = _TARGET.search(text)
    if target is None:
        raise Refused(
            "CUDA_ERROR_INVALID_IMAGE",
            "The image is neither PTX (it has no line .target) nor a cubin.",
        )
    if not ptx_fits(int(target[1]), target[2], capability):
        raise Refused(
            "CUDA_ERROR_INVALID_PTX",
            f"This PTX is for sm_{target[1]}{target[2]}, and the device has compute "
            f"capability {capability[0]}.{capability[1]}.",
        )
    from coursekit.simt import load

    return load(text, simulated_memory().memory), text


def ptx_fits(number: int, suffix: str, capability: tuple[int, int]) -> bool:
    """Say whether a driver can compile PTX of a target for a device.

    Parameters
    ----------
    number : int
        Ten times the compute capability of the target.
    suffix : str
        "a": that capability alone; "f": its family, the same major number; else any
        later one.
    capability : tuple of int

    Examples
    --------
    >>> ptx_fits(80, "", (9, 0)), ptx_fits(90, "a", (10, 0))
    (True, False)
    >>> ptx_fits(100, "f", (10, 3))
    True
    """
    wanted = divmod(number, 10)
    if suffix == "a":
        return capability == wanted
    if suffix == "f":
        return capability[0] == wanted[0] and capability >= wanted
    return capability >= wanted


def machine_code_fits(number: int, capability: tuple[int, int]) -> bool:
    """Say whether a device runs machine code: the same major number, no less minor."""
    major, minor = divmod(number, 10)
    return capability[0] == major and capability[1] >= minor


def _refuse_machine_code(image: bytes, capability: tuple[int, int]) -> None:
    (flags,) = struct.unpack_from("<I", image, _FLAGS_AT)
    number = flags >> _SM_SHIFT & 0xFF
    if not machine_code_fits(number, capability):
        raise Refused(
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            f"This machine code is for sm_{number}, and the device has compute "
            f"capability {capability[0]}.{capability[1]}.",
        )
    raise UnsupportedError.explained(
        f"This image is machine code for sm_{number}, which only a GPU runs.",
        "Without a GPU the simulator runs the kernel, and it reads PTX.",
        "Load module.ptx.encode() instead of module.cubin().",
    )
