"""Where a program for the host finds Thrust, which computes on the CPU there."""

from __future__ import annotations

import re
from pathlib import Path

from coursekit.toolchain import nvrtc

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(?:thrust|cuda)/", re.MULTILINE)
# Words of CUDA that a compiler for the host does not know, and need not.
ON_THE_CPU = (
    "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP",
    "-D__host__=",
    "-D__device__=",
)


def options(text: str) -> list[str]:
    """Return what a C++ compiler needs for a program that includes Thrust.

    Thrust has several device systems. The one named here is plain C++: the memory of
    a `device_vector` is the host's, and algorithms are loops. Its headers are those
    that NVRTC uses.

    Examples
    --------
    >>> options("#include <vector>")
    []
    """
    if not _INCLUDE.search(text):
        return []
    folders = [f for f in nvrtc.include_folders() if Path(f, "thrust").is_dir()]
    return [*(f"-isystem{folder}" for folder in folders), *ON_THE_CPU]


def identity(text: str) -> str:
    """Return what changes with the version of Thrust, for cache keys."""
    return nvrtc.headers_identity() if _INCLUDE.search(text) else ""
