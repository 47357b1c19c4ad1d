"""Chapter 10c: your turn 10.k to 10.m, and the guesses about rows."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Guess, Mutant, blank, blocks, shuffled

LEVEL = 200.0  # neither exp of it nor of -200 is a float32
SPAN = 16.0  # between maxima that are merged


def rows_by_threads(threads):
    """Launch a thread for each row."""
    return lambda size: (blocks(size[0], threads), threads)


def far_rows(size, generator):
    """Return what 10.k takes: rows near LEVEL and near -LEVEL, 8 wide."""
    rows, cols = size
    x = shuffled(size, generator) * np.float32(32 / (rows * cols))
    x += np.where(np.arange(rows) % 2, -LEVEL, LEVEL)[:, None].astype(np.float32)
    return {"x": x, "out": blank(size), "rows": rows, "cols": cols}


def softmax_of(x):
    """Return the softmax of each row."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def pairs(n, generator):
    """Return what 10.l takes."""
    unit = np.float32(4 * SPAN / max(n, 1))
    max_a, max_b = (shuffled(n, generator) * unit - np.float32(SPAN) for _ in "ab")
    sum_a, sum_b = (1 + shuffled(n, generator) for _ in "ab")
    return {
        "max_a": max_a,
        "sum_a": sum_a,
        "max_b": max_b,
        "sum_b": sum_b,
        "max": blank(n),
        "sum": blank(n),
        "n": n,
    }


def merged(v):
    """Merge two pairs of maximum and sum."""
    most = np.maximum(v.max_a, v.max_b)
    total = v.sum_a * np.exp(v.max_a - most) + v.sum_b * np.exp(v.max_b - most)
    return {"max": most, "sum": total}


def heads_of(v):
    """Count the values of each row before its first whole sector."""
    return np.minimum(-np.arange(v.rows) * v.cols % 8, v.cols)


