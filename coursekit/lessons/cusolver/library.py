"""The calls on a GPU, through the C interface of cuSOLVER.

Arrays are copied to the device for a call, and copied back after it.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from coursekit.errors import LaunchError
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import to_device, to_host

NAMES = "libcusolver.so.12", "libcusolver.so.11"
# Values of cublasFillMode_t, cublasOperation_t and cusolverEigMode_t.
FLAGS = {"L": 0, "U": 1, "N": 0, "T": 1, "NOVECTOR": 0, "VECTOR": 1}


def is_here() -> bool:
    """Say whether launches go to a GPU, and so calls to the library."""
    return backends.current().space == "gpu"


@functools.cache
def _library() -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """Return the library, and a handle of this process."""
    import torch  # noqa: F401 (brings its cuSOLVER into the process)

    for name in NAMES:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise LaunchError.explained(
            f"None of {', '.join(NAMES)} can be loaded.",
            "PyTorch's CUDA build brings cuSOLVER; this one is for CPUs.",
            "Install the course's extra for GPUs: make setup.",
        )
    handle = ctypes.c_void_p()
    _done(library.cusolverDnCreate(ctypes.byref(handle)), "cusolverDnCreate")
    return library, handle


def _done(status: int, call: str) -> None:
    if status:
        raise LaunchError.explained(
            f"{call} returns the cusolverStatus_t {status}.",
            "An argument is refused, or the device is out of memory.",
            "Look the number up in cusolver_common.h.",
        )


def run(call: str, *arguments: np.ndarray | str | bytes | int | None) -> int:
    """Run a call whose last argument is info; return info.

    A str is a flag, an int is an int, a character (bytes) is a char, and an array is
    copied to the device and back. None is a null pointer.
    """
    library, handle = _library()
    copies = [
        (array, to_device(array.reshape(-1, order="A")))
        for array in arguments
        if isinstance(array, np.ndarray)
    ]
    placed = {id(array): copy for array, copy in copies}
    info = to_device(np.zeros(1, np.int32))
    converted = [_converted(argument, placed) for argument in arguments]
    function = getattr(library, f"cusolverDn{call}")
    _done(function(handle, *converted, ctypes.c_void_p(info.address)), call)
    for array, copy in copies:
        array.reshape(-1, order="A")[...] = to_host(copy)
    return int(to_host(info)[0])


def _converted(argument: np.ndarray | str | bytes | int | None, placed: dict) -> object:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(placed[id(argument)].address)
    if isinstance(argument, bytes):
        return ctypes.c_byte(argument[0])
    if isinstance(argument, str):
        return ctypes.c_int(FLAGS[argument])
    return None if argument is None else ctypes.c_int(argument)


def buffer_size(call: str, m: int, n: int, kind: str) -> int:
    """Ask the library for the elements of a workspace."""
    library, handle = _library()
    size, null = ctypes.c_int(), ctypes.c_void_p()
    before: dict[str, tuple] = {
        "getrf": (m, n, null, max(m, 1)),
        "geqrf": (m, n, null, max(m, 1)),
        "orgqr": (m, n, n, null, max(m, 1), null),
        "potrf": (FLAGS["L"], n, null, max(n, 1)),
        "gesvd": (m, n),
        "syevd": (FLAGS["VECTOR"], FLAGS["L"], n, null, max(n, 1), null),
    }
    function = getattr(library, f"cusolverDn{kind}{call}_bufferSize")
    _done(function(handle, *before[call], ctypes.byref(size)), f"{call}_bufferSize")
    return size.value
