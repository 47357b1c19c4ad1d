"""Exercises 03.1 and 03.2: values kept in shared memory, dot products of halves."""

import numpy as np

from coursekit.errors import CheckFailed, UninitializedReadError
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled


def positive(n, generator):
    """Return what the kernel of 03.1 takes: 64 rows of positive values."""
    x = 1 + np.abs(shuffled((64, n), generator))
    return {"x": x, "y": blank((64, n)), "n": n}


def two_by_two(size, generator):
    """Return what the kernel of 03.2 takes: words of two halves each."""
    rows, pairs = size
    a, b = (
        (generator.permutation(2 * rows * pairs) % 1021 - 510) / 64 for _ in range(2)
    )
    words = (values.astype(np.float16).view(np.uint32) for values in (a, b))
    a, b = (word.reshape(size) for word in words)
    out = blank(2 * pairs)
    return {"a": a, "b": b, "out": out, "rows": rows, "pairs": pairs}


def products(v):
    """Return the products of all halves, in float64."""
    a, b = (
        np.ascontiguousarray(w.astype(np.uint32)).view(np.float16).astype(np.float64)
        for w in (v.a, v.b)
    )
    return a * b


def of_64(n):
    """Launch blocks of 64 threads, as the kernel demands."""
    return blocks(n, 64), 64


def one_more(n):
    """Launch a block that has no columns besides."""
    return blocks(n, 64) + 1, 64


def pairs_of(block):
    """Launch a thread for each pair of columns."""
    return lambda size: (blocks(size[1], block), block)


EXERCISES = (
    Exercise(
        id="03.1",
        name="read_once",
        title="Read once, spill nothing",
        stars=2,
        kernel="scale_once",
        inputs=positive,
        outputs=("y",),
        sizes=(1, 33, 130),
        picture=2,
        launches=(of_64, one_more),
        reference=lambda v: v.x / v.x.max(axis=0),
        roundings=2,
        hints=(
            "A block has 64 columns of 64 values. How many bytes of shared memory "
            "are that, and may a block have so many?",
            "Declare __shared__ float kept[ROWS][THREADS]; the first loop stores "
            "each value that it has read, the second one reads it there.",
            "The threads of a warp must lie side by side in it: kept[k][threadIdx.x]. "
            "Each thread reads what it has stored itself, so no barrier is needed.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        limits=(
            Limit(
                counter="global_load_sectors",
                size=128,
                most=64 * 16,
                why="64 rows of 128 floats are 1024 sectors, each read once.",
            ),
            Limit(
                counter="shared_load_bank_conflicts",
                size=128,
                most=0,
                why="Lanes of a warp that read words 64 apart meet in one bank.",
            ),
            Limit(
                counter="spill_store_bytes",
                size=128,
                most=0,
                why="The values are to lie in shared memory.",
            ),
            Limit(
                counter="registers",
                size=128,
                most=64,
                why="The 64 values of a thread lie in registers. Keep them in shared "
                "memory: then a thread needs only a few registers.",
            ),
        ),
        mutants={
            "sideways": Mutant(
                mistake="The lanes of a warp are a row apart, all in one bank.",
                edits=[
                    ("kept[ROWS][THREADS];", "kept[THREADS][ROWS];"),
                    ("kept[k][threadIdx.x] = value", "kept[threadIdx.x][k] = value"),
                    ("kept[k][threadIdx.x] /", "kept[threadIdx.x][k] /"),
                ],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "read_again": Mutant(
                mistake="The values are kept, and read from memory all the same.",
                edits=[("kept[k][threadIdx.x] / most", "x[k * n + i] / most")],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "in_registers": Mutant(
                mistake="The values are kept in registers, not in shared memory.",
                edits=[
                    ("__shared__ float kept[ROWS][THREADS];", "float kept[ROWS];"),
                    ("kept[k][threadIdx.x] = value", "kept[k] = value"),
                    ("kept[k][threadIdx.x] /", "kept[k] /"),
                ],
                fails=(CheckFailed, "registers = "),
            ),
            "one_row": Mutant(
                mistake="All rows are kept in the same place.",
                edits=[
                    ("kept[k][threadIdx.x] = value", "kept[0][threadIdx.x] = value")
                ],
                fails=(UninitializedReadError, "kept[64]"),
            ),
        },
    ),
    Exercise(
        id="03.2",
        name="dot_of_halves",
        title="Dot products of packed halves",
        stars=2,
        kernel="dots",
        inputs=two_by_two,
        outputs=("out",),
        sizes=((1, 1), (5, 31), (3, 33), (9, 300)),
        picture=(2, 4),
        launches=(pairs_of(256), pairs_of(64)),
        reference=lambda v: products(v).sum(axis=0),
        roundings=lambda size: size[0],
        magnitude=lambda v: np.abs(products(v)).sum(axis=0),
        owner=None,
        in_hex=("a", "b"),
        hints=(
            "The starter multiplies the words as whole numbers. A word holds two "
            "halves: its lower 16 bits, and its upper 16 bits.",
            "__ushort_as_half takes 16 bits as they are, and __half2float makes a "
            "float of the half. Which bits are word & 0xffff, and which word >> 16?",
            "Load both words into variables. first grows by the product of the two "
            "lower halves, second by that of the two upper ones, both as floats.",
        ),
        starter=(CheckFailed, "wrong"),
        limits=(
            Limit(
                counter="global_load_sectors",
                size=(2, 1024),
                most=2 * 2 * 128,
                why="Two arrays of 2 * 1024 words are 512 sectors.",
            ),
        ),
        mutants={
            "crossed": Mutant(
                mistake="The halves of a are multiplied with the others of b.",
                edits=[("_half(v & 0xffff)", "_half(v >> 16)")],
                fails=(CheckFailed, "wrong"),
            ),
            "converted": Mutant(
                mistake="The bits are converted as a number, not taken as they are.",
                edits=[
                    ("__ushort_as_half(u & 0xffff)", "__ushort2half_rn(u & 0xffff)")
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "one_sum": Mutant(
                mistake="Both products go to the first column.",
                edits=[("second += ", "first += ")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
