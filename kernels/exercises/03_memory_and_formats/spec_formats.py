"""Chapter 03b: your turn 03.f to 03.k, and the guesses about number formats."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import (
    Exercise,
    Guess,
    HostExercise,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)

LARGE = 2.0**24  # the first value of a column: the next float32 is 2 away
SIZES = ((1, 1), (33, 31), (9, 100))


def normal(n, generator):
    """Return what the kernel of 03.f takes: numbers of both signs and many sizes."""
    exponents = generator.permutation(11 * np.arange(n) % 60 - 30)
    x = np.ldexp(1 + (np.arange(n) + 0.5) / (n + 1), exponents)
    x *= generator.choice([-1, 1], n)
    return {"x": x.astype(np.float32), "e": blank(n, np.int32), "n": n}


def exponents(v):
    """Return the exponent of each number."""
    return np.frexp(v.x)[1].astype(np.int64) - 1


def halfway(n, generator):
    """Return what the kernel of 03.h takes; each fourth number lies halfway."""
    upper = generator.permutation(np.arange(0x3F00, 0x4F00))[:n].astype(np.uint32)
    lower = generator.integers(0, 2**16, n, dtype=np.uint32)
    lower[::4], lower[1::4] = 0x8000, 0xC000
    words = upper << np.uint32(16) | lower
    words ^= generator.integers(0, 2, n, dtype=np.uint32) << np.uint32(31)
    return {"x": words.view(np.float32), "y": blank(n, np.uint16), "n": n}


def nearest_even(v):
    """Return the patterns of BF16 to which numbers are rounded, by division."""
    fraction, exponent = np.frexp(v.x)
    whole = np.round(fraction * 256)  # NumPy rounds to even
    rounded = np.ldexp(whole / 256, exponent).astype(np.float32)
    return (rounded.view(np.uint32) >> 16).astype(np.int64)


def pairs(n, generator):
    """Return what the kernel of 03.i takes."""
    x = shuffled(2 * n, generator)
    return {"x": x, "y": blank(n, np.uint32), "pairs": n}


def packed(v):
    """Return the words of two halves each."""
    halves = v.x.astype(np.float16).view(np.uint16).astype(np.int64)
    return halves[1::2] << 16 | halves[::2]


def halves(size, generator):
    """Return what the kernel of 03.j takes: distinct values from 16 to 32."""
    rows, n = size
    count = rows * n
    steps = generator.permutation(count) * (1000 // max(count, 1) or 1)
    x = (16 + (steps % 1024) / 64).astype(np.float16)
    out = blank(n, np.float16)
    return {"x": x.reshape(size), "out": out, "rows": rows, "n": n}


def one_large(size, generator):
    """Return what the kernel of 03.k takes: one large value in each column."""
    rows, n = size
    x = 1 + np.abs(shuffled(size, generator)) / np.float32(rows * n)
    x[0] = LARGE + 2 * np.arange(n)
    return {"x": x, "out": blank(n), "rows": rows, "n": n}


def columns(block):
    """Launch a thread for each column of the second axis."""
    return lambda size: (blocks(size[1], block), block)


# ---------------------------------------------------------------- 03.g


def four_formats(largest, show):
    """Compare with the largest numbers of four formats."""
    known = (
        ("FP16", 5, 10, 65504.0),
        ("BF16", 8, 7, 255 * 2.0**120),
        ("FP32", 8, 23, float(np.finfo(np.float32).max)),
        ("E5M2", 5, 2, 57344.0),
    )
    for name, exponent, mantissa, expected in known:
        found = largest(exponent, mantissa)
        if found != expected:
            raise CheckFailed.explained(
                f"largest({exponent}, {mantissa}) is {found}, but {name} reaches "
                f"{expected:.8g}.",
                "A mantissa of ones stands for 1.11...1, a little less than 2."
                if found < expected
                else "The mantissa never reaches 2: its last place is missing.",
                "The significand 1.11...1 is 2 minus one unit of its last place.",
            )


EXERCISES = (
    Exercise(
        id="03.f",
        name="exponent",
        title="The exponent of a float",
        kernel="exponents",
        inputs=normal,
        outputs=("e",),
        reference=exponents,
        hints=(
            "Shift the mantissa out to the right, mask 8 bits, and subtract the bias. "
            "Which exponent must 1.0, the pattern 0x3f800000, give?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_mask": Mutant(
                mistake="The sign is taken for a bit of the exponent.",
                edits=[("int(bits >> 23 & 0xff)", "int(bits >> 23)")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_bias": Mutant(
                mistake="The stored exponent is not corrected by the bias.",
                edits=[(" - 127", "")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="03.g",
        name="largest",
        title="The largest finite number",
        function="largest",
        checks=(("four formats", four_formats),),
        hints=(
            "With two mantissa bits, 1.11 in binary is 1.75 = 2 - 1/4. What is it "
            "with mantissa_bits bits?",
        ),
        starter=(CheckFailed, "a little less than 2"),
        mutants={
            "two": Mutant(
                mistake="The mantissa is taken to reach 2.",
                edits=[("(2 - 2.0**-mantissa_bits)", "2")],
                fails=(CheckFailed, "never reaches 2"),
            ),
        },
    ),
    Exercise(
        id="03.h",
        name="to_bf16",
        title="Round to BF16 by bits",
        kernel="to_bf16",
        inputs=halfway,
        outputs=("y",),
        reference=nearest_even,
        in_hex=("x", "y"),
        hints=(
            "Adding 0x8000 rounds every tie up. A tie must go up only when the last "
            "bit that stays, bits >> 16 & 1, is 1.",
            "Add 0x7fff, and 1 more if the last bit that stays is 1.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "ties_up": Mutant(
                mistake="Ties go up, away from zero.",
                edits=[("0x7fff + (bits >> 16 & 1)", "0x8000")],
                fails=(CheckFailed, "wrong"),
            ),
            "ties_down": Mutant(
                mistake="Ties go down, towards zero.",
                edits=[("0x7fff + (bits >> 16 & 1)", "0x7fff")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="03.i",
        name="pack",
        title="Two halves in one word",
        kernel="pack",
        inputs=pairs,
        outputs=("y",),
        reference=packed,
        in_hex=("y",),
        hints=("Shift the second by 16 bits, and put the first into the lower half.",),
        starter=(CheckFailed, "wrong"),
        limits=(
            Limit(
                counter="global_store_sectors",
                size=1024,
                most=128,
                why="1024 pairs are 1024 * 4 B = 128 sectors.",
            ),
        ),
        mutants={
            "swapped": Mutant(
                mistake="The first lies in the upper half.",
                edits=[("second << 16 | first", "first << 16 | second")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="03.j",
        name="accumulate",
        title="Add halves in a float",
        kernel="sums",
        inputs=halves,
        outputs=("out",),
        sizes=SIZES,
        picture=(2, 4),
        launches=(columns(256), columns(64)),
        reference=lambda v: v.x.sum(axis=0),
        hints=(
            "A register has room for 32 bits. Convert with __half2float before you "
            "add, and with __float2half once, at the end.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "rounded_each_time": Mutant(
                mistake="The sum is a float, but each addition is rounded to FP16.",
                edits=[
                    (
                        "sum += __half2float(x[k * n + i]);",
                        "sum = __half2float(__float2half(sum) + x[k * n + i]);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="03.k",
        name="kahan",
        title="Kahan's correction",
        kernel="kahan",
        inputs=one_large,
        outputs=("out",),
        sizes=((1, 1), (33, 31), (100, 9)),
        picture=(3, 4),
        launches=(columns(256), columns(64)),
        reference=lambda v: v.x.sum(axis=0),
        roundings=2,
        hints=(
            "next - sum is how much the sum has grown. value is how much it should "
            "have grown. The excess is the first less the second.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "sign": Mutant(
                mistake="The excess has the wrong sign, and is counted twice.",
                edits=[("(next - sum) - value", "value - (next - sum)")],
                fails=(CheckFailed, "wrong"),
            ),
            "after": Mutant(
                mistake="The excess is computed when the old sum is gone.",
                edits=[
                    (
                        "        excess = (next - sum) - value;\n        sum = next;",
                        "        sum = next;\n        excess = (next - sum) - value;",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)

GUESSES = {
    "tf32": Guess(
        question="Which format represents 1 + 1/1024 exactly?",
        options=("TF32 only", "FP16 only", "TF32 and FP16", "neither"),
        hint="1/1024 is 2^-10. How many bits has the mantissa of each?",
        answer="TF32 and FP16",
        because="Both have 10 explicit mantissa bits. TF32 has the exponent of FP32 "
        "besides: the same precision as FP16, and a wider range.",
    ),
    "next_half": Guess(
        question="What is 2048 + 1 in FP16, rounded to nearest?",
        options=(2048, 2049, 2050),
        hint="FP16 has 11 significant bits. From 2048 = 2^11 on, how far apart are "
        "its numbers?",
        answer=2048,
        because="The numbers are 2 apart. 2049 lies halfway, and the tie goes to the "
        "pattern whose last bit is 0: to 2048.",
    ),
    "e4m3": Guess(
        question="A kernel converts 500 to E4M3, as CUDA's conversion does. "
        "What is stored?",
        options=("448", "Inf", "500"),
        hint="E4M3 gives no pattern away for infinity.",
        answer="448",
        because="448 is the largest number of E4M3. It has no Inf, so the conversion "
        "saturates; the one pattern beyond 448 is NaN.",
    ),
    "ftz": Guess(
        question="x is 1.5e-38, so that x * 0.5 is a subnormal float. What does a "
        "kernel compute that was compiled with --ftz=true?",
        options=("7.5e-39", "0", "NaN"),
        hint="ftz stands for flush to zero.",
        answer="0",
        because="Flush to zero replaces subnormal results, and subnormal inputs, by 0. "
        "--use_fast_math switches it on.",
    ),
    "packed": Guess(
        question="A kernel reads 1024 numbers once, in FP16 instead of FP32. How many "
        "sectors of 32 bytes does it need?",
        options=(32, 64, 128),
        hint="1024 numbers of 2 bytes.",
        answer=64,
        because="1024 * 2 B / 32 B = 64. FP32 needs 128.",
    ),
    "order": Guess(
        question="16777216 and 1000 times 1.0 are added in float32. Which order gives "
        "the larger sum?",
        options=("the large one first", "the large one last", "no difference"),
        hint="16777216 is 2^24. What is 2^24 + 1 in float32?",
        answer="the large one last",
        because="2^24 + 1 is rounded to 2^24, a thousand times. Added first, the ones "
        "make 1000, and 2^24 + 1000 is exact.",
    ),
}
