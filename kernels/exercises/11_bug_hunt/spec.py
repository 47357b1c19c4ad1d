"""Exercises of chapter 11: kernels that run, and are wrong."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank, blocks, covering, shuffled

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
            "a_turned": Mutant(
                mistake="Turns the tile of A instead of that of B.",
                edits=[("a_tile[y][k]", "a_tile[k][y]")],
                fails=(CheckFailed, "wrong"),
            ),
            "both_turned": Mutant(
                mistake="Turns both tiles when they are read.",
                edits=[("a_tile[y][k] * b_tile[k][x]", "a_tile[k][y] * b_tile[x][k]")],
                fails=(CheckFailed, "wrong"),
            ),
            "turned_when_stored": Mutant(
                mistake="Turns the tile of B on the way in.",
                edits=[("b_tile[y][x]", "b_tile[x][y]")],
                fails=(CheckFailed, "wrong"),
            ),
            "rows_of_k": Mutant(
                mistake="Reads B as if it had K columns.",
                edits=[("(k0 + y) * N", "(k0 + y) * K")],
                fails=(CheckFailed, "wrong"),
            ),
            "all_of_b_turned": Mutant(
                mistake="Reads the transpose of B.",
                edits=[("(k0 + y) * N + col", "col * K + k0 + y")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_second_barrier": Mutant(
                mistake="Lets a warp overwrite tiles that others still need.",
                edits=[
                    (
                        "        __syncthreads();  // nobody needs these tiles any "
                        "more\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "last_tile_left_out": Mutant(
                mistake="Skips the last tile where it is not full.",
                edits=[("0; k0 < K;", "0; k0 + 15 < K;")],
                fails=(CheckFailed, "wrong"),
            ),
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
            "flips_rows": Mutant(
                mistake="Still turns the filter upside down.",
                edits=[("w[3 * i + j]", "w[3 * (2 - i) + j]")],
                fails=(CheckFailed, "wrong"),
            ),
            "flips_columns": Mutant(
                mistake="Still mirrors the filter.",
                edits=[("w[3 * i + j]", "w[3 * i + 2 - j]")],
                fails=(CheckFailed, "wrong"),
            ),
            "turned": Mutant(
                mistake="Reads the filter by columns.",
                edits=[("w[3 * i + j]", "w[3 * j + i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "flips_the_picture": Mutant(
                mistake="Flips the window of the picture too.",
                edits=[
                    (
                        "[(row + i) * cols + col + j]",
                        "[(row + 2 - i) * cols + col + 2 - j]",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "same_size": Mutant(
                mistake="Computes as many rows and columns as the picture has.",
                edits=[("rows - 2 || col >= cols - 2", "rows || col >= cols")],
                fails=(OutOfBoundsError, "reads x["),
            ),
            "stride_of_the_input": Mutant(
                mistake="Writes rows that are as long as those of the picture.",
                edits=[("* (cols - 2)", "* cols")],
                fails=(OutOfBoundsError, "writes out["),
            ),
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
            "guards_swapped": Mutant(
                mistake="Leaves the indices swapped and swaps the guard as well.",
                edits=[
                    ("int col =", "int row ="),
                    ("int row = blockIdx.y", "int col = blockIdx.y"),
                    ("rows || col >= cols", "cols || col >= rows"),
                ],
                fails=(OutOfBoundsError, "reads x["),
            ),
            "half_swapped": Mutant(
                mistake="Swaps the blocks back and leaves the threads.",
                edits=[
                    ("threadIdx.x;", "threadIdx.y;"),
                    ("y + threadIdx.y", "y + threadIdx.x"),
                ],
                fails=(CheckFailed, "never written"),
            ),
            "rows_are_columns": Mutant(
                mistake="Takes the number of rows for the length of a row.",
                edits=[
                    ("cols + col] + x[down * cols", "rows + col] + x[down * rows"),
                    ("cols + left] + x[row * cols", "rows + left] + x[row * rows"),
                    (
                        "cols + col] = 5.0f * x[row * cols",
                        "rows + col] = 5.0f * x[row * rows",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "edges_wrap": Mutant(
                mistake="Takes the neighbour across the picture at an edge.",
                edits=[
                    (
                        "max(row - 1, 0), down = min(row + 1, rows - 1)",
                        "(row + rows - 1) % rows, down = (row + 1) % rows",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_edges": Mutant(
                mistake="Reads past the picture at its edges.",
                edits=[
                    (
                        "max(row - 1, 0), down = min(row + 1, rows - 1)",
                        "row - 1, down = row + 1",
                    )
                ],
                fails=(OutOfBoundsError, "reads x["),
            ),
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
            "no_eps": Mutant(
                mistake="Divides by zero where a channel is constant.",
                edits=[("var[c] + eps", "var[c]")],
                fails=(CheckFailed, "not a finite number"),
            ),
            "eps_outside": Mutant(
                mistake="Adds eps to the deviation in place of the variance.",
                edits=[("* rsqrtf(var[c] + eps)", "/ (sqrtf(var[c]) + eps)")],
                fails=(CheckFailed, "wrong"),
            ),
            "root_only": Mutant(
                mistake="Multiplies by the deviation.",
                edits=[(") * rsqrtf(", ") * sqrtf(")],
                fails=(CheckFailed, "wrong"),
            ),
            "channel_of_nhwc": Mutant(
                mistake="Counts channels as if they lay last.",
                edits=[("i / HW % C;", "i % C;")],
                fails=(CheckFailed, "wrong"),
            ),
            "image_for_channel": Mutant(
                mistake="Lets the channels run on from image to image.",
                edits=[("i / HW % C;", "i / HW;")],
                fails=(OutOfBoundsError, "reads mean["),
            ),
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
            "pools_first": Mutant(
                mistake="Normalises the larger one, which a negative factor makes the "
                "smaller.",
                edits=[
                    ("(x[first] - mean) * factor", "x[first]"),
                    ("(x[second] - mean) * factor", "x[second]"),
                    ("out[j] = best;", "out[j] = (best - mean) * factor;"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "mean_forgotten": Mutant(
                mistake="Scales the second element and does not centre it.",
                edits=[("(x[second] - mean)", "x[second]")],
                fails=(CheckFailed, "wrong"),
            ),
            "past_the_end": Mutant(
                mistake="Reads a second element that an odd n has not.",
                edits=[
                    (
                        "if (second < n)\n"
                        "        best = fmaxf(best, (x[second] - mean) * factor);",
                        "best = fmaxf(best, (x[second] - mean) * factor);",
                    )
                ],
                fails=(OutOfBoundsError, "reads x["),
            ),
            "odd_one_dropped": Mutant(
                mistake="Leaves out the last element of an odd n.",
                edits=[("if (first >= n)", "if (second >= n)")],
                fails=(CheckFailed, "never written"),
            ),
            "smaller": Mutant(
                mistake="Takes the smaller one.",
                edits=[("best = fmaxf", "best = fminf")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