EXERCISES = (
    Exercise(
        id="10.k",
        name="overflow",
        title="A softmax that does not overflow",
        kernel="softmax",
        inputs=far_rows,
        outputs=("out",),
        sizes=((1, 1), (31, 3), (33, 20)),
        launches=(rows_by_threads(128), rows_by_threads(32)),
        reference=lambda v: softmax_of(v.x),
        # Arguments of exp are up to 8 and rounded once, exp rounds twice a place.
        roundings=lambda size: 2 * (8 + 4) + size[1] + 2,
        owner=None,
        hints=(
            "The factor exp(most) cancels between numerator and sum, so every value of "
            "the row may be made smaller by the same number. Which number makes the "
            "largest value 0?",
        ),
        starter=(CheckFailed, "exp(x) overflows above x = 88.7"),
        mutants={
            "only_the_sum": Mutant(
                mistake="The maximum is subtracted in the sum alone.",
                edits=[("expf(x[row * cols + c] - most) /", "expf(x[row * cols + c]) /")],
                fails=(CheckFailed, "wrong"),
            ),
            "sign": Mutant(
                mistake="The difference has the other sign.",
                edits=[
                    (
                        "sum += expf(x[row * cols + c] - most)",
                        "sum += expf(most - x[row * cols + c])",
                    ),
                    (
                        "expf(x[row * cols + c] - most) /",
                        "expf(most - x[row * cols + c]) /",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "after_exp": Mutant(
                mistake="The maximum is subtracted from the power.",
                edits=[
                    (
                        "sum += expf(x[row * cols + c] - most)",
                        "sum += expf(x[row * cols + c]) - most",
                    ),
                    (
                        "expf(x[row * cols + c] - most) /",
                        "(expf(x[row * cols + c]) - most) /",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.l",
        name="merge",
        title="Merge two pairs of maximum and sum",
        kernel="merge",
        inputs=pairs,
        outputs=("max", "sum"),
        reference=merged,
        # An argument of exp is up to 32 and rounded once, exp rounds twice a place.
        roundings=48,
        hints=(
            "sum_a[i] is a sum of exp(x - max_a[i]), and exp(x - max[i]) is wanted. "
            "By which factor do the two differ?",
            "exp(x - max) = exp(x - max_a) * exp(max_a - max). The sum of b has a "
            "factor of its own.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "sign": Mutant(
                mistake="The sum grows where it must shrink.",
                edits=[("expf(max_a[i] - max[i])", "expf(max[i] - max_a[i])")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_factor": Mutant(
                mistake="Only the sum of a is corrected.",
                edits=[("sum_b[i] * expf(max_b[i] - max[i])", "sum_b[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "of_each_other": Mutant(
                mistake="The sums are corrected by the difference of their maxima.",
                edits=[
                    ("expf(max_a[i] - max[i])", "expf(max_a[i] - max_b[i])"),
                    ("expf(max_b[i] - max[i])", "expf(max_b[i] - max_a[i])"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.m",
        name="head",
        title="Where the first sector of a row begins",
        kernel="heads",
        inputs=lambda size, generator: {
            "out": blank(size[0], np.int32),
            "rows": size[0],
            "cols": size[1],
        },
        outputs=("out",),
        sizes=((1, 1), (31, 3), (33, 13), (40, 1000), (9, 50257)),
        picture=(8, 5),
        launches=(rows_by_threads(64), rows_by_threads(32)),
        reference=heads_of,
        owner=None,
        hints=(
            "A sector holds 8 floats, and row r begins at value r * cols. How many "
            "values after a multiple of 8 is that? How many are left to the next?",
            "past = row * cols % 8 values lie between the last beginning of a sector "
            "and the row. 8 - past are left, and none if past is 0. A row of 3 values "
            "has no head of 5.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "from_the_front": Mutant(
                mistake="Counted from the sector's beginning, not to the next one.",
                edits=[("(8 - row * cols % 8) % 8", "row * cols % 8")],
                fails=(CheckFailed, "wrong"),
            ),
            "eight": Mutant(
                mistake="A row that begins a sector gets a head of 8.",
                edits=[("(8 - row * cols % 8) % 8", "8 - row * cols % 8")],
                fails=(CheckFailed, "wrong"),
            ),
            "longer_than_the_row": Mutant(
                mistake="The head of a short row reaches into the next row.",
                edits=[
                    (
                        "min((8 - row * cols % 8) % 8, cols)",
                        "(8 - row * cols % 8) % 8",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
GUESSES = {
    "thread_per_row": Guess(
        question="A thread per row, 512 floats per row. The 32 lanes of a warp read "
        "column 0 of their rows. How many sectors is that?",
        options=(1, 4, 32),
        hint="Two neighbouring lanes read addresses that lie 512 * 4 bytes apart.",
        answer=32,
        because="Each lane reads from a sector of its own, and uses 4 of 32 bytes.",
    ),
    "one_works": Guess(
        question="A row has 1024 values, and the block has 8 warps. Two passes in "
        "which all lanes load take 64 requests. How many does this kernel take for "
        "its maximum and its sum?",
        options=(64, 256, 2048),
        hint="A request serves the active lanes of one warp. How many lanes of how "
        "many warps are active in the two loops?",
        answer=2048,
        because="One lane of one warp loads 1024 values twice, one per request.",
    ),
    "neutral": Guess(
        question="A thread has no value of the row. Which pair (max, sum) may it merge "
        "with any other pair, and change nothing?",
        options=("(0, 0)", "(-infinity, 0)", "(lowest float, 0)", "(lowest float, 1)"),
        hint="Merge the pair with itself, and with the pair of a row of negative "
        "values. What is infinity minus infinity?",
        answer="(lowest float, 0)",
        because="A maximum of 0 may be too large, and -infinity minus -infinity is "
        "NaN.",
    ),
    "passes": Guess(
        question="Step 2 reads 3 * 4 bytes per value, and step 3 reads 2 * 4. How many "
        "bytes per value does a step read that keeps its row in registers?",
        hint="Every value of x is loaded from memory how often?",
        answer=4,
        because="Each value is loaded once; maximum, sum and quotient use the copy in "
        "a register.",
    ),
    "who_waits": Guess(
        question="Step 6 and step 7 share a row among several blocks. Which blocks "
        "must be on the GPU at the same time?",
        options=("all blocks of a row", "all blocks of a grid", "none"),
        hint="Who needs the pair of a block before it can go on?",
        answer="all blocks of a row",
        because="A block waits for the pairs of its row, and for nobody else's.",
    ),
    "whose_row": Guess(
        question="A language model has 50,257 values per row. A block keeps at most "
        "32,768 values in its registers. Who takes such a row?",
        options=("a warp", "a block", "a cluster of 2 blocks", "a cluster of 16"),
        hint="What is the smallest group whose registers hold the row?",
        answer="a cluster of 2 blocks",
        because="Two blocks hold up to 65,536 values.",
    ),
}
