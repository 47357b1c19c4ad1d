"""QR, singular values, and eigenvalues of symmetric matrices."""

from __future__ import annotations

import numpy as np

from coursekit.lessons.cusolver import library, operands, workspace


def geqrf(
    m: int, n: int, A: np.ndarray, lda: int, tau: np.ndarray, work: np.ndarray
) -> int:
    """Replace A by R and the reflections that make Q: cusolverDnSgeqrf and Dgeqrf.

    Parameters
    ----------
    m, n : int
        Rows and columns of A.
    A : ndarray of float32 or float64
        By columns; R takes the upper triangle, Householder's vectors the rest.
    lda : int
        Elements from a column to the next.
    tau : ndarray
        Gets min(m, n) factors of the reflections.
    work : ndarray
        At least `buffer_size("geqrf", m, n)` elements.

    Returns
    -------
    int
        0.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, view = operands.letter(A), operands.matrix(A, "A", m, n, lda)
    factors = operands.flat(tau, "tau", min(m, n), A.dtype)
    workspace.check("geqrf", (m, n), work, A.dtype)
    if library.is_here():
        return library.run(f"{kind}geqrf", m, n, A, lda, tau, work, work.size)
    reflections, scales = np.linalg.qr(view.astype(np.float64), mode="raw")
    view[...] = reflections.T
    factors[: min(m, n)] = scales
    return 0


def orgqr(
    m: int,
    n: int,
    k: int,
    A: np.ndarray,
    lda: int,
    tau: np.ndarray,
    work: np.ndarray,
) -> int:
    """Replace the reflections of `geqrf` by the first n columns of Q.

    It is cusolverDnSorgqr and cusolverDnDorgqr.

    Parameters
    ----------
    m, n, k : int
        Q is m x n, of k reflections; m >= n >= k.
    A, lda, tau
        What `geqrf` made.
    work : ndarray
        At least `buffer_size("orgqr", m, n)` elements.

    Returns
    -------
    int
        0.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    kind, view = operands.letter(A), operands.matrix(A, "A", m, n, lda)
    if not m >= n >= k >= 0:
        raise operands.refused(
            f"m, n, k are {m}, {n}, {k}",
            "Q has as many columns as asked for, and no more than rows.",
            "Keep m >= n >= k.",
        )
    factors = operands.flat(tau, "tau", k, A.dtype)
    workspace.check("orgqr", (m, n), work, A.dtype)
    if library.is_here():
        return library.run(f"{kind}orgqr", m, n, k, A, lda, tau, work, work.size)
    vectors = np.tril(view[:, :k].astype(np.float64), -1) + np.eye(m, k)
    columns = np.eye(m, n)
    for j in reversed(range(k)):
        vector = vectors[:, j]
        columns -= factors[j] * np.outer(vector, vector @ columns)
    view[...] = columns
    return 0


def gesvd(
    m: int,
    n: int,
    A: np.ndarray,
    lda: int,
    S: np.ndarray,
    U: np.ndarray,
    ldu: int,
    VT: np.ndarray,
    ldvt: int,
    work: np.ndarray,
) -> int:
    """Find A = U S V': cusolverDnSgesvd and Dgesvd, with jobu = jobvt = 'A'.

    Parameters
    ----------
    m, n : int
        Rows and columns of A; the library demands m >= n.
    A : ndarray of float32 or float64
        By columns; its contents are lost.
    lda, ldu, ldvt : int
        Elements from a column to the next.
    S : ndarray
        Gets n singular values, the largest first.
    U : ndarray
        Gets m x m, by columns.
    VT : ndarray
        Gets n x n, by columns: V transposed.
    work : ndarray
        At least `buffer_size("gesvd", m, n)` elements.

    Returns
    -------
    int
        0, or how many values have not converged.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    if m < n:
        raise operands.refused(
            f"gesvd got a matrix of {m} x {n}",
            "It takes no matrix that is wider than high.",
            "Decompose the transposed matrix, and exchange U and V.",
        )
    kind, view = operands.letter(A), operands.matrix(A, "A", m, n, lda)
    values = operands.flat(S, "S", n, A.dtype)
    left = operands.matrix(U, "U", m, m, ldu)
    right = operands.matrix(VT, "VT", n, n, ldvt)
    workspace.check("gesvd", (m, n), work, A.dtype)
    if library.is_here():
        return library.run(
            f"{kind}gesvd", b"A", b"A", m, n, A, lda, S, U, ldu, VT, ldvt,
            work, work.size, None,
        )  # fmt: skip
    left[...], values[:n], right[...] = np.linalg.svd(view)
    view[...] = np.nan
    return 0


def syevd(
    jobz: str, uplo: str, n: int, A: np.ndarray, lda: int, W: np.ndarray, work
) -> int:
    """Find the eigenvalues of a symmetric matrix: cusolverDnSsyevd and Dsyevd.

    Parameters
    ----------
    jobz : "VECTOR" or "NOVECTOR"
        Whether A is replaced by the eigenvectors, a column each.
    uplo : "L" or "U"
        The triangle of A that is read.
    n : int
        A is n x n.
    A : ndarray of float32 or float64
        By columns.
    lda : int
        Elements from a column to the next.
    W : ndarray
        Gets n eigenvalues, the smallest first.
    work : ndarray
        At least `buffer_size("syevd", n, n)` elements.

    Returns
    -------
    int
        0, or how many values have not converged.

    Raises
    ------
    ArgumentError
        What cuSOLVER refuses, or an access beyond an array.
    """
    if jobz not in ("VECTOR", "NOVECTOR"):
        raise operands.refused(
            f"jobz is {jobz!r}",
            "It says whether eigenvectors are wanted.",
            "Take VECTOR or NOVECTOR.",
        )
    kind, view = operands.letter(A), operands.matrix(A, "A", n, n, lda)
    values, below = operands.flat(W, "W", n, A.dtype), operands.triangle(uplo)
    workspace.check("syevd", (n, n), work, A.dtype)
    if library.is_here():
        return library.run(f"{kind}syevd", jobz, uplo, n, A, lda, W, work, work.size)
    read = np.tril(view) if below else np.triu(view).T
    values[:n], vectors = np.linalg.eigh(read)  # which reads the lower triangle
    view[...] = vectors if jobz == "VECTOR" else np.nan
    return 0
