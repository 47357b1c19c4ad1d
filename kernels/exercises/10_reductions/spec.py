"""Exercises 10.3 to 10.5: a gate, sums of segments, a variance."""

import numpy as np

from coursekit.errors import (
    BarrierError,
    CheckFailed,
)
from coursekit.exercises import Exercise, Limit, blank, blocks, shuffled

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
            "brackets": (CheckFailed, "wrong"),
            "sign": (CheckFailed, "wrong"),
            "through_y": (CheckFailed, "global_load_sectors is"),
            "two_loops": (CheckFailed, "global_load_sectors is"),
            "no_loop": (CheckFailed, "never written"),
            "steps_of_a_block": (CheckFailed, "global_load_sectors is"),
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
        stars=3,
        kernel="segmented_sums",
        inputs=segments,
        outputs=("out",),
        reference=sums_of_segments,
        hints=(
            "Without heads it is the scan of exercise 07.4: add what the lane `away` "
            "below has, for away = 1, 2, 4, 8, 16. When must a lane stop adding?",
            "A sum is whole when it reaches back to a head. A lane whose sum is whole "
            "adds no more; one that adds a whole sum gets a whole one. So two things "
            "are handed on: the sum, and whether it is whole.",
            "int whole = i % 32 == 0 || (i < n && heads[i]); in each round float more "
            "= __shfl_up_sync(~0u, sum, away); int is_whole = __shfl_up_sync(~0u, "
            "whole, away); if (!whole) { sum += more; whole = is_whole; }, and all "
            "lanes, those behind n too, come to both shuffles.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "not_handed_on": (CheckFailed, "wrong"),
            "one_round": (CheckFailed, "wrong"),
            "no_heads": (CheckFailed, "wrong"),
            "lane_0_open": (CheckFailed, "wrong"),
            "down": (CheckFailed, "wrong"),
            "blocks_for_warps": (CheckFailed, "wrong"),
            "shuffle_in_the_branch": (BarrierError, "never gets there"),
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
            "not_below_zero": (CheckFailed, "wrong"),
            "own_first": (CheckFailed, "wrong"),
            "first_of_all": (CheckFailed, "wrong"),
            "sample": (CheckFailed, "wrong"),
            "two_passes": (CheckFailed, "global_load_requests is"),
            "square_of_the_sum": (CheckFailed, "wrong"),
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
