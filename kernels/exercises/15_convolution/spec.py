"""Chapter 15: your turn 15.k to 15.o."""

from types import SimpleNamespace

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, Slip, blocks, shuffled

TAPS = [(r, s) for r in range(3) for s in range(3)]
SIZES = ((1, 1, 1), (3, 4, 2), (5, 7, 3), (16, 17, 4))


def per_element(count):
    """Return launches of a thread per element, in blocks of 128 and of 64."""
    return tuple(
        lambda size, block=block: (blocks(count(size), block), block)
        for block in (128, 64)
    )


def of_pixels(size):
    """Return the number of pixels."""
    return size[0] * size[1]


def of_channels(size):
    """Return the number of values of an image."""
    return size[0] * size[1] * size[2]


def of_matrix(size):
    """Return the number of values of the matrix of im2col."""
    return 9 * of_channels(size)


def blank(*shape):
    """Return room for floats."""
    return np.zeros(shape, np.float32)


def shifted(image):
    """Return the image under each tap of the filter, with zeros outside."""
    H, W = image.shape[:2]
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    return [padded[r : r + H, s : s + W] for r, s in TAPS]


def one_filter(size, generator):
    """Return what 15.k takes, of a size (H, W, C)."""
    H, W, C = size
    return {
        "x": shuffled((H, W, C), generator),
        "w": shuffled((3, 3, C), generator),
        "y": blank(H, W),
        "H": H, "W": W, "C": C,
    }  # fmt: skip


def convolved(v):
    """Return the image times the filter."""
    taps = v.w.reshape(9, -1)
    return sum(under @ tap for under, tap in zip(shifted(v.x), taps, strict=True))


def turned(v):
    """Return the image times the filter, turned by 180 degrees."""
    taps = v.w.reshape(9, -1)[::-1]
    return sum(under @ tap for under, tap in zip(shifted(v.x), taps, strict=True))


def middle_alone(v):
    """Return what comes if each tap takes the pixel in the middle."""
    return v.x @ v.w.reshape(9, -1).sum(axis=0)


def middle_inside(v):
    """Return the same, where only taps inside of the image count."""
    counts = np.stack(shifted(np.ones((*v.x.shape[:2], 1))), axis=2)[..., 0]
    return (v.x * (counts @ v.w.reshape(9, -1))).sum(axis=2)


def by_weights(v, order):
    """Return the image times the filter, its memory taken in another order."""
    w = order(np.asarray(v.w))
    return convolved(SimpleNamespace(x=v.x, w=np.ascontiguousarray(w)))


def planes_of(image):
    """Return an image whose memory is taken for a plane per channel."""
    H, W, C = image.shape
    return np.asarray(image).reshape(C, H, W).transpose(1, 2, 0)


def until_the_border(v):
    """Return results whose inner loop ends at the first tap outside."""
    y = convolved(v)
    y[:, 0] = 0
    return y


def without_first(image):
    """Return an image with zeros in row 0 and in column 0."""
    rest = np.array(image)
    rest[0], rest[:, 0] = 0, 0
    return rest


def an_image(size, generator):
    """Return what 15.l takes, of a size (H, W, C)."""
    H, W, C = size
    x = shuffled((H, W, C), generator)
    return {"x": x, "columns": blank(H * W, 9 * C), "H": H, "W": W, "C": C}


def matrix(v):
    """Return a row per pixel, with all taps side by side."""
    rows = np.concatenate(shifted(v.x), axis=2)
    return rows.reshape(v.columns.shape)


def taps_fastest(v):
    """Return the rows with the tap changing fastest, not the channel."""
    return np.stack(shifted(v.x), axis=3).reshape(v.columns.shape)


def in_order(v, order):
    """Return rows whose taps take the shifts of others."""
    taps = shifted(v.x)
    rows = np.concatenate([taps[place] for place in order], axis=2)
    return rows.reshape(v.columns.shape)


def taps_slowest(v):
    """Return all pixels under tap 0, then all under tap 1."""
    return np.stack(shifted(v.x)).reshape(v.columns.shape)


def uncentred(v):
    """Return rows whose filter begins at the pixel, not one up and to the left."""
    H, W = v.x.shape[:2]
    wide = np.pad(v.x, ((0, 2), (0, 2), (0, 0)))
    rows = np.concatenate([wide[r : r + H, s : s + W] for r, s in TAPS], axis=2)
    return rows.reshape(v.columns.shape)


def middle_nine_times(v):
    """Return rows whose taps all have the pixel itself, where they are inside."""
    inside = np.stack(shifted(np.ones(v.x.shape)), axis=2)
    return (inside * v.x[:, :, None]).reshape(v.columns.shape)


