"""cuRAND's generators on the device, as cases: a type and an ordering each."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable

import coursekit as ck
from coursekit.lessons.curand import library
from coursekit.runtime import backend as backends


def case(rng_type: str, ordering: str) -> Callable | None:
    """Return a case that fills `out` with uniform floats, None without cuRAND.

    Parameters
    ----------
    rng_type : str
        Such as "PSEUDO_PHILOX4_32_10".
    ordering : str
        Such as "PSEUDO_DYNAMIC"; None also where the type has no such ordering.
    """
    if backends.current().space != "gpu" or not _loaded():
        return None
    try:
        generator = library.Native(rng_type, on_device=True)
        generator.configure(seed=1234, offset=0, ordering=ordering)
    except ck.ArgumentError:
        return None

    def uniform(out, filled, seed, n: int) -> None:
        import cupy

        generator.stream(cupy.cuda.get_current_stream().ptr)
        generator.fill("curandGenerateUniform", out)

    return uniform


def _loaded() -> ctypes.CDLL | None:
    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401 (brings its cuRAND into the process)
    return library.load()
