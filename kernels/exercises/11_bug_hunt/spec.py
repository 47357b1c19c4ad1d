"""Exercises of chapter 11: kernels that run, and are wrong."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, blank, blocks, covering, shuffled

PICTURES = ((3, 3), (31, 65), (32, 32), (33, 7), (64, 40))


def tiles(more):
    """Launch a block of 16 x 16 for each tile of C, and so many more each way."""

    def launch(sizes):
        M, N, _ = sizes
        return (blocks(N, 16) + more, blocks(M, 16) + more), (16, 16)

    return launch


def pair(sizes, generator):
    """Return what the kernel of 11.1 takes."""
    M, N, K = sizes
    A, B = shuffled((M, K), generator), shuffled((K, N), generator)
    return {"A": A, "B": B, "C": blank((M, N)), "M": M, "N": N, "K": K}


def picture_and_filter(size, generator):
    """Return what the kernel of 11.2 takes."""
    rows, cols = size
    return {
        "x": shuffled(size, generator),
        "w": shuffled((3, 3), generator) - np.float32(1),
        "out": blank((rows - 2, cols - 2)),
        "rows": rows,
        "cols": cols,
    }


def correlated(v):
    """Return the sum of the nine shifted pictures, each times its weight."""
    rows, cols = v.out.shape
    parts = (
        v.w[i, j] * v.x[i : i + rows, j : j + cols] for i in range(3) for j in range(3)
    )
    return sum(parts)


def picture(size, generator):
    """Return what the kernel of 11.3 takes."""
    x = shuffled(size, generator)
    return {"x": x, "out": blank(size), "rows": size[0], "cols": size[1]}


def sharpened(v):
    """Return 5 x minus the four neighbours, repeated at the edges."""
    wide = np.pad(v.x, 1, mode="edge")
    sides = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return 5 * v.x - sides


def images(sizes, generator):
    """Return what the kernel of 11.4 takes; the first channel is constant."""
    _, channels, pixels = sizes
    values = shuffled((4, channels), generator)
    mean, var, scale, shift = values
    var = (var - var.min()) / 4
    return {
        "x": shuffled(sizes, generator),
        "mean": mean.copy(),
        "var": var,
        "scale": scale.copy(),
        "shift": shift.copy(),
        "out": blank(sizes),
        "eps": 1e-5,
        "n": int(np.prod(sizes)),
        "C": channels,
        "HW": pixels,
    }


def by_channel(v):
    """Return the per-channel values in a shape that broadcasts over x."""
    return (each[:, None] for each in (v.mean, v.var, v.scale, v.shift))


def normalised(v):
    """Return the batch norm of x."""
    mean, var, scale, shift = by_channel(v)
    return (v.x - mean) / np.sqrt(var + v.eps) * scale + shift


def size_of_parts(v):
    """Return how large the terms are that a rounding is relative to."""
    mean, var, scale, shift = by_channel(v)
    return np.abs((np.abs(v.x) + mean) / np.sqrt(var + v.eps) * scale) + shift


def row(n, generator):
    """Return what the kernel of 11.5 takes; every second factor is negative."""
    factor = -0.75 if n % 2 else 1.25
    x = shuffled(n, generator)
    out = blank((n + 1) // 2)
    return {"x": x, "out": out, "mean": n / 10, "factor": factor, "n": n}


def pooled(v):
    """Return the larger of each two normalised elements."""
    normal = (v.x - v.mean) * v.factor
    pairs = np.pad(normal, (0, len(normal) % 2), mode="edge") if v.n else normal
    return pairs.reshape(-1, 2).max(axis=1)


EXERCISES = (
    Exercise(
        id="11.1",
        name="product",
        title="A product that ones cannot tell from a right one",
        stars=1,
        kernel="product",
        inputs=pair,
        outputs=("C",),
        sizes=((1, 1, 1), (16, 16, 16), (17, 33, 31), (5, 24, 50)),
        launches=(tiles(0), tiles(1)),
        reference=lambda v: v.A @ v.B,
        roundings=lambda sizes: sizes[2],
        magnitude=lambda v: np.abs(v.A) @ np.abs(v.B),
        owner=None,
        hints=(
            "Look at the small problem. Of which matrix product is the result that "
            "you got? Try A times the transpose of B, by hand.",
            "Element (row, col) of C needs row `y` of the tile of A and *column* `x` "
            "of the tile of B. Which one do you read?",
            "sum += a_tile[y][k] * b_tile[k][x]; and no other line changes.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "a_turned": (CheckFailed, "wrong"),
            "both_turned": (CheckFailed, "wrong"),
            "turned_when_stored": (CheckFailed, "wrong"),
            "rows_of_k": (CheckFailed, "wrong"),
            "all_of_b_turned": (CheckFailed, "wrong"),
            "no_second_barrier": (CheckFailed, "wrong"),
            "last_tile_left_out": (CheckFailed, "wrong"),
        },
    ),
    Exercise(
        id="11.2",
        name="filter",
        title="A filter, and which way round it goes",
        stars=1,
        kernel="filter",
        inputs=picture_and_filter,
        outputs=("out",),
        sizes=PICTURES,
        picture=(4, 5),
        launches=(covering((16, 8)), covering((32, 4))),
        reference=correlated,
        roundings=9,
        magnitude=lambda v: np.full(v.out.shape, np.abs(v.w).sum() * v.x.max()),
        owner=None,
        hints=(
            "There are two operations of this kind. One takes the filter as it is, "
            "the other turns it by half a turn first. Which one does the comment at "
            "the top ask for?",
            "A *convolution* turns the filter, a *cross-correlation* does not. What "
            "PyTorch calls conv2d is a cross-correlation.",
            "w[3 * i + j] in place of w[3 * (2 - i) + 2 - j].",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "flips_rows": (CheckFailed, "wrong"),
            "flips_columns": (CheckFailed, "wrong"),
            "turned": (CheckFailed, "wrong"),
            "flips_the_picture": (CheckFailed, "wrong"),
            "same_size": (OutOfBoundsError, "reads x["),
            "stride_of_the_input": (OutOfBoundsError, "writes out["),
        },
    ),
    Exercise(
        id="11.3",
        name="sharpen",
        title="Rows and columns: right for every square picture",
        stars=1,
        kernel="sharpen",
        inputs=picture,
        outputs=("out",),
        sizes=((1, 1), (31, 65), (32, 32), (65, 9), (64, 40)),
        launches=(covering((16, 8)), covering((8, 8))),
        reference=sharpened,
        roundings=8,
        magnitude=lambda v: np.full(v.x.shape, 9 * v.x.max()),
        hints=(
            "The check says that elements were never written. The grid has a thread "
            "for each pixel. Where do the missing ones look?",
            "The launch lays x of the grid along a row: so many blocks as cover the "
            "columns. Which of the two indices runs to `cols`?",
            "col = blockIdx.x * blockDim.x + threadIdx.x, and row the same with y.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "guards_swapped": (OutOfBoundsError, "reads x["),
            "half_swapped": (CheckFailed, "never written"),
            "rows_are_columns": (CheckFailed, "wrong"),
            "edges_wrap": (CheckFailed, "wrong"),
            "no_edges": (OutOfBoundsError, "reads x["),
        },
    ),
    Exercise(
        id="11.4",
        name="batch_norm",
        title="Batch norm: by the deviation",
        stars=2,
        kernel="batch_norm",
        inputs=images,
        outputs=("out",),
        sizes=((1, 1, 1), (2, 3, 35), (1, 33, 31), (3, 16, 25)),
        reference=normalised,
        roundings=8,
        magnitude=size_of_parts,
        hints=(
            "Compare with the formula in the first line, operation by operation. Two "
            "of them are missing.",
            "The variance is a mean of squares. What has the unit of x is its root. "
            "And what if all values of a channel are the same?",
            "float normal = (x[i] - mean[c]) * rsqrtf(var[c] + eps);",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_eps": (CheckFailed, "not a finite number"),
            "eps_outside": (CheckFailed, "wrong"),
            "root_only": (CheckFailed, "wrong"),
            "channel_of_nhwc": (CheckFailed, "wrong"),
            "image_for_channel": (OutOfBoundsError, "reads mean["),
        },
    ),
    Exercise(
        id="11.5",
        name="norm_pool",
        title="Fused: normalise both, then pool",
        stars=2,
        kernel="norm_pool",
        inputs=row,
        outputs=("out",),
        reference=pooled,
        roundings=3,
        magnitude=lambda v: np.full(v.out.shape, 2 * v.x.max(initial=1)),
        hints=(
            "Set mean = 0 and factor = 1, and it is right. So what is it that these "
            "two do not reach?",
            "Two kernels became one. The second of them read the *result* of the "
            "first, for both neighbours. What does this one read for the second?",
            "fmaxf(best, (x[second] - mean) * factor), behind the guard that an odd "
            "n needs.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "pools_first": (CheckFailed, "wrong"),
            "mean_forgotten": (CheckFailed, "wrong"),
            "past_the_end": (OutOfBoundsError, "reads x["),
            "odd_one_dropped": (CheckFailed, "never written"),
            "smaller": (CheckFailed, "wrong"),
        },
    ),
)
