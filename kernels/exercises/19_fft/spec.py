"""Chapter 19: your turn 19.a to 19.f, and exercise 19.1."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError
from coursekit.exercises import Exercise, Limit, Mutant, Slip, blocks, shuffled


def pairs(count, generator):
    """Return complex values, as pairs of floats from -1 to 1."""
    unit = np.float32(4 / max(count, 1))
    return unit * shuffled((count, 2), generator) - np.float32(1)


def blank_pairs(count):
    """Return room for complex values."""
    return np.zeros((count, 2), np.float32)


def as_complex(array):
    """Return pairs as complex numbers."""
    return array[..., 0] + 1j * array[..., 1]


def as_pairs(numbers):
    """Return complex numbers as pairs."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


def largest(v):
    """Return the largest sum that values of these magnitudes may have."""
    return np.full(v.X.shape, np.abs(as_complex(v.x)).sum())


def row(n, generator):
    """Return what 19.a takes."""
    return {"x": pairs(n, generator), "X": blank_pairs(n), "n": n}


def one_stage(size, generator):
    """Return what a stage takes, of a size (n, span)."""
    n, span = size
    return {"x": pairs(n, generator), "y": blank_pairs(n), "n": n, "span": span}


def staged(radix):
    """Return the reference of a stage."""

    def reference(v):
        parts = as_complex(v.x).reshape(radix, -1, v.span)
        k, r = np.arange(v.span), np.arange(radix)
        turns = np.outer(r, k)[:, None] / (radix * v.span)
        parts = parts * np.exp(-2j * np.pi * turns)
        roots = np.exp(-2j * np.pi * np.outer(r, r) / radix)
        return as_pairs(np.einsum("sr,rtk->tsk", roots, parts).ravel())

    return reference


def of_a_stage(v):
    """Return what results of a stage are as large as."""
    return np.full(v.y.shape, 3.0)


def rows_of_128(rows, generator):
    """Return what 19.c takes."""
    return {
        "x": pairs(128 * rows, generator),
        "X": blank_pairs(128 * rows),
        "rows": rows,
    }


def fours(n, generator):
    """Return what 19.d takes."""
    return {"x": pairs(n, generator), "X": blank_pairs(n), "n": n}


def rows_of(length):
    """Return the reference of transforms of rows."""

    def reference(v):
        rows = as_complex(v.x).reshape(-1, length)
        return as_pairs(np.fft.fft(rows).ravel())

    return reference


def groups(count, generator):
    """Return what 19.e takes."""
    n = 512 * count
    return {"x": pairs(n, generator), "y": blank_pairs(n), "n": n}


def exchanged(v):
    """Return the values of each group of 512 as the lanes read them."""
    return v.x.reshape(-1, 16, 32, 2).swapaxes(1, 2).reshape(-1, 2)


def half_spectrum(n, generator):
    """Return what 19.f takes: any n values are the transform of n pairs."""
    return {"Z": pairs(n, generator), "X": blank_pairs(n + 1), "n": n}


def whole_spectrum(v):
    """Return the transform of the real values."""
    numbers = np.fft.ifft(as_complex(v.Z))
    return as_pairs(np.fft.rfft(as_pairs(numbers).ravel()))


def a_turn(**fields):
    """Return a piece whose values are complex, so that no thread owns an element."""
    return Exercise(owner=None, **fields)


def one_value(k):
    """Return a slip's result in which each X is that of one frequency."""
    return lambda v: as_pairs(np.fft.fft(as_complex(v.x))[[k % v.n] * v.n])


def butterflies(turn):
    """Return a slip's result of a stage; turn(v, k) is in turns of the circle."""

    def result(v):
        a, b = as_complex(v.x).reshape(2, -1, v.span)
        b = b * np.exp(-2j * np.pi * turn(v, np.arange(v.span)))
        return as_pairs(np.stack([a + b, a - b], axis=1).ravel())

    return result


