"""Chapter 19: your turn 19.g to 19.k, and guesses about convolution."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    Guess,
    Mutant,
    Slip,
    blank,
    blocks,
    shuffled,
)

LENGTH = 512  # of a row that is transformed
TRANSFORMS = 100  # roundings there and back, at the magnitude of the largest result


def signed(shape, generator):
    """Return distinct values from -1 to 1."""
    count = max(int(np.prod(shape)), 1)
    return np.float32(2 / count) * shuffled(shape, generator) - np.float32(1)


def two_rows_of(results):
    """Return inputs of a convolution in one dimension, of a size (n, m)."""

    def inputs(size, generator):
        n, m = size
        x, w = signed(n, generator), signed(m, generator)
        return {"x": x, "w": w, "y": blank(results(n, m)), "n": n, "m": m}

    return inputs


def covering(threads, results):
    """Launch a thread per result of a convolution in one dimension."""
    return lambda size: (blocks(results(*size), threads), threads)


def full(n, m):
    """Return the number of sums."""
    return n + m - 1


def terms(v):
    """Return the largest sum of m products."""
    return np.full(v.y.shape, float(v.w.size))


def picture(size, generator):
    """Return what 19.h takes."""
    H, W = size
    x, weights = signed(size, generator), signed((5, 5), generator)
    return {"x": x, "filter": weights, "y": blank(size), "H": H, "W": W}


def around(x, weights):
    """Return the middle of the full convolution of a picture."""
    (H, W), (tall, wide) = x.shape, weights.shape
    sums = np.zeros((H + tall - 1, W + wide - 1))
    for a, b in np.ndindex(weights.shape):
        sums[a : a + H, b : b + W] += weights[a, b] * x
    return sums[tall // 2 :][:H, wide // 2 :][:, :W]


def tiles(threads_down, tile_down):
    """Launch blocks of 32 columns for tiles of a picture."""
    return lambda size: (
        (blocks(size[1], 32), blocks(size[0], tile_down)),
        (32, threads_down),
    )


def columns(size, generator):
    """Return what 19.i takes, of a size (H, W, m)."""
    H, W, m = size
    x, w = signed((H, W), generator), signed(m, generator)
    return {"x": x, "w": w, "y": blank((H, W)), "H": H, "W": W, "m": m}


def as_complex(array):
    """Return pairs as complex numbers."""
    return array[..., 0] + 1j * array[..., 1]


def as_pairs(numbers):
    """Return complex numbers as pairs."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


def rows_of_512(rows, generator):
    """Return what 19.j takes."""
    x = signed((rows * LENGTH, 2), generator)
    W = signed((LENGTH, 2), generator)
    return {"x": x, "W": W, "y": np.zeros((rows * LENGTH, 2), np.float32), "rows": rows}


def circular(v, weights=lambda W: W, back=np.fft.ifft):
    """Return circular convolutions of rows, by a spectrum; or the result of a slip."""
    X = np.fft.fft(as_complex(v.x).reshape(-1, LENGTH))
    return as_pairs(back(X * weights(as_complex(v.W))).ravel())


def rows_for(n, m):
    """Return how many rows of 512 values have all sums of n values and m weights."""
    return blocks(full(n, m), LENGTH - (m - 1))


def sound(size, generator):
    """Return what 19.k takes, of a size (n, m)."""
    n, m = size
    total = rows_for(n, m) * LENGTH
    rows = np.zeros((total, 2), np.float32)
    return {"x": signed(n, generator), "rows": rows, "n": n, "m": m, "total": total}


def overlapped(v, overlap=None, zeros=None, imaginary=0):
    """Return the rows of a sound, with zeros around it; or those of a slip."""
    step = LENGTH - (v.m - 1 if overlap is None else overlap)
    count = v.total // LENGTH
    around_x = np.pad(v.x, (v.m - 1 if zeros is None else zeros, count * LENGTH))
    starts = step * np.arange(count)
    rows = around_x[starts[:, None] + np.arange(LENGTH)].ravel()
    return as_pairs(rows + 1j * imaginary * rows)


def large(v):
    """Return what a result may be as large as."""
    return np.full(v.y.shape, 9.0)


