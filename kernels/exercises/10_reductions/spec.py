"""Exercises 10.3 to 10.5: a gate, sums of segments, a variance."""

import numpy as np

from coursekit.errors import (
    BarrierError,
    CheckFailed,
)
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled

LEVEL = 4096.0  # of the rows whose variance is wanted


def at_most(counter, size, most, why):
    """Return a limit on a counter."""
    return Limit(counter=counter, size=size, most=most, why=why)


def a_warp_a_row(threads):
    """Launch a warp for each row."""
    return lambda size: (blocks(32 * size[0], threads), threads)


def half_a_grid(block):
    """Launch half as many blocks as would cover n."""
    return lambda n: (blocks(n, 2 * block), block)


def three_arrays(n, generator):
    """Return what the kernel of 10.3 takes: values from -1 to 1."""
    unit = np.float32(8 / max(n, 1))
    a, b, c = (unit * shuffled(n, generator) - np.float32(1) for _ in range(3))
    return {"a": a, "b": b, "c": c, "y": blank(n), "n": n}


def segments(n, generator):
    """Return what the kernel of 10.4 takes; every sixth element is a head."""
    heads = (generator.random(n) < 1 / 6).astype(np.int32)
    return {"x": shuffled(n, generator), "heads": heads, "out": blank(n), "n": n}


def sums_of_segments(v):
    """Add up from the last head; every 32nd element is one."""
    out = np.zeros(v.n)
    for i in range(v.n):
        begins = i % 32 == 0 or v.heads[i]
        out[i] = v.x[i] + (0 if begins else out[i - 1])
    return out


def far_from_zero(size, generator):
    """Return what the kernel of 10.5 takes: rows with levels of their own."""
    rows, cols = size
    levels = LEVEL * (1 + np.arange(rows) % 2)
    x = shuffled(size, generator) + levels[:, None].astype(np.float32)
    return {"x": x, "out": blank(rows), "rows": rows, "cols": cols}


