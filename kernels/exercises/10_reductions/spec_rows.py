"""Chapter 10c: your turn 10.k, 10.l and 10.q, and its guesses."""

import numpy as np

from coursekit.errors import BarrierError, CheckFailed
from coursekit.exercises import Exercise, Guess, Mutant, blank, blocks, shuffled

LEVEL = 200.0  # neither exp of it nor of -200 is a float32
SPAN = 16.0  # half of what lies between maxima that are merged


def rows_by_threads(threads):
    """Launch a thread for each row."""
    return lambda size: (blocks(size[0], threads), threads)


def far_rows(size, generator):
    """Return what 10.k takes: rows near LEVEL and near -LEVEL, 8 wide."""
    rows, cols = size
    x = shuffled(size, generator) * np.float32(32 / (rows * cols))
    x += np.where(np.arange(rows) % 2, -LEVEL, LEVEL)[:, None].astype(np.float32)
    return {"x": x, "out": blank(size), "rows": rows, "cols": cols}


def warps_for_rows(threads):
    """Launch a warp for each row."""
    return lambda size: (blocks(32 * size[0], threads), threads)


def rows_to_reduce(size, generator):
    """Return what 10.q takes."""
    rows, cols = size
    return {
        "x": -shuffled(size, generator),
        "out": blank(rows),
        "rows": rows,
        "cols": cols,
    }


def softmax_of(x):
    """Return the softmax of each row."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def pairs(n, generator):
    """Return what 10.l takes: maxima near LEVEL and near -LEVEL in turn."""
    unit = np.float32(4 * SPAN / max(n, 1))
    level = np.where(np.arange(n) % 2, -LEVEL, LEVEL).astype(np.float32)
    max_a, max_b = (
        shuffled(n, generator) * unit - np.float32(SPAN) + level for _ in "ab"
    )
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
            "A share does not change when the same number is subtracted from every "
            "value of the row. Which number makes the largest value 0?",
            "That number is in the variable most. It belongs inside of both calls of "
            "expf: in the sum, and in the quotient.",
        ),
        starter=(CheckFailed, "exp(x) overflows above x = 88.7"),
        mutants={
            "only_the_sum": Mutant(
                mistake="The maximum is subtracted in the sum alone.",
                edits=[("expf(x[c] - most) /", "expf(x[c]) /")],
                fails=(CheckFailed, "wrong"),
            ),
            "sign": Mutant(
                mistake="The difference has the other sign.",
                edits=[
                    ("sum += expf(x[c] - most)", "sum += expf(most - x[c])"),
                    ("expf(x[c] - most) /", "expf(most - x[c]) /"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "after_exp": Mutant(
                mistake="The maximum is subtracted from the power.",
                edits=[
                    ("sum += expf(x[c] - most)", "sum += expf(x[c]) - most"),
                    ("expf(x[c] - most) /", "(expf(x[c]) - most) /"),
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
            "Each sum is multiplied by expf of its own maximum minus max[i]. At least "
            "one of the two factors is exp(0) = 1.",
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
            "by_their_powers": Mutant(
                mistake="The factors are right on paper, and overflow one by one.",
                edits=[
                    ("expf(max_a[i] - max[i])", "expf(max_a[i]) / expf(max[i])"),
                    ("expf(max_b[i] - max[i])", "expf(max_b[i]) / expf(max[i])"),
                ],
                fails=(CheckFailed, "exp(x) overflows above x = 88.7"),
            ),
        },
    ),
    Exercise(
        id="10.q",
        name="by_warps",
        title="A warp for each row",
        kernel="row_max",
        inputs=rows_to_reduce,
        outputs=("out",),
        sizes=((1, 1), (3, 31), (9, 33), (10, 100)),
        launches=(warps_for_rows(256), warps_for_rows(64)),
        reference=lambda v: v.x.max(axis=1),
        owner=None,
        hints=(
            "Threads 0 to 31 of the grid belong to row 0, threads 32 to 63 to row 1. "
            "Which two operators turn the number of a thread into its row and its "
            "place in the warp?",
            "The number of a thread in the grid is blockIdx.x * blockDim.x + "
            "threadIdx.x. Divided by 32 it is the row, and the remainder is the lane.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "row_of_a_block": Mutant(
                mistake="The whole block takes one row.",
                edits=[("(blockIdx.x * blockDim.x + threadIdx.x) / 32", "blockIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "lane_of_the_block": Mutant(
                mistake="The number in the block is taken for the lane.",
                edits=[("threadIdx.x % 32", "threadIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "the_other_way": Mutant(
                mistake="Row and lane are exchanged.",
                edits=[
                    ("threadIdx.x) / 32", "threadIdx.x) % 32"),
                    ("lane = threadIdx.x % 32", "lane = threadIdx.x / 32"),
                ],
                fails=(BarrierError, "has left the kernel"),
            ),
        },
    ),
)
GUESSES = {
    "thread_per_row": Guess(
        question="A thread has a row, and a row has 512 floats. In one iteration the "
        "32 lanes of a warp read column 0 of their rows. How many sectors do they ask "
        "for?",
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
        question="A thread has no value of the row, and has to merge all the same. "
        "Which pair (max, sum) leaves every pair of numbers as it is, also a pair of "
        "its own kind?",
        options=("(0, 0)", "(-infinity, 0)", "(lowest float, 0)", "(lowest float, 1)"),
        hint="Two threads without a value merge with each other, and then with the "
        "pair of a row of negative values. What is -infinity minus -infinity?",
        answer="(lowest float, 0)",
        because="Its maximum is never above another, and its sum adds nothing. A "
        "maximum of 0 may be too large, and -infinity minus -infinity is NaN.",
    ),
    "passes": Guess(
        question="Step 2 reads 3 * 4 bytes per value, and step 3 reads 2 * 4. How many "
        "bytes per value does a step read that keeps its row in registers?",
        hint="How often is each value of x loaded? A float has 4 bytes.",
        answer=4,
        because="Each value is loaded once; maximum, sum and quotient use the copy in "
        "a register.",
    ),
}