EXERCISES = (
    Exercise(
        id="19.g",
        name="convolve",
        title="A convolution, full",
        kernel="full",
        inputs=two_rows_of(full),
        outputs=("y",),
        reference=lambda v: np.convolve(v.x, v.w),
        sizes=((6, 3), (1, 1), (33, 9), (256, 5), (100, 31)),
        picture=(4, 2),
        launches=(covering(128, full), covering(64, full)),
        roundings=lambda size: size[1] + 1,
        magnitude=terms,
        hints=(
            "A loop over b from 0 to m. x[i - b] is a value where 0 <= i - b and "
            "i - b < n.",
        ),
        slips=(
            Slip(
                lambda v: np.convolve(v.x, v.w[::-1]),
                "The weights are not mirrored: this is the cross-correlation.",
                "Weight b meets x[i - b]. Which weight meets x[i]?",
            ),
            Slip(
                lambda v: np.pad(
                    np.correlate(v.x, v.w, "full")[v.m - 1 :], (0, v.m - 1)
                ),
                "Weight b meets x[i + b]: this is a cross-correlation.",
                "The larger b is, the further back the value lies: x[i - b].",
            ),
            Slip(
                lambda v: np.convolve(np.append(0, v.x[1:]), v.w),
                "x[0] takes no part.",
                "x has a value at index 0: which comparison lets it in?",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "the_other_way": Mutant(
                mistake="The weights run in the same direction as the values.",
                edits=[("w[b] * x", "w[m - 1 - b] * x")],
                fails=(CheckFailed, "not mirrored"),
            ),
            "no_end": Mutant(
                mistake="Nothing keeps the last sums from values behind the end.",
                edits=[("0 <= i - b && i - b < n", "0 <= i - b")],
                fails=(OutOfBoundsError, "but x has"),
            ),
            "no_start": Mutant(
                mistake="Nothing keeps the first sums from values before the start.",
                edits=[("0 <= i - b && i - b < n", "i - b < n")],
                fails=(OutOfBoundsError, "but x has"),
            ),
        },
    ),
    Exercise(
        id="19.h",
        name="tile",
        title="A filter over a tile",
        kernel="filter_tile",
        inputs=picture,
        outputs=("y",),
        reference=lambda v: around(v.x, v.filter),
        sizes=((8, 32), (1, 1), (9, 33), (20, 70)),
        picture=(3, 4),
        launches=(tiles(8, 8), tiles(12, 8)),
        roundings=26,
        magnitude=lambda v: np.full(v.y.shape, 25.0),
        owner=None,
        hints=(
            "The thread's own pixel is tile[threadIdx.y + 2][threadIdx.x + 2], and "
            "filter[2 * 5 + 2] belongs to it.",
            "One row further in the filter is one row back in the tile.",
        ),
        slips=(
            Slip(
                lambda v: around(v.x, v.filter[::-1, ::-1]),
                "Filter and tile run in the same direction: this is the cross-"
                "correlation.",
                "Weight (0, 0) meets the pixel below and to the right of the thread's "
                "own.",
            ),
            Slip(
                lambda v: around(v.x, v.filter[::-1]),
                "The columns of the filter are mirrored, and its rows are not.",
                "One row further in the filter is one row back in the tile.",
            ),
            Slip(
                lambda v: around(v.x, v.filter[:, ::-1]),
                "The rows of the filter are mirrored, and its columns are not.",
                "One column further in the filter is one column back in the tile.",
            ),
            Slip(
                lambda v: around(v.x, v.filter.T),
                "Rows and columns of the filter are exchanged.",
                "Row a of the filter begins at a * 5.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "correlation": Mutant(
                mistake="Filter and tile run in the same direction.",
                edits=[
                    ("threadIdx.y + 4 - a", "threadIdx.y + a"),
                    ("threadIdx.x + 4 - b", "threadIdx.x + b"),
                ],
                fails=(CheckFailed, "run in the same direction"),
            ),
            "rows_not_mirrored": Mutant(
                mistake="The rows of filter and tile run in the same direction.",
                edits=[("threadIdx.y + 4 - a", "threadIdx.y + a")],
                fails=(CheckFailed, "its rows are not"),
            ),
            "transposed": Mutant(
                mistake="Rows and columns of the filter are exchanged.",
                edits=[("filter[a * 5 + b]", "filter[b * 5 + a]")],
                fails=(CheckFailed, "are exchanged"),
            ),
        },
    ),
    Exercise(
        id="19.i",
        name="columns",
        title="Along the columns",
        kernel="along_columns",
        inputs=columns,
        outputs=("y",),
        reference=lambda v: around(v.x, v.w[:, None]),
        sizes=((8, 32, 5), (1, 1, 3), (19, 33, 7), (40, 31, 15)),
        picture=(4, 2, 3),
        launches=(tiles(8, 8), tiles(4, 4)),
        roundings=lambda size: size[2] + 1,
        magnitude=terms,
        owner=None,
        hints=(
            "The row is i + m / 2 - a. Where it is outside, the pixel counts as 0.",
        ),
        slips=(
            Slip(
                lambda v: around(v.x, v.w[::-1, None]),
                "The weights are not mirrored.",
                "Weight 0 meets the pixel m / 2 rows below the thread's own.",
            ),
            Slip(
                lambda v: around(v.x, v.w[None, :]),
                "The neighbours are those in the row.",
                "row says from which row the pixel comes; its column is j.",
            ),
            Slip(
                lambda v: around(np.ones_like(v.x), v.w[:, None]) * v.x,
                "Each weight meets the thread's own pixel.",
                "The pixel is in the row `row`, which changes with a.",
            ),
            Slip(
                lambda v: around(np.vstack([0 * v.x[:1], v.x[1:]]), v.w[:, None]),
                "Row 0 of the picture takes no part.",
                "Row 0 is a row of the picture: which comparison lets it in?",
            ),
            Slip(
                lambda v: around(
                    np.pad(v.x, ((v.m, v.m), (0, 0)), "edge"), v.w[:, None]
                )[v.m : -v.m],
                "Rows outside count as the first or the last row of the picture.",
                "In this exercise a pixel outside counts as 0.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "upside_down": Mutant(
                mistake="Weights run down where they should run up.",
                edits=[("i + m / 2 - a", "i - m / 2 + a")],
                fails=(CheckFailed, "not mirrored"),
            ),
            "along_rows": Mutant(
                mistake="The neighbours are those in the row.",
                edits=[
                    ("int row = i + m / 2 - a", "int col = j + m / 2 - a"),
                    ("0 <= row && row < H", "0 <= col && col < W"),
                    ("x[row * W + j]", "x[i * W + col]"),
                ],
                fails=(CheckFailed, "those in the row"),
            ),
            "no_guard": Mutant(
                mistake="Rows above and below the picture are read.",
                edits=[("        if (0 <= row && row < H)\n    ", "")],
                fails=(OutOfBoundsError, "but x has"),
            ),
        },
    ),
    Exercise(
        id="19.j",
        name="fused",
        title="There, times W, and back",
        kernel="convolve",
        inputs=rows_of_512,
        outputs=("y",),
        reference=circular,
        sizes=(1, 2, 3),
        picture=1,
        launches=(lambda rows: (rows, 32), lambda rows: (rows + 1, 32)),
        roundings=TRANSFORMS,
        magnitude=large,
        owner=None,
        hints=(
            "Before the second transform: v[i] = swapped(times(v[i], W[t + i * "
            "THREADS])) for all i.",
            "What is stored is swapped(scaled(v[i], 1.0f / LENGTH)).",
        ),
        slips=(
            Slip(
                lambda v: circular(v, back=np.fft.fft) / LENGTH,
                "The second transform is forward, too: the swaps are missing.",
                "Swap before the second transform, and again when you store.",
            ),
            Slip(
                lambda v: circular(v)[:, ::-1],
                "Real and imaginary parts are exchanged: the swap at the store is "
                "missing.",
                "What is stored is swapped once more.",
            ),
            Slip(
                circular,
                "Each result is 512 times too large.",
                "Two transforms multiply by n. Divide by it when you store.",
                scale=LENGTH,
            ),
            Slip(
                lambda v: circular(v, lambda W: 1),
                "The result is x: nothing has been multiplied by W.",
                "Multiply each v[i] by its value of W, with times.",
            ),
            Slip(
                lambda v: circular(v, lambda W: np.tile(W[:32], 16)),
                "All registers of a thread are multiplied by one value of W.",
                "v[i] is X[t + i * THREADS]. Which value of W belongs to it?",
            ),
            Slip(
                lambda v: np.zeros(v.y.shape),
                "Every result is 0: 1 / LENGTH is 0 in whole numbers.",
                "Divide a float: 1.0f / LENGTH.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "not_divided": Mutant(
                mistake="Nobody divides: the result is 512 times too large.",
                edits=[("scaled(v[i], 1.0f / LENGTH)", "v[i]")],
                fails=(CheckFailed, "512 times too large"),
            ),
            "forward_twice": Mutant(
                mistake="Without the swaps the second transform is forward, too.",
                edits=[
                    (
                        "swapped(times(v[i], W[t + i * THREADS]))",
                        "times(v[i], W[t + i * THREADS])",
                    ),
                    (
                        "swapped(scaled(v[i], 1.0f / LENGTH))",
                        "scaled(v[i], 1.0f / LENGTH)",
                    ),
                ],
                fails=(CheckFailed, "is forward, too"),
            ),
            "first_weights": Mutant(
                mistake="Each register is multiplied by the thread's first value of W.",
                edits=[("W[t + i * THREADS]", "W[t]")],
                fails=(CheckFailed, "one value of W"),
            ),
        },
    ),
    Exercise(
        id="19.k",
        name="overlap",
        title="Rows that overlap",
        kernel="overlapping",
        inputs=sound,
        outputs=("rows",),
        reference=overlapped,
        sizes=((1000, 101), (512, 1), (1, 3), (2000, 33)),
        picture=(500, 200),
        launches=(
            lambda size: (rows_for(*size) * 4, 128),
            lambda size: (blocks(rows_for(*size) * 512, 96), 96),
        ),
        owner=None,
        hints=(
            "Row 0 begins m - 1 values before x, with zeros. Each row begins "
            "512 - (m - 1) values after the row before.",
        ),
        slips=(
            Slip(
                lambda v: overlapped(v, overlap=0),
                "The rows do not overlap.",
                "How many values of a row does the row before have, too?",
            ),
            Slip(
                lambda v: overlapped(v, zeros=0),
                "Row 0 begins with x[0]. Its first m - 1 results are spoiled, and "
                "nobody else computes them.",
                "Row 0 begins with m - 1 zeros. Where in x does row 0 begin, then?",
            ),
            Slip(
                lambda v: overlapped(v, overlap=v.m, zeros=v.m),
                "Rows overlap by m values, one more than they have to.",
                "How many results at the start of a row are spoiled?",
            ),
            Slip(
                lambda v: overlapped(v, imaginary=1),
                "The imaginary parts have the values of x, too.",
                "x is real: its imaginary part is 0.",
            ),
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "no_overlap": Mutant(
                mistake="Rows follow each other without overlap.",
                edits=[("row * (512 - (m - 1))", "row * 512")],
                fails=(CheckFailed, "do not overlap"),
            ),
            "no_zeros_first": Mutant(
                mistake="The first row begins with x, so that its sums wrap around.",
                edits=[(" + t - (m - 1);", " + t;")],
                fails=(CheckFailed, "begins with x[0]"),
            ),
            "no_guard": Mutant(
                mistake="Values before and behind x are read.",
                edits=[("inside ? x[from] : 0", "x[from]")],
                fails=(OutOfBoundsError, "but x has"),
            ),
        },
    ),
)

GUESSES = {
    "valid": Guess(
        question="x has 100 values, and the filter 9 weights. How many sums need no "
        "value outside of x?",
        hint="The filter lies on 9 values at once. Where does it begin for the first "
        "time, and for the last time?",
        answer=92,
        because="100 - 9 places, and the one where it begins first.",
    ),
    "flat": Guess(
        question="An edge filter has 25 weights. The middle one is 24, all others are "
        "-1. What is the result where all pixels are equal?",
        hint="The pixel is a factor of the whole sum. What is left to add up?",
        answer=0,
        because="The weights add up to 0. Only changes are left, the edges.",
    ),
    "separable": Guess(
        question="A blur of 31 x 31 weights is a column times a row. How many "
        "multiply-adds per pixel do two passes take?",
        hint="A pass along the rows takes as many as a row of the filter has weights.",
        answer=62,
        because="31 along the rows, and as many along the columns.",
    ),
    "columns": Guess(
        question="im2col of a picture for one filter of 5 x 5 weights: how many times "
        "as large as the picture is the matrix?",
        hint="A pixel stands in the matrix once for each weight that meets it.",
        answer=25,
        because="One row per weight, and each row is the whole picture, moved.",
    ),
    "three_launches": Guess(
        question="One launch that did all of it would read x and write y. How many "
        "times as many bytes do the three launches move? The spectrum W is small.",
        hint="Each launch reads all values once, and writes them once.",
        answer=3,
        because="Three launches move six arrays: x, X twice, Y twice, and y. One "
        "launch moves two: x and y.",
    ),
}
