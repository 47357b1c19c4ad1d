"""cuSPARSE's fastest product of a CSR matrix and a vector, as a case.

Each algorithm that the library has for CSR is prepared as its documentation says, and
timed; the fastest is what the case launches from then on.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import coursekit as ck
from coursekit.benchmarks.peers.cublas import check, current_stream, load
from coursekit.benchmarks.peers.trying import fastest
from coursekit.errors import LaunchError

LIBRARY = ("libcusparse.so.12", "libcusparse.so.13")
# Values of cuSPARSE's and CUDA's enumerations.
NOT_TRANSPOSED, INDEX_32, FROM_ZERO, REAL_32 = 0, 2, 0, 0
ALGORITHMS = {"default": 0, "CSR_ALG1": 2, "CSR_ALG2": 3}
TRIALS = 5
_WORD, _ONE, _ZERO = ctypes.c_void_p, ctypes.c_float(1), ctypes.c_float(0)


def case() -> Callable | None:
    """Return a case ``(starts, columns, values, x, y, ...)``, None without cuSPARSE."""
    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401 (brings its cuSPARSE into the process)
    library = load(LIBRARY)
    return Fastest(library) if library is not None else None


class Fastest:
    """A product by the fastest algorithm of cuSPARSE, chosen for each set of arrays."""

    def __init__(self, library: ctypes.CDLL):
        self.library = library
        self._chosen: dict[tuple, Product] = {}

    def __call__(self, starts, columns, values, x, y, *_) -> None:
        """Launch on the current stream."""
        arrays = starts, columns, values, x, y
        key = tuple(array.address for array in arrays)
        if key not in self._chosen:
            self._chosen = {key: self._fastest(arrays)}
        self._chosen[key].launch()

    def _fastest(self, arrays) -> Product:
        ways = [
            way
            for number in ALGORITHMS.values()
            if (way := Product.of(self.library, self._handle, arrays, number))
        ]
        chosen = fastest(ways, lambda way, best: _least_ms(way.launch))
        if chosen is None:
            raise LaunchError.explained(
                "cuSPARSE refuses to prepare any of its algorithms for CSR.",
                "The device is out of memory, or the library does not fit the driver.",
                "Take a smaller matrix, or install the CUDA wheels of one version.",
            )
        return chosen

    @functools.cached_property
    def _handle(self) -> ctypes.c_void_p:
        handle = _WORD()
        check(self.library.cusparseCreate(ctypes.byref(handle)), "cusparseCreate")
        return handle


def _least_ms(launch: Callable[[], None]) -> float:
    """Return the least time of a few launches; what is loaded late is loaded first."""
    import cupy

    times = []
    for _ in range(TRIALS + 1):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        launch()
        last.record()
        last.synchronize()
        times.append(cupy.cuda.get_elapsed_time(first, last))
    return min(times[1:])


@dataclass(frozen=True)
class Product:
    """y = A x, described to cuSPARSE and prepared.

    Attributes
    ----------
    library, handle
        The library and its context.
    operands : tuple
        What cusparseSpMV takes before its workspace.
    workspace : DeviceArray
        Which the preparation has filled.
    algorithm : int
    """

    library: ctypes.CDLL
    handle: ctypes.c_void_p
    operands: tuple
    workspace: Any
    algorithm: int

    @classmethod
    def of(cls, library, handle, arrays, algorithm: int) -> Product | None:
        """Prepare an algorithm; None where the library refuses it."""
        operands = _operands(library, arrays, algorithm)
        size = ctypes.c_size_t()
        _use_stream(library, handle)
        if library.cusparseSpMV_bufferSize(handle, *operands, ctypes.byref(size)):
            return None
        workspace = ck.empty(max(size.value, 1), "uint8")
        place = _WORD(workspace.address)
        if library.cusparseSpMV_preprocess(handle, *operands, place):
            return None
        return cls(library, handle, operands, workspace, algorithm)

    def launch(self) -> None:
        """Multiply on the current stream.

        Raises
        ------
        LaunchError
            The library refuses.
        """
        _use_stream(self.library, self.handle)
        place = _WORD(self.workspace.address)
        status = self.library.cusparseSpMV(self.handle, *self.operands, place)
        check(status, "cusparseSpMV")


def _use_stream(library, handle) -> None:
    status = library.cusparseSetStream(handle, _WORD(current_stream()))
    check(status, "cusparseSetStream")


def _operands(library, arrays, algorithm: int) -> tuple:
    starts, columns, values, x, y = arrays
    size = ctypes.c_int64
    rows, width, nonzeros = len(starts) - 1, len(x), int(ck.to_host(starts)[-1])
    matrix, given, found = _WORD(), _WORD(), _WORD()
    status = library.cusparseCreateCsr(
        ctypes.byref(matrix), size(rows), size(width), size(nonzeros),
        _WORD(starts.address), _WORD(columns.address), _WORD(values.address),
        INDEX_32, INDEX_32, FROM_ZERO, REAL_32,
    )  # fmt: skip
    check(status, "cusparseCreateCsr")
    for vector, array in ((given, x), (found, y)):
        status = library.cusparseCreateDnVec(
            ctypes.byref(vector), size(len(array)), _WORD(array.address), REAL_32
        )
        check(status, "cusparseCreateDnVec")
    return (
        NOT_TRANSPOSED, ctypes.byref(_ONE), matrix, given, ctypes.byref(_ZERO), found,
        REAL_32, algorithm,
    )  # fmt: skip
