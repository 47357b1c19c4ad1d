"""Matrix products by cublasLt, with what follows them in the same kernel."""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass, field
from typing import Any

from coursekit.errors import LaunchError
from coursekit.recording import cublas
from coursekit.recording.cublas import Proposal
from coursekit.recording.trying import best_ms, fastest

WORKSPACE_BYTES = 32 << 20
# Values of cublasLt's enumerations.
COMPUTE = {"tf32": 77, "fp32": 68}
TRANSPOSED_LEFT, TRANSPOSED_RIGHT, AFTERWARDS, BIAS, MASK, MASK_PITCH = (
    3,
    4,
    7,
    8,
    11,
    12,
)
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
        held = _WORD()
        status = lt.cublasLtMatrixLayoutCreate(
            ctypes.byref(held), cublas.REAL_32, ctypes.c_uint64(columns),
            ctypes.c_uint64(rows), ctypes.c_int64(self.tensor.stride(0)),
        )  # fmt: skip
        cublas._check(status, "cublasLtMatrixLayoutCreate")
        return held


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

    found = cublas._load(cublas.LIBRARIES[1])
    if found is None:
        raise LaunchError.explained(
            "cublasLt is not found.",
            "It comes with PyTorch's CUDA wheels and with the CUDA toolkit.",
            "Install one of them.",
        )
    return found


@functools.cache
def _handle() -> ctypes.c_void_p:
    handle = _WORD()
    cublas._check(library().cublasLtCreate(ctypes.byref(handle)), "cublasLtCreate")
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

        self.lt, place = library(), self.out.device
        self.workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=place)
        self.product = self._described()
        matrices = self.left, self.right, Matrix(self.out)
        self.layouts = [matrix.layout(self.lt) for matrix in matrices]
        self.proposal = fastest(self._proposals(), self._best_ms)
        if self.proposal is None:
            raise LaunchError.explained(
                f"cublasLt makes no product with {self.after.name or 'nothing'!r} "
                f"behind it in {self.precision}.",
                "This version lacks the combination, or the device has no memory left.",
                "Take a newer cublasLt, or leave the case out.",
            )

    def __call__(self) -> None:
        """Launch on PyTorch's current stream."""
        self._checked(self.proposal)

    def _checked(self, proposal: Proposal) -> None:
        cublas._check(self._launch(proposal), "cublasLtMatmul")

    def _described(self) -> ctypes.c_void_p:
        held, lt = _WORD(), self.lt
        kind = COMPUTE[self.precision], cublas.REAL_32
        status = lt.cublasLtMatmulDescCreate(ctypes.byref(held), *kind)
        cublas._check(status, "cublasLtMatmulDescCreate")
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
            cublas._check(status, f"cublasLtMatmulDescSetAttribute({name})")
        return held

    def _proposals(self):
        """Ask for ways to compute, those first that the library takes for faster."""
        lt, preference, count = self.lt, _WORD(), ctypes.c_int()
        status = lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference))
        cublas._check(status, "cublasLtMatmulPreferenceCreate")
        most = ctypes.c_uint64(WORKSPACE_BYTES)
        lt.cublasLtMatmulPreferenceSetAttribute(
            preference, cublas.MAX_WORKSPACE, ctypes.byref(most), ctypes.c_size_t(8)
        )
        found = (Proposal * cublas.PROPOSALS)()
        left, right, out = self.layouts
        status = lt.cublasLtMatmulAlgoGetHeuristic(
            _handle(), self.product, left, right, out, out, preference,
            cublas.PROPOSALS, found, ctypes.byref(count),
        )  # fmt: skip
        lt.cublasLtMatmulPreferenceDestroy(preference)
        some = found[: 0 if status else count.value]
        return [proposal for proposal in some if not proposal.state]

    def _launch(self, proposal: Proposal) -> int:
        left, right, out = self.layouts
        into = _WORD(self.out.data_ptr())
        return self.lt.cublasLtMatmul(
            _handle(), self.product, ctypes.byref(cublas._ONE),
            _WORD(self.left.tensor.data_ptr()), left,
            _WORD(self.right.tensor.data_ptr()), right, ctypes.byref(cublas._ZERO),
            into, out, into, out, ctypes.byref(proposal.algorithm),
            _WORD(self.workspace.data_ptr()), ctypes.c_size_t(WORKSPACE_BYTES),
            _WORD(_stream()),
        )  # fmt: skip

    def _best_ms(self, proposal: Proposal, best: float) -> float:
        """Time a proposal; infinity where the library refuses."""
        try:
            return best_ms(functools.partial(self._checked, proposal), best)
        except LaunchError:
            return math.inf
