"""Pieces of chapter 13 in Python: calls of the library for arrays of NumPy."""

from typing import NamedTuple

import numpy as np

from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises import HostExercise, Mutant

HALF_ROUNDING = 2.0**-11


def wrong(what, cause, cure):
    """Return the error of a wrong answer."""
    return CheckFailed.explained(what, cause, cure)


def drawn(*shape, seed=1, dtype=np.float32):
    """Return normal numbers, the same each time."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def compared(found, exact, allowed, name, advice):
    """Demand that an array is near its exact values."""
    off = np.abs(found.astype(np.float64) - exact)
    if (off <= allowed).all():
        return
    if np.isnan(found).all():
        raise wrong(
            f"Nothing was stored in {name}: it is as it was before the call.",
            f"A line such as {name} = ... gives the name another array.",
            f"Let the library store into {name}: hand it to the call as the result.",
        )
    place = tuple(int(i) for i in np.argwhere(~(off <= allowed))[0])
    index = ", ".join(map(str, place))
    raise wrong(
        f"{name}[{index}] is {float(found[place]):.4g} and should be "
        f"{exact[place]:.4g}, for {name} of shape {found.shape}.",
        *advice,
    )


# ---------------------------------------------------------------- 13.c

SWAP = (
    "The library reads every array by columns: it sees A', B' and C'.",
    "C' is the product of which two matrices that it sees, in which order?",
)


def of_shapes(product, show):
    """Multiply matrices of several shapes."""
    for m, n, k in ((2, 3, 4), (5, 1, 3), (3, 7, 2), (4, 4, 4)):
        A, B = drawn(m, k), drawn(k, n, seed=2)
        C = np.full((m, n), np.nan, np.float32)
        product(A, B, C)
        exact = A.astype(np.float64) @ B
        compared(C, exact, 1e-5, "C", SWAP)


# ---------------------------------------------------------------- 13.g

HEADS = (
    "Q[t, h] and Q[t + 1, h] are how many elements apart in memory? And Q[t, h] and "
    "Q[t, h + 1]?",
    "The first distance is ld, the second one is stride.",
)


def of_heads(scores, show):
    """Compare scores of several heads."""
    for length, heads, width in ((3, 2, 4), (5, 4, 8), (4, 1, 2)):
        Q = drawn(length, heads, width, dtype=np.float16)
        K = drawn(length, heads, width, seed=2, dtype=np.float16)
        S = np.full((heads, length, length), np.nan, np.float16)
        scores(Q, K, S)
        exact = np.einsum("qhw,khw->hqk", *(x.astype(np.float64) for x in (Q, K)))
        exact /= np.sqrt(width)
        # A score below 8 is rounded to half precision once.
        compared(S, exact, 8 * HALF_ROUNDING, "S", HEADS)


# ---------------------------------------------------------------- 13.h

LINEAR = (
    "The layout of W, its operation or the epilogue does not fit.",
    "What does the library see in the memory of W, by columns? The product needs "
    "outputs x inputs.",
)


def of_layers(linear, show):
    """Compare layers of several sizes."""
    for batch, inputs, outputs in ((4, 3, 5), (2, 8, 8), (5, 7, 1)):
        X = drawn(batch, inputs, dtype=np.float16)
        W = drawn(outputs, inputs, seed=2, dtype=np.float16)
        bias = drawn(outputs, seed=3, dtype=np.float16)
        Y = np.full((batch, outputs), np.nan, np.float16)
        linear(X, W, bias, Y)
        exact = X.astype(np.float64) @ W.T.astype(np.float64) + bias
        # A result below 16 is rounded to half precision once.
        compared(Y, np.maximum(exact, 0), 16 * HALF_ROUNDING, "Y", LINEAR)


# ---------------------------------------------------------------- 13.i


class Proposal(NamedTuple):
    """An algorithm as cuBLASLt proposes it."""

    name: str
    state: int = 0
    workspace_bytes: int = 0


class Timer:
    """A stopwatch whose first time of an algorithm is longer by a second."""

    def __init__(self, times):
        self.times, self.ran = times, []

    def __call__(self, proposal):
        if proposal.state or proposal.workspace_bytes > LIMIT:
            raise wrong(
                f"{proposal.name} was run: state {proposal.state}, workspace "
                f"{proposal.workspace_bytes:,} of {LIMIT:,} bytes.",
                "A state that is not 0 says that the algorithm cannot run; one that "
                "needs more workspace than there is cannot either.",
                "Leave such a proposal out before it is timed.",
            )
        self.ran.append(proposal.name)
        warm = self.ran.count(proposal.name) > 1
        return self.times[proposal.name] + (0 if warm else 1000)


LIMIT = 1 << 20
ONE, TWO, THREE = Proposal("algorithm 0"), Proposal("algorithm 1"), Proposal("2")
FAILED, HUNGRY = Proposal("failed", state=15), Proposal("hungry", 0, 2 * LIMIT)


def chosen(fastest, proposals, times, due):
    """Demand a choice."""
    timer = Timer(times)
    found = fastest(proposals, LIMIT, timer)
    if found is due:
        return
    skipped = [name for name in times if name not in timer.ran]
    if skipped:
        raise wrong(
            f"{skipped[0]} can run, and was not timed: the choice is {found}.",
            "A proposal that cannot run ends the loop, or others are left out with it.",
            "Leave out that proposal alone, and go on with the next one.",
        )
    raise wrong(
        f"Of times {times} the choice is {found}, and should be {due}.",
        "The first run of an algorithm is slow, whatever it does later.",
        "Run each once before its time counts.",
    )


def runs_what_can(fastest, show):
    """Demand that only what can run is run."""
    chosen(fastest, (FAILED, TWO, HUNGRY), {"algorithm 1": 2.0}, TWO)
    chosen(fastest, (FAILED, HUNGRY), {}, None)


def after_warm_up(fastest, show):
    """Demand warm times, of the fastest in any place."""
    times = {"algorithm 0": 3.0, "algorithm 1": 2.0, "2": 2.5}
    for order in ((ONE, TWO, THREE), (TWO, ONE, THREE), (THREE, ONE, TWO)):
        chosen(fastest, order, times, TWO)
    timer = Timer(times)
    fastest((ONE, TWO), LIMIT, timer)
    cold = [
        name for name in ("algorithm 0", "algorithm 1") if timer.ran.count(name) < 2
    ]
    if cold:
        raise wrong(
            f"{cold[0]} was run once.",
            "Its first run is slow: memory is reserved, code is loaded.",
            "Call time_ms(proposal) once more, before the time that counts.",
        )


# ---------------------------------------------------------------- 13.1


def multiplied(A, compute_type):
    """Return A times the identity by a compute type, on the oracle."""
    import coursekit as ck

    n, C = A.shape[0], np.zeros(A.shape, np.float32)
    with ck.simulator():
        ck.cublas.gemm_ex(
            "N", "N", n, n, n, 1.0, A, "R_32F", n, np.eye(n, dtype=np.float32),
            "R_32F", n, 0.0, C, "R_32F", n, f"COMPUTE_{compute_type}",
        )  # fmt: skip
    return C


def good_in_tf32(matrix, show):
    """Demand that TF32 multiplies the matrix well."""
    A = checked(matrix())
    C = multiplied(A, "32F_FAST_TF32")
    bad = np.argwhere(~(np.abs(C - A) <= 2.0**-11 * np.abs(A)))
    if bad.size:
        place = tuple(bad[0])
        raise wrong(
            f"With FAST_TF32 the result is {C[place]:.3g} for an element of "
            f"{A[place]:.3g}.",
            "TF32 has the range of float32, but for subnormal numbers.",
            "Take numbers between 1e-37 and 1e37.",
        )


def checked(A):
    """Return what is a square matrix of float32."""
    if not isinstance(A, np.ndarray) or A.dtype != np.float32 or A.shape != (4, 4):
        raise wrong(
            "matrix() returns no array of 4 x 4 float32.",
            "The starter makes one.",
            "Change elements of A, and return A.",
        )
    if not np.isfinite(A).all():
        raise wrong(
            "An element of A is not finite.",
            "The largest float32 is about 3.4e38, and TF32 has the same range.",
            "Take finite numbers, far below that.",
        )
    return A


def overflows(matrix, show):
    """Demand a result that is infinite with FAST_16F."""
    if not np.isinf(multiplied(checked(matrix()), "32F_FAST_16F")).any():
        raise wrong(
            "With FAST_16F no result is infinite.",
            "The largest finite number of half precision is 65504.",
            "Give A an element that float32 holds and that is far larger.",
        )


def vanishes(matrix, show):
    """Demand a result that is 0 with FAST_16F, and should not be."""
    A = checked(matrix())
    finite = np.where(np.isfinite(A), A, 0)
    # Infinity times 0 makes NaN of a whole row: look at each row alone.
    lost = [
        (multiplied(np.diag(row).astype(np.float32), "32F_FAST_16F") == 0) & (row != 0)
        for row in finite
    ]
    if not any(np.diagonal(one).any() for one in lost):
        raise wrong(
            "With FAST_16F no element of A becomes 0.",
            "The smallest positive number of half precision is 2^-24, about 6e-8.",
            "Give A an element that float32 holds and that is far smaller.",
        )


# ---------------------------------------------------------------- 13.2

CALL = (
    "S holds the right weights. So the call reads S or V another way, or stores out "
    "another way.",
    "By columns, out is V S: V is width x length, S is length x length for each head.",
)
SOFTMAX = (
    "S does not hold the weights: its values are not the softmax of its rows.",
    "S[h, q] is a row. Take powers of e, and divide them by the sum of their row.",
)


def of_attention(attention, show):
    """Compare with attention in float64."""
    for length, heads, width in ((4, 2, 4), (6, 3, 8), (3, 2, 4)):
        S = drawn(heads, length, length, dtype=np.float16)
        V = drawn(length, heads, width, seed=3, dtype=np.float16)
        out = np.full(V.shape, np.nan, np.float16)
        s, v = (x.astype(np.float64) for x in (S, V))
        attention(S, V, out)
        powers = np.exp(s - s.max(axis=2, keepdims=True))
        weights = powers / powers.sum(axis=2, keepdims=True)
        exact = np.einsum("hqk,khw->qhw", weights, v)
        advice = CALL if np.abs(S - weights).max() < 2 * HALF_ROUNDING else SOFTMAX
        # Weights and results, which are below 8, are rounded to half precision once.
        compared(out, exact, 8 * HALF_ROUNDING, "out", advice)


def large_scores(attention, show):
    """Demand finite results where exp would overflow."""
    S = np.full((1, 2, 2), 450, np.float16)
    V = np.ones((2, 1, 4), np.float16)
    out = np.full(V.shape, np.nan, np.float16)
    with np.errstate(all="ignore"):
        attention(S, V, out)
    if not np.isfinite(out).all():
        raise wrong(
            "With scores of 450 the result is not finite.",
            "exp(450) is infinite in float32.",
            "Subtract the largest score of each row before exp.",
        )


# ---------------------------------------------------------------- all

EXERCISES = (
    HostExercise(
        id="13.c",
        name="rows",
        title="A row-major product",
        function="product",
        checks=(("products of several shapes", of_shapes),),
        starter=(CheckFailed, "should be"),
        hints=(
            "The rows of A are columns for the library. Of which matrix?",
            "It sees A' of k x m, B' of n x k and C' of n x m. C' = B' A'.",
            'ck.cublas.gemm("N", "N", n, m, k, 1.0, B, n, A, k, 0.0, C, n)',
        ),
        mutants={
            "factors_not_swapped": Mutant(
                mistake="The sizes are swapped, and the factors are not.",
                edits=[("B, n, A, k", "A, n, B, k")],
                fails=(ArgumentError, "The call reaches A["),
            ),
            "sizes_not_swapped": Mutant(
                mistake="The factors are swapped, and the sizes are not.",
                edits=[('"N", n, m, k', '"N", m, n, k')],
                fails=(ArgumentError, "The call reaches B["),
            ),
        },
    ),
    HostExercise(
        id="13.g",
        name="heads",
        title="All heads in one call",
        function="scores",
        checks=(("scores of several heads", of_heads),),
        starter=(CheckFailed, "should be"),
        hints=(
            "Q lies in memory token by token; a token has its heads side by side.",
            "From token to token: heads * width elements.",
            "ld, stride = heads * width, width",
        ),
        mutants={
            "swapped": Mutant(
                mistake="The two distances are swapped.",
                edits=[
                    ("ld, stride = heads * width", "stride, ld = heads * width"),
                ],
                fails=(CheckFailed, "should be"),
            ),
            "stride_of_tokens": Mutant(
                mistake="The heads are taken to lie one behind the other.",
                edits=[("heads * width, width", "heads * width, length * width")],
                fails=(ArgumentError, "reaches"),
            ),
        },
    ),
    HostExercise(
        id="13.h",
        name="linear",
        title="A linear layer in one call",
        function="linear",
        checks=(("layers of several sizes", of_layers),),
        starter=(CheckFailed, "should be"),
        hints=(
            "By columns, W' is what the library sees: inputs x outputs. The product "
            "needs outputs x inputs.",
            'The operation of W is "T". The epilogue is "RELU_BIAS".',
            'w = ck.cublas.Layout("R_16F", inputs, outputs, inputs) and desc = '
            'ck.cublas.MatmulDesc("COMPUTE_32F", "T", "N", "RELU_BIAS", bias)',
        ),
        mutants={
            "no_relu": Mutant(
                mistake="The epilogue adds the bias only.",
                edits=[("RELU_BIAS", "BIAS")],
                fails=(CheckFailed, "should be"),
            ),
            "rows_taken_for_columns": Mutant(
                mistake="W is described as if it lay by columns, and not transposed.",
                edits=[
                    ("inputs, outputs, inputs)", "outputs, inputs, outputs)"),
                    ('"T"', '"N"'),
                ],
                fails=(CheckFailed, "should be"),
            ),
        },
    ),
    HostExercise(
        id="13.i",
        name="fastest",
        title="The fastest of what is proposed",
        function="fastest",
        checks=(
            ("runs only what can run", runs_what_can),
            ("compares warm times", after_warm_up),
        ),
        starter=(CheckFailed, "failed was run"),
        hints=(
            "proposal.state and proposal.workspace_bytes tell what cannot run. "
            "continue goes on with the next one.",
            "Before ms is set, call time_ms(proposal); its result is not needed.",
        ),
        mutants={
            "cold": Mutant(
                mistake="The first run is the one that counts.",
                edits=[("        time_ms(proposal)\n", "")],
                fails=(CheckFailed, "was run once"),
            ),
            "any_workspace": Mutant(
                mistake="The workspace is not looked at.",
                edits=[(" or proposal.workspace_bytes > workspace_bytes", "")],
                fails=(CheckFailed, "hungry was run"),
            ),
        },
    ),
    HostExercise(
        id="13.1",
        name="precision",
        title="What FAST_16F does to float32",
        stars=1,
        function="matrix",
        checks=(
            ("right in TF32", good_in_tf32),
            ("too large for half precision", overflows),
            ("too small for half precision", vanishes),
        ),
        starter=(CheckFailed, "no result is infinite"),
        hints=(
            "Chapter 03b has the ends of the range of FP16 and TF32.",
            "A number above 65504 becomes infinity, one below 3e-8 becomes 0.",
            "A[0, 0] = 1e6 and A[1, 1] = 1e-9",
        ),
        mutants={
            "not_large": Mutant(
                mistake="A number that half precision still holds.",
                edits=[("1e6", "6e4")],
                fails=(CheckFailed, "no result is infinite"),
            ),
            "not_small": Mutant(
                mistake="A number that is subnormal in half precision.",
                edits=[("1e-9", "1e-6")],
                fails=(CheckFailed, "becomes 0"),
            ),
            "too_large": Mutant(
                mistake="A number that float32 cannot hold.",
                edits=[("1e6", "np.inf")],
                fails=(CheckFailed, "not finite"),
            ),
        },
    ),
    HostExercise(
        id="13.2",
        name="attention",
        title="Attention of many heads",
        stars=2,
        function="attention",
        checks=(
            ("attention of several heads", of_attention),
            ("large scores", large_scores),
        ),
        starter=(CheckFailed, "should be"),
        hints=(
            "S[h, q] is a row of scores. Softmax subtracts its largest one first.",
            "By columns, out is width x length, and its columns are heads * width "
            "apart, as those of V.",
            'The call begins with "N", "N", width, length, length. V and out have the '
            "ld heads * width and the stride width.",
        ),
        mutants={
            "wrong_axis": Mutant(
                mistake="Softmax runs over the queries.",
                edits=[
                    ("S.max(axis=2", "S.max(axis=1"),
                    ("powers.sum(axis=2", "powers.sum(axis=1"),
                ],
                fails=(CheckFailed, "should be"),
            ),
            "transposed": Mutant(
                mistake="The weights are transposed.",
                edits=[('"N", "N", width', '"N", "T", width')],
                fails=(CheckFailed, "should be"),
            ),
            "no_maximum": Mutant(
                mistake="The largest score is not subtracted.",
                edits=[(" - S.max(axis=2, keepdims=True)", "")],
                fails=(CheckFailed, "not finite"),
            ),
        },
    ),
)
