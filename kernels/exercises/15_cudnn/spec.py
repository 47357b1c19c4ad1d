"""Pieces of chapter 15 in CUDA C++: convolution both ways, pooling, a cell, a norm."""

from types import SimpleNamespace

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, Slip, blank, blocks, ramp, shuffled

WRONG = (CheckFailed, "wrong")
TAPS = [(r, s) for r in range(3) for s in range(3)]


def tiles_of(across, down):
    """Launch a thread per pixel."""
    return lambda size: (
        (blocks(size[1], across), blocks(size[0], down)),
        (across, down),
    )


def centred(shape, generator):
    """Return numbers from -2 to 2 about 0; those of small shapes are quarters."""
    count = int(np.prod(shape))
    middle = np.float32((count + 1) / 2 if count > 1 else 0)
    scale = np.float32(2.0 ** min(0, 2 - count.bit_length()))
    return scale * (4 * shuffled(shape, generator) - middle)


def under(image, r, s):
    """Return the pixels under a place of the filter, with zeros beyond the border."""
    rows, cols = image.shape
    return np.pad(image, 1)[r : r + rows, s : s + cols]


def filtered(size, generator):
    """Return what 15.a takes."""
    return {
        "x": centred(size, generator), "w": shuffled((3, 3), generator),
        "y": blank(size), "rows": size[0], "cols": size[1],
    }  # fmt: skip


def correlated(v):
    """Return the image under the filter."""
    x, w = np.asarray(v.x), np.asarray(v.w)
    return sum(w[r, s] * under(x, r, s) for r, s in TAPS)


def of_results(size, generator):
    """Return what 15.e takes."""
    return {
        "dy": centred(size, generator), "w": shuffled((3, 3), generator),
        "dx": blank(size), "rows": size[0], "cols": size[1],
    }  # fmt: skip


def gathered(v):
    """Return the gradient of each pixel."""
    dy, w = np.asarray(v.dy), np.asarray(v.w)
    return sum(w[r, s] * under(dy, 2 - r, 2 - s) for r, s in TAPS)


def of_both(size, generator):
    """Return what 15.f takes."""
    return {
        "x": centred(size, generator), "dy": centred(size, generator),
        "dw": blank((3, 3)), "rows": size[0], "cols": size[1],
    }  # fmt: skip


def summed(v):
    """Return the gradient of each weight."""
    x, dy = np.asarray(v.x), np.asarray(v.dy)
    return np.array([(under(x, r, s) * dy).sum() for r, s in TAPS]).reshape(3, 3)


def of_shared_places(v):
    """Return gradients that take x and dy at one place, for neighbours in the image."""
    x, dy = np.asarray(v.x), np.asarray(v.dy)
    ones = np.ones(x.shape)
    return np.array([(under(ones, r, s) * x * dy).sum() for r, s in TAPS]).reshape(3, 3)


def sizes_of_sums(v):
    """Return the magnitude of each sum."""
    x, dy = np.abs(v.x), np.abs(v.dy)
    return np.array([(under(x, r, s) * dy).sum() for r, s in TAPS]).reshape(3, 3)