def turned_after(v):
    """Return the result of a stage in which the difference is turned."""
    a, b = as_complex(v.x).reshape(2, -1, v.span)
    turns = np.exp(-1j * np.pi * np.arange(v.span) / v.span)
    return as_pairs(np.stack([a + b, (a - b) * turns], axis=1).ravel())


def in_fours(c_turn, d_turn):
    """Return a slip's result of 19.d, with what the two differences are turned by."""

    def result(v):
        a, b, c, d = as_complex(v.x).reshape(-1, 4).T
        a, c, b, d = a + c, (a - c) * c_turn, b + d, (b - d) * d_turn
        return as_pairs(np.stack([a + b, c + d, a - b, c - d], axis=1).ravel())

    return result


def neighbours_first(v):
    """Return the result of 19.d whose first two butterflies join neighbours."""
    a, b, c, d = as_complex(v.x).reshape(-1, 4).T
    a, b, c, d = a + b, a - b, c + d, -1j * (c - d)
    return as_pairs(np.stack([a + c, a - c, b + d, b - d], axis=1).ravel())


def merged(half=0.5, by_i=1, turn=0.5):
    """Return a slip's result of 19.f, with another factor or another turn."""

    def result(v):
        k, z = np.arange(v.n + 1), as_complex(v.Z)
        z, mirror = z[k % v.n], np.conj(z[-k % v.n])
        even, odd = half * (z + mirror), half * (z - mirror) * -1j * by_i
        return as_pairs(even + odd * np.exp(-2j * np.pi * turn * k / v.n))

    return result


ROTATIONS = 12  # of a value and its sum, at the magnitude of the largest result

