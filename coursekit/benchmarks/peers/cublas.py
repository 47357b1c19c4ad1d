"""The fastest float32 matrix product of the cuBLAS that a machine has, as a case.

cublasSgemm chooses one kernel by a rule; cublasLt proposes several. All are timed once
for a shape, and the fastest is what a case launches from then on: a peer as strong as
the library can be. None of them uses TF32.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import coursekit as ck
from coursekit.errors import LaunchError

PROPOSALS, TRIALS = 16, 5
WORKSPACE_BYTES = 64 << 20
LIBRARIES = (
    ("libcublas.so.13", "libcublas.so.12"),
    ("libcublasLt.so.13", "libcublasLt.so.12"),
)
# Values of cuBLAS's enumerations.
REAL_32, COMPUTE_32, NOT_TRANSPOSED, MAX_WORKSPACE = 0, 68, 0, 1
_WORD, _INT, _ONE, _ZERO = (
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_float(1),
    ctypes.c_float(0),
)


class Proposal(ctypes.Structure):
    """An algorithm that cublasLt proposes, cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace_bytes", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


def case() -> Callable | None:
    """Return a case ``(A, B, C, M, N, K)`` of row-major arrays, None without cuBLAS."""
    if importlib.util.find_spec("torch"):
        import torch  # noqa: F401 (brings its cuBLAS into the process)
    libraries = [load(names) for names in LIBRARIES]
    return Fastest(*libraries) if all(libraries) else None


def load(names) -> ctypes.CDLL | None:
    """Return the first library that is found, or None."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def check(status: int, what: str) -> None:
    """Raise LaunchError where a call of the library has failed."""
    if status:
        raise LaunchError.explained(
            f"{what} returns the status {status}.",
            "The library does not fit the driver, or the device is out of memory.",
            "Restart Python, or install the CUDA wheels of one version.",
        )


class Fastest:
    """A matrix product by the fastest kernel of cuBLAS, chosen at the first call."""

    def __init__(self, blas: ctypes.CDLL, lt: ctypes.CDLL):
        self.blas, self.lt = blas, lt
        self._chosen: dict[tuple, Callable] = {}
        self.names: dict[tuple, str] = {}

    def __call__(self, A, B, C, M: int, N: int, K: int) -> None:
        """Launch on the current stream."""
        shape = M, N, K
        if shape not in self._chosen:
            self.names[shape], self._chosen[shape] = self._fastest(A, B, C, shape)
        self._chosen[shape](A, B, C)

    def _fastest(self, A, B, C, shape) -> tuple[str, Callable]:
        ways = {
            "cublasSgemm": functools.partial(self._sgemm, shape),
            **self._ways(shape),
        }
        times = {name: _best_ms(way, A, B, C) for name, way in ways.items()}
        name = min(times, key=times.get)
        return name, ways[name]

    @functools.cached_property
    def _handle(self) -> ctypes.c_void_p:
        handle = _WORD()
        check(self.blas.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate")
        return handle

    def _sgemm(self, shape, A, B, C) -> None:
        """Row-major C = A B is, by columns, C' = B' A'."""
        M, N, K = map(_INT, shape)
        stream = _WORD(current_stream())
        check(self.blas.cublasSetStream_v2(self._handle, stream), "cublasSetStream")
        status = self.blas.cublasSgemm_v2(
            self._handle, NOT_TRANSPOSED, NOT_TRANSPOSED, N, M, K, ctypes.byref(_ONE),
            _WORD(B.address), N, _WORD(A.address), K, ctypes.byref(_ZERO),
            _WORD(C.address), N,
        )  # fmt: skip
        check(status, "cublasSgemm")

    def _ways(self, shape) -> dict[str, Callable]:
        """Return the algorithms that cublasLt proposes for a shape."""
        plan = Plan.of(self.lt, shape, self._workspace.address)
        return {
            f"cublasLt {number}": functools.partial(_launch, plan, proposal)
            for number, proposal in enumerate(plan.proposals())
        }

    @functools.cached_property
    def _workspace(self) -> ck.Array:
        return ck.empty(WORKSPACE_BYTES, "uint8")