def pooled(n, generator):
    """Return what 15.g takes."""
    return {"x": shuffled(n, generator), "y": blank(-(-n // 2)), "n": n}


def averaged(v):
    """Return means of the pixels that a window has."""
    x = np.pad(np.asarray(v.x), 1)
    ones = np.pad(np.ones(v.n), 1)
    sums, counts = (a[:-2] + a[1:-1] + a[2:] for a in (x, ones))
    return (sums / counts)[::2]


def gated(n, generator):
    """Return what 15.h takes."""
    return {
        "gates": 2 * centred((4, n), generator), "c": centred(n, generator),
        "h": blank(n), "n": n,
    }  # fmt: skip


def stepped(v):
    """Return the cell and the output after a step."""
    i, f, g, o = np.asarray(v.gates)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = f * np.asarray(v.c) + i * np.tanh(g)
    return {"c": c, "h": o * np.tanh(c)}


def grouped(size, generator):
    """Return what 15.1 takes, of a size (images, groups, members, pixels)."""
    images, groups, members, pixels = size
    channels = groups * members
    return {
        "x": centred((images, channels, pixels), generator) + np.float32(3),
        "scale": shuffled(channels, generator) + np.float32(1),
        "shift": ramp(channels), "y": blank((images, channels, pixels)),
        "channels": channels, "groups": groups, "pixels": pixels,
    }  # fmt: skip


def normalised(v, *, per_group=False, centre=True):
    """Return each group with mean 0 and variance 1, then scaled and shifted."""
    x = np.asarray(v.x)
    parts = x.reshape(x.shape[0], v.groups, -1)
    mean = parts.mean(axis=2, keepdims=True)
    off = parts - mean if centre else parts
    unit = 1 / np.sqrt((off * off).mean(axis=2, keepdims=True) + 1e-5)
    inner = ((parts - mean) * unit).reshape(x.shape)
    of = np.arange(v.channels)
    if per_group:
        of = of // (v.channels // v.groups)
    return inner * np.asarray(v.scale)[of, None] + np.asarray(v.shift)[of, None]


IMAGES = ((1, 1), (3, 5), (16, 33), (33, 17))
BOTH_SHAPES = (tiles_of(16, 16), tiles_of(32, 4))

EXERCISES = (
    Exercise(
        id="15.a",
        name="correlate",
        title="A filter over an image",
        kernel="correlate",
        inputs=filtered,
        outputs=("y",),
        sizes=IMAGES,
        picture=(3, 3),
        launches=BOTH_SHAPES,
        roundings=20,
        magnitude=lambda v: 12 * np.ones(np.shape(v.y)),
        reference=correlated,
        owner=None,
        starter=WRONG,
        hints=(
            "Outside of the image there is no pixel: compare at_row and at_col with 0, "
            "rows and cols.",
            "The filter lies by rows: w[r * 3 + s]. So does the image.",
            "if (at_row >= 0 && at_row < rows && at_col >= 0 && at_col < cols) "
            "sum += w[r * 3 + s] * x[at_row * cols + at_col];",
        ),
        slips=(
            Slip(
                lambda v: correlated(SimpleNamespace(x=v.x, w=np.flip(v.w))),
                "The filter is rotated by 180 degrees.",
                "Which weight lies over the pixel above and to the left?",
            ),
        ),
        mutants={
            "flipped": Mutant(
                mistake="The filter is rotated by 180 degrees.",
                edits=[("w[r * 3 + s]", "w[8 - r * 3 - s]")],
                fails=WRONG,
            ),
            "no_first_row": Mutant(
                mistake="The row above the image is not excluded.",
                edits=[("at_row >= 0 && ", "")],
                fails=(OutOfBoundsError, "reads x["),
            ),
            "columns_wrap": Mutant(
                mistake="The columns beside the image are not excluded.",
                edits=[("at_col >= 0 && at_col < cols", "at_row * cols + at_col >= 0"),
                       ("            if (inside)", "            if (inside && "
                        "at_row * cols + at_col < rows * cols)")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="15.e",
        name="by_data",
        title="The gradient of the image",
        kernel="by_data",
        inputs=of_results,
        outputs=("dx",),
        sizes=IMAGES,
        picture=(3, 3),
        launches=BOTH_SHAPES,
        roundings=20,
        magnitude=lambda v: 12 * np.ones(np.shape(v.dx)),
        reference=gathered,
        owner=None,
        starter=WRONG,
        hints=(
            "On the way forward the result at row i took pixel i + r - 1 by w[r].",
            "Pixel row is i + r - 1 for which i?",
            "int at_row = row - r + 1, at_col = col - s + 1;",
        ),
        slips=(
            Slip(
                lambda v: correlated(SimpleNamespace(x=v.dy, w=v.w)),
                "This is the forward pass over dy: the offsets are those of 15.a.",
                "In 15.a result row took pixel row + r - 1. Here row is the pixel's.",
            ),
        ),
        mutants={
            "as_forward": Mutant(
                mistake="The offsets of the way forward are taken again.",
                edits=[("row - r + 1", "row + r - 1"), ("col - s + 1", "col + s - 1")],
                fails=WRONG,
            ),
            "rows_alone": Mutant(
                mistake="The columns go forward, and the rows back.",
                edits=[("col - s + 1", "col + s - 1")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="15.f",
        name="by_weights",
        title="The gradient of the weights",
        kernel="by_weights",
        inputs=of_both,
        outputs=("dw",),
        sizes=((1, 1), (3, 5), (7, 4), (16, 9)),
        picture=(2, 3),
        launches=(lambda size: (1, 32), lambda size: (1, 64)),
        roundings=160,
        magnitude=sizes_of_sums,
        reference=summed,
        owner=None,
        starter=WRONG,
        hints=(
            "The result at row, col had w[r][s] times a pixel as one of its terms.",
            "Its gradient is dy[row * cols + col]. The pixel is at at_row, at_col.",
            "sum += dy[row * cols + col] * x[at_row * cols + at_col];",
        ),
        slips=(
            Slip(
                lambda v: summed(SimpleNamespace(x=v.dy, dy=v.x)),
                "x and dy have changed places: these are the gradients in reverse.",
                "The loops go over results, at row and col. Which array has results?",
            ),
            Slip(
                of_shared_places,
                "Each product takes x and dy at one and the same place.",
                "Which pixel did w[r][s] multiply for the result at row and col?",
            ),
            Slip(
                lambda v: summed(SimpleNamespace(x=v.x, dy=np.ones(v.dy.shape))),
                "These are sums of pixels alone, without the gradients of the results.",
                "The chain rule multiplies each pixel. By which element of dy?",
            ),
        ),
        mutants={
            "swapped": Mutant(
                mistake="The images change places.",
                edits=[
                    ("dy[row * cols + col] * x[at_row * cols + at_col]",
                     "x[row * cols + col] * dy[at_row * cols + at_col]"),
                ],
                fails=WRONG,
            ),
            "same_pixel": Mutant(
                mistake="Both images are read at the same place.",
                edits=[("x[at_row * cols + at_col]", "x[row * cols + col]")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="15.g",
        name="average",
        title="Average pooling without its border",
        kernel="average",
        inputs=pooled,
        outputs=("y",),
        sizes=(1, 2, 31, 64, 255, 1025),
        picture=4,
        roundings=6,
        reference=averaged,
        owner=None,
        starter=WRONG,
        hints=(
            "The first window has two pixels, and one place of the border.",
            "Begin with count = 0, and count each pixel that is added.",
        ),
        slips=(
            Slip(
                lambda v: averaged(v) * (3 - (np.arange(0, v.n, 2) == 0) - (
                    np.arange(0, v.n, 2) == v.n - 1)),
                "Each result is the sum of its window, divided by one.",
                "Count inside of the loop, where a pixel is added. Two statements "
                "under one if need braces.",
            ),
        ),
        mutants={
            "as_included": Mutant(
                mistake="The count stays at three.",
                edits=[("count = 0", "count = 3"), ("count++;", "")],
                fails=WRONG,
            ),
            "one_more": Mutant(
                mistake="The count begins at one.",
                edits=[("count = 0", "count = 1")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="15.h",
        name="cell",
        title="The cell of an LSTM",
        kernel="cell",
        inputs=gated,
        outputs=("c", "h"),
        accumulates=("c",),
        sizes=(0, 1, 33, 255, 1025),
        picture=3,
        roundings=16,
        magnitude=lambda v: 2 + np.abs(np.asarray(v.c)),
        reference=stepped,
        owner=None,
        starter=(CheckFailed, "c"),
        hints=(
            "c[k] becomes f times what it was, plus i times g.",
            "h[k] needs the new c[k].",
            "c[k] = f * c[k] + i * g; h[k] = o * tanhf(c[k]);",
        ),
        mutants={
            "forgets": Mutant(
                mistake="What the cell held is thrown away.",
                edits=[("f * c[k] + i * g", "f + i * g")],
                fails=WRONG,
            ),
            "old_cell": Mutant(
                mistake="The output shows the cell as it was.",
                edits=[
                    ("    c[k] = f * c[k] + i * g;\n    h[k] = o * tanhf(c[k]);",
                     "    h[k] = o * tanhf(c[k]);\n    c[k] = f * c[k] + i * g;"),
                ],
                fails=WRONG,
            ),
            "no_tanh": Mutant(
                mistake="The output is the cell itself, without tanh.",
                edits=[("o * tanhf(c[k])", "o * c[k]")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="15.1",
        name="groupnorm",
        title="Group normalisation",
        stars=2,
        kernel="groupnorm",
        inputs=grouped,
        outputs=("y",),
        sizes=((1, 1, 1, 1), (2, 3, 2, 5), (3, 2, 4, 33), (1, 4, 3, 64)),
        picture=(1, 2, 2, 3),
        launches=(
            lambda size: (size[0] * size[1], 32),
            lambda size: (size[0] * size[1], 128),
        ),
        roundings=300,
        magnitude=lambda v: 20 * np.ones(np.shape(v.y)),
        reference=normalised,
        owner=None,
        starter=WRONG,
        hints=(
            "Go through the group once more, as in the loop above. block_sum adds "
            "what the threads have.",
            "squares += (x[first + i] - mean) * (x[first + i] - mean);",
            "Element i of the group belongs to channel group * members + i / pixels.",
        ),
        slips=(
            Slip(
                lambda v: normalised(v, per_group=True),
                "The variance is right. The scale and shift are those of the channel "
                "with the group's number.",
                "A group has several channels. Which one has element i?",
            ),
            *(
                Slip(
                    lambda v, per_group=per_group: normalised(
                        v, per_group=per_group, centre=False
                    ),
                    "The squares are those of the elements, about 0.",
                    "A variance is taken about the mean, which the block has by then.",
                )
                for per_group in (True, False)
            ),
        ),
        mutants={
            "about_zero": Mutant(
                mistake="The squares are taken about 0, not about the mean.",
                edits=[("(x[first + i] - mean) * (x[first + i] - mean)",
                        "x[first + i] * x[first + i]")],
                fails=WRONG,
            ),
            "group_for_channel": Mutant(
                mistake="A scale per group is read, not one per channel.",
                edits=[("group * members + i / pixels", "group")],
                fails=WRONG,
            ),
            "first_group": Mutant(
                mistake="The channel is counted from the first one of the group.",
                edits=[("group * members + i / pixels", "i / pixels")],
                fails=WRONG,
            ),
            "own_part": Mutant(
                mistake="Each thread takes the squares of its own elements alone.",
                edits=[("block_sum(squares, of_warp[1])", "squares")],
                fails=WRONG,
            ),
        },
    ),
)  # fmt: skip