def bits_alone(size, generator):
    """Return what 15.m takes, of a size (H, W)."""
    H, W = size
    return {"bits": np.zeros((H, W), np.uint32), "H": H, "W": W}


def inside(v):
    """Return nine bits per pixel."""
    taps = shifted(np.ones((*v.bits.shape, 1), np.int64))
    return sum(under[..., 0] << place for place, under in enumerate(taps))


def by_masks(left, right):
    """Return the slip that clears these bits at the left and the right edge."""

    def result(v):
        H, W = v.bits.shape
        found = np.full((H, W), 0o777)
        found[0] &= ~0o007
        found[H - 1] &= ~0o700
        found[:, 0] &= ~left
        found[:, W - 1] &= ~right
        return found

    return result


def by_else(v):
    """Return the bits if a pixel on the left edge is not tested for the right one."""
    right = 0o444 if v.bits.shape[1] > 1 else 0
    return by_masks(0o111, right)(v)


def whole_numbers(size, generator):
    """Return what 15.n takes, of a size (H, W, C)."""
    H, W, C = size
    x = shuffled((H, W, C), generator, np.int32)
    y = np.zeros((C // 4, H, W, 4), np.int32)
    return {"x": x, "y": y, "H": H, "W": W, "C": C}


def by_vectors(v):
    """Return vectors of four channels, plane by plane."""
    H, W, C = v.x.shape
    return v.x.reshape(H, W, C // 4, 4).transpose(2, 0, 1, 3)


def gathered(v):
    """Return what comes if x is read at the place where y is to be written."""
    H, W, C = v.x.shape
    pixel, c = np.divmod(np.arange(H * W * C), C)
    places = (c // 4 * H * W + pixel) * 4 + c % 4
    return v.x.ravel()[places].reshape(v.y.shape)


def a_row(n, generator):
    """Return what 15.o takes: n + 2 pixels, and four numbers for a filter."""
    x = shuffled(n + 2, generator)
    return {"x": x, "u": shuffled(4, generator), "y": blank(n), "n": n}


def filtered(v, second=-1, third=-1, first=1):
    """Return pairs of results, by the four products that F(2, 3) adds up."""
    d = [v.x[i : i + len(v.y) : 2] for i in range(4)]
    m0, m1 = (d[0] - d[2]) * v.u[0], (d[1] + d[2]) * v.u[1]
    m2, m3 = (d[2] - d[1]) * v.u[2], (d[1] - d[3]) * v.u[3]
    both = [m0 + m1 + first * m2, m1 + second * m2 + third * m3]
    return np.stack(both, axis=1).ravel()


def as_filter(v):
    """Return results by three products each, with u taken for the filter."""
    return sum(v.x[i : i + len(v.y)] * v.u[i] for i in range(3))


EXERCISES = (
    Exercise(
        id="15.k",
        name="direct",
        title="Nine products and a border",
        kernel="convolve",
        inputs=one_filter,
        outputs=("y",),
        reference=convolved,
        sizes=SIZES,
        picture=(3, 4, 2),
        launches=per_element(of_pixels),
        roundings=lambda size: 18 * size[2] + 2,
        hints=(
            "Test h against 0 and H, and v against 0 and W, before you load.",
            "x has C values per pixel: x[(h * W + v) * C + c].",
        ),
        slips=(
            *(
                Slip(
                    result,
                    "Every tap takes the pixel in the middle, at row and col.",
                    "Which two variables hold the place of the pixel under tap (r, s)?",
                )
                for result in (middle_alone, middle_inside)
            ),
            Slip(
                lambda v: convolved(SimpleNamespace(x=without_first(v.x), w=v.w)),
                "The pixels of row 0 and of column 0 are left out.",
                "Which is the first row, and the first column, of the image?",
            ),
            Slip(
                turned,
                "The filter is turned by 180 degrees.",
                "Tap (0, 0) takes the pixel above and to the left.",
            ),
            Slip(
                lambda v: by_weights(v, lambda w: w.transpose(1, 0, 2)),
                "Rows and columns of the filter have changed places.",
                "w lies as [r][s][c]. Which of r and s counts rows of the filter?",
            ),
            Slip(
                lambda v: by_weights(
                    v, lambda w: np.moveaxis(w.reshape(-1, 3, 3), 0, 2)
                ),
                "w is read as if its channels came first, as [c][r][s].",
                "w lies as [r][s][c]. How far apart are two channels of one tap?",
            ),
            Slip(
                lambda v: by_weights(
                    v,
                    lambda w: np.repeat(
                        w.reshape(-1)[:9].reshape(3, 3, 1), w.shape[2], axis=2
                    ),
                ),
                "All channels of a pixel are multiplied by the same weight.",
                "w has C weights per tap, as x has C values per pixel.",
            ),
            Slip(
                lambda v: convolved(SimpleNamespace(x=planes_of(v.x), w=v.w)),
                "x is read as if its channels came first, as [c][row][col].",
                "x lies as [row][col][c]. How far apart are two channels of a pixel?",
            ),
            Slip(
                lambda v: convolved(SimpleNamespace(x=v.x[..., :1], w=v.w[..., :1])),
                "Channel 0 of each pixel is summed, and no other one.",
                "A pixel has C values: the sum needs a loop over them.",
            ),
            Slip(
                until_the_border,
                "The results of column 0 are 0, and all others are right.",
                "At col = 0 the first tap of each row, s = 0, is outside. Does your "
                "loop over s go on behind it? break ends a loop, continue does not.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_sides": Mutant(
                mistake="A pixel off the left or right edge is one of another row.",
                edits=[(" || v < 0 || v >= W", "")],
                fails=(OutOfBoundsError, "reads x["),
            ),
            "turned": Mutant(
                mistake="The filter is turned by 180 degrees.",
                edits=[
                    ("row + r - 1, v = col + s - 1", "row + 1 - r, v = col + 1 - s")
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="15.l",
        name="im2col",
        title="A row per pixel",
        kernel="im2col",
        inputs=an_image,
        outputs=("columns",),
        reference=matrix,
        sizes=SIZES,
        picture=(2, 2, 2),
        launches=per_element(of_matrix),
        hints=(
            "The channel changes fastest: c = i % C. Then the tap, i / C % 9, and then "
            "the pixel, i / C / 9.",
            "The tap r * 3 + s is a shift by tap / 3 - 1 rows and tap % 3 - 1 columns.",
        ),
        slips=(
            Slip(
                taps_fastest,
                "A row has the right values in another order: the tap changes fastest.",
                "The channel should. How many elements of columns does one tap have?",
            ),
            Slip(
                taps_slowest,
                "The tap changes slowest: all pixels under tap 0 come first.",
                "A row of the matrix has the nine taps of one pixel. What must change "
                "slowest?",
            ),
            Slip(
                lambda v: in_order(v, [3 * s + r for r, s in TAPS]),
                "Rows and columns of the filter have changed places.",
                "Tap 1 is r = 0, s = 1. Which pixel does it take?",
            ),
            Slip(
                lambda v: in_order(v, range(8, -1, -1)),
                "The shifts go the other way.",
                "Tap 0 takes the pixel above and to the left.",
            ),
            Slip(
                lambda v: matrix(
                    SimpleNamespace(x=without_first(v.x), columns=v.columns)
                ),
                "The pixels of row 0 and of column 0 are left out.",
                "Which is the first row, and the first column, of the image?",
            ),
            Slip(
                uncentred,
                "Tap 0 takes the pixel itself, and tap 4 the one below and to the "
                "right.",
                "The filter's middle, tap 4, lies over the pixel itself.",
            ),
            Slip(
                middle_nine_times,
                "Each tap inside of the image has the pixel itself.",
                "Which two variables hold the place of the pixel under the tap?",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "taps_fastest": Mutant(
                mistake="The tap changes fastest, not the channel.",
                edits=[("c = i % C, tap = i / C % 9", "c = i / 9 % C, tap = i % 9")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_sides": Mutant(
                mistake="A pixel off the left or right edge is one of another row.",
                edits=[(" && col >= 0 && col < W", "")],
                fails=(OutOfBoundsError, "reads x["),
            ),
        },
    ),
    Exercise(
        id="15.m",
        name="inside",
        title="Nine bits per pixel",
        kernel="inside",
        inputs=bits_alone,
        outputs=("bits",),
        reference=inside,
        sizes=((1, 1), (1, 5), (4, 1), (6, 7), (16, 17)),
        picture=(2, 3),
        launches=per_element(of_pixels),
        in_hex=("bits",),
        hints=(
            "On the left edge the taps with s = 0 are outside: bits 0, 3 and 6, "
            "which are 0111 in octal. The last column is 0444.",
        ),
        slips=(
            Slip(
                by_else,
                "In an image of one column the bits of the right edge stay.",
                "Such a pixel is at both edges. Does an else skip the second test?",
            ),
            Slip(
                by_masks(0o444, 0o111),
                "The masks of the left and the right edge have changed places.",
                "On the left edge, which column of the filter is outside?",
            ),
            Slip(
                by_masks(0x111, 0x444),
                "These bits are left by the hexadecimal masks 0x111 and 0x444.",
                "A digit in hexadecimal has four bits, and a row of the filter three.",
            ),
            Slip(
                by_masks(0o001, 0o004),
                "At the left and right edge one bit of three is cleared.",
                "A column of the filter has three places, one in each octal digit.",
            ),
            Slip(
                by_masks(~0o111, ~0o444),
                "At the left and right edge the bits outside are kept, and the others "
                "are cleared.",
                "Compare with the lines above. What does ~ do?",
            ),
            Slip(
                by_masks(111, 444),
                "These bits are left by the decimal masks 111 and 444.",
                "In C++ a number is octal if it begins with 0.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "rows_for_columns": Mutant(
                mistake="The left edge clears a row of the filter, not a column.",
                edits=[("found &= ~0111", "found &= ~0070")],
                fails=(CheckFailed, "wrong"),
            ),
            "only_one_edge": Mutant(
                mistake="The right edge is forgotten.",
                edits=[("        found &= ~0444;", "        found &= ~0000;")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="15.n",
        name="vectors",
        title="Four channels side by side",
        kernel="vectors",
        inputs=whole_numbers,
        outputs=("y",),
        reference=by_vectors,
        sizes=((1, 1, 4), (2, 3, 8), (5, 7, 12), (16, 17, 16)),
        picture=(1, 2, 8),
        launches=per_element(of_channels),
        owner=None,
        hints=(
            "y is an array [C / 4][H][W][4]. The first index is c / 4, the last c % 4, "
            "and pixel is the two in the middle.",
        ),
        slips=(
            Slip(
                lambda v: v.x.transpose(2, 0, 1).reshape(v.y.shape),
                "Each channel has a plane of its own: this is NCHW.",
                "Which four channels lie side by side in y?",
            ),
            Slip(
                lambda v: v.x.reshape(v.y.shape),
                "y has the order of x: this is still NHWC.",
                "In y, which value comes after the first four channels of a pixel?",
            ),
            Slip(
                gathered,
                "x is read at the place where y is to be written.",
                "x[i] is the value of channel c of this pixel. On which side of the "
                "assignment does the new place stand?",
            ),
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "nchw": Mutant(
                mistake="Each channel has a plane of its own: that is NCHW.",
                edits=[("(c / 4 * H * W + pixel) * 4 + c % 4", "c * H * W + pixel")],
                fails=(CheckFailed, "wrong"),
            ),
            "first_of_four": Mutant(
                mistake="The places of the four channels are the number of the vector.",
                edits=[("+ c % 4", "+ c / 4 % 4")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="15.o",
        name="winograd",
        title="Four multiplications for two results",
        kernel="winograd",
        inputs=a_row,
        outputs=("y",),
        reference=filtered,
        sizes=(2, 4, 32, 66, 256),
        picture=4,
        launches=(
            lambda n: (blocks(n // 2, 64), 64),
            lambda n: (blocks(n // 2, 32), 32),
        ),
        owner=None,
        magnitude=lambda v: np.full(v.y.shape, 8 * abs(v.x).max() * abs(v.u).max()),
        roundings=12,
        hints=(
            "m1 + m2 has d1 * g1 and d2 * (g0 + g2); m1 - m2 has d1 * (g0 + g2) and "
            "d2 * g1. Which of them does y1 need? Which sign of m3 then takes d1 * g2 "
            "away, and brings d3 * g2?",
        ),
        slips=(
            *(
                Slip(
                    lambda v, second=second, third=third: filtered(v, second, third),
                    "Each second result takes m2 or m3 with the wrong sign.",
                    "Put the sums for m1, m2 and m3 in. What do d1 and d3 stand with?",
                )
                for second, third in ((1, 1), (1, -1), (-1, 1))
            ),
            *(
                Slip(
                    lambda v, second=second, third=third: filtered(
                        v, second, third, first=-1
                    ),
                    "Each first result takes m2 with the wrong sign.",
                    "Which of d1 and d2 is taken away in m2?",
                )
                for second, third in ((1, -1), (-1, -1))
            ),
            Slip(
                as_filter,
                "u is taken for the filter: each result is a sum of three products.",
                "u has four numbers that were computed from the filter. Each of them "
                "multiplies a sum or difference of pixels.",
            ),
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "difference_swapped": Mutant(
                mistake="The difference in m2 has the wrong sign.",
                edits=[("(d2 - d1)", "(d1 - d2)")],
                fails=(CheckFailed, "wrong"),
            ),
            "sum_for_difference": Mutant(
                mistake="The last product is added to the second result.",
                edits=[("m1 - m2 - m3", "m1 - m2 + m3")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
