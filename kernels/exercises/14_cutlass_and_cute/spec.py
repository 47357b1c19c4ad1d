"""Pieces of chapter 14: strides, interleaving, composition, shares, windows."""

import numpy as np

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Mutant,
    blank,
    covering,
    shuffled,
)


def strided(size, generator):
    """Return what the kernel of 14.a takes: column-major where rows are odd."""
    rows, cols = size
    strides = (1, rows) if rows % 2 else (cols, 1)
    return {
        "x": shuffled(size, generator),
        "out": blank(rows * cols),
        "rows": rows,
        "cols": cols,
        "row_stride": strides[0],
        "col_stride": strides[1],
    }


def reordered(v):
    """Return the elements of x in the order of out."""
    return v.x.T.reshape(-1) if v.row_stride == 1 else v.x.reshape(-1)


# ---------------------------------------------------------------- layouts


def offsets(found, call):
    """Return the offsets of a layout, or say that there is none."""
    if not hasattr(found, "offsets"):
        raise CheckFailed.explained(
            f"{call} is {found!r}, which is no layout.",
            "The function returns something else, or nothing.",
            "End it with `return ck.layout(shape, stride)`.",
        )
    return found.offsets()


def has_shape(found, shape, call, cause="A coordinate would mean something else."):
    """Demand a shape."""
    offsets(found, call)
    if found.shape != shape:
        raise CheckFailed.explained(
            f"{call} has the shape {found.shape}, and {shape} is wanted.",
            cause,
            "Compare the brackets and the numbers of both, mode by mode.",
        )


def first_wrong(found, expected, call, cause):
    """Demand the offsets of another layout, and name the first coordinate that errs."""
    for row, (mine, right) in enumerate(
        zip(found.table(), expected.table(), strict=True)
    ):
        wrong = np.flatnonzero(mine != right)
        if wrong.size:
            col = wrong[0]
            raise CheckFailed.explained(
                f"{call} is {found}: coordinate ({row}, {col}) has the offset "
                f"{mine[col]}, and should have {right[col]}.",
                cause,
                "Take one coordinate, and write down how many elements lie before it.",
            )


