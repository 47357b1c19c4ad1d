"""cublasLtMatmul: layouts as objects, scales, and an epilogue before the store.

CuPy has no bindings of cuBLASLt, so NumPy computes here on a GPU's machine too, and
says so. kernels/libraries/lt_bias_gelu.cu calls the library itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cublas import arithmetic, views
from coursekit.lessons.cublas.call import Call
from coursekit.lessons.cublas.numeric_types import compute_type, load, store

ORACLE = "NumPy, an oracle in cuBLASLt's place"
EPILOGUES = ("DEFAULT", "BIAS", "RELU", "RELU_BIAS", "GELU", "GELU_BIAS")
EIGHT_BITS = ("R_8F_E4M3", "R_8F_E5M2")


@dataclass(frozen=True)
class Layout:
    """How a matrix lies in memory: cublasLtMatrixLayout_t.

    Attributes
    ----------
    element_type : str
        A name of cudaDataType without CUDA_, such as "R_16F".
    rows, cols : int
        The shape.
    ld : int
        Distance from a column to the next; with the order ROW, from a row to the next.
    order : "COL" or "ROW"
        Whether columns or rows are contiguous.
    """

    element_type: str
    rows: int
    cols: int
    ld: int
    order: str = "COL"

    def of(self, array: np.ndarray, name: str) -> np.ndarray:
        """Return the view of a matrix that lies so."""
        if self.order == "ROW":
            return views.matrix(array, name, self.cols, self.rows, self.ld).T
        if self.order == "COL":
            return views.matrix(array, name, self.rows, self.cols, self.ld)
        raise ArgumentError.explained(
            f"The order of {name} is {self.order!r}.",
            "A column is contiguous with COL, a row with ROW.",
            "Take COL or ROW.",
        )


@dataclass(frozen=True)
class MatmulDesc:
    """What a product does: cublasLtMatmulDesc_t.

    Attributes
    ----------
    compute_type : str
        A name of cublasComputeType_t without CUBLAS_, such as "COMPUTE_32F".
    transa, transb : "N", "T" or "C"
        Whether A and B are transposed.
    epilogue : str
        What happens to a result before it is stored, such as "GELU_BIAS".
    bias : numpy.ndarray, optional
        A value for each row of D, of the type of D.
    a_scale, b_scale : float
        Factors that FP8 elements are multiplied by.
    """

    compute_type: str
    transa: str = "N"
    transb: str = "N"
    epilogue: str = "DEFAULT"
    bias: np.ndarray | None = None
    a_scale: float = 1.0
    b_scale: float = 1.0

    def finish(self, result: np.ndarray, element_type: str) -> np.ndarray:
        """Apply the epilogue to a product in the accumulator's type."""
        self._require(result.shape[0])
        kind = result.dtype.type
        if self.bias is not None:
            result = result + load(self.bias, element_type).astype(kind)[:, None]
        if self.epilogue.startswith("RELU"):
            return np.maximum(result, kind(0))
        return gelu(result) if self.epilogue.startswith("GELU") else result

    def _require(self, rows: int) -> None:
        if self.epilogue not in EPILOGUES:
            raise ArgumentError.explained(
                f"There is no epilogue {self.epilogue!r}.",
                "An epilogue is a fixed choice of the library, no function of yours.",
                f"Take one of {', '.join(EPILOGUES)}.",
            )
        wants = self.epilogue.endswith("BIAS")
        if wants == (self.bias is None):
            raise ArgumentError.explained(
                f"The epilogue is {self.epilogue}, and bias is "
                f"{'None' if self.bias is None else 'given'}.",
                "An epilogue whose name ends in BIAS adds one, and no other does.",
                "Give both, or neither.",
            )
        if self.bias is not None and self.bias.shape != (rows,):
            raise ArgumentError.explained(
                f"bias has the shape {self.bias.shape}, and D has {rows} rows.",
                "cuBLASLt adds bias[i] to row i of D, in every column.",
                "A bias per column is a bias per row of the transposed product: swap A "
                "and B.",
            )


def gelu(x: np.ndarray) -> np.ndarray:
    """Return GELU in its tanh form, in the type of x."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return (0.5 * x * (1 + np.tanh(inner))).astype(x.dtype)


def lt_matmul(
    computeDesc: MatmulDesc,
    alpha: float,
    A: np.ndarray,
    Adesc: Layout,
    B: np.ndarray,
    Bdesc: Layout,
    beta: float,
    C: np.ndarray,
    Cdesc: Layout,
    D: np.ndarray,
    Ddesc: Layout,
) -> Call:
    """Set D to epilogue(alpha * op(A) op(B) + beta * C): cublasLtMatmul.

    Parameters
    ----------
    computeDesc : MatmulDesc
    alpha, beta : float
        With beta = 0, C is not read.
    A, B, C, D : numpy.ndarray
        Memory that lies as the layouts say; D changes, and may be C.
    Adesc, Bdesc, Cdesc, Ddesc : Layout

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        Shapes, types or distances that do not fit.
    """
    rule = compute_type(computeDesc.compute_type, Adesc.element_type)
    compute_type(computeDesc.compute_type, Bdesc.element_type)
    _require_operations(computeDesc, (Adesc, Bdesc))
    a = views.applied(computeDesc.transa, Adesc.of(A, "A"))
    b = views.applied(computeDesc.transb, Bdesc.of(B, "B"))
    c, d = Cdesc.of(C, "C"), Ddesc.of(D, "D")
    _require_fit(a.shape, b.shape, c.shape, d.shape)
    total = arithmetic.product(
        load(a, Adesc.element_type), load(b, Bdesc.element_type), rule
    )
    scale = alpha * computeDesc.a_scale * computeDesc.b_scale
    result = arithmetic.scaled(total, scale, beta, load(c, Cdesc.element_type))
    d[...] = store(computeDesc.finish(result, Ddesc.element_type), Ddesc.element_type)
    moved = sum(m.nbytes for m in (a, b, d)) + (c.nbytes if beta else 0)
    moved += computeDesc.bias.nbytes if computeDesc.bias is not None else 0
    (m, k), n = a.shape, b.shape[1]
    return Call("cublasLtMatmul", 2 * m * n * k, moved, ORACLE)


def _require_fit(a: tuple, b: tuple, c: tuple, d: tuple) -> None:
    if a[1] != b[0] or c != d or d != (a[0], b[1]):
        raise views.refuse(
            f"op(A) is {a[0]} x {a[1]}, op(B) is {b[0]} x {b[1]}, "
            f"C is {c[0]} x {c[1]}, D is {d[0]} x {d[1]}",
            "The shapes of the layouts do not make a product.",
            "With transa = T, the layout of A has the shape of A before it is "
            "transposed.",
        )


def _require_operations(desc: MatmulDesc, layouts: tuple) -> None:
    eights = [layout.element_type in EIGHT_BITS for layout in layouts]
    if any(eights) and (desc.transa, desc.transb) != ("T", "N"):
        raise ArgumentError.explained(
            f"CUBLAS_STATUS_NOT_SUPPORTED: FP8 with transa = {desc.transa}, "
            f"transb = {desc.transb}.",
            "On Hopper the FP8 tensor cores read both operands along k, so A is "
            "transposed and B is not.",
            "Store A with k contiguous, and take transa = T, transb = N.",
        )
