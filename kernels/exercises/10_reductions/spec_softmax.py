"""Exercises 10.1 and 10.2: two softmaxes that are right, and slow."""

import numpy as np

from coursekit.errors import BarrierError, CheckFailed
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled

SPAN = 8.0  # between the least and the largest value of a row
LARGE = 200.0  # neither exp of it nor of -200 is a float32


def at_most(counter, size, most, why):
    """Return a limit on a counter."""
    return Limit(counter=counter, size=size, most=most, why=why)


def spread(rows, cols, generator):
    """Return rows of values near LARGE and near -LARGE in turn."""
    x = shuffled((rows, cols), generator) * np.float32(4 * SPAN / (rows * cols))
    level = np.where(np.arange(rows) % 2, LARGE, -LARGE)
    return (x + level[:, None]).astype(np.float32)


def softmax_of(x):
    """Return the softmax of the rows, or of one vector."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def roundings_of_softmax(additions):
    """Bound the error of a softmax, in roundings.

    Two arguments of exp are rounded, and it makes SPAN times as much of that; exp
    itself rounds twice a place. A pair that is merged does it again, eleven times.
    """
    return int(2 * SPAN + additions + 11 * (SPAN + 4) + 8)


def a_block_a_row(threads):
    """Launch a block for each row."""
    return lambda size: (size[0], threads)


def as_many_threads(n):
    """Launch one block with as many warps as n values need."""
    return 1, 32 * blocks(n, 32)


def more_threads(n):
    """Launch one block, with warps to spare."""
    return 1, 32 * blocks(n, 32) + 64


def rows_of_values(size, generator):
    """Return what the kernel of 10.1 takes."""
    rows, cols = size
    return {"x": spread(rows, cols, generator), "out": blank(size), "cols": cols}


def one_vector(n, generator):
    """Return what the kernel of 10.2 takes; long vectors are negative."""
    level = np.float32(LARGE if n <= 32 else -LARGE)
    x = shuffled(n, generator) * np.float32(4 * SPAN / n) + level
    return {"x": x, "out": blank(n), "n": n}


EXERCISES = (
    Exercise(
        id="10.1",
        name="all_threads",
        title="A softmax in which all threads work",
        stars=2,
        kernel="softmax",
        inputs=rows_of_values,
        outputs=("out",),
        sizes=((1, 1), (2, 31), (3, 33), (2, 150)),
        launches=(a_block_a_row(256), a_block_a_row(64)),
        reference=lambda v: softmax_of(v.x),
        roundings=lambda size: roundings_of_softmax(size[1]),
        owner=None,
        hints=(
            "Both loops of thread 0 are reductions. Let every thread take the columns "
            "threadIdx.x, threadIdx.x + blockDim.x, and so on, as the last loop does, "
            "and keep a maximum and a sum of its own in registers.",
            "block_max(own) returns the largest of what all threads of the block pass "
            "in. It has a barrier, so all threads call it, those without a column "
            "too. What is the maximum of a thread that has no column?",
            "float most = LOWEST, total = 0.0f; the loop over the columns; most = "
            "block_max(most); then the same with the sum and block_sum. No if and no "
            "shared variable is left in the kernel.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "no_maximum": Mutant(
                mistake="The maximum is found and never subtracted.",
                edits=[
                    ("expf(x[row + c] - most);", "expf(x[row + c]);"),
                    ("expf(x[row + c] - most) / total", "expf(x[row + c]) / total"),
                ],
                fails=(CheckFailed, "exp(x) overflows above x = 88.7"),
            ),
            "starts_with_zero": Mutant(
                mistake="A maximum of negative values is not 0.",
                edits=[("float most = LOWEST,", "float most = 0.0f,")],
                fails=(CheckFailed, "wrong"),
            ),
            "own_maximum": Mutant(
                mistake="Each thread subtracts the maximum of its own columns.",
                edits=[("    most = block_max(most);\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "own_sum": Mutant(
                mistake="Each thread divides by the sum of its own columns.",
                edits=[("    total = block_sum(total);\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "in_a_branch": Mutant(
                mistake="Only threads with a column come to the barrier.",
                edits=[
                    (
                        "    most = block_max(most);",
                        "    if (threadIdx.x < cols)\n        most = block_max(most);",
                    )
                ],
                fails=(BarrierError, "waits"),
            ),
            "sum_by_thread_0": Mutant(
                mistake="The maximum is found by all, the sum by one thread.",
                edits=[
                    (
                        "for (int c = threadIdx.x; c < cols; c += blockDim.x)\n"
                        "        total += expf(x[row + c] - most);",
                        "for (int c = 0; threadIdx.x == 0 && c < cols; c++)\n"
                        "        total += expf(x[row + c] - most);",
                    )
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
        },
        limits=(
            at_most(
                "global_load_requests",
                (2, 1024),
                2 * 3 * 32,
                "Three passes over 2 rows of 1024 values, 32 values per request.",
            ),
        ),
    ),
    Exercise(
        id="10.2",
        name="linear",
        title="From n * n steps to n, with one barrier",
        stars=3,
        kernel="softmax",
        inputs=one_vector,
        outputs=("out",),
        sizes=(1, 31, 32, 33, 70),
        launches=(as_many_threads, more_threads),
        reference=lambda v: softmax_of(v.x),
        roundings=lambda n: roundings_of_softmax(n),
        owner=None,
        hints=(
            "A thread needs one value of its own, and two numbers that all threads "
            "have in common. Which thread writes out[k]?",
            "Each thread begins with a pair: the maximum of its one value, and the sum "
            "of exp(x - max) of it. block_merged(own) merges the pairs of all threads "
            "of the block. Which pair changes nothing, for a thread with no value?",
            "Part own = t < n ? Part{x[t], 1} : Part{LOWEST, 0}; then Part all = "
            "block_merged(own); and then each thread with t < n writes out[t] from "
            "x[t], all.max and all.sum.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "infinite": Mutant(
                mistake="Minus infinity less minus infinity is no number.",
                edits=[("Part{LOWEST, 0}", "Part{-1.0f / 0.0f, 0}")],
                fails=(CheckFailed, "wrong"),
            ),
            "zero_is_no_maximum": Mutant(
                mistake="A thread without a value claims the maximum 0.",
                edits=[("Part{LOWEST, 0}", "Part{0, 0}")],
                fails=(CheckFailed, "wrong"),
            ),
            "idle_threads_count": Mutant(
                mistake="A thread without a value adds 1 to the sum.",
                edits=[
                    (
                        "t < n ? Part{x[t], 1} : Part{LOWEST, 0}",
                        "{x[t < n ? t : n - 1], 1}",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "value_for_sum": Mutant(
                mistake="The sum of a pair holds x, and not exp(x - max).",
                edits=[("Part{x[t], 1}", "Part{x[t], x[t]}")],
                fails=(CheckFailed, "wrong"),
            ),
            "of_a_warp": Mutant(
                mistake="Only the pairs of one warp are merged.",
                edits=[("all = block_merged(own)", "all = warp_merged(own)")],
                fails=(CheckFailed, "wrong"),
            ),
            "in_a_branch": Mutant(
                mistake="Threads without a value do not come to the barrier.",
                edits=[
                    (
                        "    Part all = block_merged(own);\n    if (t < n)\n"
                        "        out[t] = expf(x[t] - all.max) / all.sum;",
                        "    if (t < n) {\n"
                        "        Part all = block_merged(own);\n"
                        "        out[t] = expf(x[t] - all.max) / all.sum;\n    }",
                    )
                ],
                fails=(BarrierError, "has left the kernel"),
            ),
            "two_barriers": Mutant(
                mistake="The threads wait once more than they need to.",
                edits=[
                    (
                        "    if (t < n)\n",
                        "    __syncthreads();  // nobody needs it\n    if (t < n)\n",
                    )
                ],
                fails=(CheckFailed, "barriers is"),
            ),
        },
        limits=(
            at_most(
                "global_load_requests",
                255,
                2 * 8,
                "255 values are 8 requests, and may be read twice.",
            ),
            at_most("global_store_requests", 255, 8, "Each value is written once."),
            at_most("barriers", 255, 8, "8 warps wait once each."),
        ),
    ),
)