def groups_of_columns(interleaved, show):
    """Compare with the layout of CUTLASS's ColumnMajorInterleaved."""
    for rows, cols, width in (4, 8, 4), (2, 8, 2), (3, 64, 32):
        call = f"interleaved({rows}, {cols}, {width})"
        found = interleaved(rows, cols, width)
        expected = ck.layout((rows, (width, cols // width)), (width, (1, rows * width)))
        has_shape(found, expected.shape, call)
        first_wrong(found, expected, call, of_interleaving(found, rows, width))


def of_interleaving(found, rows, width):
    """Return the likely cause of wrong strides."""
    row, (inside, group) = found.stride
    if inside != 1:
        return "Neighbours within a group lie side by side: their stride is 1."
    if row != width:
        return f"The next row of a group begins behind {width} elements."
    if group != rows * width:
        return f"A group has {rows} rows of {width} elements, and the next lies behind."
    return "One of the strides is wrong."


def some_of_all(sample, show):
    """Compare with the offsets of the rows and columns that are wanted."""
    for text, down, across in (
        ("(4,8):(8,1)", 2, 4),
        ("(6,12):(1,6)", 3, 2),
        ("(8,8):(16,2)", 4, 8),
    ):
        matrix = ck.layout(text)
        call = f"sample({text}, {down}, {across})"
        found = sample(matrix, down, across)
        rows, cols = matrix.shape
        left = (
            f"Of {rows} rows every {down} is taken, of {cols} columns every {across}."
        )
        has_shape(found, (rows // down, cols // across), call, left)
        expected = ck.layout(
            found.shape, (matrix.stride[0] * down, matrix.stride[1] * across)
        )
        first_wrong(found, expected, call, of_sampling(found, matrix, down, across))


def of_sampling(found, matrix, down, across):
    """Return the likely cause of wrong offsets."""
    if found.stride == matrix.stride:
        return "These are the first rows and columns: the layouts have a stride of 1."
    swapped = (matrix.stride[0] * across, matrix.stride[1] * down)
    if found.stride == swapped:
        return "The steps of rows and columns are swapped."
    if found == by_one_layout(matrix, down, across):
        return (
            "One layout counts elements down the columns. A pair of layouts, in "
            "brackets of its own, composes each mode by itself."
        )
    return "A mode is composed with extent:step, and here one of them is wrong."


def by_one_layout(matrix, down, across):
    """Return the composition with one layout of two modes; None where there is none."""
    shape = (matrix.shape[0] // down, matrix.shape[1] // across)
    try:
        return matrix.composition(ck.layout(shape, (down, across)))
    except ck.ArgumentError:
        return None


def every_element(shares, show):
    """Demand that the shares are all elements, each one once."""
    found = shares()
    offsets(found, "shares()")
    if [mode.size for mode in found.modes] != [256, 4]:
        cause = "256 threads load 4 elements each."
        has_shape(found, (256, 4), "shares()", cause)
    counts = np.bincount(offsets(found, "shares()"), minlength=1024)
    if counts.size > 1024:
        raise CheckFailed.explained(
            f"shares() is {found}: some thread loads element {counts.size - 1}, "
            "and the tile has 1024.",
            "A stride is too large.",
            "The largest offset, 255 and 3 times their strides, has to be 1023.",
        )
    wrong = np.flatnonzero(counts != 1)
    if wrong.size:
        raise CheckFailed.explained(
            f"shares() is {found}: element {wrong[0]} is loaded {counts[wrong[0]]} "
            "times.",
            "Two threads have the same offset, so others are left out.",
            "256 threads of 4 loads have to meet each of the 1024 elements once.",
        )


def few_sectors(shares, show):
    """Demand that each load of a warp touches as few sectors as possible."""
    found = shares()
    first = [found(lane, 0) // 8 for lane in range(32)]
    if len(set(first)) > 4:
        raise CheckFailed.explained(
            f"shares() is {found}: the first load of warp 0 touches "
            f"{len(set(first))} sectors, and 4 hold 32 floats.",
            f"Lane 0 loads element {found(0, 0)}, and lane 1 element {found(1, 0)}.",
            "Give neighbouring threads neighbouring elements.",
        )


def same_windows(windows, show):
    """Compare each window with the picture's own elements."""
    for height, width in (4, 5), (3, 3), (6, 8):
        call = f"windows({height}, {width})"
        found = windows(height, width)
        has_shape(found, ((width - 2, height - 2), (3, 3)), call)
        expected = ck.layout(found.shape, ((1, width), (1, width)))
        first_wrong(found, expected, call, of_windows(found, width))


def of_windows(found, width):
    """Return the likely cause of wrong offsets."""
    (right, down), (across, below) = found.stride
    if found.cosize == found.size:
        return "These strides number a copy of 9 values per window. Windows overlap."
    if (right, across) != (1, 1):
        return "One step to the right is one element, for the window and inside it."
    if (down, below) != (width, width):
        return f"One row further down is {width} elements, the width of the picture."
    return "One of the strides is wrong."


EXERCISES = (
    Exercise(
        id="14.a",
        name="relayout",
        title="An element's place, from its strides",
        kernel="relayout",
        inputs=strided,
        outputs=("out",),
        sizes=((1, 1), (3, 5), (31, 33), (40, 17)),
        picture=(3, 4),
        launches=(covering((16, 16)), covering((32, 4))),
        reference=reordered,
        owner=None,
        hints=(
            "Each index counts its stride: the offset is a sum of two products. And "
            "x is row-major: what are its two strides?",
            "out[row * row_stride + col * col_stride] gets x[row * cols + col].",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "swapped": Mutant(
                mistake="The strides are swapped.",
                edits=[
                    (
                        "row * row_stride + col * col_stride",
                        "row * col_stride + col * row_stride",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "column_major_x": Mutant(
                mistake="The input is read as if it were column-major.",
                edits=[("x[row * cols + col]", "x[col * rows + row]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="14.b",
        name="interleaved",
        title="Columns in groups",
        function="interleaved",
        checks=(("groups of 4, 2 and 32 columns", groups_of_columns),),
        hints=(
            "The columns are two numbers now: which column of a group, and which "
            "group. So the shape is (rows, (width, groups)), and each of the three "
            "needs a stride. How far is it to the next row of the same group?",
            "Within a group: 1. To the next row: width. To the next group: all rows "
            "of a group, rows * width.",
        ),
        starter=(CheckFailed, "has the shape"),
        mutants={
            "rows_apart": Mutant(
                mistake="A row is as long as the whole matrix is wide.",
                edits=[("(width, (1,", "(cols, (1,")],
                fails=(CheckFailed, "next row of a group"),
            ),
            "group_behind_a_row": Mutant(
                mistake="The next group lies behind one row.",
                edits=[("rows * width", "width")],
                fails=(CheckFailed, "the next lies behind"),
            ),
        },
    ),
    HostExercise(
        id="14.c",
        name="sample",
        title="Some rows, some columns",
        function="sample",
        checks=(("three matrices", some_of_all),),
        hints=(
            "ck.layout(n, step) has the offsets 0, step, 2 * step, ... How many rows "
            "are left of `rows` if you take every `down`-th?",
            "Compose with (ck.layout(rows // down, down), and the same for columns).",
        ),
        starter=(CheckFailed, "has the shape"),
        mutants={
            "first_rows": Mutant(
                mistake="It takes the first rows, not every other.",
                edits=[("ck.layout(rows // down, down)", "ck.layout(rows // down)")],
                fails=(CheckFailed, "should have"),
            ),
            "steps_swapped": Mutant(
                mistake="The steps are swapped.",
                edits=[
                    ("// down, down", "// down, across"),
                    ("// across, across", "// across, down"),
                ],
                fails=(CheckFailed, "swapped"),
            ),
        },
    ),
    HostExercise(
        id="14.d",
        name="shares",
        title="Who loads what",
        function="shares",
        checks=(
            ("each element once", every_element),
            ("4 sectors per load of a warp", few_sectors),
        ),
        hints=(
            "The first stride is the distance between neighbouring threads. Which "
            "one makes 32 lanes load 32 neighbours?",
            "Threads 0 to 255 load elements 0 to 255. Where does the second load of "
            "thread 0 begin?",
        ),
        starter=(CheckFailed, "touches 16 sectors"),
        mutants={
            "again": Mutant(
                mistake="All loads fetch the same elements.",
                edits=[("(1, 256)", "(1, 0)")],
                fails=(CheckFailed, "is loaded 4 times"),
            ),
            "a_warp_further": Mutant(
                mistake="The second load begins a warp further, where warp 1 loads.",
                edits=[("(1, 256)", "(1, 32)")],
                fails=(CheckFailed, "is loaded 2 times"),
            ),
        },
    ),
    HostExercise(
        id="14.h",
        name="windows",
        title="A matrix of windows, without a copy",
        function="windows",
        checks=(("three pictures", same_windows),),
        hints=(
            "A row of the picture has `width` elements. How far is it from a window "
            "to the next one on its right, and to the next one below?",
            "Both modes have the strides 1 and width: a step of the window and a "
            "step inside it move by the same pixels.",
        ),
        starter=(CheckFailed, "Windows overlap"),
        mutants={
            "three_wide": Mutant(
                mistake="Inside the window a row has three elements.",
                edits=[("(1, width), (1, width)", "(1, width), (1, 3)")],
                fails=(CheckFailed, "the width of the picture"),
            ),
            "places_wide": Mutant(
                mistake="A row of places is taken for a row of the picture.",
                edits=[("((1, width), (1, width))", "((1, Q), (1, width))")],
                fails=(CheckFailed, "the width of the picture"),
            ),
        },
    ),
)
