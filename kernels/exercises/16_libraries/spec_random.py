"""Pieces of chapter 16 about random numbers, in CUDA C++."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Mutant, blank

WRONG = (CheckFailed, "wrong")
STEP, HALF = 2.0**-32, 2.0**-33


def words(n, generator):
    """Return words, the smallest and the largest among them."""
    drawn = generator.integers(0, 2**32, n, np.uint32)
    drawn[n - min(n, 2) :] = (0, 2**32 - 1)[: min(n, 2)]
    return {"words": drawn, "out": blank(n), "n": n}


def counters(n, generator):
    """Return counters of four words, and a key."""
    key0, key1 = (int(word) for word in generator.integers(0, 2**32, 2))
    return {
        "counters": generator.integers(0, 2**32, (n, 4), np.uint32),
        "out": np.zeros((n, 4), np.uint32), "key0": key0, "key1": key1, "n": n,
    }  # fmt: skip


def after_a_round(v):
    """Return the words after one round."""
    c = np.asarray(v.counters).astype(np.uint64).reshape(-1, 4)
    shift, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    left, right = c[:, 0] * np.uint64(0xD2511F53), c[:, 2] * np.uint64(0xCD9E8D57)
    mixed = (right >> shift) ^ c[:, 1] ^ np.uint64(v.key0), right & low
    others = (left >> shift) ^ c[:, 3] ^ np.uint64(v.key1), left & low
    return np.stack([*mixed, *others], axis=-1).astype(np.int64)


def far_away(n, generator):
    """Return a place beyond 2^34, which is not at the beginning of a counter."""
    return {
        "out": np.zeros(n, np.uint32), "n": n, "offset": 2**34 + 6,
        "seed": int(generator.integers(2**33, 2**62)),
    }  # fmt: skip


def from_there(v):
    """Return the values of the sequence from the offset on."""
    from coursekit.lessons.curand import philox

    places = np.arange(int(v.n), dtype=np.uint64) + np.uint64(v.offset)
    quads = places // np.uint64(4)
    counter = np.zeros((places.size, 4), np.uint64)
    counter[:, 0], counter[:, 1] = quads & np.uint64(0xFFFFFFFF), quads >> np.uint64(32)
    seed = int(v.seed)
    found = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    chosen = found[np.arange(places.size), (places % np.uint64(4)).astype(np.int64)]
    return chosen.astype(np.int64)


def uniform(pairs, generator):
    """Return uniform values, none of which is 0 or 1."""
    u = (1 + generator.permutation(2 * pairs)) / (2 * pairs + 1)
    return {"u": u.astype(np.float32), "out": blank(2 * pairs), "pairs": pairs}


def of_pairs(v):
    """Return the two normal values of each pair."""
    u = np.asarray(v.u)
    radius, angle = np.sqrt(-2 * np.log(u[::2])), 2 * np.pi * u[1::2]
    both = radius * np.sin(angle), radius * np.cos(angle)
    return np.stack(both, axis=-1).ravel()


def radii(v):
    """Return the radius of each pair, twice: errors are relative to it."""
    return np.repeat(np.sqrt(-2 * np.log(np.asarray(v.u)[::2])), 2) + 0.5


def sequence(n, generator):
    """Return direction numbers of a dimension of Sobol's sequence."""
    from coursekit.lessons.curand import sobol

    dimension = int(generator.integers(1, sobol.DIMENSIONS))
    return {
        "directions": sobol.directions(dimension), "out": np.zeros(n, np.uint32),
        "n": n,
    }  # fmt: skip


def of_sobol(v):
    """Return the first words of the sequence."""
    gray = np.arange(int(v.n)) ^ (np.arange(int(v.n)) >> 1)
    found = np.zeros(int(v.n), np.int64)
    for k, number in enumerate(np.asarray(v.directions)):
        found ^= np.where(gray >> k & 1, int(number), 0)
    return found


