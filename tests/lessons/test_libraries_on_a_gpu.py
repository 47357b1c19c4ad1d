"""cuRAND, cuFFT and cuSOLVER on a GPU beside the oracles that stand for them."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
N = 7


def both(run):
    """Return what a function returns on the GPU, and on the oracle."""
    found = run()
    with ck.simulator():
        return found, run()


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    """Return a matrix by columns, the same each time."""
    return np.asfortranarray(np.random.default_rng(seed).standard_normal(shape))


@pytest.mark.parametrize("ordering", [None, "PSEUDO_LEGACY"])
@pytest.mark.parametrize("offset", [0, 4, 1000])
def test_philox_has_the_same_bits(ordering, offset):
    def run():
        settings = {"seed": 1234, "offset": offset, "ordering": ordering}
        return ck.curand.Generator(**settings).generate(2**20)

    np.testing.assert_array_equal(*both(run))


@pytest.mark.parametrize("dimensions", [1, 3])
def test_sobol_has_the_same_bits(dimensions):
    def run():
        kind = "QUASI_SOBOL32"
        return ck.curand.Generator(kind, dimensions=dimensions).generate(3 * 2**12)

    np.testing.assert_array_equal(*both(run))


def test_normal_values_are_near():
    found, wanted = both(lambda: ck.curand.Generator(seed=1).normal(2**16))
    # __sincosf is less exact than sinf; the radius is below 7.
    np.testing.assert_allclose(found, wanted, rtol=0, atol=7 * 2.0**-20)


@pytest.mark.parametrize("kind", ["C2C", "R2C", "C2R", "Z2Z", "D2Z", "Z2D"])
def test_transforms_of_columns_are_near(kind):
    types = {"C": np.complex64, "R": np.float32, "Z": np.complex128, "D": np.float64}
    rows, cols = 8, 3
    given, made = types[kind[0]], types[kind[2]]
    x = drawn(rows, cols, seed=1) + 1j * drawn(rows, cols, seed=2)
    x = np.ascontiguousarray(x if given in (np.complex64, np.complex128) else x.real)
    x[0], x[4] = x[0].real, x[4].real  # frequencies 0 and n / 2 of real values

    def run():
        y = np.zeros((rows, cols), made)
        plan = ck.cufft.plan_many(rows, rows, cols, 1, rows, cols, 1, kind, cols)
        plan.execute(x.astype(given), y, 1 if kind in ("C2R", "Z2D") else -1)
        return y

    eps = np.finfo(made).eps
    np.testing.assert_allclose(*both(run), rtol=0, atol=256 * eps)


@pytest.mark.parametrize("trans", ["N", "T"])
def test_lu_solves_alike(trans):
    def run():
        A, x, pivots = drawn(N, N), drawn(N, 2, seed=1), np.zeros(N, np.int32)
        work = np.zeros(ck.cusolver.buffer_size("getrf", N, N))
        info = ck.cusolver.getrf(N, N, A, N, work, pivots)
        ck.cusolver.getrs(trans, N, 2, A, N, pivots, x, N)
        return np.concatenate([A.ravel(), x.ravel(), pivots, [info]])

    np.testing.assert_allclose(*both(run), rtol=0, atol=1e-11)


def test_info_names_the_same_column():
    def run():
        A = np.asfortranarray([[2.0, 1, 1], [4, 2, 2], [8, 7, 9]])
        work = np.zeros(ck.cusolver.buffer_size("getrf", 3, 3))
        return ck.cusolver.getrf(3, 3, A, 3, work, np.zeros(3, np.int32))

    assert both(run) == (3, 3)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_cholesky_solves_alike(uplo):
    def run():
        A, x = drawn(N, N), drawn(N, 2, seed=1)
        A = np.asfortranarray(A @ A.T + N * np.eye(N))
        work = np.zeros(ck.cusolver.buffer_size("potrf", N, N))
        ck.cusolver.potrf(uplo, N, A, N, work)
        ck.cusolver.potrs(uplo, N, 2, A, N, x, N)
        return x

    np.testing.assert_allclose(*both(run), rtol=0, atol=1e-12)


def test_qr_rebuilds_the_matrix_alike():
    def run():
        A, tau = drawn(N, 4), np.zeros(4)
        work = np.zeros(ck.cusolver.buffer_size("geqrf", N, 4))
        ck.cusolver.geqrf(N, 4, A, N, tau, work)
        R = np.triu(A[:4])
        work = np.zeros(ck.cusolver.buffer_size("orgqr", N, 4))
        ck.cusolver.orgqr(N, 4, 4, A, N, tau, work)
        return A @ R

    np.testing.assert_allclose(*both(run), rtol=0, atol=1e-12)


def test_singular_values_and_eigenvalues_are_alike():
    def run():
        A, S = drawn(N, 4), np.zeros(4)
        U, VT = np.zeros((N, N), order="F"), np.zeros((4, 4), order="F")
        work = np.zeros(ck.cusolver.buffer_size("gesvd", N, 4))
        ck.cusolver.gesvd(N, 4, A, N, S, U, N, VT, 4, work)
        B, W = drawn(N, N), np.zeros(N)
        B = np.asfortranarray(B + B.T)
        work = np.zeros(ck.cusolver.buffer_size("syevd", N, N))
        ck.cusolver.syevd("VECTOR", "L", N, B, N, W, work)
        return np.concatenate([S, W])

    np.testing.assert_allclose(*both(run), rtol=0, atol=1e-12)
