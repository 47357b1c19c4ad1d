"""Exercises 10.1 and 10.2: two softmaxes that are right, and slow."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Limit, blank, blocks, shuffled

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
            "float most = -3e38f; the loop; for (int away = 16; away > 0; away /= 2) "
            "most = fmaxf(most, __shfl_xor_sync(~0u, most, away)); then "
            "tops[threadIdx.x / 32] = most; __syncthreads(); and a loop over the "
            "warps. The same with + for the sum, in a second array.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "no_maximum": (CheckFailed, "wrong"),
            "starts_with_zero": (CheckFailed, "wrong"),
            "only_lane_0": (CheckFailed, "wrong"),
            "one_warp": (CheckFailed, "wrong"),
            "one_room": (CheckFailed, "wrong"),
            "no_barrier": (CheckFailed, "wrong"),
            "sums_of_others": (CheckFailed, "wrong"),
            "sum_by_thread_0": (CheckFailed, "global_load_requests is"),
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
            "Give each lane the pair (its value, 1), or (-3e38f, 0) if it has none. "
            "Pairs merge as in the section on the online softmax, first by shuffles, "
            "then through shared memory: a maximum and a sum for each warp, stored "
            "together in front of one barrier.",
            "float top = fmaxf(most, other); sum = sum * expf(most - top) + more * "
            "expf(other - top); most = top; with other and more from "
            "__shfl_xor_sync. Behind the barrier: the largest of tops[w], then the sum "
            "of sums[w] * expf(tops[w] - most).",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "infinite": (CheckFailed, "wrong"),
            "not_rescaled": (CheckFailed, "wrong"),
            "maximum_first": (CheckFailed, "wrong"),
            "warps_not_rescaled": (CheckFailed, "wrong"),
            "idle_threads_count": (CheckFailed, "wrong"),
            "no_barrier": (CheckFailed, "wrong"),
            "one_warp": (CheckFailed, "wrong"),
            "two_barriers": (CheckFailed, "barriers is"),
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