EXERCISES = (
    Exercise(
        id="10.3",
        name="gate",
        title="Fuse a gate: sigmoid(a + b * c)",
        stars=1,
        kernel="gate",
        inputs=three_arrays,
        outputs=("y",),
        launches=(half_a_grid(256), half_a_grid(64)),
        reference=lambda v: 1 / (1 + np.exp(-(v.a + v.b * v.c))),
        # Product and sum are off by 3 roundings of 1, which exp passes on; exp itself
        # rounds twice a place, and a sum and a quotient are left.
        roundings=16,
        owner=None,
        hints=(
            'ck.fusion(["t = b * c", "u = a + t", "y = sigmoid(u)"], {"a": n, "b": n, '
            '"c": n}, fuse="all") tells how many arrays have to move. How many do?',
            "y is written three times and read twice, because it is room for t and u. "
            "A variable is room enough: nobody but its own thread needs them.",
            "One loop with float u = a[i] + b[i] * c[i]; and y[i] = 1.0f / (1.0f + "
            "expf(-u)); in it.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "brackets": Mutant(
                mistake="The sum comes before the product.",
                edits=[("a[i] + b[i] * c[i]", "(a[i] + b[i]) * c[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "sign": Mutant(
                mistake="The sign of the exponent is lost.",
                edits=[("1.0f + expf(-u)", "1.0f + expf(u)")],
                fails=(CheckFailed, "wrong"),
            ),
            "through_y": Mutant(
                mistake="What is handed on goes through memory.",
                edits=[
                    (
                        "float u = a[i] + b[i] * c[i];\n"
                        "        y[i] = 1.0f / (1.0f + expf(-u));",
                        "y[i] = a[i] + b[i] * c[i];\n"
                        "        __threadfence();\n"
                        "        y[i] = 1.0f / (1.0f + expf(-y[i]));",
                    )
                ],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "two_loops": Mutant(
                mistake="The first two operations are fused, the third is not.",
                edits=[
                    (
                        "float u = a[i] + b[i] * c[i];\n"
                        "        y[i] = 1.0f / (1.0f + expf(-u));",
                        "y[i] = a[i] + b[i] * c[i];",
                    ),
                    (
                        "}\n}",
                        "}\n"
                        "    for (int i = first; i < n; i += step)\n"
                        "        y[i] = 1.0f / (1.0f + expf(-y[i]));\n"
                        "}",
                    ),
                ],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "no_loop": Mutant(
                mistake="The grid covers half of the elements, and goes once.",
                edits=[
                    (
                        "for (int i = first; i < n; i += step) {",
                        "int i = first;\n    if (i < n) {",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "steps_of_a_block": Mutant(
                mistake="Blocks do the work of others again.",
                edits=[("gridDim.x * blockDim.x", "blockDim.x")],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
        },
        limits=(
            at_most(
                "global_load_sectors",
                4096,
                3 * 512,
                "a, b and c are 512 sectors each, and no other array is read.",
            ),
            at_most("global_store_sectors", 4096, 512, "y is 512 sectors."),
        ),
    ),
    Exercise(
        id="10.4",
        name="segmented",
        title="Sums of segments, in five steps",
        stars=2,
        kernel="segmented_sums",
        inputs=segments,
        outputs=("out",),
        reference=sums_of_segments,
        hints=(
            "The kernel adds what the lane `away` below has, for away = 1, 2, 4, 8 "
            "and 16. When must a lane stop adding?",
            "A sum is whole when it reaches back to a head. A lane whose sum is whole "
            "adds no more; one that adds a whole sum gets a whole one. So two things "
            "are handed on: the sum, and whether it is whole.",
            "int whole = i % 32 == 0 || (i < n && heads[i]); in each round float more "
            "= __shfl_up_sync(~0u, sum, away); int is_whole = __shfl_up_sync(~0u, "
            "whole, away); if (!whole) { sum += more; whole = is_whole; }, and all "
            "lanes, those behind n too, come to both shuffles.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "not_handed_on": Mutant(
                mistake="Nobody learns that a neighbour's sum is whole.",
                edits=[("            whole = is_whole;\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_round": Mutant(
                mistake="Whoever has added once never adds again.",
                edits=[("whole = is_whole;", "whole = 1;")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_heads": Mutant(
                mistake="A plain scan knows no segments.",
                edits=[("0 || (i < n && heads[i])", "0")],
                fails=(CheckFailed, "wrong"),
            ),
            "lane_0_open": Mutant(
                mistake="The first lane adds itself, again and again.",
                edits=[("i % 32 == 0 || (i < n && heads[i])", "i < n && heads[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "down": Mutant(
                mistake="Sums come from the elements behind.",
                edits=[
                    ("more = __shfl_up_sync", "more = __shfl_down_sync"),
                    ("is_whole = __shfl_up_sync", "is_whole = __shfl_down_sync"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "blocks_for_warps": Mutant(
                mistake="Only the first thread of a block is taken for a head.",
                edits=[("i % 32 == 0", "threadIdx.x == 0")],
                fails=(CheckFailed, "wrong"),
            ),
            "shuffle_in_the_branch": Mutant(
                mistake="Only lanes that still add come to the shuffle.",
                edits=[
                    ("        float more = __shfl_up_sync(~0u, sum, away);\n", ""),
                    (
                        "sum += more;",
                        "float more = __shfl_up_sync(~0u, sum, away);\n"
                        "            sum += more;",
                    ),
                ],
                fails=(BarrierError, "never gets there"),
            ),
        },
        limits=(
            at_most(
                "global_load_requests",
                4096,
                2 * 128,
                "128 warps read their values once, and their heads once.",
            ),
        ),
    ),
    Exercise(
        id="10.5",
        name="variance",
        title="A variance that does not cancel",
        stars=2,
        kernel="row_variance",
        inputs=far_from_zero,
        outputs=("out",),
        sizes=((1, 1), (3, 31), (2, 33), (9, 64), (2, 1000)),
        launches=(a_warp_a_row(256), a_warp_a_row(64)),
        reference=lambda v: v.x.var(axis=1),
        # About the first value, squares are up to 4 times the variance, and both
        # sums and the mean round; a sum has cols / 32 + 5 additions.
        roundings=lambda size: 12 * (size[1] // 32 + 8),
        owner=None,
        hints=(
            "The values are near 4096 or 8192, so their squares have eight digits, and "
            "float32 keeps seven. What if the values were small?",
            "A variance does not change when the same number is taken away from all "
            "values of a row. Which number is near all of them, and known before you "
            "have read the row?",
            "float first = x[row * cols]; in front of the loop, and float v = x[row * "
            "cols + c] - first; in it. No other line changes.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "not_below_zero": Mutant(
                mistake="Cutting at 0 hides one sign of the error.",
                edits=[
                    ("x[row * cols + c] - first", "x[row * cols + c]"),
                    (
                        "squares / cols - mean * mean",
                        "fmaxf(squares / cols - mean * mean, 0.0f)",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "own_first": Mutant(
                mistake="Each lane moves its values by another number.",
                edits=[
                    (
                        "for (int c = lane; c < cols; c += 32) {",
                        "if (lane < cols)\n"
                        "        first = x[row * cols + lane];\n"
                        "    for (int c = lane; c < cols; c += 32) {",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "first_of_all": Mutant(
                mistake="All rows move by the first value of the first row.",
                edits=[("x[row * cols]", "x[0]")],
                fails=(CheckFailed, "wrong"),
            ),
            "sample": Mutant(
                mistake="That divides by one less than there are.",
                edits=[
                    (
                        "squares / cols - mean * mean",
                        "(squares - sum * mean) / fmaxf(cols - 1, 1)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "two_passes": Mutant(
                mistake="The mean first, then the squares: right, and read twice.",
                edits=[
                    (
                        "sum += v, squares += v * v;",
                        "sum += v;\n"
                        "    }\n"
                        "    for (int away = 16; away > 0; away /= 2)\n"
                        "        sum += __shfl_xor_sync(~0u, sum, away);\n"
                        "    for (int c = lane; c < cols; c += 32) {\n"
                        "        float v = x[row * cols + c] - first - sum / cols;\n"
                        "        squares += v * v;",
                    ),
                    (
                        "sum += __shfl_xor_sync(~0u, sum, away);\n"
                        "        squares += __shfl_xor_sync(~0u, squares, away);",
                        "squares += __shfl_xor_sync(~0u, squares, away);",
                    ),
                    ("    float mean = sum / cols;\n", ""),
                    ("cols - mean * mean", "cols"),
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
            "square_of_the_sum": Mutant(
                mistake="The mean is squared before it is one.",
                edits=[("mean * mean;", "sum * sum / cols;")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            at_most(
                "global_load_requests",
                (8, 512),
                8 * (16 + 1),
                "8 rows are 16 requests each; one more may tell a warp something.",
            ),
        ),
    ),
)
