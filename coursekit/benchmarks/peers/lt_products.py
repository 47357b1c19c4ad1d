"""Matrix products by cublasLt, with what follows them in the same kernel."""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass, field
from typing import Any

from coursekit.benchmarks.peers import cublas
from coursekit.benchmarks.peers.cublas import Proposal
from coursekit.benchmarks.peers.trying import best_ms, fastest
from coursekit.errors import LaunchError

WORKSPACE_BYTES = 32 << 20
# Values of cublasLt's enumerations.
COMPUTE = {"tf32": 77, "fp32": 68}
TRANSPOSED_LEFT, TRANSPOSED_RIGHT, AFTERWARDS = 3, 4, 7
BIAS, MASK, MASK_PITCH = 8, 11, 12
EPILOGUES = {
    "": 1, "bias": 4, "relu_bias": 2 | 128 | 4, "relu_backward": 8 | 128 | 16,
    "sum_right": 512,
}  # fmt: skip
_WORD = ctypes.c_void_p


@dataclass(frozen=True)
class Matrix:
    """A row-major tensor as cublasLt sees it: by columns, so as its transpose.

    Attributes
    ----------
    tensor : Tensor
        Two-dimensional.
    turned : bool
        Whether the transpose of what cublasLt sees is meant.
    """

    tensor: Any
    turned: bool = False

    def layout(self, lt) -> ctypes.c_void_p:
        """Describe it to cublasLt."""
        rows, columns = self.tensor.shape
        return cublas.layout(lt, columns, rows, self.tensor.stride(0))


@dataclass(frozen=True)
class After:
    """What follows a product in its kernel.

    Attributes
    ----------
    name : str
        One of `EPILOGUES`: "bias" adds a bias to each row of the row-major result,
        "relu_bias" cuts off what is negative as well and keeps in `mask` where;
        "relu_backward" lets through by `mask`, and sums the result up into `bias`;
        "sum_right" sums the right factor up into `bias`.
    bias, mask : Tensor, optional
    """

    name: str = ""
    bias: Any = None
    mask: Any = None


@functools.cache
def library() -> ctypes.CDLL:
    """Return cublasLt, PyTorch's where that has one.

    Raises
    ------
    LaunchError
        There is none.
    """
    import torch  # noqa: F401 (brings its cublasLt into the process)

    installed = cublas.load(cublas.LIBRARIES[1])
    if installed is None:
        raise LaunchError.explained(
            "cublasLt is not found.",
            "It comes with PyTorch's CUDA wheels and with the CUDA toolkit.",
            "Install one of them.",
        )
    return installed


@functools.cache
def _handle() -> ctypes.c_void_p:
    handle = _WORD()
    cublas.check(library().cublasLtCreate(ctypes.byref(handle)), "cublasLtCreate")
    return handle


def _stream() -> int:
    import torch

    return torch.cuda.current_stream().cuda_stream


@dataclass
class Product:
    """out = left right, as cublasLt sees them, in the fastest way that it proposes.

    Attributes
    ----------
    left, right : Matrix
    out : Tensor
        Row-major; what cublasLt sees is its transpose.
    precision : str
        "tf32" or "fp32".
    after : After
    """

    left: Matrix
    right: Matrix
    out: Any
    precision: str
    after: After = field(default_factory=After)

    def __post_init__(self):
        import torch

        place = self.out.device
        self.workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=place)
        self.matrices = self.left, self.right, Matrix(self.out)
        self.plan = self._planned()
        self.proposal = fastest(self.plan.proposals(), self._best_ms)
        if self.proposal is None:
            raise LaunchError.explained(
                f"cublasLt makes no product with {self.after.name or 'nothing'!r} "
                f"behind it in {self.precision}.",
                "This version lacks the combination, or the device has no memory left.",
                "Take a newer cublasLt, or leave the case out.",
            )

    def __call__(self) -> None:
        """Launch on PyTorch's current stream."""
        self._launch(self.proposal)

    def _launch(self, proposal: Proposal) -> None:
        addresses = tuple(matrix.tensor.data_ptr() for matrix in self.matrices)
        self.plan.launch(proposal, addresses, _stream())

    def _planned(self) -> cublas.Plan:
        lt = library()
        layouts = tuple(matrix.layout(lt) for matrix in self.matrices)
        room = self.workspace.data_ptr(), WORKSPACE_BYTES
        return cublas.Plan(lt, _handle(), self._described(lt), layouts, *room)

    def _described(self, lt) -> ctypes.c_void_p:
        held = _WORD()
        kind = COMPUTE[self.precision], cublas.REAL_32
        status = lt.cublasLtMatmulDescCreate(ctypes.byref(held), *kind)
        cublas.check(status, "cublasLtMatmulDescCreate")
        after = self.after
        values = {
            TRANSPOSED_LEFT: ctypes.c_int32(self.left.turned),
            TRANSPOSED_RIGHT: ctypes.c_int32(self.right.turned),
            AFTERWARDS: ctypes.c_int32(EPILOGUES[after.name]),
        }
        if after.bias is not None:
            values[BIAS] = _WORD(after.bias.data_ptr())
        if after.mask is not None:
            values[MASK] = _WORD(after.mask.data_ptr())
            values[MASK_PITCH] = ctypes.c_int64(8 * after.mask.shape[1])
        for name, value in values.items():
            status = lt.cublasLtMatmulDescSetAttribute(
                held, name, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))
            )
            cublas.check(status, f"cublasLtMatmulDescSetAttribute({name})")
        return held

    def _best_ms(self, proposal: Proposal, best: float) -> float:
        """Time a proposal; infinity where the library refuses."""
        try:
            return best_ms(functools.partial(self._launch, proposal), best)
        except LaunchError:
            return math.inf
