"""cuSOLVER's calls: factors by their definition, info, workspaces, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons import cusolver

N = 7


@pytest.fixture(autouse=True)
def oracle(simulated):
    """Run on the oracle, also where a GPU is."""


def drawn(m: int, n: int, dtype=np.float64, seed: int = 0) -> np.ndarray:
    """Return a matrix by columns, the same each time."""
    values = np.random.default_rng(seed).standard_normal((m, n))
    return np.asfortranarray(values.astype(dtype))


def definite(n: int = N) -> np.ndarray:
    """Return a symmetric matrix that is positive definite, by columns."""
    A = drawn(n, n)
    return np.asfortranarray(A @ A.T + n * np.eye(n))


def room(call: str, m: int, n: int, dtype=np.float64) -> np.ndarray:
    """Return a workspace as large as a call asks for."""
    return np.zeros(cusolver.buffer_size(call, m, n, dtype), dtype)


# ---------------------------------------------------------------- equations


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_lu_solves_a_system(dtype, trans):
    A, B = drawn(N, N, dtype), drawn(N, 2, dtype, seed=1)
    wanted = np.linalg.solve((A if trans == "N" else A.T).astype(np.float64), B)
    pivots = np.zeros(N, np.int32)
    assert cusolver.getrf(N, N, A, N, room("getrf", N, N, dtype), pivots) == 0
    assert cusolver.getrs(trans, N, 2, A, N, pivots, B, N) == 0
    np.testing.assert_allclose(B, wanted, rtol=0, atol=2**10 * np.finfo(dtype).eps)


def test_lu_has_lapacks_form():
    A = np.asfortranarray([[0.0, 2.0], [4.0, 2.0]])
    pivots = np.zeros(2, np.int32)
    cusolver.getrf(2, 2, A, 2, room("getrf", 2, 2), pivots)
    assert (A.tolist(), pivots.tolist()) == ([[4, 2], [0, 2]], [2, 2])


def test_a_leading_dimension_leaves_the_gaps_alone():
    memory = np.full(8, 9.0)
    for place, value in zip((0, 1, 4, 5), (0.0, 4.0, 2.0, 2.0), strict=True):
        memory[place] = value
    cusolver.getrf(2, 2, memory, 4, room("getrf", 2, 2), np.zeros(2, np.int32))
    assert memory.tolist() == [4, 0, 9, 9, 2, 2, 9, 9]


def test_a_singular_matrix_is_told_by_info():
    A = np.asfortranarray([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [3.0, 6.0, 9.0]])
    info = cusolver.getrf(3, 3, A, 3, room("getrf", 3, 3), np.zeros(3, np.int32))
    assert info == 2


def test_without_pivots_a_zero_stops_lu():
    A = np.asfortranarray([[0.0, 1.0], [1.0, 0.0]])
    assert cusolver.getrf(2, 2, A, 2, room("getrf", 2, 2)) == 1


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_cholesky_solves_a_system(uplo):
    A, B = definite(), drawn(N, 2, seed=1)
    wanted = np.linalg.solve(A, B)
    hidden = (np.triu if uplo == "L" else np.tril)(np.full((N, N), 77.0), 0)
    A[np.where(hidden - np.diag(np.diag(hidden)))] = 77  # the other triangle
    assert cusolver.potrf(uplo, N, A, N, room("potrf", N, N)) == 0
    assert cusolver.potrs(uplo, N, 2, A, N, B, N) == 0
    np.testing.assert_allclose(B, wanted, rtol=0, atol=1e-13)


def test_cholesky_tells_where_a_matrix_is_not_definite():
    A = np.asfortranarray(np.diag([4.0, 1.0, -1.0, 2.0]))
    assert cusolver.potrf("L", 4, A, 4, room("potrf", 4, 4)) == 3


# ---------------------------------------------------------------- decompositions


def test_qr_gives_orthogonal_columns():
    A = drawn(N, 4)
    R, tau = A.copy(order="F"), np.zeros(4)
    assert cusolver.geqrf(N, 4, R, N, tau, room("geqrf", N, 4)) == 0
    Q = R.copy(order="F")
    assert cusolver.orgqr(N, 4, 4, Q, N, tau, room("orgqr", N, 4)) == 0
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), rtol=0, atol=1e-14)
    np.testing.assert_allclose(Q @ np.triu(R[:4]), A, rtol=0, atol=1e-13)


def test_singular_values_rebuild_the_matrix():
    A = drawn(N, 4)
    kept, S = A.copy(), np.zeros(4)
    U, VT = np.zeros((N, N), order="F"), np.zeros((4, 4), order="F")
    work = room("gesvd", N, 4)
    assert cusolver.gesvd(N, 4, A, N, S, U, N, VT, 4, work) == 0
    np.testing.assert_allclose(U[:, :4] * S @ VT, kept, rtol=0, atol=1e-13)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigenvectors_are_columns(uplo):
    A = definite()
    kept, W = A.copy(), np.zeros(N)
    A[np.triu_indices(N, 1) if uplo == "L" else np.tril_indices(N, -1)] = 77
    work = room("syevd", N, N)
    assert cusolver.syevd("VECTOR", uplo, N, A, N, W, work) == 0
    np.testing.assert_allclose(kept @ A, A * W, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- what is refused


def test_a_small_workspace_is_refused():
    with pytest.raises(ck.ArgumentError, match="the workspace has 1 elements"):
        ck.cusolver.getrf(N, N, drawn(N, N), N, np.zeros(1), np.zeros(N, np.int32))


def test_pivots_of_another_type_are_refused():
    with pytest.raises(ck.ArgumentError, match="ipiv has elements of int64"):
        cusolver.getrf(2, 2, drawn(2, 2), 2, room("getrf", 2, 2), np.zeros(2, int))


def test_a_leading_dimension_that_is_too_small_is_refused():
    with pytest.raises(ck.ArgumentError, match="A is 7 x 7, with lda = 6"):
        cusolver.getrf(N, N, drawn(N, N), 6, room("getrf", N, N))


def test_an_access_beyond_the_array_is_refused():
    with pytest.raises(ck.ArgumentError, match=r"reaches A\[54\]"):
        cusolver.getrf(N, N, drawn(N, N), 8, room("getrf", N, N))


def test_whole_numbers_are_refused():
    with pytest.raises(ck.ArgumentError, match="A is of int64"):
        cusolver.getrf(2, 2, np.eye(2, dtype=int), 2, room("getrf", 2, 2))


def test_a_wide_matrix_has_no_gesvd():
    S, U, VT = np.zeros(3), np.zeros((2, 2)), np.zeros((3, 3))
    with pytest.raises(ck.ArgumentError, match="gesvd got a matrix of 2 x 3"):
        cusolver.gesvd(2, 3, drawn(2, 3), 2, S, U, 2, VT, 3, room("gesvd", 2, 3))


WRONG_WORDS = [
    lambda: cusolver.potrf("X", 2, definite(2), 2, room("potrf", 2, 2)),
    lambda: cusolver.syevd("V", "L", 2, definite(2), 2, np.zeros(2), np.zeros(99)),
    lambda: cusolver.buffer_size("getrs", 2, 2),
    lambda: cusolver.buffer_size("getrf", -1, 2),
    lambda: cusolver.orgqr(2, 3, 1, drawn(2, 3), 2, np.zeros(1), np.zeros(99)),
    lambda: cusolver.getrs(
        "C", 2, 1, drawn(2, 2), 2, np.ones(2, np.int32), drawn(2, 1), 2
    ),
]


@pytest.mark.parametrize("call", WRONG_WORDS)
def test_a_word_that_the_library_does_not_know_is_refused(call):
    with pytest.raises(ck.ArgumentError):
        call()
