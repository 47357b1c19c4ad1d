"""Pieces of chapter 14: arguments, an epilogue, and any convolution."""

import itertools
from math import erf
from numbers import Integral

import numpy as np

import coursekit as ck
from coursekit.errors import ArgumentError, CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Mutant,
    blank,
    blocks,
    covering,
)

STAGES = 24_576  # bytes of shared memory of the kernel of CUTLASS


# ---------------------------------------------------------------- 14.f

GROUPS = "(m, n, k), then A, B, C and D as (array, stride), then (alpha, beta)"
NAMES = ("the sizes", "A", "B", "C", "D", "the scales")
BEFORE = 8.0  # what `out` holds


def is_array(value):
    """Tell an array from a number."""
    return isinstance(value, np.ndarray)


def six_groups(arguments, show):
    """Demand the groups of Gemm::Arguments, in their order."""
    x, w, out = problem(64, 64, 32)
    found = arguments(x, w, out)
    if not isinstance(found, tuple) or len(found) != 6:
        count = len(found) if isinstance(found, tuple) else "no"
        raise CheckFailed.explained(
            f"arguments(...) has {count} groups, and Gemm::Arguments takes 6.",
            "alpha and beta are one group, and D is an array of its own beside C.",
            f"Return {GROUPS}.",
        )
    for place, group in enumerate(found):
        length = 3 if place == 0 else 2
        is_reference = 1 <= place <= 4
        if not isinstance(group, tuple) or len(group) != length:
            raise CheckFailed.explained(
                f"Group {place}, {NAMES[place]}, is {type(group).__name__}, not a "
                f"tuple of {length}.",
                "Each group of the arguments is put into braces of its own.",
                f"Return {GROUPS}.",
            )
        if is_array(group[0]) != is_reference:
            holds = "an array" if is_array(group[0]) else "numbers"
            raise CheckFailed.explained(
                f"Group {place}, {NAMES[place]}, begins with {holds}.",
                "The groups are out of order.",
                f"Return {GROUPS}.",
            )
        if is_reference and not isinstance(group[1], Integral):
            raise CheckFailed.explained(
                f"The stride of {NAMES[place]} is {group[1]!r}, not a whole number.",
                "One number says how far a row lies from the next.",
                "Take the length of a row in memory, in elements.",
            )


def right_product(arguments, show):
    """Launch CUTLASS's own kernel with the arguments, and compare with float64."""
    for m, n, k in (64, 64, 32), (72, 40, 16):
        x, w, out = problem(m, n, k)
        size, a, b, c, d, scale = arguments(x, w, out)
        gemm = ck.load_ptx("libraries/cutlass_gemm.ptx").cutlass_gemm
        grid = blocks(m, 64), blocks(n, 64)
        try:
            gemm[grid, 128, STAGES](*size, *a, *b, *c, *d, *map(float, scale))
        except OutOfBoundsError as error:
            raise CheckFailed.explained(
                f"With m, n, k = {m, n, k} the kernel leaves an array: it would need "
                f"more than {x.shape}, {w.shape} or {out.shape}.",
                *likely((size, a, b, d, scale), (x, w, out)),
            ) from error
        except ArgumentError as error:
            raise CheckFailed.explained(
                str(error).split("\n")[0],
                "CUTLASS takes the address of an array, and the stride says where its "
                "rows begin.",
                "Give x, w and out themselves, not parts or copies of them.",
            ) from error
        expected = np.full(out.shape, BEFORE)
        expected[:, :n] = x.astype(float) @ w.astype(float)
        wrong = np.argwhere(~np.isclose(out, expected, atol=1e-3))
        if wrong.size:
            row, col = wrong[0]
            raise CheckFailed.explained(
                f"With m, n, k = {m, n, k}, out[{row}, {col}] is {out[row, col]:.4g}, "
                f"and should be {expected[row, col]:.4g}.",
                *likely((size, a, b, d, scale), (x, w, out)),
            )


ROWS = (
    "The stride of a row-major array is the length of its rows in memory, its leading "
    "dimension."
)


