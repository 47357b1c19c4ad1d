"""Systems of linear equations: LU with pivots, and Cholesky's factors."""

from __future__ import annotations

import numpy as np

from coursekit.lessons.cusolver import library, operands, workspace


def getrf(
    m: int,
    n: int,
    A: np.ndarray,
    lda: int,
    work: np.ndarray,
    ipiv: np.ndarray | None = None,
) -> int:
    """Replace A by its factors L and U: cusolverDnSgetrf, cusolverDnDgetrf.

    Parameters
    ----------
    m, n : int
        Rows and columns of A.
    A : ndarray of float32 or float64
        By columns; L lies below the diagonal, whose ones are left out, U above.
    lda : int
        Elements from a column to the next.
    work : ndarray
        At least `buffer_size("getrf", m, n)` elements.
    ipiv : ndarray of int32, optional
        Gets the row, counted from 1, that each row was exchanged with. Without it
        nothing is exchanged.

    Returns
    -------
    int
        0, or the number of the first column, from 1, whose diagonal element of U is 0.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, view = operands.letter(A), operands.matrix(A, "A", m, n, lda)
    workspace.check("getrf", (m, n), work, A.dtype)
    rows = min(m, n)
    if ipiv is not None:
        operands.flat(ipiv, "ipiv", rows, np.int32)
    if library.is_here():
        return library.run(f"{kind}getrf", m, n, A, lda, work, ipiv)
    info = 0
    for k in range(rows):
        chosen = k
        if ipiv is not None:
            chosen = k + int(np.argmax(np.abs(view[k:, k])))
            ipiv[k] = chosen + 1
            view[[k, chosen]] = view[[chosen, k]]
        if view[k, k] == 0:
            info = info or k + 1
            continue
        view[k + 1 :, k] /= view[k, k]
        view[k + 1 :, k + 1 :] -= np.outer(view[k + 1 :, k], view[k, k + 1 :])
    return info


def getrs(
    trans: str,
    n: int,
    nrhs: int,
    A: np.ndarray,
    lda: int,
    ipiv: np.ndarray,
    B: np.ndarray,
    ldb: int,
) -> int:
    """Replace B by the solution X of op(A) X = B: cusolverDnSgetrs, cusolverDnDgetrs.

    Parameters
    ----------
    trans : "N" or "T"
        Whether A is transposed.
    n, nrhs : int
        A is n x n, B is n x nrhs.
    A, lda, ipiv
        What `getrf` made.
    B : ndarray
        Right-hand sides by columns; X takes their place.
    ldb : int
        Elements from a column of B to the next.

    Returns
    -------
    int
        0.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, factors = operands.letter(A), operands.matrix(A, "A", n, n, lda)
    operands.flat(B, "B", 0, A.dtype)
    right = operands.matrix(B, "B", n, nrhs, ldb)
    exchanges = operands.flat(ipiv, "ipiv", n, np.int32)
    if trans not in ("N", "T"):
        raise operands.refused(
            f"trans is {trans!r}", "op(A) is A, or A transposed.", "Take N or T."
        )
    if library.is_here():
        return library.run(f"{kind}getrs", trans, n, nrhs, A, lda, ipiv, B, ldb)
    order = np.arange(n)
    for k, other in enumerate(exchanges[:n] - 1):
        order[[k, other]] = order[[other, k]]
    lower = np.tril(factors, -1) + np.eye(n, dtype=A.dtype)
    upper = np.triu(factors)
    if trans == "N":
        right[...] = _swept(upper, _swept(lower, right[order], down=True), down=False)
    else:
        half = _swept(upper.T, right, down=True)
        right[order] = _swept(lower.T, half, down=False)
    return 0


def _swept(triangle: np.ndarray, right: np.ndarray, *, down: bool) -> np.ndarray:
    """Solve a triangular system; a 0 on the diagonal makes what is not finite."""
    x, rows = right.copy(), range(len(triangle))
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in rows if down else reversed(rows):
            x[k] /= triangle[k, k]
            others = slice(k + 1, None) if down else slice(0, k)
            x[others] -= np.outer(triangle[others, k], x[k])
    return x


def potrf(uplo: str, n: int, A: np.ndarray, lda: int, work: np.ndarray) -> int:
    """Replace a triangle of A by Cholesky's factor: cusolverDnSpotrf and Dpotrf.

    Parameters
    ----------
    uplo : "L" or "U"
        The triangle that is read, and gets L with A = L L' or U with A = U' U.
    n : int
        A is n x n, symmetric and positive definite.
    A : ndarray of float32 or float64
        By columns; the other triangle is neither read nor written.
    lda : int
        Elements from a column to the next.
    work : ndarray
        At least `buffer_size("potrf", n, n)` elements.

    Returns
    -------
    int
        0, or the order of the first leading part that is not positive definite.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, view = operands.letter(A), operands.matrix(A, "A", n, n, lda)
    lower = view if operands.triangle(uplo) else view.T
    workspace.check("potrf", (n, n), work, A.dtype)
    if library.is_here():
        return library.run(f"{kind}potrf", uplo, n, A, lda, work, work.size)
    for k in range(n):
        square = lower[k, k] - (lower[k, :k] ** 2).sum()
        if not square > 0:
            return k + 1
        lower[k, k] = np.sqrt(square)
        rest = lower[k + 1 :, k] - lower[k + 1 :, :k] @ lower[k, :k]
        lower[k + 1 :, k] = rest / lower[k, k]
    return 0


def potrs(
    uplo: str, n: int, nrhs: int, A: np.ndarray, lda: int, B: np.ndarray, ldb: int
) -> int:
    """Replace B by the solution X of A X = B: cusolverDnSpotrs, cusolverDnDpotrs.

    Parameters
    ----------
    uplo, n, A, lda
        As `potrf` was called, and what it made.
    nrhs : int
        Columns of B.
    B : ndarray
        Right-hand sides by columns; X takes their place.
    ldb : int
        Elements from a column of B to the next.

    Returns
    -------
    int
        0.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, view = operands.letter(A), operands.matrix(A, "A", n, n, lda)
    factor = np.tril(view) if operands.triangle(uplo) else np.triu(view).T
    operands.flat(B, "B", 0, A.dtype)
    right = operands.matrix(B, "B", n, nrhs, ldb)
    if library.is_here():
        return library.run(f"{kind}potrs", uplo, n, nrhs, A, lda, B, ldb)
    right[...] = _swept(factor.T, _swept(factor, right, down=True), down=False)
    return 0
