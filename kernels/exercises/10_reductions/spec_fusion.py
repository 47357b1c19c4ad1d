"""Chapter 10e: your turn 10.o, 10.p, 10.t and 10.u, and its guesses."""

import math

import numpy as np

from coursekit.errors import BarrierError, CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    Guess,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)

CHANNELS = 6


def columns_and_rows(threads):
    """Launch a thread for each column in x, and a block for each row in y."""
    return lambda size: ((blocks(size[1], threads), size[0]), threads)


def columns(threads):
    """Launch a thread for each column."""
    return lambda size: (blocks(size[1], threads), threads)


def images(size, generator):
    """Return what 10.o takes: images of CHANNELS channels."""
    n, pixels = size
    return {
        "x": shuffled((n, CHANNELS, pixels), generator),
        "gamma": shuffled(CHANNELS, generator),
        "beta": shuffled(CHANNELS, generator) + 100,
        "y": blank((n, CHANNELS, pixels)),
        "C": CHANNELS,
        "P": pixels,
        "n": n * CHANNELS * pixels,
    }


def a_thread_per_value(threads):
    """Launch a thread for each value of all images."""
    return lambda size: (blocks(size[0] * CHANNELS * size[1], threads), threads)


def weighted_columns(size, generator):
    """Return what 10.p takes."""
    rows, cols = size
    return {
        "x": shuffled(size, generator),
        "w": shuffled(cols, generator),
        "y": blank(size),
        "rows": rows,
        "cols": cols,
    }


def weights_of(w):
    """Return the weight of each column, a series of 100 terms."""
    for _ in range(100):
        w = w * (63 / 64) + 1 / 64
    return w


def biased(size, generator):
    """Return what 10.t takes: values from -2 to 2."""
    rows, cols = size
    unit = np.float32(16 / (rows * cols))
    return {
        "x": shuffled(size, generator) * unit - np.float32(2),
        "bias": shuffled(cols, generator) / np.float32(cols),
        "z": shuffled(size, generator),
        "y": blank(size),
        "cols": cols,
    }


def normal_share(z):
    """Return the probability that a standard normal number is below z."""
    return np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2)(z)


def rows_to_norm(size, generator):
    """Return what 10.u takes."""
    x = shuffled(size, generator)
    return {"x": x, "y": blank(size), "cols": size[1], "epsilon": np.float32(1e-5)}


def a_thread_per_column(spare):
    """Launch a block for each row, with a thread for each column and spare ones."""
    return lambda size: (size[0], 32 * blocks(size[1], 32) + spare)


