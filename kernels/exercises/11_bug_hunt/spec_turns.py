"""The first "your turn" of chapter 11: data for which a wrong product shows."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant
from coursekit.exercises.tables import Table

MOST = 4000


def tiles_transposed(A, B):
    """Multiply with each 16 x 16 tile of B transposed, as the kernel of 11.1 does."""
    (K, N) = B.shape
    padded = np.zeros((-(-K // 16) * 16, -(-N // 16) * 16), B.dtype)
    padded[:K, :N] = B
    rows, cols = padded.shape[0] // 16, padded.shape[1] // 16
    tiles = padded.reshape(rows, 16, cols, 16).transpose(0, 3, 2, 1)
    return A @ tiles.reshape(padded.shape)[:K, :N]


# What each wrong product computes in place of A @ B.
WRONG = {
    "leaves out the last k": lambda A, B: A[:, :-1] @ B[:-1],
    "reads other elements of B": tiles_transposed,
    "takes the k in reverse for A": lambda A, B: A[:, ::-1] @ B,
    "repeats the first row": lambda A, B: np.repeat(A[:1] @ B, len(A), axis=0),
}


def are_matrices(matrices, show):
    """Demand two float32 matrices that can be multiplied, of a moderate size."""
    A, B = _pair(matrices())
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise CheckFailed.explained(
            f"A has the shape {A.shape}, and B has {B.shape}.",
            "A * B needs as many columns of A as rows of B.",
            "For example (64, 48) and (48, 32).",
        )
    if A.dtype != np.float32 or B.dtype != np.float32:
        raise CheckFailed.explained(
            f"A is {A.dtype}, and B is {B.dtype}.",
            "NumPy makes float64 or int64 where no dtype is given.",
            "Add dtype=np.float32, or .astype(np.float32).",
        )
    if max(A.size, B.size) > MOST:
        raise CheckFailed.explained(
            f"A has {A.size:,} elements, B {B.size:,}; {MOST:,} are enough.",
            "The matrices are larger than a quick test needs.",
            "Take (64, 48) and (48, 32).",
        )


def show_each_mistake(matrices, show):
    """Demand that each wrong product differs from the right one."""
    A, B = (each.astype(np.float64) for each in _pair(matrices()))
    right = A @ B
    hidden = [name for name, of in WRONG.items() if np.allclose(of(A, B), right)]
    rows = [(name, "hidden" if name in hidden else "shows") for name in WRONG]
    show(Table("With your data", ("a product that", "is"), tuple(rows)))
    if hidden:
        raise CheckFailed.explained(
            f"Hidden: a product that {hidden[0]}.",
            "Where elements are equal, it does not matter which one a kernel takes.",
            "Give both matrices elements that all differ.",
        )


def _pair(found):
    if not isinstance(found, tuple) or len(found) != 2:
        raise CheckFailed.explained(
            f"matrices() returns {type(found).__name__}.",
            "Two matrices are wanted.",
            "return A, B",
        )
    return tuple(map(np.asarray, found))


EXERCISES = (
    HostExercise(
        id="11.a",
        name="data",
        title="Data for which a wrong product shows",
        stars=0,
        function="matrices",
        checks=(
            ("A and B can be multiplied", are_matrices),
            ("each mistake shows", show_each_mistake),
        ),
        hints=(
            "In a matrix of ones, one element is as good as any other. Which NumPy "
            "functions make arrays whose elements all differ?",
            "np.arange(64 * 48, dtype=np.float32).reshape(64, 48), or random numbers "
            "from np.random.default_rng(0).",
        ),
        starter=(CheckFailed, "Hidden: a product that takes the k in reverse for A"),
        mutants={
            "equal_rows": Mutant(
                mistake="All rows of A are equal, and so are those of the result.",
                edits=[
                    (
                        "np.arange(64 * 48, dtype=np.float32).reshape(64, 48)",
                        "np.tile(np.arange(48, dtype=np.float32), (64, 1))",
                    )
                ],
                fails=(CheckFailed, "Hidden: a product that repeats the first row"),
            ),
            "zeros": Mutant(
                mistake="With zeros every product is right.",
                edits=[("    return A, B", "    return 0 * A, B")],
                fails=(CheckFailed, "Hidden: a product that leaves out the last k"),
            ),
            "whole_numbers": Mutant(
                mistake="The matrices hold integers.",
                edits=[
                    ("np.arange(64 * 48, dtype=np.float32)", "np.arange(64 * 48)"),
                ],
                fails=(CheckFailed, "A is int64"),
            ),
        },
    ),
)
