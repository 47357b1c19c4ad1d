"""Exercises 11.6 and 11.7: a test that kills mutants, and what it may tolerate."""

from itertools import product

import numpy as np

from coursekit.errors import CheckFailed, KernelError
from coursekit.exercises import HostExercise, Mutant, blocks
from coursekit.exercises.tables import Table
from coursekit.runtime import compiler
from coursekit.runtime.simulator import simulator

# What each mutant of row_maxima.cu has in place of what is there.
SPOILT = {
    "starts at 0": ("= x[row * cols];", "= 0.0f;"),
    "drops the rest of a row": ("col < cols;", "col < cols / 32 * 32;"),
    "takes 32 columns": ("col < cols;", "col < min(cols, 32);"),
    "leaves out the last column": ("col < cols;", "col < cols - 1;"),
    "takes 32 for the stride": ("cols + col]", "32 + col]"),
    "asks half of the lanes": ("away = 16", "away = 8"),
    "drops the last row": ("row >= rows", "row >= rows - 1"),
}
LAUNCHES, ELEMENTS = 3, 4000
NOTHING = np.float32(np.nan)  # what the results hold before a launch


class Subject:
    """A kernel as the student's test sees it: a function from x to maxima."""

    def __init__(self, text):
        self.kernel = compiler.compile("hunt/row_maxima.cu").edited(text).row_maxima
        self.launches = self.elements = 0

    def __call__(self, x):
        x = np.ascontiguousarray(x, np.float32)
        rows, cols = x.shape
        self.launches += 1
        self.elements += x.size
        found = np.full(rows, NOTHING)
        with simulator():
            self.kernel[blocks(rows, 2), 64](x, found, rows, cols)
        return found


def sources():
    """Return the text of the kernel, and that of each mutant by its name."""
    text = compiler.compile("hunt/row_maxima.cu").source
    return text, {name: text.replace(*change) for name, change in SPOILT.items()}


def fails(test, subject):
    """Tell whether a test fails; what is no failed test is an error."""
    try:
        returned = test(subject)
    except KernelError:
        return True
    except CheckFailed as failure:
        if isinstance(failure.__cause__, AssertionError):
            return True
        raise
    if returned is not None:
        raise CheckFailed.explained(
            f"The test returns {returned!r}.",
            "A test fails by an AssertionError; nobody looks at what it returns.",
            "Write assert in place of return.",
        )
    return False


def lets_pass(test, show):
    """Demand that the right kernel passes, for a moderate price."""
    subject = Subject(sources()[0])
    if fails(test, subject):
        raise CheckFailed.explained(
            "The test fails for the kernel that is right.",
            "It asks for something that the kernel does not promise.",
            "Compare with x.max(axis=1), for the same x.",
        )
    if subject.launches > LAUNCHES or subject.elements > ELEMENTS:
        raise CheckFailed.explained(
            f"Launches: {subject.launches}, elements: {subject.elements:,}; {LAUNCHES} "
            f"launches and {ELEMENTS:,} elements will do.",
            "It asks for more cases than it needs, or for larger ones.",
            "Think of one matrix that several mutants get wrong.",
        )


def kills_all(test, show):
    """Demand that each mutant fails."""
    mutants = sources()[1]
    alive = [name for name in SPOILT if not fails(test, Subject(mutants[name]))]
    rows = [(name, "lives" if name in alive else "killed") for name in SPOILT]
    show(Table("What your test does", ("mutant", "outcome"), tuple(rows)))
    if alive:
        raise CheckFailed.explained(
            f"{len(SPOILT) - len(alive)} of {len(SPOILT)} mutants are killed. Alive: "
            f"{'; '.join(alive)}.",
            "For your matrices they give the right result.",
            "Where would the maximum have to be, and how large the matrix, for the "
            "first of them to go wrong?",
        )


def matrices():
    """Return pairs to multiply: many terms, terms that cancel, large and small ones."""
    generator = np.random.default_rng(11)

    def normal(*shape):
        return generator.standard_normal(shape).astype(np.float32)

    half, column = normal(3, 200), np.abs(normal(200, 4)) + np.float32(1)
    scales = np.array([[1e-12], [1], [1e12]], np.float32)
    yield "4096 terms above 0", np.abs(normal(3, 4096)), np.abs(normal(4096, 4))
    yield "terms that cancel", np.hstack([half, -half]), np.vstack([column, column])
    yield "rows of very different size", scales * normal(3, 64), normal(64, 4)
    yield "a single term", normal(3, 1), normal(1, 4)


