"""Levels 1 and 2: vectors, and a matrix times a vector, in float32 or float64."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cublas import library
from coursekit.lessons.cublas.call import LIBRARY, ORACLE, Call
from coursekit.lessons.cublas.views import applied, matrix, stored_shape, vector

LETTERS = {np.dtype(np.float32): "S", np.dtype(np.float64): "D"}


def letter(*arrays: np.ndarray) -> str:
    """Return S or D, the letter of a function for the arrays' type."""
    kinds = {array.dtype for array in arrays}
    if len(kinds) != 1 or not kinds <= set(LETTERS):
        raise ArgumentError.explained(
            f"The arrays hold {', '.join(sorted(map(str, kinds)))}.",
            "A function of cuBLAS has a letter for one type: S for float32, D for "
            "float64.",
            "Convert the arrays to one of them, or use gemm_ex.",
        )
    return LETTERS[kinds.pop()]


def axpy(
    n: int, alpha: float, x: np.ndarray, incx: int, y: np.ndarray, incy: int
) -> Call:
    """Add alpha * x to y: cublasSaxpy, cublasDaxpy.

    Parameters
    ----------
    n : int
        Elements of each vector.
    alpha : float
    x, y : numpy.ndarray
        Memory of float32 or float64; y changes.
    incx, incy : int
        Distance from an element to the next, in elements.

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.

    Examples
    --------
    >>> y = np.ones(3, np.float32)
    >>> _ = axpy(2, 2.0, np.arange(4, dtype=np.float32), 2, y, 1)
    >>> y
    array([1., 5., 1.], dtype=float32)
    """
    kind = letter(x, y)
    xs, ys = vector(x, "x", n, incx), vector(y, "y", n, incy)
    name = f"cublas{kind}axpy"
    if library.is_here():
        library.axpy(kind, n, alpha, x, incx, y, incy)
    else:
        ys += ys.dtype.type(alpha) * xs
    return _call(name, 2 * n, 3 * n * y.itemsize)


def dot(
    n: int, x: np.ndarray, incx: int, y: np.ndarray, incy: int, result: np.ndarray
) -> Call:
    """Store the sum of x[i] * y[i] in result[0]: cublasSdot, cublasDdot.

    Parameters
    ----------
    n : int
        Elements of each vector.
    x, y : numpy.ndarray
        Memory of float32 or float64.
    incx, incy : int
        Distance from an element to the next, in elements.
    result : numpy.ndarray
        One element.

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.
    """
    kind = letter(x, y, result)
    xs, ys = vector(x, "x", n, incx), vector(y, "y", n, incy)
    if library.is_here():
        library.dot(kind, n, x, incx, y, incy, result)
    else:
        result.reshape(-1)[0] = np.dot(xs.astype(np.float64), ys.astype(np.float64))
    return _call(f"cublas{kind}dot", 2 * n, 2 * n * x.itemsize)


def nrm2(n: int, x: np.ndarray, incx: int, result: np.ndarray) -> Call:
    """Store the length of the vector x in result[0]: cublasSnrm2, cublasDnrm2.

    Parameters
    ----------
    n : int
        Elements of the vector.
    x : numpy.ndarray
        Memory of float32 or float64.
    incx : int
        Distance from an element to the next, in elements.
    result : numpy.ndarray
        One element.

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.
    """
    kind = letter(x, result)
    xs = vector(x, "x", n, incx)
    if library.is_here():
        library.nrm2(kind, n, x, incx, result)
    else:
        result.reshape(-1)[0] = np.linalg.norm(xs.astype(np.float64))
    return _call(f"cublas{kind}nrm2", 2 * n, n * x.itemsize)


def gemv(
    trans: str,
    m: int,
    n: int,
    alpha: float,
    A: np.ndarray,
    lda: int,
    x: np.ndarray,
    incx: int,
    beta: float,
    y: np.ndarray,
    incy: int,
) -> Call:
    """Set y to alpha * op(A) x + beta * y: cublasSgemv, cublasDgemv.

    Parameters
    ----------
    trans : "N", "T" or "C"
        Whether A is transposed.
    m, n : int
        Rows and columns of A in memory, by columns.
    alpha, beta : float
        With beta = 0, y is written without being read.
    A, x, y : numpy.ndarray
        Memory of float32 or float64; y changes.
    lda : int
        Distance from a column of A to the next, in elements.
    incx, incy : int
        Distance from an element to the next, in elements.

    Returns
    -------
    Call

    Raises
    ------
    ArgumentError
        What cuBLAS refuses, or an access beyond an array.
    """
    kind = letter(A, x, y)
    rows, columns = stored_shape(trans, m, n)
    a, xs = matrix(A, "A", m, n, lda), vector(x, "x", columns, incx)
    ys = vector(y, "y", rows, incy)
    if library.is_here():
        library.gemv(kind, (trans, m, n), (alpha, beta), (A, lda, x, incx, y, incy))
    else:
        total = (applied(trans, a).astype(np.float64) @ xs).astype(y.dtype)
        scaled = y.dtype.type(alpha) * total
        ys[...] = scaled if beta == 0 else scaled + y.dtype.type(beta) * ys
    moved = (m * n + columns + (2 if beta else 1) * rows) * y.itemsize
    return _call(f"cublas{kind}gemv", 2 * m * n, moved)


def _call(name: str, operations: int, nbytes: int) -> Call:
    return Call(name, operations, nbytes, LIBRARY if library.is_here() else ORACLE)