def _launch(plan: Plan, proposal: Proposal, A, B, C) -> None:
    plan.launch(proposal, (B.address, A.address, C.address), current_stream())


def _best_ms(way: Callable, A, B, C) -> float:
    """Return the least time of a few launches; infinity where the library refuses."""
    import cupy

    times = []
    for _ in range(TRIALS + 1):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        try:
            way(A, B, C)
        except LaunchError:
            return float("inf")
        last.record()
        last.synchronize()
        times.append(cupy.cuda.get_elapsed_time(first, last))
    return min(times[1:])


def current_stream() -> int:
    """Return the handle of CuPy's current stream."""
    import cupy

    return cupy.cuda.get_current_stream().ptr


@dataclass(frozen=True)
class Plan:
    """A product described to cublasLt, with its workspace.

    Attributes
    ----------
    lt, handle, product
        The library, its context, and what it is to do.
    layouts : tuple
        Of the left factor, the right one and the result, each by columns.
    workspace, workspace_bytes : int
        Address and size; who makes the plan keeps the memory.
    """

    lt: ctypes.CDLL
    handle: ctypes.c_void_p
    product: ctypes.c_void_p
    layouts: tuple
    workspace: int
    workspace_bytes: int = WORKSPACE_BYTES

    @classmethod
    def of(cls, lt: ctypes.CDLL, shape: tuple[int, int, int], workspace: int) -> Plan:
        """Describe row-major C = A B as C' = B' A'."""
        M, N, K = shape
        handle, product = _WORD(), _WORD()
        check(lt.cublasLtCreate(ctypes.byref(handle)), "cublasLtCreate")
        status = lt.cublasLtMatmulDescCreate(ctypes.byref(product), COMPUTE_32, REAL_32)
        check(status, "cublasLtMatmulDescCreate")
        shapes = (N, K), (K, M), (N, M)
        layouts = tuple(layout(lt, rows, columns, rows) for rows, columns in shapes)
        return cls(lt, handle, product, layouts, workspace)

    def proposals(self) -> list[Proposal]:
        """Return the algorithms that the library proposes, in its order."""
        preference, count = _WORD(), _INT()
        status = self.lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
        check(status, "cublasLtMatmulPreferenceCreate")
        most = ctypes.c_uint64(self.workspace_bytes)
        self.lt.cublasLtMatmulPreferenceSetAttribute(
            preference, MAX_WORKSPACE, ctypes.byref(most), ctypes.c_size_t(8)
        )
        proposed = (Proposal * PROPOSALS)()
        left, right, out = self.layouts
        status = self.lt.cublasLtMatmulAlgoGetHeuristic(
            self.handle, self.product, left, right, out, out, preference, PROPOSALS,
            proposed, ctypes.byref(count),
        )  # fmt: skip
        self.lt.cublasLtMatmulPreferenceDestroy(preference)
        return [p for p in proposed[: 0 if status else count.value] if not p.state]

    def launch(self, proposal: Proposal, addresses: tuple, stream: int) -> None:
        """Compute by the proposed algorithm; addresses are in the order of layouts.

        Raises
        ------
        LaunchError
            The library refuses.
        """
        left, right, out = self.layouts
        a, b, c = map(_WORD, addresses)
        status = self.lt.cublasLtMatmul(
            self.handle, self.product, ctypes.byref(_ONE), a, left, b, right,
            ctypes.byref(_ZERO), c, out, c, out, ctypes.byref(proposal.algorithm),
            _WORD(self.workspace), ctypes.c_size_t(self.workspace_bytes),
            _WORD(stream),
        )  # fmt: skip
        check(status, "cublasLtMatmul")


def layout(lt: ctypes.CDLL, rows: int, columns: int, pitch: int) -> ctypes.c_void_p:
    """Describe a column-major float32 matrix with a leading dimension of `pitch`."""
    held = _WORD()
    status = lt.cublasLtMatrixLayoutCreate(
        ctypes.byref(held), REAL_32, ctypes.c_uint64(rows), ctypes.c_uint64(columns),
        ctypes.c_int64(pitch),
    )  # fmt: skip
    check(status, "cublasLtMatrixLayoutCreate")
    return held
