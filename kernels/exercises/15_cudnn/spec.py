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


def in_the_middle(v):
    """Return what comes if every weight takes the pixel at row and col."""
    x, w = np.asarray(v.x), np.asarray(v.w)
    return sum(w[r, s] * under(np.ones(x.shape), r, s) for r, s in TAPS) * x


def without(v, rows=0, cols=0):
    """Return the image under the filter, its first rows or columns left out."""
    x = np.array(v.x)
    x[:rows], x[:, :cols] = 0, 0
    return correlated(SimpleNamespace(x=x, w=v.w))


def until_the_border(v):
    """Return results whose inner loop ends at the first place of the border."""
    y = correlated(v)
    y[:, 0] = 0
    return y


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


def taken(v, row=(-1, 1), col=(-1, 1)):
    """Return sums over dy at a sign times the tap, plus an offset, on each axis."""
    dy, w = np.asarray(v.dy), np.asarray(v.w)
    wide, (rows, cols) = np.pad(dy, 4), dy.shape
    total = np.zeros(dy.shape)
    for r, s in TAPS:
        top, left = 4 + row[0] * r + row[1], 4 + col[0] * s + col[1]
        total += w[r, s] * wide[top : top + rows, left : left + cols]
    return total


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


def of_far_places(v):
    """Return gradients that take both x and dy at the pixel under the weight."""
    both = np.asarray(v.x) * np.asarray(v.dy)
    return np.array([under(both, r, s).sum() for r, s in TAPS]).reshape(3, 3)


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


def pixels_of_windows(n):
    """Return how many pixels each window has."""
    ones = np.pad(np.ones(n), 1)
    return (ones[:-2] + ones[1:-1] + ones[2:])[::2]


def divided(v, counts):
    """Return the sums of the windows, divided by other counts."""
    return averaged(v) * pixels_of_windows(v.n) / counts


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


def gates_of(v):
    """Return the gates i and f, the candidate g and the gate o."""
    i, f, g, o = np.asarray(v.gates)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    return i, f, np.tanh(g), o


def cell_by(rule):
    """Return the slip whose new cell is a rule of i, f, g and the old cell."""

    def result(v):
        i, f, g, _ = gates_of(v)
        return {"c": rule(i, f, g, np.asarray(v.c))}

    return result


def output_by(rule):
    """Return the slip whose output is a rule of o, the new cell and the old one."""

    def result(v):
        return {"h": rule(gates_of(v)[3], stepped(v)["c"], np.asarray(v.c))}

    return result


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


def of_group(v):
    """Return the group of each channel."""
    return np.arange(v.channels) // (v.channels // v.groups)


