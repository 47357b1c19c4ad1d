"""Pieces of chapter 00: a first kernel, its grid, a sum, an index, a fusion."""

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Limit,
    Mutant,
    blank,
    shuffled,
)

SIZES = (0, 1, 31, 32, 33, 255, 257)
MOST = 100  # instructions of a warp: about 20 with an element per thread
INDEX = "blockIdx.x * blockDim.x + threadIdx.x"
# 4096 floats are 512 sectors of 32 bytes.
COALESCED = Limit(
    counter="global_load_sectors",
    size=4096,
    most=512,
    why="4096 floats of 4 bytes fill 512 sectors of 32 bytes.",
)


def one_array(n, generator):
    """Return what the kernels (x, y, n) take."""
    return {"x": shuffled(n, generator), "y": blank(n), "n": n}


def two_arrays(n, generator):
    """Return what the kernel (a, b, c, n) takes."""
    a, b = shuffled(2 * n, generator).reshape(2, n)
    return {"a": a.copy(), "b": b.copy(), "c": blank(n), "n": n}


def two_and_a_number(n, generator):
    """Return what the kernel (a, b, s, y, n) takes."""
    a, b = shuffled(2 * n, generator).reshape(2, n)
    return {"a": a.copy(), "b": b.copy(), "s": 3.0, "y": blank(n), "n": n}


def no_element_left(blocks_for, show):
    """Look for elements that have no thread."""
    for n in (1, 255, 256, 257, 1000, 1025):
        found = blocks_for(n)
        if not isinstance(found, int):
            raise CheckFailed.explained(
                f"blocks_for({n}) is {found!r}, which is no int.",
                "A grid has a whole number of blocks, and `/` makes a float.",
                "Divide with `//`, which makes an int.",
            )
        if 256 * found < n:
            raise CheckFailed.explained(
                f"blocks_for({n}) is {found}: {found} * 256 = {256 * found} threads, "
                f"so element {n - 1} has no thread.",
                "The division is rounded down, and the last block, which is not full, "
                "is left out.",
                "Round up. Try the formula by hand at n = 1, 256 and 257.",
            )


