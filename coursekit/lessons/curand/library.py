"""cuRAND itself, through its C interface: on a GPU, or by its host generators."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.runtime.arrays import DeviceArray

NAME = "libcurand.so.10"
TYPES = {
    "PSEUDO_DEFAULT": 100,
    "PSEUDO_XORWOW": 101,
    "PSEUDO_MRG32K3A": 121,
    "PSEUDO_MTGP32": 141,
    "PSEUDO_MT19937": 142,
    "PSEUDO_PHILOX4_32_10": 161,
    "QUASI_DEFAULT": 200,
    "QUASI_SOBOL32": 201,
}
ORDERINGS = {
    "PSEUDO_BEST": 100,
    "PSEUDO_DEFAULT": 101,
    "PSEUDO_SEEDED": 102,
    "PSEUDO_LEGACY": 103,
    "PSEUDO_DYNAMIC": 104,
    "QUASI_DEFAULT": 201,
}
STATUS = {
    100: "VERSION_MISMATCH",
    101: "NOT_INITIALIZED",
    102: "ALLOCATION_FAILED",
    103: "TYPE_ERROR",
    104: "OUT_OF_RANGE",
    105: "LENGTH_NOT_MULTIPLE",
    106: "DOUBLE_PRECISION_REQUIRED",
    201: "LAUNCH_FAILURE",
    202: "PREEXISTING_FAILURE",
    203: "INITIALIZATION_FAILED",
    204: "ARCH_MISMATCH",
    999: "INTERNAL_ERROR",
}


@functools.cache
def load() -> ctypes.CDLL | None:
    """Return the library of the package nvidia-curand or of the system, or None."""
    found = importlib.util.find_spec("nvidia")
    places = (found.submodule_search_locations or ()) if found else ()
    names = [Path(place) / "cu13" / "lib" / NAME for place in places]
    for name in [*(str(path) for path in names if path.exists()), NAME]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def check(status: int, call: str) -> None:
    """Raise ArgumentError where a call returns another status than success."""
    if status:
        raise ArgumentError.explained(
            f"{call} returns CURAND_STATUS_{STATUS.get(status, status)}.",
            "This type of generator has no such setting, or not this value of it.",
            "Compare the call with the table of generators in cuRAND's documentation.",
        )


class Native:
    """A generator of the library, on the device or on the host."""

    def __init__(self, rng_type: str, on_device: bool):
        self.library, self.on_device = load(), on_device
        self.handle = ctypes.c_void_p()
        create = "curandCreateGenerator" + ("" if on_device else "Host")
        self._call(create, ctypes.byref(self.handle), TYPES[rng_type], new=True)

    def _call(self, name: str, *arguments, new: bool = False) -> None:
        handle = () if new else (self.handle,)
        check(getattr(self.library, name)(*handle, *arguments), name)

    def configure(self, seed: int | None, offset: int, ordering: str | None) -> None:
        """Set what is given; a quasirandom generator has no seed."""
        if ordering is not None:
            self._call("curandSetGeneratorOrdering", ORDERINGS[ordering])
        if seed is not None:
            word = ctypes.c_ulonglong(seed)
            self._call("curandSetPseudoRandomGeneratorSeed", word)
        if offset:
            self._call("curandSetGeneratorOffset", ctypes.c_ulonglong(offset))

    def dimensions(self, count: int) -> None:
        """Set the dimensions of a quasirandom generator."""
        name = "curandSetQuasiRandomGeneratorDimensions"
        self._call(name, ctypes.c_uint(count))

    def stream(self, pointer: int) -> None:
        """Let the device's generator launch on a stream."""
        self._call("curandSetStream", ctypes.c_void_p(pointer))

    def fill(self, function: str, out: np.ndarray | DeviceArray, *moments) -> None:
        """Generate as many values as an array of the right place has."""
        place = out.ctypes.data if isinstance(out, np.ndarray) else out.address
        rest = [ctypes.c_float(value) for value in moments]
        self._call(function, ctypes.c_void_p(place), ctypes.c_size_t(out.size), *rest)

    def __del__(self):
        if self.handle and self.library is not None:
            self.library.curandDestroyGenerator(self.handle)
