"""Chapter 10d: your turn 10.n to 10.p, and the guesses about fusion."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Guess, Limit, Mutant, blank, blocks, ramp
from coursekit.exercises import shuffled

CHANNELS = 6


def columns_and_rows(threads):
    """Launch a thread for each column in x, and a block for each row in y."""
    return lambda size: ((blocks(size[1], threads), size[0]), threads)


def columns(threads):
    """Launch a thread for each column."""
    return lambda size: (blocks(size[1], threads), threads)


def normal_parts(size, generator):
    """Return what 10.n takes: x, and what is known of its rows and columns."""
    rows, cols = size
    return {
        "x": shuffled(size, generator),
        "mean": shuffled(rows, generator),
        "scale": 1 + ramp(rows),
        "gamma": shuffled(cols, generator),
        "beta": -shuffled(cols, generator),
        "y": blank(size),
        "cols": cols,
    }


def applied(v):
    """Normalise x by row, and scale and shift it by column."""
    return (v.x - v.mean[:, None]) * v.scale[:, None] * v.gamma + v.beta


def size_of_terms(v):
    """Return the size of what is added, which may cancel."""
    product = (v.x - v.mean[:, None]) * v.scale[:, None] * v.gamma
    return abs(product) + abs(v.beta)


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


EXERCISES = (
    Exercise(
        id="10.n",
        name="apply",
        title="The last pass of a layernorm",
        kernel="apply",
        inputs=normal_parts,
        outputs=("y",),
        sizes=((1, 1), (2, 31), (3, 33), (5, 40)),
        launches=(columns_and_rows(64), columns_and_rows(32)),
        reference=applied,
        roundings=4,
        magnitude=size_of_terms,
        owner=None,
        hints=(
            "Of which of the four arrays is there one number per row, and of which one "
            "per column?",
            "mean and scale belong to a row, gamma and beta to a column c.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "gamma_by_row": Mutant(
                mistake="gamma and beta are taken by row.",
                edits=[("gamma[c] + beta[c]", "gamma[row] + beta[row]")],
                fails=(CheckFailed, "wrong"),
            ),
            "mean_by_column": Mutant(
                mistake="The mean is taken by column.",
                edits=[("mean[row]", "mean[c]")],
                fails=(OutOfBoundsError, "reads mean"),
            ),
            "no_beta": Mutant(
                mistake="beta is left out.",
                edits=[(" + beta[c]", "")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
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
)
GUESSES = {
    "near_ten_thousand": Guess(
        question="The values of a row lie near 10,000, and their variance is 1. What "
        "does float32 give for the mean of the squares minus the square of the mean?",
        options=("1.0000", "1.0 or so", "any number of size 10, below 0 too"),
        hint="A square is about 100,000,000. float32 keeps about seven digits: how "
        "large is the last of them?",
        answer="any number of size 10, below 0 too",
        because="Neighbouring float32 numbers near 10^8 lie 8 apart, and the variance "
        "is the difference of two of them.",
    ),
    "gamma": Guess(
        question="Step 3 of the layernorm loads each value of x once, for 8 rows of "
        "128 values. How many times 4 bytes per value do its warps ask for?",
        options=(1, 2, 3),
        hint="Which other arrays does the last loop read, for every row?",
        answer=3,
        because="x once, and gamma and beta once per row. Caches serve most of the "
        "last two, as they are the same for every row.",
    ),
    "gamma_quads": Guess(
        question="A row has a head of 3 values, so its quads of x lie on multiples of "
        "16 bytes. The quads of gamma that belong to them lie there, too.",
        hint="gamma itself begins on such a multiple. Which of its values belongs to "
        "the first value of the first quad?",
        answer=False,
        because="The first quad needs gamma[3] to gamma[6], and gamma[3] lies 12 bytes "
        "behind a multiple of 16.",
    ),
    "joined": Guess(
        question="Apart, the four operations move 6 arrays of the size of x. How many "
        "does one kernel move that does all four?",
        hint="Which arrays have to be read from memory at the beginning, and which "
        "have to be there in the end?",
        answer=2,
        because="x is read and y is written; m, e and s never leave the chip.",
    ),
    "bias_gelu": Guess(
        question="Leave the small bias out. How many arrays of the size of x move in "
        "z = x + b; y = gelu(z) as two kernels?",
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
        question="64 rows, 256 columns, and 200 operations per weight. With the "
        "weights computed first it is 201 / 49 operations per value. How many are "
        "they in the kernel that computes the weight for every value?",
        options=(1, 4, 201),
        hint="What does the thread do for one value?",
        answer=201,
        because="200 for the weight and 1 for the product, 49 times as many.",
    ),
}