def no_empty_block(blocks_for, show):
    """Look for blocks in which no thread has an element."""
    for n in (1, 255, 256, 257, 512, 1000, 1024):
        found, needed = blocks_for(n), -(-n // 256)
        if found != needed:
            raise CheckFailed.explained(
                f"blocks_for({n}) is {found}, but fewer are enough: {needed}.",
                "Where n is a multiple of 256, one block has no element.",
                "Add to n before you divide, and less than a whole block.",
            )


EXERCISES = (
    Exercise(
        id="00.a",
        name="triple",
        title="Your first kernel: three times each element",
        stars=0,
        kernel="triple",
        inputs=one_array,
        outputs=("y",),
        sizes=SIZES,
        longest_warp=MOST,
        reference=lambda v: 3 * v.x,
        hints=(
            "The index i and the guard are there. Write what you would write in the "
            "body of a loop over i.",
            "An assignment to y[i] that reads x[i], and a semicolon at its end.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "no_guard": Mutant(
                mistake="The guard lets every thread through.",
                edits=[("if (i < n)", "if (true)")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "guard_too_wide": Mutant(
                mistake="The guard lets one thread too many through.",
                edits=[("if (i < n)", "if (i <= n)")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "added": Mutant(
                mistake="It adds 3.",
                edits=[("3 * x[i]", "3 + x[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "first_element": Mutant(
                mistake="Every thread reads the first element.",
                edits=[("3 * x[i]", "3 * x[0]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="00.b",
        name="blocks",
        title="Enough blocks, and not one too many",
        stars=0,
        function="blocks_for",
        checks=(
            ("every element has a thread", no_element_left),
            ("no block is empty", no_empty_block),
        ),
        hints=(
            "256 elements need one block, and 257 need two. What must you add to n so "
            "that the quotient grows exactly there?",
            "Add 255 to n, and then divide by 256 with `//`.",
        ),
        starter=(CheckFailed, "element 0 has no thread"),
        mutants={
            "one_more": Mutant(
                mistake="One block is added, also where the division has no rest.",
                edits=[("(n + 255) // 256", "n // 256 + 1")],
                fails=(CheckFailed, "blocks_for(256) is 2"),
            ),
            "float": Mutant(
                mistake="The quotient stays a float.",
                edits=[("(n + 255) // 256", "(n + 255) / 256")],
                fails=(CheckFailed, "which is no int"),
            ),
            "nearest": Mutant(
                mistake="The quotient is rounded to the nearest number.",
                edits=[("(n + 255) // 256", "round(n / 256)")],
                fails=(CheckFailed, "element 0 has no thread"),
            ),
        },
    ),
    Exercise(
        id="00.c",
        name="mean",
        title="A whole kernel: index, guard and work",
        stars=0,
        kernel="mean",
        inputs=two_arrays,
        outputs=("c",),
        sizes=SIZES,
        longest_warp=MOST,
        reference=lambda v: (v.a + v.b) / 2,
        roundings=2,
        hints=(
            "The first line declares an int, the number of the thread in the grid. "
            "The drawing of the two blocks has the formula.",
            "The second line is an if: which numbers have an element?",
            "int i = ...; then if (i < n), and after it c[i] = (...) / 2; in C, "
            "1 / 2 is 0, a division of two ints.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "thread_only": Mutant(
                mistake="The index leaves out the block.",
                edits=[(INDEX, "threadIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "no_guard": Mutant(
                mistake="There is no guard.",
                edits=[("    if (i < n)\n        c[i]", "    c[i]")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "grid_for_block": Mutant(
                mistake="The index counts blocks of the grid, not threads of a block.",
                edits=[("blockDim", "gridDim")],
                fails=(CheckFailed, "never written"),
            ),
            "serial": Mutant(
                mistake="One thread computes everything.",
                edits=[
                    (
                        "if (i < n)\n        c[i]",
                        "if (i == 0)\n        for (; i < n; i++) c[i]",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "loop_in_each": Mutant(
                mistake="Every thread computes everything.",
                edits=[
                    (INDEX, "0"),
                    ("if (i < n)", "for (; i < n; i++)"),
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "brackets_missing": Mutant(
                mistake="Only b is halved.",
                edits=[("(a[i] + b[i]) / 2", "a[i] + b[i] / 2")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="00.d",
        name="neighbours",
        title="Right for every size, with too many sectors",
        stars=0,
        kernel="negate",
        inputs=one_array,
        outputs=("y",),
        sizes=SIZES,
        owner=None,
        reference=lambda v: -v.x,
        hints=(
            "Which elements do threads 0 and 1 of block 0 take when the grid has 16 "
            "blocks?",
            "threadIdx.x differs by 1 between neighbours. In the index it must not be "
            "multiplied by anything.",
            "The index of your kernel mean is the right one.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        limits=(COALESCED,),
        mutants={
            "block_and_grid": Mutant(
                mistake="Threads of a block are still a block apart.",
                edits=[(INDEX, "threadIdx.x * blockDim.x + blockIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "thread_only": Mutant(
                mistake="All blocks take the same elements.",
                edits=[(INDEX, "threadIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
        },
    ),
    Exercise(
        id="00.e",
        name="fused",
        title="Two operations in one kernel",
        stars=0,
        kernel="add_scale",
        inputs=two_and_a_number,
        outputs=("y",),
        sizes=SIZES,
        longest_warp=MOST,
        reference=lambda v: v.s * (v.a + v.b),
        roundings=2,
        hints=(
            "Each thread may compute as much as it likes before it stores.",
            "Brackets around the sum, s in front of them, and y[i] on the left.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "brackets_missing": Mutant(
                mistake="Only a is multiplied.",
                edits=[("s * (a[i] + b[i])", "s * a[i] + b[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "not_scaled": Mutant(
                mistake="The sum is stored as it is.",
                edits=[("s * (a[i] + b[i])", "a[i] + b[i]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