def in_group(v):
    """Return the place of each channel in its group."""
    return np.arange(v.channels) % (v.channels // v.groups)


def normalised(v, *, of=np.arange, centre=True, share=1):
    """Return each group with mean 0 and variance 1, then scaled and shifted.

    `of` gives the channel whose scale is taken; `share` multiplies the variance.
    """
    x = np.asarray(v.x)
    parts = x.reshape(x.shape[0], v.groups, -1)
    mean = parts.mean(axis=2, keepdims=True)
    off = parts - mean if centre else parts
    variance = (off * off).mean(axis=2, keepdims=True) * share
    inner = ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape)
    own = of(v.channels) if of is np.arange else of(v)
    return inner * np.asarray(v.scale)[own, None] + np.asarray(v.shift)[own, None]


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
            Slip(
                lambda v: correlated(SimpleNamespace(x=v.x, w=np.transpose(v.w))),
                "Rows and columns of the filter have changed places.",
                "The filter lies by rows in memory. Which of r and s counts rows?",
            ),
            Slip(
                in_the_middle,
                "Every weight takes the pixel at row and col.",
                "Which two variables hold the place of the pixel under w[r][s]?",
            ),
            *(
                Slip(
                    lambda v, rows=rows, cols=cols: without(v, rows, cols),
                    f"The pixels of {name} 0 are left out.",
                    "Which is the first row, and the first column, of the image?",
                )
                for rows, cols, name in ((1, 1, "row 0 and of column"),
                                         (1, 0, "row"), (0, 1, "column"))
            ),
            Slip(
                until_the_border,
                "The results of column 0 are 0, and all others are right.",
                "At col = 0 the first place of each row, s = 0, is outside. Does your "
                "loop over s go on behind it? break ends a loop, continue does not.",
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
            "On the way forward the result at row i has pixel i + r - 1 times w[r].",
            "Pixel row is i + r - 1 for which i?",
            "int at_row = row - r + 1, at_col = col - s + 1;",
        ),
        slips=(
            Slip(
                lambda v: correlated(SimpleNamespace(x=v.dy, w=v.w)),
                "This is the forward pass over dy: the offsets are those of 15.a.",
                "In 15.a row is that of a result. Here row is that of a pixel.",
            ),
            *(
                Slip(
                    lambda v, row=row, col=col: taken(v, row, col),
                    "One of at_row and at_col is right. The other one has the offset "
                    "of 15.a.",
                    "Both axes are alike: compare the two expressions.",
                )
                for row, col in (((-1, 1), (1, -1)), ((1, -1), (-1, 1)))
            ),
            *(
                Slip(
                    lambda v, k=k: taken(v, (-1, k), (-1, k)),
                    f"Each result is taken {where}.",
                    "The middle of the filter, r = s = 1, multiplied the pixel for "
                    "the result at the pixel's own place.",
                )
                for k, where in (
                    (0, "one row too far up and one column too far left"),
                    (2, "one row too far down and one column too far right"),
                    (-1, "two rows too far up and two columns too far left"),
                )
            ),
            Slip(
                lambda v: gathered(SimpleNamespace(dy=v.dy, w=np.transpose(v.w))),
                "r and s have changed places.",
                "r counts rows of the filter: which of at_row and at_col needs it?",
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
            *(
                Slip(
                    result,
                    "Each product takes x and dy at one and the same place.",
                    "Which pixel did w[r][s] multiply for the result at row and col?",
                )
                for result in (of_shared_places, of_far_places)
            ),
            Slip(
                lambda v: summed(SimpleNamespace(x=np.ones(v.x.shape), dy=v.dy)),
                "These are sums of the results' gradients alone, without the pixels.",
                "The chain rule multiplies each gradient. By which element of x?",
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
                lambda v: divided(v, 3 - (np.arange(0, v.n, 2) == 0)),
                "The first window leaves the border out, and the last one counts it.",
                "For which n does the last window reach beyond the image?",
            ),
            *(
                Slip(
                    lambda v, k=k: divided(v, pixels_of_windows(v.n) + k),
                    f"Each sum is divided by {k} more than the pixels of its window.",
                    "With which number does count begin?",
                )
                for k in (1, 3)
            ),
            Slip(
                lambda v: divided(v, 1),
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
        slips=(
            Slip(
                cell_by(lambda i, f, g, c: i * c + f * g),
                "The gates i and f have changed places.",
                "Which gate says what part of the old cell is kept?",
            ),
            Slip(
                cell_by(lambda i, f, g, c: c + i * g),
                "The cell keeps all that it held: the gate f has no effect.",
                "By what is the old value of c[k] multiplied?",
            ),
            Slip(
                cell_by(lambda i, f, g, c: c + f * c + i * g),
                "The old cell is added twice: once as it was, and a part f of it.",
                "What does += add to?",
            ),
            Slip(
                cell_by(lambda i, f, g, c: f * c + i * np.tanh(g)),
                "The candidate goes through tanh twice.",
                "Look at the line that declares g.",
            ),
            Slip(
                output_by(lambda o, new, old: o * new),
                "The output is a part o of the cell itself, without tanh.",
                "Of which function of the cell does h take a part?",
            ),
            Slip(
                output_by(lambda o, new, old: o * np.tanh(old)),
                "The output is made from the cell as it was before this step.",
                "Which of the two lines must come first?",
            ),
            Slip(
                output_by(lambda o, new, old: np.tanh(o * new)),
                "tanh is taken of the product with o, not of the cell.",
                "Which comes first: tanh of the cell, or the product with o?",
            ),
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
                lambda v: normalised(v, of=of_group),
                "The variance is right. The scale and shift are those of the channel "
                "with the group's number.",
                "A group has several channels. Which one has element i?",
            ),
            Slip(
                lambda v: normalised(v, of=in_group),
                "The variance is right. Every group takes the scales and shifts of "
                "the first group.",
                "With which channel does this group begin?",
            ),
            Slip(
                lambda v: normalised(v, of=lambda v: np.arange(v.channels)
                                     - in_group(v)),
                "The variance is right. All elements of a group take the scale and "
                "shift of its first channel.",
                "A channel has `pixels` elements. Which one has element i?",
            ),
            *(
                Slip(
                    lambda v, of=of: normalised(v, of=of, centre=False),
                    "The squares are those of the elements, about 0.",
                    "A variance is taken about the mean, which the block has by then.",
                )
                for of in (of_group, np.arange)
            ),
            Slip(
                lambda v: normalised(v, share=0),
                "The channels are right. The variance is taken to be 0.",
                "What has been added to squares when block_sum takes it?",
            ),
            Slip(
                lambda v: normalised(v, share=v.groups / v.channels / v.pixels),
                "The variance is divided by n twice.",
                "The line with rsqrtf divides the sum. What has squares to hold?",
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
