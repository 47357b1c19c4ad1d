"""Pieces of chapter 16 in Python: calls of cuRAND, cuFFT and cuSOLVER."""

import numpy as np

from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises import HostExercise, Mutant

SHOULD_BE = (CheckFailed, "should be")


def wrong(what, cause, cure):
    """Return the error of a wrong answer."""
    return CheckFailed.explained(what, cause, cure)


def drawn(*shape, seed=1):
    """Return normal numbers, the same each time."""
    return np.random.default_rng(seed).standard_normal(shape)


# ---------------------------------------------------------------- 16.d


def one_sequence(part, show):
    """Demand that the parts, one behind the other, are one long sequence."""
    from coursekit.lessons.curand import Generator

    for ranks, n, seed in ((2, 4, 1), (3, 7, 2**40 + 5), (4, 100, 3)):
        whole = Generator(seed=seed).uniform(ranks * n)
        for rank in range(ranks):
            found, due = part(rank, n, seed), whole[rank * n :][:n]
            if np.shape(found) != (n,) or not (found == due).all():
                first = "nothing"
                if found is not None and np.size(found):
                    first = f"{np.ravel(found)[0]:.6g}"
                raise wrong(
                    f"With n = {n}, the values of process {rank} begin with {first}, "
                    f"and should be values {rank * n} to {rank * n + n - 1} of the "
                    f"sequence, which begin with {due[0]:.6g}.",
                    "The processes overlap, or draw from other sequences.",
                    "How many values do the processes before this one draw?",
                )


# ---------------------------------------------------------------- 16.f


def of_columns(spectra, show):
    """Compare the transforms of matrices of several shapes."""
    for rows, cols in ((4, 3), (8, 8), (5, 1), (6, 10)):
        x = (drawn(rows, cols) + 1j * drawn(rows, cols, seed=2)).astype(np.complex64)
        y, kept = np.full_like(x, np.nan), x.copy()
        spectra(x, y)
        exact = np.fft.fft(kept.astype(np.complex128), axis=0)
        # Sums of at most 8 values below 4, each rounded to float32 a few times.
        off = ~(np.abs(y - exact) < 2.0**-16)
        if off.any():
            row, col = (int(place) for place in np.argwhere(off)[0])
            raise wrong(
                f"y[{row}, {col}] is {y[row, col]:.4g} and should be "
                f"{exact[row, col]:.4g}, for x of shape {x.shape}.",
                "A stride or a distance leads to another element of x or y.",
                "How many elements are there from x[0, 0] to x[1, 0]? And to x[0, 1]?",
            )


# ---------------------------------------------------------------- 16.2


def of_systems(solve, show):
    """Compare solutions of several sizes."""
    for n in (2, 1, 5, 30):
        A, exact = drawn(n, n), drawn(n, seed=2)
        given = A.copy()
        found = solve(A, given @ exact)
        if found is None:
            raise wrong(
                f"A matrix of {n} x {n} is said to be singular, and it is not.",
                "info is 0 where the factors are good.",
                "Return None only where info is larger than 0.",
            )
        if np.shape(found) != (n,):
            raise wrong(
                f"For n = {n}, solve() returns {found!r}, which is no solution.",
                "A solution is an array of n numbers, as b is. getrs returns its info, "
                "and replaces b by the solution.",
                "Return the array that you have given to getrs in place of b.",
            )
        off = np.abs(found - exact).max()
        if not off < 1e-8:
            raise wrong(
                f"For n = {n} the solution is off by {off:.3g}, and should be right "
                "to 1e-8.",
                "x still holds b, or A was transposed: the library reads by columns.",
                "Which op(A) does getrs have to apply?",
            )
        if not (given == A).all():
            raise wrong(
                "solve() has overwritten A.",
                "The factors take the place of the matrix that getrf gets.",
                "Give getrf the copy.",
            )


def of_a_singular_matrix(solve, show):
    """Demand None for a matrix without an inverse."""
    A = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]])
    found = solve(A, np.ones(3))
    if found is not None:
        raise wrong(
            f"A is singular, and solve() returns {found}. It should be None.",
            "The call has succeeded, and what it says of the matrix is info.",
            "Look at what getrf returns, before you solve.",
        )


EXERCISES = (
    HostExercise(
        id="16.d",
        name="parts",
        title="Parts of one sequence",
        function="part",
        checks=(("parts of one sequence", one_sequence),),
        starter=SHOULD_BE,
        hints=(
            "Generator takes an offset: the position of its first value.",
            "Processes 0 to rank - 1 draw rank * n values.",
        ),
        mutants={
            "other_seeds": Mutant(
                mistake="Each process has a seed of its own: other sequences.",
                edits=[("seed=seed, offset=rank * n", "seed=seed + rank")],
                fails=SHOULD_BE,
            ),
            "overlap": Mutant(
                mistake="Each process begins one value later, so that parts overlap.",
                edits=[("offset=rank * n", "offset=rank")],
                fails=SHOULD_BE,
            ),
        },
    ),
    HostExercise(
        id="16.f",
        name="columns",
        title="Transforms of columns",
        function="spectra",
        checks=(("matrices of several shapes", of_columns),),
        starter=SHOULD_BE,
        hints=(
            "The stride leads from a value to the next of the same column, the "
            "distance from a column to the next one.",
            "stride, distance = cols, 1",
        ),
        mutants={
            "ignored": Mutant(
                mistake="Without embed, stride and distance are ignored.",
                edits=[
                    ("rows, rows, stride, distance, rows,", "rows, None, 1, 1, None,")
                ],
                fails=SHOULD_BE,
            ),
            "exchanged": Mutant(
                mistake="Stride and distance are exchanged.",
                edits=[("stride, distance = cols", "distance, stride = cols")],
                fails=SHOULD_BE,
            ),
        },
    ),
    HostExercise(
        id="16.2",
        name="solve",
        title="A system of linear equations",
        stars=2,
        function="solve",
        checks=(
            ("systems of several sizes", of_systems),
            ("a singular matrix", of_a_singular_matrix),
        ),
        starter=(CheckFailed, "the solution is off"),
        hints=(
            "Where info is larger than 0, return None. A now holds the factors.",
            "getrs takes the factors, the pivots, and x, which holds b before and the "
            "solution afterwards.",
            'The library sees A transposed, so getrs takes "T": '
            'ck.cusolver.getrs("T", n, 1, A, n, pivots, x, n)',
        ),
        mutants={
            "transposed": Mutant(
                mistake="The transposed system is solved.",
                edits=[('getrs("T"', 'getrs("N"')],
                fails=(CheckFailed, "the solution is off"),
            ),
            "no_info": Mutant(
                mistake="Nobody looks at info.",
                edits=[("if info > 0", "if info > n")],
                fails=(CheckFailed, "should be None"),
            ),
            "no_workspace": Mutant(
                mistake="The workspace has one element.",
                edits=[("np.zeros(size)", "np.zeros(1)")],
                fails=(ArgumentError, "the workspace has 1"),
            ),
        },
    ),
)
