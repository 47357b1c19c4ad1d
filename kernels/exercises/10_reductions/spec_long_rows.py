"""Chapter 10d: your turn 10.m, 10.n, 10.r and 10.s, and its guesses."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Guess, Mutant, blank, blocks, ramp, shuffled

HELD = 32768  # values of a row that a block keeps in registers
LEVEL = 4096.0  # of the rows whose variance is wanted


def rows_by_threads(threads):
    """Launch a thread for each row."""
    return lambda size: (blocks(size[0], threads), threads)


def columns_and_rows(threads):
    """Launch a thread for each column in x, and a block for each row in y."""
    return lambda size: ((blocks(size[1], threads), size[0]), threads)


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


def heads_of(v):
    """Count the values of each row before its first whole sector."""
    return np.minimum(-np.arange(v.rows) * v.cols % 8, v.cols)


def lengths(n, generator):
    """Return what 10.r takes: lengths about multiples of what a block holds."""
    cols = 1 + generator.permutation(16 * HELD)[:n].astype(np.int32)
    cols[::3] = HELD * (1 + np.arange(len(cols[::3])) % 16)
    return {"cols": cols, "out": blank(n, np.int32), "n": n}


def shares_of(v):
    """Return the least power of two of blocks that holds each row."""
    needed = -(-v.cols // HELD)
    return 2 ** np.ceil(np.log2(np.maximum(needed, 1))).astype(int)


def level_rows(size, generator):
    """Return what 10.s takes: rows with levels far above their spread."""
    rows, cols = size
    x = shuffled(size, generator) + np.float32(LEVEL)
    return {"x": x, "out": blank(rows), "rows": rows, "cols": cols}


EXERCISES = (
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
            "(8 - row * cols % 8) % 8 is the way to the next sector, also where it is "
            "0. min of that and cols is the head.",
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
                mistake="Both gamma and beta are taken by row.",
                edits=[("gamma[c] + beta[c]", "gamma[row] + beta[row]")],
                fails=(CheckFailed, "wrong"),
            ),
            "mean_by_column": Mutant(
                mistake="The mean is taken by column.",
                edits=[("mean[row]", "mean[c]")],
                fails=(OutOfBoundsError, "reads mean"),
            ),
            "no_beta": Mutant(
                mistake="The shift beta is left out.",
                edits=[(" + beta[c]", "")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.r",
        name="share",
        title="How many blocks share a row",
        kernel="share_of",
        inputs=lengths,
        outputs=("out",),
        reference=shares_of,
        hints=(
            "Begin with 1 block. As long as the blocks hold fewer values than the row "
            "has, double their number. A row of exactly 32768 values fits in 1 block.",
            "A while loop with share *= 2 does it. Its condition compares share * "
            "32768 with cols[i], and must not read cols where i is no row.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "one_too_many": Mutant(
                mistake="A row that fits exactly gets more blocks than it needs.",
                edits=[("< cols[i]", "<= cols[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_power": Mutant(
                mistake="The number grows by one, and 3 is no size of a cluster here.",
                edits=[("share *= 2", "share += 1")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="Threads behind the last row read its length.",
                edits=[("i < n && share", "share")],
                fails=(OutOfBoundsError, "reads cols"),
            ),
        },
    ),
    Exercise(
        id="10.s",
        name="welford",
        title="A variance in one pass",
        kernel="variance",
        inputs=level_rows,
        outputs=("out",),
        sizes=((1, 1), (31, 3), (3, 33), (2, 150)),
        launches=(rows_by_threads(64), rows_by_threads(32)),
        reference=lambda v: v.x.var(axis=1),
        # Means are rounded at LEVEL, and products of differences add their errors.
        roundings=lambda size: 8 * size[1] + 64,
        magnitude=lambda v: v.x.var(axis=1) + LEVEL,
        owner=None,
        hints=(
            "before is the distance to the mean of the values before this one. Welford "
            "multiplies it by another distance: to which mean?",
            "The second factor is the distance of x to the new mean, and mean holds "
            "that one now.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "after_twice": Mutant(
                mistake="Both factors are distances to the new mean.",
                edits=[
                    (
                        "before * (x[row * cols + c] - mean)",
                        "(x[row * cols + c] - mean) * (x[row * cols + c] - mean)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "weight": Mutant(
                mistake="The mean moves by a share of one value too few.",
                edits=[("before / (c + 1)", "before / max(c, 1)")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
GUESSES = {
    "who_waits": Guess(
        question="Several blocks share a row in this way. Which blocks must be on the "
        "GPU at the same time, so that none waits for ever?",
        options=("all blocks of a row", "all blocks of a grid", "none"),
        hint="Which blocks need the pair of a block before they can go on?",
        answer="all blocks of a row",
        because="A block waits for the pairs of its own row, and for no others.",
    ),
    "whose_row": Guess(
        question="A language model has 50,257 values per row. A block keeps at most "
        "32,768 values in its registers. Who takes such a row?",
        options=("a warp", "a block", "a cluster of 2 blocks", "a cluster of 16"),
        hint="What is the smallest group whose registers hold the row?",
        answer="a cluster of 2 blocks",
        because="Two blocks hold up to 65,536 values.",
    ),
    "near_ten_thousand": Guess(
        question="The values of a row lie near 10,000, and their variance is 1. What "
        "does float32 give for the mean of the squares minus the square of the mean?",
        options=("1.0000", "about 1, off by some percent", "such as -8, 0 or 16"),
        hint="A square is about 100,000,000. float32 keeps about seven digits: how "
        "large is the last of them?",
        answer="such as -8, 0 or 16",
        because="Neighbouring float32 numbers near 10^8 lie 8 apart, and the variance "
        "is the difference of two of them.",
    ),
    "gamma": Guess(
        question="Step 3 of the layernorm loads each value of x once. How many floats "
        "do its warps load per value of x, all arrays together?",
        options=(1, 2, 3),
        hint="Which other arrays does the last loop read, for every row?",
        answer=3,
        because="One of x, one of gamma, one of beta. Caches serve most of the last "
        "two, as they are the same for every row.",
    ),
    "gamma_quads": Guess(
        question="A row has a head of 3 values. Behind it, its quads of x begin at "
        "multiples of 16 bytes. The quads of gamma that belong to them do so, too.",
        hint="gamma itself begins on such a multiple. Which of its values belongs to "
        "the first value of the first quad?",
        answer=False,
        because="The first quad needs gamma[3] to gamma[6], and gamma[3] lies 12 bytes "
        "behind a multiple of 16.",
    ),
}