def likely(groups, given):
    """Return the likely cause of a wrong product, and its cure."""
    (size, *references, scale), (x, w, out) = groups, given
    sizes = (x.shape[0], w.shape[1], x.shape[1])
    if size != sizes:
        return (
            f"The sizes are {size}.",
            "m, n and k are those of x and w, in this order.",
        )
    for name, (array, stride), own in zip("ABD", references, given, strict=True):
        if array is not own:
            return f"{name} is another array.", "D is A times B, and out is x times w."
        if name == "D" and stride == sizes[1]:
            return (
                f"A row of `out` is {out.shape[1]} elements long, and the stride says "
                f"{stride}: row 1 of the product went into the right half of row 0."
            ), ROWS
        if stride != own.shape[1]:
            return (
                f"The stride of {name} is {stride}, and a row of its array has "
                f"{own.shape[1]} elements."
            ), ROWS
    return (
        f"alpha and beta are {scale}. D is alpha * A * B + beta * C, and `out` held "
        "values before.",
        "Choose the scales so that D is the product alone.",
    )


def problem(m, n, k):
    """Return matrices, and an array with room for two products side by side."""
    generator = np.random.default_rng(m)
    x = generator.standard_normal((m, k)).astype(np.float16)
    w = generator.standard_normal((k, n)).astype(np.float16)
    return x, w, np.full((m, 2 * n), BEFORE, np.float32)


# ---------------------------------------------------------------- 14.g


def layer(size, generator):
    """Return what the kernel of 14.g takes, with sums between -3 and 3."""
    rows, cols = size
    depth = 3
    return {
        "x": small((rows, depth), generator),
        "w": small((depth, cols), generator),
        "bias": small((cols,), generator),
        "out": blank(size),
        "rows": rows,
        "cols": cols,
        "depth": depth,
    }


def small(shape, generator):
    """Return distinct numbers between -1 and 1 in a random order."""
    count = int(np.prod(shape))
    values = (generator.permutation(count) + 1) / (count + 1) * 2 - 1
    return values.astype(np.float32).reshape(shape)


def gelu_of_layer(v):
    """Return GELU of the biased product."""
    z = v.x @ v.w + v.bias
    return 0.5 * z * (1 + np.vectorize(erf)(z / np.sqrt(2)))


# ---------------------------------------------------------------- 14.2

PICTURES = (
    ((4, 5, 1), (3, 3), 1, 1),
    ((5, 6, 4), (3, 3), 1, 1),
    ((7, 9, 2), (3, 2), 2, 1),
    ((9, 8, 3), (3, 3), 1, 2),
    ((11, 10, 2), (2, 3), 3, 2),
)


def any_convolution(filter_matrix, show):
    """Compare each offset with the place of its input in the picture."""
    for picture, filters, stride, dilation in PICTURES:
        call = f"filter_matrix({picture}, {filters}, {stride}, {dilation})"
        found = filter_matrix(picture, filters, stride, dilation)
        (height, width, channels), (R, S) = picture, filters
        P, Q = (
            (extent - dilation * (taps - 1) - 1) // stride + 1
            for extent, taps in ((height, R), (width, S))
        )
        shape = ((Q, P), (channels, S, R))
        if getattr(found, "shape", None) != shape:
            raise CheckFailed.explained(
                f"{call} has the shape {getattr(found, 'shape', found)!r}, and {shape} "
                "is right.",
                "A window covers dilation * (taps - 1) + 1 pixels, and begins every "
                "`stride` pixels as long as it fits.",
                "Count the windows of a short row by hand.",
            )
        for q, p, c, s, r in itertools.product(
            range(Q), range(P), range(channels), range(S), range(R)
        ):
            row, col = p * stride + r * dilation, q * stride + s * dilation
            right = (row * width + col) * channels + c
            mine = found((q, p), (c, s, r))
            if mine != right:
                raise CheckFailed.explained(
                    f"{call}: window (q, p) = ({q}, {p}), value (c, s, r) = ({c}, {s}, "
                    f"{r}) has the offset {mine}, and should have {right}.",
                    f"It is channel {c} of the pixel in row {row} and column {col}.",
                    "In NHWC a pixel has C neighbouring elements, and a row W pixels.",
                )


