"""Level 3: products of matrices, of all types, one or many at equal distances."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cublas import arithmetic, library, views
from coursekit.lessons.cublas.call import LIBRARY, ORACLE, Call
from coursekit.lessons.cublas.levels import letter
from coursekit.lessons.cublas.numeric_types import (
    HELD_IN,
    ComputeType,
    compute_type,
    load,
    store,
)
from coursekit.lessons.cublas.operands import Factor, Product

ALGORITHMS = ("GEMM_DEFAULT", "GEMM_AUTOTUNE")


def computed(name: str, product: Product, factors: list[Factor]) -> Call:
    """Change C, by the library where it is, else by the oracle."""
    shapes = product.shapes()
    stored = [
        [f.of_batch(*s, entry) for f, s in zip(factors, shapes, strict=True)]
        for entry in range(product.batch)
    ]
    if library.is_here():
        library.gemm_strided_batched_ex(product, factors)
    else:
        for a, b, c in stored:
            _by_oracle(product, factors, (a, b, c))
    left, right, result = (
        rows * columns * factor.array.itemsize
        for factor, (rows, columns) in zip(factors, shapes, strict=True)
    )
    moved = product.batch * (left + right + (2 if product.beta else 1) * result)
    done = LIBRARY if library.is_here() else ORACLE
    operations = 2 * product.batch * product.m * product.n * product.k
    return Call(name, operations, moved, done)


def _by_oracle(product: Product, factors: list[Factor], stored: tuple) -> None:
    """Compute one product of the batch from the views of its matrices."""
    left, right, out = (factor.element_type for factor in factors)
    a, b, c = stored
    total = arithmetic.product(
        views.applied(product.transa, load(a, left)),
        views.applied(product.transb, load(b, right)),
        product.rule,
    )
    result = arithmetic.scaled(total, product.alpha, product.beta, load(c, out))
    c[...] = store(result, out)


def gemm(
    transa: str,
    transb: str,
    m: int,
    n: int,
    k: int,
    alpha: float,
    A: np.ndarray,
    lda: int,
    B: np.ndarray,
    ldb: int,
    beta: float,
    C: np.ndarray,
    ldc: int,
) -> Call:
    """Set C to alpha * op(A) op(B) + beta * C: cublasSgemm, cublasDgemm.

    All matrices lie by columns: element (i, j) of A is A[i + j * lda].

    Parameters
    ----------
    transa, transb : "N", "T" or "C"
        Whether A and B are transposed.
    m, n, k : int
        op(A) is m x k, op(B) is k x n, and C is m x n.
    alpha, beta : float
        With beta = 0, C is written without being read.
    A, B, C : numpy.ndarray
        Memory of float32 or float64; C changes.
    lda, ldb, ldc : int
        Distance from a column to the next, in elements.

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.

    Examples
    --------
    >>> A = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    >>> C = np.zeros_like(A)
    >>> _ = gemm("N", "N", 2, 2, 2, 1.0, A, 2, A, 2, 0.0, C, 2)
    >>> C
    array([[ 7., 10.],
           [15., 22.]])
    """
    kind = letter(A, B, C)
    width = 32 if kind == "S" else 64
    element = f"R_{width}F"
    rule = compute_type(f"COMPUTE_{width}F", element)
    factors = [
        Factor(name, array, element, ld)
        for name, array, ld in (("A", A, lda), ("B", B, ldb), ("C", C, ldc))
    ]
    product = Product(transa, transb, m, n, k, alpha, beta, rule)
    return computed(f"cublas{kind}gemm", product, factors)


def gemm_ex(
    transa: str,
    transb: str,
    m: int,
    n: int,
    k: int,
    alpha: float,
    A: np.ndarray,
    Atype: str,
    lda: int,
    B: np.ndarray,
    Btype: str,
    ldb: int,
    beta: float,
    C: np.ndarray,
    Ctype: str,
    ldc: int,
    computeType: str,
    algo: str = "GEMM_DEFAULT",
) -> Call:
    """Set C to alpha * op(A) op(B) + beta * C, each of its type: cublasGemmEx.

    Parameters
    ----------
    transa, transb : "N", "T" or "C"
        Whether A and B are transposed.
    m, n, k : int
        op(A) is m x k, op(B) is k x n, and C is m x n.
    alpha, beta : float
        Of the accumulator's type; whole numbers for COMPUTE_32I.
    A, B, C : numpy.ndarray
        Memory that holds elements of Atype, Btype and Ctype; C changes.
    Atype, Btype, Ctype : str
        Names of cudaDataType without CUDA_, such as "R_16F".
    lda, ldb, ldc : int
        Distance from a column to the next, in elements.
    computeType : str
        A name of cublasComputeType_t without CUBLAS_, such as "COMPUTE_32F".
    algo : "GEMM_DEFAULT" or "GEMM_AUTOTUNE"

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.
    """
    factors = [Factor("A", A, Atype, lda), Factor("B", B, Btype, ldb)]
    factors.append(Factor("C", C, Ctype, ldc))
    if algo not in ALGORITHMS:
        raise ArgumentError.explained(
            f"There is no algorithm {algo!r} to choose.",
            "GEMM_ALGO3 and its like are names of kernels for old GPUs; the library "
            "ignores them since Ampere.",
            f"Take one of {', '.join(ALGORITHMS)}.",
        )
    rule = _rule(factors, computeType, (alpha, beta))
    product = Product(transa, transb, m, n, k, alpha, beta, rule)
    return computed("cublasGemmEx", product, factors)


def gemm_strided_batched_ex(
    transa: str,
    transb: str,
    m: int,
    n: int,
    k: int,
    alpha: float,
    A: np.ndarray,
    Atype: str,
    lda: int,
    strideA: int,
    B: np.ndarray,
    Btype: str,
    ldb: int,
    strideB: int,
    beta: float,
    C: np.ndarray,
    Ctype: str,
    ldc: int,
    strideC: int,
    batchCount: int,
    computeType: str,
) -> Call:
    """Compute many products whose matrices lie at equal distances in memory.

    It is cublasGemmStridedBatchedEx. Matrix number i of A begins at element
    i * strideA; a stride of 0 uses one matrix for all.

    Parameters
    ----------
    transa, transb : "N", "T" or "C"
        Whether A and B are transposed.
    m, n, k : int
        op(A) is m x k, op(B) is k x n, and C is m x n.
    alpha, beta : float
        Of the accumulator's type.
    A, B, C : numpy.ndarray
        Memory that holds elements of Atype, Btype and Ctype; C changes.
    Atype, Btype, Ctype : str
        Names of cudaDataType without CUDA_, such as "R_16F".
    lda, ldb, ldc : int
        Distance from a column to the next, in elements.
    strideA, strideB, strideC : int
        Distance from a matrix to the next, in elements.
    batchCount : int
        Products.
    computeType : str
        A name of cublasComputeType_t without CUBLAS_, such as "COMPUTE_32F".

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.
    """
    factors = [
        Factor("A", A, Atype, lda, strideA),
        Factor("B", B, Btype, ldb, strideB),
        Factor("C", C, Ctype, ldc, strideC),
    ]
    rule = _rule(factors, computeType, (alpha, beta))
    if strideC < m and batchCount > 1:
        raise ArgumentError.explained(
            f"strideC is {strideC}, with {batchCount} results of {m} x {n}.",
            "The results would lie over each other.",
            f"Without gaps, strideC is ldc * n = {ldc * n}.",
        )
    product = Product(transa, transb, m, n, k, alpha, beta, rule, batchCount)
    return computed("cublasGemmStridedBatchedEx", product, factors)


def _rule(factors: list[Factor], name: str, scales: tuple) -> ComputeType:
    """Return the compute type, where it fits types, scales and distances."""
    a, b, c = factors
    if any(factor.element_type.startswith("R_8F") for factor in factors):
        raise ArgumentError.explained(
            f"CUBLAS_STATUS_NOT_SUPPORTED: {a.element_type} in cublasGemmEx.",
            "FP8 needs scales, which only cuBLASLt takes.",
            "Use ck.cublas.lt_matmul for FP8.",
        )
    rule = compute_type(name, a.element_type)
    compute_type(name, b.element_type)
    whole = np.issubdtype(rule.sum_type, np.integer)
    if c.element_type not in HELD_IN or whole != (c.element_type == "R_32I"):
        raise ArgumentError.explained(
            f"CUBLAS_STATUS_NOT_SUPPORTED: {name} with a result of {c.element_type}.",
            "Sums of int8 are int32, and only they are.",
            "Take R_32I for COMPUTE_32I, a floating-point type for the others.",
        )
    if whole and any(scale != int(scale) for scale in scales):
        raise ArgumentError.explained(
            f"COMPUTE_32I got alpha, beta = {scales[0]}, {scales[1]}.",
            "alpha and beta have the accumulator's type, here int32; a scale such as "
            "0.01 would be read as other bits.",
            "Take 1 and 0, and scale the int32 results afterwards.",
        )
    if whole and (a.ld % 4 or b.ld % 4):
        raise ArgumentError.explained(
            f"CUBLAS_STATUS_NOT_SUPPORTED: lda = {a.ld}, ldb = {b.ld} for int8.",
            "COMPUTE_32I reads four elements at a time, so lda and ldb are multiples "
            "of 4.",
            "Pad the columns in memory to the next multiple of 4.",
        )
    return rule
