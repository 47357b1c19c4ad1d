"""Where nvcc is on this machine, which compiles whole CUDA C++ programs."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path


def nvcc() -> str | None:
    """Find nvcc in the packages of this Python, else on PATH."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        candidate = Path(place) / "cu13" / "bin" / "nvcc"
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return shutil.which("nvcc")
