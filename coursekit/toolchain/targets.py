"""The architectures that code is compiled for: compute_90, sm_90a, ..."""

from __future__ import annotations

import ctypes
import functools
import re
from dataclasses import dataclass

from coursekit.errors import CompileError

_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


@dataclass(frozen=True, slots=True)
class Target:
    """A compute capability, such as 9.0, and the suffix of its special features.

    Attributes
    ----------
    number : int
        Ten times the compute capability: 90, 86, 120.
    suffix : str
        "", "a" (that architecture alone) or "f" (its family).
    real : bool
        Whether machine code (sm_90) was asked for, rather than PTX (compute_90).
    """

    number: int
    suffix: str = ""
    real: bool = False

    @property
    def virtual_name(self) -> str:
        """The name for PTX: compute_90, compute_90a."""
        return f"compute_{self.number}{self.suffix}"

    @property
    def real_name(self) -> str:
        """The name for machine code: sm_90, sm_90a."""
        return f"sm_{self.number}{self.suffix}"

    def __str__(self) -> str:
        return self.real_name if self.real else self.virtual_name


DEFAULT = Target(90)


def target(arch: str | int | Target | None) -> Target:
    """Read an architecture in any form that students use.

    Parameters
    ----------
    arch : str, int, Target or None
        "sm_90a", "compute_80", "86", 86; None is compute_90.

    Raises
    ------
    CompileError
        When it is none of these forms.

    Examples
    --------
    >>> target("sm_90a").virtual_name, target(86).real_name
    ('compute_90a', 'sm_86')
    """
    if arch is None:
        return DEFAULT
    if isinstance(arch, Target):
        return arch
    found = re.fullmatch(r"(?:(sm|compute)_)?(\d{2,3})([af]?)", str(arch))
    if found is None:
        raise CompileError.explained(
            f"arch={arch!r} is not an architecture.",
            "It is a word and the compute capability without its point.",
            'Write for example arch="sm_90a", "compute_80" or 86.',
        )
    return Target(int(found[2]), found[3], found[1] == "sm")


@functools.cache
def present() -> Target | None:
    """Return the architecture of the first GPU of this machine, or None."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    failed = (
        driver.cuInit(0)
        or driver.cuDeviceGet(ctypes.byref(device), 0)
        or driver.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device)
        or driver.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device)
    )
    return None if failed else Target(10 * major.value + minor.value, real=True)