EXERCISES = (
    Exercise(
        id="10.o",
        name="channel",
        title="The channel of a value",
        kernel="by_channel",
        inputs=images,
        outputs=("y",),
        sizes=((1, 1), (2, 31), (3, 33)),
        launches=(a_thread_per_value(256), a_thread_per_value(64)),
        reference=lambda v: v.x * v.gamma[:, None] + v.beta[:, None],
        roundings=2,
        hints=(
            "The first P values are channel 0 of image 0, the next P are channel 1. "
            "Behind the last channel the next image begins.",
            "i / P counts the channels of all images. Which operator starts again with "
            "0 at every image?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "all_images": Mutant(
                mistake="The channels of the second image go on counting.",
                edits=[("i / P % C", "i / P")],
                fails=(OutOfBoundsError, "reads gamma"),
            ),
            "channels_last": Mutant(
                mistake="That is the channel where channels are side by side.",
                edits=[("i / P % C", "i % C")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.p",
        name="once",
        title="Fuse without repeating work",
        kernel="scaled",
        inputs=weighted_columns,
        outputs=("y",),
        sizes=((1, 1), (2, 31), (5, 33)),
        launches=(columns(64), columns(32)),
        reference=lambda v: v.x * weights_of(v.w),
        # Each term keeps 63 / 64 of what was rounded before, and rounds once.
        roundings=66,
        owner=None,
        hints=(
            "weight(w[c]) does not depend on the row. How often does a thread compute "
            "it, and how often has it to?",
            "A variable of the thread, set in front of the loop over the rows, keeps "
            "the weight in a register.",
        ),
        starter=(CheckFailed, "flops_fp32 is"),
        mutants={
            "first_column": Mutant(
                mistake="Every thread takes the weight of the first column.",
                edits=[("weight(w[c])", "weight(w[0])")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_weight": Mutant(
                mistake="The columns are scaled by w itself.",
                edits=[("weight(w[c])", "w[c]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            Limit(
                counter="flops_fp32",
                size=(64, 256),
                most=256 * 200 + 64 * 256,
                why="Each of 256 weights is computed once, and each value is "
                "multiplied once.",
            ),
        ),
    ),
    Exercise(
        id="10.t",
        name="bias_gelu",
        title="Fuse bias and GELU",
        kernel="bias_gelu",
        inputs=biased,
        outputs=("y",),
        sizes=((1, 1), (2, 31), (3, 33), (5, 40)),
        launches=(columns_and_rows(64), columns_and_rows(32)),
        reference=lambda v: (v.x + v.bias) * normal_share(v.x + v.bias),
        # normcdff is right to a few units; in its tail z counts by its square.
        roundings=64,
        owner=None,
        hints=(
            "Which threads read z[i] after it is written? A variable of the thread "
            "would do.",
            "float own = x[i] + bias[c]; and then own in both places where z[i] stood. "
            "Nothing is stored into z.",
        ),
        starter=(CheckFailed, "changed the input z"),
        mutants={
            "bias_by_row": Mutant(
                mistake="The bias is taken by row.",
                edits=[("bias[c]", "bias[blockIdx.y]")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_bias_inside": Mutant(
                mistake="The bias is missing in one of two places.",
                edits=[("normcdff(own)", "normcdff(x[i])")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.u",
        name="rms",
        title="Fuse a norm: read the row once",
        kernel="rms_norm",
        inputs=rows_to_norm,
        outputs=("y",),
        sizes=((1, 1), (3, 31), (2, 33), (2, 100)),
        launches=(a_thread_per_column(0), a_thread_per_column(32)),
        reference=lambda v: v.x / np.sqrt((v.x**2).mean(axis=1) + 1e-5)[:, None],
        # Squares and their sum round, and rsqrtf is right to two units.
        roundings=lambda size: size[1] + 16,
        owner=None,
        hints=(
            "A thread with a column needs one value of x, and the sum of all squares. "
            "Which function gives the sum of a block to all its threads?",
            "float own = t < cols ? x[row + t] : 0.0f; then the sum of own * own over "
            "the block, and own again in the last line.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "no_square": Mutant(
                mistake="The values are added, and not their squares.",
                edits=[("block_sum(own * own)", "block_sum(own)")],
                fails=(CheckFailed, "wrong"),
            ),
            "in_the_branch": Mutant(
                mistake="Threads without a column do not come to the barrier.",
                edits=[
                    (
                        "    float sum = block_sum(own * own);\n    if (t < cols)\n"
                        "        y[row + t] = own * rsqrtf(sum / cols + epsilon);",
                        "    if (t < cols) {\n"
                        "        float sum = block_sum(own * own);\n"
                        "        y[row + t] = own * rsqrtf(sum / cols + epsilon);\n"
                        "    }",
                    )
                ],
                fails=(BarrierError, "block.cuh"),
            ),
            "spare_threads": Mutant(
                mistake="Threads without a column add the first value again.",
                edits=[("x[row + t] : 0.0f", "x[row + t] : x[row]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_requests",
                size=(4, 256),
                most=4 * 8,
                why="4 rows of 256 values are 8 requests each.",
            ),
        ),
    ),
)
GUESSES = {
    "joined": Guess(
        question="Apart, the four operations move 6 arrays of the size of x. How many "
        "does one kernel move that does all four?",
        hint="Which arrays have to be read from memory at the beginning, and which "
        "have to be there in the end?",
        answer=2,
        because="x is read and y is written; m, e and s never leave the chip.",
    ),
    "bias_gelu": Guess(
        question="One kernel computes z = x + b, and another y = gelu(z). How many "
        "arrays of the size of x do the two move? The bias b is small: leave it out.",
        hint="Each kernel reads its input and writes its result.",
        answer=4,
        because="x is read, z is written, z is read again, y is written.",
    ),
    "on_chip": Guess(
        question="A group of an image is 8 channels of 16 x 16 floats. How much shared "
        "memory holds it?",
        options=("2 KiB", "8 KiB", "32 KiB"),
        hint="A float has 4 bytes.",
        answer="8 KiB",
        because="8 * 256 * 4 = 8192 bytes.",
    ),
    "repeats": Guess(
        question="x has 64 rows, and a weight takes 200 operations. With each weight "
        "computed once, a value takes 200 / 64 + 1, about 4 operations. How many does "
        "a value take in this kernel?",
        options=(1, 4, 201),
        hint="How often does the loop over the rows compute the weight?",
        answer=201,
        because="200 for the weight and 1 for the product, about 49 times as many.",
    ),
}
