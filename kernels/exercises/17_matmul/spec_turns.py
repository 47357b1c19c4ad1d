"""The first "your turn" of chapter 17: three loops, and one line inside of them."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, shuffled


def matrices(size, generator):
    """Return what the kernel of 17.a takes; C begins with numbers of its own."""
    M, N, K = size
    return {
        "A": shuffled((M, K), generator),
        "B": shuffled((K, N), generator),
        "C": np.arange(M * N, dtype=np.float32).reshape(M, N),
        "M": M,
        "N": N,
        "K": K,
    }


EXERCISES = (
    Exercise(
        id="17.a",
        name="loops",
        title="One multiply-add in three loops",
        kernel="product_c",
        inputs=matrices,
        outputs=("C",),
        accumulates=("C",),
        sizes=((1, 1, 1), (2, 5, 3), (7, 4, 6)),
        picture=(2, 3, 2),
        launches=(lambda size: (1, 1), lambda size: ((1, 1), (1, 1))),
        reference=lambda v: v.C + v.A @ v.B,
        # Each of K terms is multiplied and added: two roundings, of terms that may
        # cancel; C itself is one term more.
        roundings=lambda size: 2 * size[2] + 2,
        magnitude=lambda v: np.abs(v.C) + np.abs(v.A) @ np.abs(v.B),
        owner=None,
        hints=(
            "By rows: element (i, k) of A stands behind i rows of K elements, at "
            "A[i * K + k]. Where do (k, j) of B and (i, j) of C stand?",
            "C[i * N + j] += A[i * K + k] * B[k * N + j];",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "b_transposed": Mutant(
                mistake="B is read as if it were stored by columns.",
                edits=[("B[k * N + j]", "B[j * K + k]")],
                fails=(CheckFailed, "wrong"),
            ),
            "row_of_n": Mutant(
                mistake="The rows of A are taken to have N elements.",
                edits=[("A[i * K + k]", "A[i * N + k]")],
                fails=(OutOfBoundsError, "reads A["),
            ),
            "last_term": Mutant(
                mistake="Each term replaces the sum of those before it.",
                edits=[("+=", "=")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