EXERCISES = (
    a_turn(
        id="19.a",
        name="dft",
        title="The sum of one frequency",
        kernel="dft",
        inputs=row,
        outputs=("X",),
        reference=lambda v: as_pairs(np.fft.fft(as_complex(v.x))),
        sizes=(1, 2, 8, 31, 33, 64, 130),
        picture=4,
        magnitude=largest,
        roundings=lambda n: n + ROTATIONS,
        hints=(
            "A loop over j from 0 to n. root(j * k % n, n) is the turn of x[j], "
            "times(a, b) turns, and plus(a, b) adds.",
        ),
        slips=(
            Slip(
                lambda v: np.zeros(v.X.shape),
                "sum is still 0. plus(a, b) returns a sum; it changes neither a nor b.",
                "In a loop over j, assign what plus returns to sum.",
            ),
            Slip(
                one_value(0),
                "Every element is the plain sum of x: no value is turned.",
                "Multiply x[j] by the arrow to its point, with times.",
            ),
            Slip(
                one_value(1),
                "Every element is that of frequency 1: all threads walk alike.",
                "The walk of frequency k goes on by k points per value. At which point "
                "is it at value j, and which of the n points is that?",
            ),
            Slip(
                lambda v: as_pairs(v.n * np.fft.ifft(as_complex(v.x))),
                "This is the inverse transform: its arrows turn the other way.",
                "root(p, n) goes clockwise, as it should. Use it as it is.",
            ),
        ),
        starter=(CheckFailed, "sum is still 0"),
        mutants={
            "forward_turns": Mutant(
                mistake="Values are turned forward: that is the inverse transform.",
                edits=[("root(j * k % n, n)", "mirrored(root(j * k % n, n))")],
                fails=(CheckFailed, "This is the inverse transform"),
            ),
            "one_frequency": Mutant(
                mistake="All threads turn at the speed of frequency 1.",
                edits=[("j * k % n", "j")],
                fails=(CheckFailed, "all threads walk alike"),
            ),
            "not_turned": Mutant(
                mistake="No value is turned.",
                edits=[("times(x[j], root(j * k % n, n))", "x[j]")],
                fails=(CheckFailed, "no value is turned"),
            ),
        },
    ),
    a_turn(
        id="19.b",
        name="butterfly",
        title="A stage of butterflies",
        kernel="stage",
        inputs=one_stage,
        outputs=("y",),
        reference=staged(2),
        sizes=((2, 1), (8, 2), (64, 8), (256, 128), (1024, 1)),
        picture=(4, 2),
        launches=(
            lambda size: (blocks(size[0] // 2, 128), 128),
            lambda size: (blocks(size[0] // 2, 64), 64),
        ),
        magnitude=of_a_stage,
        roundings=ROTATIONS,
        hints=(
            "First b = x[t + n / 2] is turned by root(k, 2 * span). Then y[to] is "
            "x[t] + b, and y[to + span] is x[t] - b.",
        ),
        slips=(
            Slip(
                butterflies(lambda v, k: 0 * k),
                "This is the result without a turn.",
                "Multiply the second value by w, the arrow to point k of the longer "
                "transform.",
            ),
            Slip(
                butterflies(lambda v, k: k / v.span),
                "The second value is turned twice as far as it should be.",
                "k is a point of the longer transform. How many values has that?",
            ),
            Slip(
                butterflies(lambda v, k: k / v.n),
                "The second value is turned as in a transform of n values.",
                "Only the last stage makes a transform of n values. How many values "
                "have those of this stage?",
            ),
            Slip(
                butterflies(lambda v, k: np.arange(v.n // 2).reshape(-1, v.span) / v.n),
                "The second value is turned by the number of the thread.",
                "t counts through all transforms of the row. Which number counts "
                "through one of them, and how many values has the longer one?",
            ),
            Slip(
                turned_after,
                "The difference is turned, not the second value.",
                "Turn x[t + n / 2] first; then add, and subtract.",
            ),
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "no_turn": Mutant(
                mistake="The second value is not turned.",
                edits=[
                    ("times(x[t + n / 2], root(k, 2 * span))", "x[t + n / 2]"),
                ],
                fails=(CheckFailed, "without a turn"),
            ),
            "twice_as_far": Mutant(
                mistake="The turn is that of transforms of span values.",
                edits=[("root(k, 2 * span)", "root(k, span)")],
                fails=(CheckFailed, "twice as far"),
            ),
            "as_in_the_last_stage": Mutant(
                mistake="The turn is that of the last stage.",
                edits=[("root(k, 2 * span)", "root(k, n)")],
                fails=(CheckFailed, "transform of n values"),
            ),
            "by_the_thread": Mutant(
                mistake="The turn grows from transform to transform.",
                edits=[("root(k, 2 * span)", "root(t, n)")],
                fails=(CheckFailed, "by the number of the thread"),
            ),
            "sum_turned": Mutant(
                mistake="The difference is turned, not the second value.",
                edits=[
                    (
                        "times(x[t + n / 2], root(k, 2 * span))",
                        "x[t + n / 2]",
                    ),
                    ("minus(x[t], b)", "times(minus(x[t], b), root(k, 2 * span))"),
                ],
                fails=(CheckFailed, "The difference is turned"),
            ),
        },
    ),
    a_turn(
        id="19.c",
        name="shared",
        title="Barriers between stages",
        kernel="fft_row",
        inputs=rows_of_128,
        outputs=("X",),
        reference=rows_of(128),
        sizes=(1, 2, 3),
        picture=1,
        launches=(lambda rows: (rows, 64), lambda rows: (rows + 1, 64)),
        magnitude=largest,
        roundings=7 * ROTATIONS,
        hints=(
            "A thread reads what two other threads have written. What must be over "
            "before it reads, and what before the next stage may write?",
        ),
        starter=(DataRaceError, "row["),
        mutants={
            "no_barrier_before_writing": Mutant(
                mistake="A fast warp overwrites what a slow one has not read yet.",
                edits=[
                    (
                        "        __syncthreads();  // all have read the stage before\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "no_barrier_before_reading": Mutant(
                mistake="A thread reads before the others have written.",
                edits=[("        __syncthreads();  // this stage is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
        },
    ),
    a_turn(
        id="19.d",
        name="fours",
        title="Four values in registers",
        kernel="fours",
        inputs=fours,
        outputs=("X",),
        reference=rows_of(4),
        sizes=(4, 32, 132, 1024),
        picture=4,
        launches=(
            lambda n: (blocks(n, 4 * 64), 64),
            lambda n: (blocks(n, 4 * 256), 256),
        ),
        magnitude=lambda v: np.full(v.X.shape, 6.0),
        roundings=ROTATIONS,
        hints=(
            "The first two butterflies join values two apart: a with c, and b with d. "
            "The other two join their sums, and their differences.",
            "dft2(a, c); dft2(b, d); then d = turned(d); and two more.",
        ),
        slips=(
            Slip(
                in_fours(1, 1),
                "This is the result without the quarter of a turn. turned(a) returns "
                "the rotated arrow, and leaves a as it is.",
                "Assign what turned returns.",
            ),
            Slip(
                in_fours(-1j, 1),
                "The difference of a and c is turned, and that of b and d is not.",
                "A butterfly turns its second value. Which difference is the second?",
            ),
            Slip(
                neighbours_first,
                "The first two butterflies join neighbours.",
                "The first stage joins places t and t + n / 2. Which are these for "
                "four values?",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_turn": Mutant(
                mistake="The quarter of a turn is missing.",
                edits=[("    d = turned(d);\n", "    turned(d);\n")],
                fails=(CheckFailed, "Assign what turned returns"),
            ),
            "three_butterflies": Mutant(
                mistake="The differences are not joined.",
                edits=[("    dft2(c, d);\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "wrong_value_turned": Mutant(
                mistake="The difference of a and c is turned.",
                edits=[("d = turned(d)", "c = turned(c)")],
                fails=(CheckFailed, "that of b and d is not"),
            ),
            "neighbours": Mutant(
                mistake="The first two butterflies join neighbours.",
                edits=[
                    ("dft2(a, c)", "dft2(a, b)"),
                    ("dft2(b, d)", "dft2(c, d)"),
                    (
                        "    d = turned(d);\n    dft2(a, b);\n    dft2(c, d);\n",
                        "    d = turned(d);\n    dft2(a, c);\n    dft2(b, d);\n",
                    ),
                ],
                fails=(CheckFailed, "join neighbours"),
            ),
        },
    ),
    a_turn(
        id="19.e",
        name="gap",
        title="Gaps in place of conflicts",
        kernel="exchange",
        inputs=groups,
        outputs=("y",),
        reference=exchanged,
        sizes=(1, 2),
        picture=1,
        launches=(lambda count: (count, 32), lambda count: (count + 1, 32)),
        hints=(
            "Lanes store 16 values apart, and 16 float2 are all 32 banks once. One "
            "more place after each 16 moves every lane to the next banks.",
        ),
        starter=(CheckFailed, "shared_store_bank_conflicts is"),
        mutants={
            "gap_of_32": Mutant(
                mistake="A gap after 32 values leaves pairs of lanes in one bank.",
                edits=[("index / 16", "index / 32")],
                fails=(CheckFailed, "shared_store_bank_conflicts is"),
            ),
            "even_gap": Mutant(
                mistake="Two places after each 16 values leave banks empty.",
                edits=[("index + index / 16", "index + index / 16 * 2")],
                fails=(CheckFailed, "shared_store_bank_conflicts is"),
            ),
        },
        limits=(
            Limit(
                counter="shared_store_bank_conflicts",
                size=2,
                most=0,
                why="16 lanes with 8 bytes each can reach all 32 banks.",
            ),
            Limit(
                counter="shared_load_bank_conflicts",
                size=2,
                most=0,
                why="Neighbours read neighbours, so that the loads have no conflicts.",
            ),
        ),
    ),
    a_turn(
        id="19.f",
        name="real",
        title="Even and odd values, parted",
        kernel="part",
        inputs=half_spectrum,
        outputs=("X",),
        reference=whole_spectrum,
        sizes=(1, 2, 8, 33, 128),
        picture=2,
        launches=(
            lambda n: (blocks(n + 1, 128), 128),
            lambda n: (blocks(n + 1, 64), 64),
        ),
        magnitude=lambda v: np.full(v.X.shape, 2 * np.abs(as_complex(v.Z)).max()),
        roundings=2 * ROTATIONS,
        hints=(
            "even is half of z + mirror. odd is half of z - mirror, divided by i: "
            "turned(a) is a times -i, which is a divided by i.",
            "X[k] = even + odd * root(k, 2 * n).",
        ),
        slips=(
            Slip(
                merged(by_i=1j),
                "odd is still multiplied by i.",
                "z - mirror is 2 * i * odd. To divide by i is to multiply by -i.",
            ),
            Slip(
                merged(turn=1),
                "The turn is that of a transform of n values.",
                "X is the transform of 2 * n real values.",
            ),
            Slip(
                merged(half=1),
                "X is twice as large as it should be.",
                "z + mirror is 2 * even[k]: take half of it, and of odd.",
            ),
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "not_divided_by_i": Mutant(
                mistake="The odd values are still multiplied by i.",
                edits=[("turned(minus(z, mirror))", "minus(z, mirror)")],
                fails=(CheckFailed, "odd is still multiplied by i"),
            ),
            "half_the_turn": Mutant(
                mistake="The turn is that of n values, and there are 2 n.",
                edits=[("root(k, 2 * n)", "root(k % n, n)")],
                fails=(CheckFailed, "a transform of n values"),
            ),
            "no_halves": Mutant(
                mistake="Sum and difference hold the values twice.",
                edits=[
                    ("scaled(plus(z, mirror), 0.5f)", "plus(z, mirror)"),
                    (
                        "scaled(turned(minus(z, mirror)), 0.5f)",
                        "turned(minus(z, mirror))",
                    ),
                ],
                fails=(CheckFailed, "twice as large"),
            ),
        },
    ),
    a_turn(
        id="19.1",
        name="radix3",
        title="Radix 3, for lengths with a factor of 3",
        stars=2,
        kernel="stage3",
        inputs=one_stage,
        outputs=("y",),
        reference=staged(3),
        sizes=((3, 1), (9, 3), (48, 16), (243, 27), (384, 1)),
        picture=(6, 2),
        launches=(
            lambda size: (blocks(size[0] // 3, 128), 128),
            lambda size: (blocks(size[0] // 3, 64), 64),
        ),
        magnitude=of_a_stage,
        roundings=2 * ROTATIONS,
        hints=(
            "Radix 2 turns one value and then adds and subtracts. Here two values are "
            "turned. By how much is x[t + r * n / 3] turned, for r = 0, 1, 2?",
            "After the turns, y is the transform of three values by its definition: "
            "the sum of all, and two sums with roots of three.",
            "b is turned by root(k, 3 * span) and c by root(2 * k, 3 * span). With w = "
            "root(1, 3), y[to + span] is a + b w + c w * w, and w * w is mirrored(w).",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "one_turn": Mutant(
                mistake="Both values are turned by the same.",
                edits=[("root(2 * k, 3 * span)", "root(k, 3 * span)")],
                fails=(CheckFailed, "wrong"),
            ),
            "swapped": Mutant(
                mistake="The second and the third result are exchanged.",
                edits=[
                    (
                        "w = root(1, 3), v = mirrored(w)",
                        "v = root(1, 3), w = mirrored(v)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_turns_of_three": Mutant(
                mistake="All three results are the same sum.",
                edits=[
                    ("plus(times(b, w), times(c, v))", "plus(b, c)"),
                    ("plus(times(b, v), times(c, w))", "plus(b, c)"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "neighbours": Mutant(
                mistake="Three neighbours are taken, not three values n / 3 apart.",
                edits=[
                    ("x[t + n / 3]", "x[t + 1]"),
                    ("x[t + 2 * (n / 3)]", "x[t + 2]"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
        longest_warp=2000,
    ),
)