def in_float32(A, B, order):
    """Multiply as a kernel does: one term after the other, each sum rounded."""
    total = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for k in order:
        total += A[:, k, None] * B[k]
    return total


def worst(allowed, A, B, found):
    """Return the largest error, as a multiple of what is allowed."""
    exact = A.astype(np.float64) @ B.astype(np.float64)
    bound = np.asarray(allowed(A.copy(), B.copy()), np.float64)
    if bound.shape != exact.shape:
        raise CheckFailed.explained(
            f"allowed returned the shape {bound.shape}, C has {exact.shape}.",
            "Each element of C has an error of its own.",
            "Return an array of M x N.",
        )
    errors = np.abs(found - exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0, errors / bound).max()


def accepts_right_ones(allowed, show):
    """Demand that no right product is refused, in whichever order it adds."""
    for (name, A, B), backwards in product(matrices(), (False, True)):
        order = range(A.shape[1])[:: -1 if backwards else 1]
        found = worst(allowed, A, B, in_float32(A, B, order))
        if not found <= 1:
            raise CheckFailed.explained(
                f"A right product is refused: {name}, error {found:.3g} times what "
                "is allowed.",
                "Errors are relative to the terms that were added, not to what is "
                "left of them; and each term may add a rounding.",
                "How large is the sum of the |a b|?",
            )


def notices_wrong_ones(allowed, show):
    """Demand that products with too few terms or too few bits are refused."""
    for name, A, B in matrices():
        K = A.shape[1]
        wrong = {"a term of the first row is left out": _without_a_term(A, B)}
        if 1 < K <= 64:
            wrong["A is rounded to 11 bits"] = in_float32(_to_tf32(A), B, range(K))
        for what, C in wrong.items():
            if not worst(allowed, A, B, C) > 1:
                raise CheckFailed.explained(
                    f"A wrong product passes unnoticed: {what}; {name}.",
                    "The bound is larger than the roundings of float32 make it.",
                    "Count them: how many roundings, of which size, relative to what?",
                )


def _without_a_term(A, B):
    """Leave out the largest term of the sums in the first row."""
    sizes = np.abs(A[0]) * np.abs(B).max(axis=1)
    rest = [k for k in range(A.shape[1]) if k != int(np.argmax(sizes))]
    found = in_float32(A, B, range(A.shape[1]))
    found[0] = in_float32(A[:1], B, rest)[0]
    return found


def _to_tf32(A):
    """Round to the 11 significant bits that TF32 keeps."""
    fraction, exponent = np.frexp(A.astype(np.float64))
    return np.ldexp(np.round(fraction * 2**11) / 2**11, exponent).astype(np.float32)


