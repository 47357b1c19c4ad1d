"""Exercises 10.1 and 10.2: two softmaxes that are right, and slow."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError
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
    """Return what the kernel of 10.2 takes; warps differ in their maximum."""
    x = shuffled(n, generator) * np.float32(4 * SPAN / n) + np.float32(LARGE)
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
            "Both loops of thread 0 are reductions. Let thread t take the columns t, t "
            "+ blockDim.x, and so on, as the last loop does, and then bring the values "
            "of all threads together.",
            "Five shuffles give a warp its maximum, __shfl_xor_sync to all its lanes. "
            "The warps meet in shared memory: each stores its maximum, all wait, and "
            "everybody takes the largest. What is the maximum of a thread that has no "
            "column?",
            "float most = -3.4028235e38f, the lowest float32; the loop; "
            "for (int away = 16; away > 0; away /= 2) "
            "most = fmaxf(most, __shfl_xor_sync(~0u, most, away)); then "
            "tops[threadIdx.x / 32] = most; __syncthreads(); and a loop over the "
            "warps. The same with + for the sum, in a second array.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "no_maximum": Mutant(
                mistake="The maximum is found and never subtracted.",
                edits=[
                    ("expf(x[row + c] - most);", "expf(x[row + c]);"),
                    ("expf(x[row + c] - most) / all", "expf(x[row + c]) / all"),
                ],
                fails=(CheckFailed, "exp(x) overflows above x = 88.7"),
            ),
            "starts_with_zero": Mutant(
                mistake="A maximum of negative values is not 0.",
                edits=[("-3.4028235e38f", "0.0f")],
                fails=(CheckFailed, "wrong"),
            ),
            "only_lane_0": Mutant(
                mistake="Shuffles down tell only lane 0.",
                edits=[
                    ("most, __shfl_xor_sync", "most, __shfl_down_sync"),
                    (
                        "    for (int w = 0; w < warps; w++) most = fmaxf(most, "
                        "tops[w]);\n",
                        "",
                    ),
                    ("total += __shfl_xor_sync", "total += __shfl_down_sync"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "one_warp": Mutant(
                mistake="Only the first warp is believed.",
                edits=[
                    ("w < warps; w++) most = fmaxf(", "w < 1; w++) most = fmaxf("),
                    (
                        "for (int w = 0; w < warps; w++) all",
                        "for (int w = 0; w < 1; w++) all",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "one_room": Mutant(
                mistake="Maxima and sums use the same places, without a barrier "
                "between.",
                edits=[
                    (", sums[32];", ";"),
                    ("sums[t / 32]", "tops[t / 32]"),
                    ("sums[w];", "tops[w];"),
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the sums of the other warps.",
                edits=[
                    ("    __syncthreads();  // the sums of all warps are there\n", "")
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "sums_of_others": Mutant(
                mistake="Each warp adds up its own sum only.",
                edits=[
                    (
                        "for (int w = 0; w < warps; w++) all += sums[w]",
                        "all = sums[t / 32]",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "sum_by_thread_0": Mutant(
                mistake="The maximum is found by all, the sum by one thread.",
                edits=[
                    (
                        "for (int c = t; c < cols; c += blockDim.x)\n"
                        "        total += expf(x[row + c] - most);",
                        "for (int c = 0; t == 0 && c < cols; c++)\n"
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
                "Three passes over 2 rows of 1024 values, 32 values a request.",
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
            "A thread needs one value of its own, and two numbers that all have in "
            "common. Which thread writes out[k]?",
            "Give each lane the pair (its value, 1), or (-3.4028235e38f, 0) if it has "
            "none: the lowest float32. Pairs merge as in the section on the online "
            "softmax, first by shuffles, then through shared memory: a maximum and a "
            "sum for each warp, stored together in front of one barrier.",
            "float top = fmaxf(most, other); sum = sum * expf(most - top) + more * "
            "expf(other - top); most = top; with other and more from "
            "__shfl_xor_sync. Behind the barrier: the largest of tops[w], then the sum "
            "of sums[w] * expf(tops[w] - most).",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "infinite": Mutant(
                mistake="Minus infinity less minus infinity is no number.",
                edits=[("[t] : -3.4028235e38f", "[t] : -1.0f / 0.0f")],
                fails=(CheckFailed, "wrong"),
            ),
            "not_rescaled": Mutant(
                mistake="The sums are about different maxima.",
                edits=[
                    (
                        "sum = sum * expf(most - top) + more * expf(other - top)",
                        "sum += more",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "maximum_first": Mutant(
                mistake="The old maximum is gone before the sum is rescaled.",
                edits=[
                    (
                        "float top = fmaxf(most, other);",
                        "most = fmaxf(most, other);\n        float top = most;",
                    ),
                    ("        most = top;\n", ""),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "warps_not_rescaled": Mutant(
                mistake="The sums of the warps are about different maxima.",
                edits=[("sums[w] * expf(tops[w] - most)", "sums[w]")],
                fails=(CheckFailed, "wrong"),
            ),
            "idle_threads_count": Mutant(
                mistake="A thread without a value adds 1 to the sum.",
                edits=[
                    (
                        "t < n ? x[t] : -3.4028235e38f, most = own, sum = t < n",
                        "x[t < n ? t : n - 1], most = own, sum = 1",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the pairs of the other warps.",
                edits=[
                    ("    __syncthreads();  // the pairs of all warps are there\n", "")
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "one_warp": Mutant(
                mistake="Only the first warp is believed.",
                edits=[
                    ("w < warps; w++) most = fmaxf(", "w < 1; w++) most = fmaxf("),
                    (
                        "for (int w = 0; w < warps; w++) sum",
                        "for (int w = 0; w < 1; w++) sum",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "two_barriers": Mutant(
                mistake="First a maximum, then a sum, each with a barrier.",
                edits=[
                    (
                        "for (int away = 16; away > 0; away /= 2) {\n"
                        "        float other = __shfl_xor_sync(~0u, most, away);\n"
                        "        float more = __shfl_xor_sync(~0u, sum, away);\n"
                        "        float top = fmaxf(most, other);\n"
                        "        sum = sum * expf(most - top) + more * expf(other "
                        "- top);\n"
                        "        most = top;\n"
                        "    }\n"
                        "    if (t % 32 == 0)\n"
                        "        tops[t / 32] = most, sums[t / 32] = sum;\n"
                        "    __syncthreads();  // the pairs of all warps are there",
                        "for (int away = 16; away > 0; away /= 2)\n"
                        "        most = fmaxf(most, __shfl_xor_sync(~0u, most, "
                        "away));\n"
                        "    if (t % 32 == 0) tops[t / 32] = most;\n"
                        "    __syncthreads();  // the maxima are there",
                    ),
                    (
                        "sum = 0.0f;",
                        "sum = t < n ? expf(own - most) : 0.0f;\n"
                        "    for (int away = 16; away > 0; away /= 2)\n"
                        "        sum += __shfl_xor_sync(~0u, sum, away);\n"
                        "    if (t % 32 == 0) sums[t / 32] = sum;\n"
                        "    __syncthreads();  // the sums are there\n"
                        "    sum = 0.0f;",
                    ),
                    ("sums[w] * expf(tops[w] - most)", "sums[w]"),
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