EXERCISES = (
    Exercise(
        id="16.a",
        name="draw",
        title="A float of a random word",
        kernel="draw",
        inputs=words,
        outputs=("out",),
        reference=lambda v: np.asarray(v.words) * STEP + HALF,
        sizes=(0, 1, 33, 255, 1025),
        picture=4,
        roundings=2,
        starter=WRONG,
        hints=(
            "A word is a whole number below 2^32. In C++ the number 2^-32 is written "
            "0x1p-32f.",
            "out[i] = words[i] * 0x1p-32f + 0x1p-33f;",
        ),
        mutants={
            "zero": Mutant(
                mistake="The word 0 becomes 0, whose logarithm is infinite.",
                edits=[(" + 0x1p-33f", "")],
                fails=WRONG,
            ),
            "signed": Mutant(
                mistake="The word is taken to have a sign.",
                edits=[("= words[i]", "= int(words[i])")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="16.b",
        name="round",
        title="A round of Philox",
        kernel="one_round",
        inputs=counters,
        outputs=("out",),
        in_hex=("counters", "out"),
        reference=after_a_round,
        sizes=(0, 1, 33, 255),
        picture=2,
        owner=None,
        starter=WRONG,
        hints=(
            "right >> 32 is the high half of a product. ^ is the exclusive or.",
            "out[4 * i] = unsigned(right >> 32) ^ c[1] ^ key0; and likewise with left, "
            "c[3] and key1.",
        ),
        mutants={
            "exchanged": Mutant(
                mistake="The words of the key are exchanged.",
                edits=[("c[1] ^ key0", "c[1] ^ key1"), ("c[3] ^ key1", "c[3] ^ key0")],
                fails=WRONG,
            ),
            "low_half": Mutant(
                mistake="The low half of a product is mixed in.",
                edits=[("unsigned(right >> 32)", "unsigned(right)")],
                fails=WRONG,
            ),
            "own_product": Mutant(
                mistake="Each half goes back to the words that it came from.",
                edits=[
                    ("unsigned(right >> 32)", "unsigned(LEFT >> 32)"),
                    ("unsigned(left >> 32)", "unsigned(right >> 32)"),
                    ("unsigned(LEFT >> 32)", "unsigned(left >> 32)"),
                ],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="16.c",
        name="skip",
        title="Skip ahead",
        kernel="values_from",
        inputs=far_away,
        outputs=("out",),
        in_hex=("out",),
        reference=from_there,
        sizes=(0, 1, 33, 255),
        picture=6,
        starter=WRONG,
        hints=(
            "Values 4 to 7 are the four words of counter 1. Which counter has value "
            "`place`, and which of its words is it?",
            "The counter is place / 4, and the word is all[place % 4].",
        ),
        mutants={
            "one_word": Mutant(
                mistake="Each value is the first word of its counter.",
                edits=[("all[place % 4]", "all[0]")],
                fails=WRONG,
            ),
            "from_the_start": Mutant(
                mistake="The word is chosen by the thread, not by the place.",
                edits=[("all[place % 4]", "all[i % 4]")],
                fails=WRONG,
            ),
            "half_a_counter": Mutant(
                mistake="The upper half of the counter is left out.",
                edits=[("high(quad)", "0")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="16.e",
        name="normal",
        title="Two normal values of two uniform ones",
        kernel="normal",
        inputs=uniform,
        outputs=("out",),
        reference=of_pairs,
        sizes=(0, 1, 33, 255, 1025),
        picture=3,
        # The logarithm, the root, the sine and two products; 2 pi u in single steps.
        roundings=16,
        magnitude=radii,
        owner=None,
        starter=WRONG,
        hints=(
            "A point on a circle of this radius has two coordinates. sinpif(x) is the "
            "sine of pi * x, and a whole turn is 2 * pi.",
            "out[2 * i] = radius * sinpif(2 * u[2 * i + 1]); and the other one with "
            "cospif.",
        ),
        mutants={
            "half_a_turn": Mutant(
                mistake="The angle covers half a turn only.",
                edits=[
                    ("sinpif(2 * u", "sinpif(u"),
                    ("cospif(2 * u", "cospif(u"),
                ],
                fails=WRONG,
            ),
            "cosine_first": Mutant(
                mistake="The two values of each pair are exchanged.",
                edits=[
                    ("radius * sinpif", "radius * OTHER"),
                    ("radius * cospif", "radius * sinpif"),
                    ("radius * OTHER", "radius * cospif"),
                ],
                fails=WRONG,
            ),
            "radians": Mutant(
                mistake="The angle is taken in radians.",
                edits=[("sinpif(2", "sinf(2"), ("cospif(2", "cosf(2")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="16.1",
        name="sobol",
        title="Sobol's sequence",
        stars=1,
        kernel="sobol",
        inputs=sequence,
        outputs=("out",),
        in_hex=("directions", "out"),
        reference=of_sobol,
        sizes=(0, 1, 33, 255, 1025),
        picture=4,
        starter=WRONG,
        hints=(
            "Direction number k is added for the points whose Gray code has bit k.",
            "gray >> k moves bit k to the lowest place, and & 1 keeps that bit alone.",
            "if (gray >> k & 1)",
        ),
        mutants={
            "binary": Mutant(
                mistake="The bits of i itself choose: another order of the points.",
                edits=[("gray = i ^ i >> 1", "gray = i")],
                fails=WRONG,
            ),
            "sum": Mutant(
                mistake="Direction numbers are added with carries.",
                edits=[("word ^= ", "word += ")],
                fails=WRONG,
            ),
            "reversed": Mutant(
                mistake="The bits are taken from the other end.",
                edits=[("gray >> k", "gray >> (31 - k)")],
                fails=WRONG,
            ),
        },
    ),
)
