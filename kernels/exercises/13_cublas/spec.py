"""Pieces of chapter 13 in CUDA C++: increments, columns, int8, and three parts."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank, blocks, ramp, shuffled

WRONG = (CheckFailed, "wrong")
NOT_SET = (CheckFailed, "never written")


def spaced(n, generator):
    """Return what axpy takes; x lies two apart, and y three."""
    return {
        "n": n, "alpha": np.float32(1.5), "x": shuffled(2 * n, generator), "incx": 2,
        "y": ramp(3 * n), "incy": 3,
    }  # fmt: skip


def added(v):
    """Return y, of which every third element has grown."""
    y = np.array(v.y)
    y[:: v.incy] += v.alpha * np.asarray(v.x)[:: v.incx]
    return y


def columns(size, generator):
    """Return what gemv takes; the columns of A have gaps between them."""
    m, n = size
    lda = m + 3
    return {
        "m": m, "n": n, "A": shuffled(lda * n, generator), "lda": lda,
        "x": shuffled(n, generator), "y": blank(m),
    }  # fmt: skip


def by_columns(v):
    """Return A x."""
    return np.asarray(v.A).reshape(v.n, v.lda)[:, : v.m].T @ v.x


def eights(size, generator):
    """Return what product_s8 takes; four numbers of int8 are an int."""
    m, n, fours = size
    packed = [
        generator.integers(-128, 128, (rows, 4 * fours)).astype(np.int8).view(np.int32)
        for rows in (m, n)
    ]
    return {
        "A": packed[0], "B": packed[1], "C": blank(m * n), "m": m, "n": n,
        "fours": fours, "scale": np.float32(0.125),
    }  # fmt: skip


def of_eights(v):
    """Return the scaled product, by columns."""
    a, b = (np.asarray(x).astype(np.int32).view(np.int8) for x in (v.A, v.B))
    whole = a.astype(np.int64) @ b.astype(np.int64).T
    return float(v.scale) * whole.T.ravel()


def numbers(n, generator):
    """Return numbers that need all 24 bits of float32."""
    x = generator.standard_normal(n).astype(np.float32)
    return {"x": x, "parts": blank((3, n)), "n": n}


def three_parts(v):
    """Return the three parts of each number."""
    from coursekit.lessons.cublas.numeric_types import three_parts

    return np.array(three_parts(np.asarray(v.x, np.float32)), np.float64)


def layers(size, generator):
    """Return what batch takes; B is shared, and results of C have gaps."""
    n, count = size
    return {
        "A": shuffled((count, n * n), generator), "stride_a": n * n,
        "B": shuffled(n * n, generator), "stride_b": 0,
        "C": ramp((count, n * n + 2)), "stride_c": n * n + 2, "n": n,
    }  # fmt: skip


def of_layers(v):
    """Return C with a product in each layer, by columns."""
    C = np.array(v.C)
    b = np.asarray(v.B).reshape(v.n, v.n)
    for layer, a in enumerate(np.asarray(v.A)):
        C[layer, : v.n * v.n] = (b @ a.reshape(v.n, v.n)).ravel()
    return C


def layers_of(block):
    """Launch a thread for each element of each product."""
    return lambda size: (
        (blocks(size[0], block[0]), blocks(size[0], block[1]), size[1]),
        block,
    )


def rows_of(block):
    """Launch a thread for each row."""
    return lambda size: (blocks(size[0], block), block)


def tiles_of(across, down):
    """Launch a thread for each element of C."""
    return lambda size: (
        (blocks(size[0], across), blocks(size[1], down)),
        (across, down),
    )


EXERCISES = (
    Exercise(
        id="13.a",
        name="axpy",
        title="axpy with increments",
        kernel="axpy",
        inputs=spaced,
        outputs=("y",),
        accumulates=("y",),
        sizes=(0, 1, 33, 255, 1025),
        picture=3,
        roundings=2,
        reference=added,
        owner=None,
        starter=WRONG,
        hints=(
            "The elements of x lie incx apart: element 1 is x[incx], element 2 is "
            "x[2 * incx].",
            "y[i * incy] += alpha * x[i * incx];",
        ),
        mutants={
            "neighbours": Mutant(
                mistake="The increments are left out.",
                edits=[("y[i * incy] += alpha * x[i * incx]", "y[i] += alpha * x[i]")],
                fails=WRONG,
            ),
            "overwritten": Mutant(
                mistake="The values of y are overwritten.",
                edits=[("+=", "=")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="13.b",
        name="columns",
        title="A matrix by columns",
        kernel="gemv",
        inputs=columns,
        outputs=("y",),
        sizes=((1, 1), (31, 3), (33, 65), (257, 5)),
        picture=(4, 3),
        launches=(rows_of(256), rows_of(64)),
        roundings=70,
        magnitude=lambda v: (
            np.abs(np.asarray(v.A).reshape(v.n, v.lda)[:, : v.m].T) @ np.abs(v.x)
        ),
        reference=by_columns,
        owner=None,
        starter=WRONG,
        hints=(
            "Column k begins at A[k * lda]. How far below is the element of this row?",
            "sum += A[row + k * lda] * x[k];",
        ),
        mutants={
            "by_rows": Mutant(
                mistake="A is read by rows.",
                edits=[("A[row + k * lda]", "A[row * n + k]")],
                fails=WRONG,
            ),
            "no_gaps": Mutant(
                mistake="The gaps between columns are forgotten.",
                edits=[("k * lda", "k * m")],
                fails=WRONG,
            ),
            "swapped": Mutant(
                mistake="The leading dimension is applied to the row.",
                edits=[("row + k * lda", "row * lda + k")],
                fails=(OutOfBoundsError, "reads A["),
            ),
        },
    ),
    Exercise(
        id="13.d",
        name="int8",
        title="Four products of int8 per instruction",
        kernel="product_s8",
        inputs=eights,
        outputs=("C",),
        sizes=((1, 1, 1), (5, 3, 7), (33, 17, 9)),
        picture=(2, 2, 2),
        in_hex=("A", "B"),
        launches=(tiles_of(16, 16), tiles_of(32, 4)),
        roundings=2,
        reference=of_eights,
        owner=None,
        starter=WRONG,
        hints=(
            "__dp4a(a, b, c) returns c plus the four products of the bytes of a and b.",
            "The sum is in units of the two scales' product, which is scale.",
            "sum = __dp4a(a, b, sum); and at the end scale * sum.",
        ),
        mutants={
            "not_added": Mutant(
                mistake="The sum so far is thrown away.",
                edits=[("__dp4a(a, b, sum)", "__dp4a(a, b, 0)")],
                fails=WRONG,
            ),
            "no_scale": Mutant(
                mistake="The whole number is stored without its scale.",
                edits=[("scale * sum", "sum")],
                fails=WRONG,
            ),
            "twice": Mutant(
                mistake="The sum so far is added twice.",
                edits=[("sum = __dp4a", "sum += __dp4a")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="13.e",
        name="split",
        title="A float32 in three parts",
        kernel="split",
        inputs=numbers,
        outputs=("parts",),
        sizes=(0, 1, 33, 255, 1025),
        picture=4,
        reference=three_parts,
        owner=None,
        starter=WRONG,
        hints=(
            "The second part has to hold what the first one lost.",
            "rest -= rounded;",
        ),
        mutants={
            "from_x": Mutant(
                mistake="Only the last part is subtracted from x.",
                edits=[("rest -= rounded", "rest = x[i] - rounded")],
                fails=WRONG,
            ),
            "kept": Mutant(
                mistake="The rest becomes what was stored.",
                edits=[("rest -= rounded", "rest = rounded")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="13.f",
        name="batch",
        title="A product per layer of the grid",
        kernel="batch",
        inputs=layers,
        outputs=("C",),
        accumulates=("C",),
        sizes=((1, 1), (3, 4), (17, 2), (5, 7)),
        picture=(2, 2),
        launches=(layers_of((16, 16)), layers_of((32, 4))),
        roundings=20,
        reference=of_layers,
        owner=None,
        starter=WRONG,
        hints=(
            "blockIdx.z is the number of the product. Its matrix A begins at element "
            "blockIdx.z * stride_a.",
            "A += blockIdx.z * stride_a; and likewise for B and C.",
        ),
        mutants={
            "no_gaps": Mutant(
                mistake="The matrices are taken to lie without gaps.",
                edits=[("C += blockIdx.z * stride_c", "C += blockIdx.z * n * n")],
                fails=WRONG,
            ),
            "own_b": Mutant(
                mistake="B is taken to be a batch.",
                edits=[("B += blockIdx.z * stride_b", "B += blockIdx.z * n * n")],
                fails=(OutOfBoundsError, "reads B["),
            ),
        },
    ),
)