EXERCISES = (
    HostExercise(
        id="14.f",
        name="arguments",
        title="The arguments of Gemm",
        function="arguments",
        checks=(
            ("six groups in their order", six_groups),
            ("the product, by CUTLASS's kernel", right_product),
        ),
        hints=(
            "Gemm::Arguments has the sizes, then A, B, C and D with their strides, "
            "then {alpha, beta}. With beta = 0, C is not read; give `out` for both.",
            "A stride is the length of a row in memory. How long is a row of `out`?",
        ),
        starter=(CheckFailed, "Group 1, A, is float"),
        mutants={
            "n_for_2n": Mutant(
                mistake="The stride of out is the width of the product.",
                edits=[("(out, 2 * n)", "(out, n)")],
                fails=(CheckFailed, "went into the right half"),
            ),
            "stride_of_columns": Mutant(
                mistake="The stride of w is that of a column-major array.",
                edits=[("(w, n)", "(w, k)")],
                fails=(CheckFailed, "The stride of B is 32"),
            ),
            "adds_to_out": Mutant(
                mistake="The product is added to what out held.",
                edits=[("(1.0, 0.0)", "(1.0, 1.0)")],
                fails=(CheckFailed, "alpha and beta are (1.0, 1.0)"),
            ),
            "scales_first": Mutant(
                mistake="The two scales stand before the arrays.",
                edits=[
                    (
                        "(m, n, k), (x, k), (w, n), target, target, (1.0, 0.0)",
                        "(m, n, k), (1.0, 0.0), (x, k), (w, n), target, target",
                    ),
                ],
                fails=(CheckFailed, "out of order"),
            ),
        },
    ),
    Exercise(
        id="14.g",
        name="epilogue",
        title="An epilogue: bias, then GELU",
        kernel="linear",
        inputs=layer,
        outputs=("out",),
        sizes=((1, 1), (5, 31), (3, 33), (12, 40)),
        picture=(2, 4),
        launches=(covering((16, 16)), covering((32, 4))),
        reference=gelu_of_layer,
        magnitude=lambda v: np.abs(v.x) @ np.abs(v.w) + np.abs(v.bias),
        roundings=12,
        hints=(
            "GELU(z) = z * (1 + erf(z / sqrt(2))) / 2. z is the sum plus the bias, and "
            "it stands in the formula twice.",
            "float z = sum + bias; and return 0.5f * z * (1 + erff(z * 0.70710678f));",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "bias_after": Mutant(
                mistake="The bias is added behind the activation.",
                edits=[
                    ("float z = sum + bias;", "float z = sum;"),
                    ("return 0.5f", "return bias + 0.5f"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "tanh": Mutant(
                mistake="It is the approximation with tanh, and not GELU itself.",
                edits=[
                    (
                        "erff(z * 0.70710678f)",
                        "tanhf(0.7978846f * (z + 0.044715f * z * z * z))",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_root": Mutant(
                mistake="The root of 2 is forgotten.",
                edits=[("z * 0.70710678f", "z")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="14.2",
        name="filter_matrix",
        title="Any convolution as a matrix",
        stars=2,
        function="filter_matrix",
        checks=(("five convolutions", any_convolution),),
        hints=(
            "Begin with the strides of the picture: 1 for channels, C for columns, "
            "W * C for rows. A window further is `stride` columns.",
            "Inside a window, s moves by `dilation` columns and r by `dilation` rows. "
            "A window is dilation * (R - 1) + 1 rows high.",
            "P = (H - dilation * (R - 1) - 1) // stride + 1, Q alike with W and S; "
            "strides ((stride * C, stride * W * C), (1, dilation * C, "
            "dilation * W * C)).",
        ),
        starter=(CheckFailed, "is right"),
        mutants={
            "channels_forgotten": Mutant(
                mistake="A column is one element, whatever the channels.",
                edits=[("(1, dilation * C,", "(1, dilation,")],
                fails=(CheckFailed, "should have"),
            ),
            "dilation_of_places": Mutant(
                mistake="The windows themselves lie dilation pixels apart.",
                edits=[
                    ("(stride * C, stride * W * C)", "(dilation * C, dilation * W * C)")
                ],
                fails=(CheckFailed, "should have"),
            ),
            "dense_windows": Mutant(
                mistake="The height of a dilated window is taken for its taps.",
                edits=[("(H - dilation * (R - 1) - 1)", "(H - R)")],
                fails=(CheckFailed, "is right"),
            ),
        },
    ),
)
