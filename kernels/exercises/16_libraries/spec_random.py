"""Pieces of chapter 16 about random numbers, in CUDA C++."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Mutant, Slip, blank

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


def after_a_round(v, halves=("right", "left"), words=(1, 3), keys=("key0", "key1")):
    """Return the words after one round; or after one that mixes other things."""
    c = np.asarray(v.counters).astype(np.uint64).reshape(-1, 4)
    shift, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    left, right = c[:, 0] * np.uint64(0xD2511F53), c[:, 2] * np.uint64(0xCD9E8D57)
    half = {"right": right >> shift, "left": left >> shift}
    half |= {"low right": right & low, "low left": left & low}
    first, other = (
        half[name] ^ c[:, word] ^ np.uint64(getattr(v, key, 0))
        for name, word, key in zip(halves, words, keys, strict=True)
    )
    mixed = [first, right & low, other, left & low]
    return np.stack(mixed, axis=-1).astype(np.int64)


def far_away(n, generator):
    """Return a place beyond 2^34, which is not at the beginning of a counter."""
    return {
        "out": np.zeros(n, np.uint32), "n": n, "offset": 2**34 + 6,
        "seed": int(generator.integers(2**33, 2**62)),
    }  # fmt: skip


def from_there(v, quad_of=lambda place: place // 4, word_of=lambda i, place: place % 4):
    """Return the values of the sequence from the offset on; or those of a slip."""
    from coursekit.lessons.curand import philox

    i = np.arange(int(v.n))
    places = i + int(v.offset)
    quads = quad_of(places).astype(np.uint64)
    counter = np.zeros((places.size, 4), np.uint64)
    counter[:, 0], counter[:, 1] = quads & np.uint64(0xFFFFFFFF), quads >> np.uint64(32)
    seed = int(v.seed)
    found = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    return found[i, word_of(i, places)].astype(np.int64)


def uniform(pairs, generator):
    """Return uniform values, none of which is 0 or 1."""
    u = (1 + generator.permutation(2 * pairs)) / (2 * pairs + 1)
    return {"u": u.astype(np.float32), "out": blank(2 * pairs), "pairs": pairs}


def of_pairs(v, turn=2 * np.pi, waves=(np.sin, np.cos), apart=1):
    """Return the two normal values of each pair; or those of a slip."""
    u = np.asarray(v.u)
    radius, angle = np.sqrt(-2 * np.log(u[::2])), turn * u[apart::2]
    return np.stack([radius * wave(angle) for wave in waves], axis=-1).ravel()


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


def of_sobol(v, chosen=lambda i, k: (i ^ i >> 1) >> k & 1):
    """Return the first words of the sequence; or those that another choice gives."""
    i, found = np.arange(int(v.n)), np.zeros(int(v.n), np.int64)
    for k, number in enumerate(np.asarray(v.directions)):
        found ^= np.where(chosen(i, k), int(number), 0)
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
        slips=(
            Slip(
                lambda v: np.zeros(v.out.shape),
                "Every result is 0: an integer divided by a larger one is 0.",
                "Compute with a float: 0x1p-32f is 2^-32.",
            ),
            Slip(
                lambda v: np.float32(np.asarray(v.words) // 2 ^ 32),
                "In C++ ^ is the exclusive or, not a power: / 2 comes first, then ^ "
                "32.",
                "The number 2^-32 is written 0x1p-32f.",
            ),
            Slip(
                lambda v: np.asarray(v.words) * STEP,
                "The word 0 becomes 0, and no other result is wrong. The logarithm of "
                "0 is not finite.",
                "All results are half a step too low. How large is half a step?",
            ),
        ),
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
                fails=(CheckFailed, "The word 0 becomes 0"),
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
        slips=(
            Slip(
                lambda v: after_a_round(v, ("low right", "low left")),
                "The low halves of the products are mixed in. They are new words "
                "already.",
                "A product has 64 bits. How do its upper 32 come down?",
            ),
            Slip(
                lambda v: after_a_round(v, ("left", "right")),
                "The two high halves are exchanged.",
                "Follow the arrows of the drawing: where does the product of c[0] go?",
            ),
            Slip(
                lambda v: after_a_round(v, words=(3, 1)),
                "The words c[1] and c[3] are exchanged.",
                "Follow the arrows of the drawing from c1 and from c3.",
            ),
            Slip(
                lambda v: after_a_round(v, keys=("key1", "key0")),
                "The two words of the key are exchanged.",
                "In the drawing, look for key0 and key1.",
            ),
            Slip(
                lambda v: after_a_round(v, keys=("none", "none")),
                "The key is left out.",
                "Mix the words of the key in, too: by ^.",
            ),
        ),
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
                fails=(CheckFailed, "words of the key are exchanged"),
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
                fails=(CheckFailed, "high halves are exchanged"),
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
        slips=(
            Slip(
                lambda v: from_there(v, word_of=lambda i, place: 0 * i),
                "Each value is the first word of its counter.",
                "Four values share a counter. Which of its words is the value at "
                "`place`?",
            ),
            Slip(
                lambda v: from_there(v, word_of=lambda i, place: i % 4),
                "The word is chosen by i. offset is no multiple of 4, so it is another"
                " one.",
                "`place` counts from the beginning of the sequence: choose by it.",
            ),
            Slip(
                lambda v: from_there(v, quad_of=lambda place: place),
                "The place is taken for the counter.",
                "Values 4 to 7 are the words of counter 1. Which counter has value "
                "`place`?",
            ),
        ),
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
                fails=(CheckFailed, "first word of its counter"),
            ),
            "from_the_start": Mutant(
                mistake="The word is chosen by the thread, not by the place.",
                edits=[("all[place % 4]", "all[i % 4]")],
                fails=(CheckFailed, "The word is chosen by i"),
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
        slips=(
            Slip(
                lambda v: of_pairs(v, turn=1),
                "u is taken for the angle itself: one radian is less than a sixth of a"
                " turn.",
                "A whole turn is 2 pi. How large is the angle of u[2 * i + 1] turns?",
            ),
            Slip(
                lambda v: of_pairs(v, turn=2),
                "The angle is 2 * u radians: pi is missing.",
                "sinf and cosf take radians, sinpif and cospif multiples of pi.",
            ),
            Slip(
                lambda v: of_pairs(v, turn=6.28),
                "pi is 3.14 here, and has seven digits in float32.",
                "sinpif(x) and cospif(x) multiply by pi themselves.",
            ),
            Slip(
                lambda v: of_pairs(v, turn=np.pi),
                "The angles cover half a turn, so that all sines are positive.",
                "sinpif(x) is the sine of pi * x. A whole turn is 2 * pi.",
            ),
            Slip(
                lambda v: of_pairs(v, waves=(np.cos, np.sin)),
                "The two values of each pair are exchanged.",
                "cuRAND stores the sine first.",
            ),
            Slip(
                lambda v: of_pairs(v, waves=(np.sin, np.sin)),
                "Both values of a pair are the sine's.",
                "The other coordinate of the point is the cosine's.",
            ),
            Slip(
                lambda v: of_pairs(v, apart=0),
                "Radius and angle come from one u, so the two depend on each other.",
                "The angle has a u of its own: u[2 * i + 1].",
            ),
        ),
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
                fails=(CheckFailed, "half a turn"),
            ),
            "cosine_first": Mutant(
                mistake="The two values of each pair are exchanged.",
                edits=[
                    ("radius * sinpif", "radius * OTHER"),
                    ("radius * cospif", "radius * sinpif"),
                    ("radius * OTHER", "radius * cospif"),
                ],
                fails=(CheckFailed, "are exchanged"),
            ),
            "radians": Mutant(
                mistake="The angle is taken in radians.",
                edits=[("sinpif(2", "sinf(2"), ("cospif(2", "cosf(2")],
                fails=(CheckFailed, "pi is missing"),
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
        slips=(
            Slip(
                lambda v: of_sobol(v, lambda i, k: (i ^ i >> 1) >> k),
                "A number is added wherever gray has a bit at k or above it.",
                "gray >> k has bit k at its lowest place. How do you drop the bits "
                "above?",
            ),
            Slip(
                lambda v: of_sobol(v, lambda i, k: (i ^ i >> 1) >> k == 1),
                "Only the highest 1 of gray is found: there gray >> k is 1.",
                "gray >> k has bit k at its lowest place. How do you drop the bits "
                "above?",
            ),
            Slip(
                lambda v: of_sobol(v, lambda i, k: (i ^ i >> 1) & (1 << k) == 1),
                "Only bit 0 is found. Of a bit k that is 1, gray & (1 << k) is 1 << k, "
                "and not 1.",
                "Compare with 0, in brackets: == comes before &.",
            ),
            Slip(
                lambda v: of_sobol(v, lambda i, k: (i ^ i >> 1) & k),
                "gray & k compares gray with the number k, not with bit k.",
                "Bit k alone is 1u << k; or move gray by k places.",
            ),
            Slip(
                lambda v: of_sobol(v, lambda i, k: (i ^ i >> 1) >> 31 - k & 1),
                "The bits are taken from the upper end: number 0 belongs to the lowest"
                " bit.",
                "Move gray by k places.",
            ),
            Slip(
                lambda v: of_sobol(v, lambda i, k: i >> k & 1),
                "The bits of i choose. They give the same points in another order.",
                "The bits of gray choose.",
            ),
        ),
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
                fails=(CheckFailed, "The bits of i choose"),
            ),
            "sum": Mutant(
                mistake="Direction numbers are added with carries.",
                edits=[("word ^= ", "word += ")],
                fails=WRONG,
            ),
            "reversed": Mutant(
                mistake="The bits are taken from the other end.",
                edits=[("gray >> k", "gray >> (31 - k)")],
                fails=(CheckFailed, "from the upper end"),
            ),
        },
    ),
)