EXERCISES = (
    HostExercise(
        id="11.6",
        name="kill",
        title="A test that kills seven mutants",
        stars=2,
        function="test_maxima",
        checks=(
            ("the right kernel passes, at a moderate price", lets_pass),
            (f"each of {len(SPOILT)} mutants fails", kills_all),
        ),
        hints=(
            "Ones are the same in every row, column and lane. What must the elements "
            "be, so that each wrong choice shows? What must they be for a kernel that "
            "starts at 0?",
            "Take a shape that is no multiple of 32 and larger than 32. The maximum "
            "in the last column finds two mutants; one lane from 16 to 31 has to hold "
            "a maximum, too.",
            "np.arange(-385, 0) as 5 x 77 has its maxima in the last column, and all "
            "are below 0. Then a second matrix, with the maxima in column 30.",
        ),
        starter=(CheckFailed, "1 of 7 mutants are killed"),
        mutants={
            "all_ones": Mutant(
                mistake="Cannot tell one element from another.",
                edits=[
                    (
                        "np.arange(-385, 0, dtype=np.float32).reshape(5, 77)",
                        "np.ones((5, 77), np.float32)",
                    ),
                    (
                        "    x = np.ascontiguousarray(x[:, ::-1])\n"
                        "    x[:, 30] = 7\n"
                        "    assert np.array_equal(row_maxima(x), x.max(axis=1))\n",
                        "",
                    ),
                ],
                fails=(CheckFailed, "mutants are killed"),
            ),
            "ascending": Mutant(
                mistake="Has every maximum in the last column.",
                edits=[
                    (
                        "    x = np.ascontiguousarray(x[:, ::-1])\n"
                        "    x[:, 30] = 7\n"
                        "    assert np.array_equal(row_maxima(x), x.max(axis=1))\n",
                        "",
                    )
                ],
                fails=(CheckFailed, "Alive: asks half of the lanes."),
            ),
            "never_negative": Mutant(
                mistake="Has something above zero in every row.",
                edits=[("-385, 0", "385")],
                fails=(CheckFailed, "Alive: starts at 0"),
            ),
            "whole_warps": Mutant(
                mistake="Has 96 columns, and no remainder.",
                edits=[
                    (
                        "-385, 0, dtype=np.float32).reshape(5, 77",
                        "-480, 0, dtype=np.float32).reshape(5, 96",
                    )
                ],
                fails=(CheckFailed, "Alive: drops the rest of a row"),
            ),
            "nothing_passes": Mutant(
                mistake="Fails whatever the kernel does.",
                edits=[
                    (
                        "x = np.ascontiguousarray(x[:, ::-1])",
                        "assert x.size == 0\n    x = np.ascontiguousarray(x[:, ::-1])",
                    )
                ],
                fails=(CheckFailed, "fails for the kernel that is right"),
            ),
            "returned": Mutant(
                mistake="It returns whether the kernel is right, and asserts nothing.",
                edits=[
                    (
                        "assert np.array_equal(row_maxima(x), x.max(axis=1))\n"
                        "    x = np.ascontiguousarray(x[:, ::-1])",
                        "right = np.array_equal(row_maxima(x), x.max(axis=1))\n"
                        "    x = np.ascontiguousarray(x[:, ::-1])",
                    ),
                    (
                        "x[:, 30] = 7\n"
                        "    assert np.array_equal(row_maxima(x), x.max(axis=1))",
                        "x[:, 30] = 7\n"
                        "    return right and np.array_equal(row_maxima(x), "
                        "x.max(axis=1))",
                    ),
                ],
                fails=(CheckFailed, "Write assert in place of return"),
            ),
            "too_many_launches": Mutant(
                mistake="Tries a thousand sizes.",
                edits=[
                    (
                        "x = np.ascontiguousarray(x[:, ::-1])",
                        "for n in range(1, 1000):\n"
                        "        row_maxima(x[:, :n].copy())\n"
                        "    x = np.ascontiguousarray(x[:, ::-1])",
                    )
                ],
                fails=(CheckFailed, "Launches: 1001"),
            ),
        },
    ),
    HostExercise(
        id="11.7",
        name="tolerance",
        title="How wrong may a product be?",
        stars=3,
        function="allowed",
        checks=(
            ("right products pass, whatever their values", accepts_right_ones),
            ("wrong products do not", notices_wrong_ones),
        ),
        hints=(
            "Each of the K products is rounded, and each of the K sums. What is one "
            "rounding of float32, at most, relative to what is rounded?",
            "u = np.finfo(np.float32).eps / 2, relative. K terms make at most K of "
            "them, relative to the sum of the absolute values of the terms.",
            "A.shape[1] * u * (np.abs(A) @ np.abs(B))",
        ),
        starter=(CheckFailed, "A right product is refused"),
        mutants={
            "of_the_result": Mutant(
                mistake="Scales with the result, which may be 0 where the terms are "
                "not.",
                edits=[("terms = np.abs(A) @ np.abs(B)", "terms = np.abs(A @ B)")],
                fails=(CheckFailed, "A right product is refused"),
            ),
            "for_one_rounding": Mutant(
                mistake="Leaves out the number of terms.",
                edits=[
                    ("    K = A.shape[1]\n", ""),
                    ("return K * u * terms", "return u * terms"),
                ],
                fails=(CheckFailed, "A right product is refused"),
            ),
            "a_percent": Mutant(
                mistake="Allows a percent of everything.",
                edits=[
                    ("    u = np.finfo(np.float32).eps / 2\n    K = A.shape[1]\n", ""),
                    ("return K * u * terms", "return 0.01 * terms"),
                ],
                fails=(CheckFailed, "passes unnoticed"),
            ),
            "of_float16": Mutant(
                mistake="Takes the rounding of another type.",
                edits=[("np.float32", "np.float16")],
                fails=(CheckFailed, "passes unnoticed"),
            ),
            "largest_of_all": Mutant(
                mistake="Allows each element what the largest one needs.",
                edits=[("K * u * terms", "np.full(terms.shape, K * u * terms.max())")],
                fails=(CheckFailed, "passes unnoticed"),
            ),
        },
    ),
)
