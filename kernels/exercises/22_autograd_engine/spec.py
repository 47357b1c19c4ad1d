"""Pieces of chapter 22 in CUDA C++: operations, backwards."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank, covering, shuffled


def pairs(n, generator):
    """Return what mul_back takes; the gradients have parts already."""
    a, b, dy, da, db = (shuffled(n, generator) for _ in range(5))
    return {"a": a, "b": b, "dy": dy, "da": da, "db": db, "n": n}


def products_back(v):
    """Return both gradients, with what was there before."""
    return {"da": v.da + v.dy * v.b, "db": v.db + v.dy * v.a}


def columns(size, generator):
    """Return what bias_back takes."""
    rows, cols = size
    dy = shuffled(size, generator)
    return {"dy": dy, "db": blank(cols), "rows": rows, "cols": cols}


def operands(size, generator):
    """Return what matmul_back takes."""
    M, K, N = size
    a, b, dy = (shuffled(s, generator) for s in ((M, K), (K, N), (M, N)))
    return {
        "a": a, "b": b, "dy": dy, "da": blank((M, K)), "db": blank((K, N)),
        "M": M, "K": K, "N": N,
    }  # fmt: skip


def products_of_matrices_back(v):
    """Return both gradients of a matrix product."""
    return {"da": v.dy @ v.b.T, "db": v.a.T @ v.dy}


def curve(n, generator):
    """Return what tanh_back takes; y lies between -1 and 1."""
    y = (shuffled(n, generator) / np.float32(n / 8 + 1) - 1).astype(np.float32)
    return {"y": y, "dy": shuffled(n, generator), "dx": blank(n), "n": n}


def batch(size, generator):
    """Return what loss_back takes."""
    N, O = size  # noqa: E741
    logits = shuffled(size, generator) / np.float32(N * O / 16)
    labels = generator.integers(0, O, N).astype(np.int32)
    return {
        "logits": logits, "labels": labels, "dlogits": blank(size), "N": N, "O": O
    }  # fmt: skip


def loss_back(v):
    """Return (softmax - one at the label) / N."""
    powers = np.exp(v.logits - v.logits.max(axis=1, keepdims=True))
    hot = np.arange(v.O) == np.asarray(v.labels)[:, None]
    return (powers / powers.sum(axis=1, keepdims=True) - hot) / v.N


def along(threads, axis):
    """Launch a thread for each place along an axis."""
    return lambda size: covering(threads)(size[axis])


def over_both(threads):
    """Launch a thread for each element of the larger of a and b."""
    return lambda size: covering(threads)(max(size[0] * size[1], size[1] * size[2]))


WRONG = (CheckFailed, "wrong")
ROWS = ((1, 10), (31, 3), (33, 10), (65, 7))

EXERCISES = (
    Exercise(
        id="22.a",
        name="mul_back",
        title="A product, backwards",
        kernel="mul_back",
        inputs=pairs,
        outputs=("da", "db"),
        accumulates=("da", "db"),
        roundings=4,
        reference=products_back,
        starter=WRONG,
        hints=(
            "When a[i] grows by 1, y[i] grows by b[i]. By how much does the loss grow, "
            "if it grows by dy[i] for each 1 that y[i] grows?",
            "da[i] += dy[i] * b[i]; and db[i] likewise with the other factor.",
        ),
        mutants={
            "swapped": Mutant(
                mistake="Each factor gets its own value.",
                edits=[
                    ("dy[i] * b[i]", "dy[i] * 1"),
                    ("dy[i] * a[i]", "dy[i] * b[i]"),
                    ("dy[i] * 1", "dy[i] * a[i]"),
                ],
                fails=WRONG,
            ),
            "overwritten": Mutant(
                mistake="The parts of other uses are overwritten.",
                edits=[("da[i] +=", "da[i] ="), ("db[i] +=", "db[i] =")],
                fails=WRONG,
            ),
            "no_dy": Mutant(
                mistake="The gradient of y is left out.",
                edits=[("dy[i] * b[i]", "b[i]"), ("dy[i] * a[i]", "a[i]")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="22.d",
        name="bias_back",
        title="A repeated row, backwards",
        kernel="bias_back",
        inputs=columns,
        outputs=("db",),
        sizes=((1, 1), (31, 3), (5, 33), (65, 257)),
        launches=(along(256, 1), along(64, 1)),
        roundings=70,
        reference=lambda v: v.dy.sum(axis=0),
        owner=None,
        starter=WRONG,
        hints=(
            "b[col] is in y[0][col], in y[1][col], and so on. Each passes a part back.",
            "A loop over the rows: sum += dy[row * cols + col];",
        ),
        mutants={
            "first_row": Mutant(
                mistake="Only one row passes something back.",
                edits=[("row < rows", "row < 1")],
                fails=WRONG,
            ),
            "transposed": Mutant(
                mistake="The gradient is read as if it were stored by columns.",
                edits=[("dy[row * cols + col]", "dy[col * rows + row]")],
                fails=WRONG,
            ),
            "wrong_length": Mutant(
                mistake="The loop runs along the columns.",
                edits=[("row < rows", "row < cols")],
                fails=(OutOfBoundsError, "reads dy["),
            ),
        },
    ),
    Exercise(
        id="22.e",
        name="tanh_back",
        title="A curve, backwards",
        kernel="tanh_back",
        inputs=curve,
        outputs=("dx",),
        roundings=4,
        magnitude=lambda v: 2 * np.abs(v.dy),
        reference=lambda v: v.dy * (1 - v.y * v.y),
        starter=WRONG,
        hints=(
            "By the chain rule dx[i] is what arrives, dy[i], times the slope there.",
            "The slope is 1 - y[i] * y[i]: multiply all of it, in brackets, by dy[i].",
        ),
        mutants={
            "no_dy": Mutant(
                mistake="The gradient of y is left out.",
                edits=[("dy[i] * (1 - y[i] * y[i])", "1 - y[i] * y[i]")],
                fails=WRONG,
            ),
            "not_squared": Mutant(
                mistake="The result is not squared.",
                edits=[("y[i] * y[i])", "y[i])")],
                fails=WRONG,
            ),
            "tanh_again": Mutant(
                mistake="The result is taken for the argument.",
                edits=[("y[i] * y[i])", "tanhf(y[i]) * tanhf(y[i]))")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="22.f",
        name="matmul_back",
        title="A matrix product, backwards",
        kernel="matmul_back",
        inputs=operands,
        outputs=("da", "db"),
        sizes=((1, 1, 1), (3, 5, 2), (33, 7, 5), (6, 17, 31)),
        picture=(2, 3, 2),
        launches=(over_both(256), over_both(64)),
        roundings=80,
        reference=products_of_matrices_back,
        owner=None,
        starter=WRONG,
        hints=(
            "a[row][k] is multiplied by b[k][col] for every col, and ends in "
            "y[row][col]. So da[row][k] is a sum over col, of which products?",
            "db[k][col] is a sum over row: each term is a[row][k] * dy[row][col].",
            "sum += dy[row * N + col] * b[k * N + col]; and for db sum += "
            "a[row * K + k] * dy[row * N + col];",
        ),
        mutants={
            "not_transposed": Mutant(
                mistake="The second matrix is read as if it were stored by columns.",
                edits=[("b[k * N + col]", "b[col * K + k]")],
                fails=WRONG,
            ),
            "stride_of_a": Mutant(
                mistake="The first matrix is read with the row length of y.",
                edits=[("a[row * K + k]", "a[row * N + k]")],
                fails=WRONG,
            ),
            "a_not_transposed": Mutant(
                mistake="The first matrix is read as if it were stored by columns.",
                edits=[("a[row * K + k]", "a[k * M + row]")],
                fails=WRONG,
            ),
        },
    ),
    Exercise(
        id="22.1",
        name="loss_back",
        title="Softmax and cross-entropy, backwards",
        stars=2,
        kernel="loss_back",
        inputs=batch,
        outputs=("dlogits",),
        sizes=ROWS,
        launches=(along(256, 0), along(64, 0)),
        roundings=32,
        magnitude=lambda v: np.float64(1) / v.N,
        reference=loss_back,
        owner=None,
        starter=(CheckFailed, "never written"),
        hints=(
            "The gradient of a row is its softmax, with 1 subtracted at the label. The "
            "loss is a mean over N rows.",
            "For each o: float p = expf(row[o] - max) / sum;",
            "dlogits[n * O + o] = (p - (o == labels[n])) / N;",
        ),
        mutants={
            "not_a_mean": Mutant(
                mistake="The gradient is that of the sum of the losses.",
                edits=[("(p - (o == labels[n])) / N", "p - (o == labels[n])")],
                fails=WRONG,
            ),
            "no_label": Mutant(
                mistake="Nothing is subtracted at the label.",
                edits=[("(p - (o == labels[n])) / N", "p / N")],
                fails=WRONG,
            ),
            "no_softmax": Mutant(
                mistake="The powers are not divided by their sum.",
                edits=[("expf(row[o] - max) / sum", "expf(row[o] - max)")],
                fails=WRONG,
            ),
        },
    ),
)
