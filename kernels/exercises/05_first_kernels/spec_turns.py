"""The pieces of "your turn" of chapter 05: a few lines behind each idea."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    Limit,
    Mutant,
    blank,
    blocks,
    covering,
    shuffled,
)

MANY = (1, 31, 32, 33, 255, 1023)
SHAPES = ((1, 1, 1), (3, 5, 2), (16, 16, 8), (17, 33, 5))


def sum_of_two(n, generator):
    """Return what the kernel (a, b, c) takes."""
    a, b = shuffled(2 * n, generator).reshape(2, n)
    return {"a": a.copy(), "b": b.copy(), "c": blank(n)}


def a_thread_each(n):
    """Launch one block with exactly n threads."""
    return 1, n


def scaled(n, generator):
    """Return what the kernel (x, s, y, n) takes."""
    return {
        "x": shuffled(n, generator),
        "s": np.float32(0.5),
        "y": blank(n),
        "n": n,
    }


def few(grid, block):
    """Launch the same grid for every size."""

    def launch(n):
        return grid, block

    return launch


def picture(size, generator):
    """Return what the kernel (x, y, rows, cols) takes."""
    rows, cols = size
    x = shuffled(size, generator)
    return {"x": x, "y": blank(size), "rows": rows, "cols": cols}


def matrices(size, generator):
    """Return what the kernel (A, B, C, M, N, K) takes."""
    M, N, K = size
    return {
        "A": shuffled((M, K), generator),
        "B": shuffled((K, N), generator),
        "C": blank((M, N)),
        "M": M,
        "N": N,
        "K": K,
    }


def over_the_result(block):
    """Return a launch whose x covers the columns of C, and y its rows."""

    def launch(size):
        M, N, _ = size
        x, y = block
        return (blocks(N, x), blocks(M, y)), block

    return launch


EXERCISES = (
    Exercise(
        id="05.a",
        name="loop",
        title="Loop: an iteration becomes a thread",
        kernel="add",
        inputs=sum_of_two,
        outputs=("c",),
        sizes=MANY,
        launches=(a_thread_each,),
        reference=lambda v: v.a + v.b,
        hints=(
            "There is one block, and its threads are numbered 0, 1, 2, ... as the "
            "iterations are. The name of a thread's number stands above the cell.",
        ),
        starter=(CheckFailed, "never written"),
        longest_warp=40,  # 14 with an element per thread
        mutants={
            "number_of_the_block": Mutant(
                mistake="The number of the block stands for that of the thread.",
                edits=[("threadIdx.x", "blockIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "from_one": Mutant(
                mistake="The threads are counted from 1.",
                edits=[("threadIdx.x", "threadIdx.x + 1")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "loop_stays": Mutant(
                mistake="Every thread still does all iterations.",
                edits=[
                    (
                        "int i = threadIdx.x;\n    c[i]",
                        "for (int i = 0; i < blockDim.x; i++)\n        c[i]",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
        },
    ),
    Exercise(
        id="05.b",
        name="stride",
        title="Stride: from one element to the next",
        kernel="scale",
        inputs=scaled,
        outputs=("y",),
        launches=(few(2, 64), few(3, 32), few(9, 256)),
        reference=lambda v: v.s * v.x,
        hints=(
            "All threads of the grid take an element each, and then the next ones "
            "begin. How many threads has the whole grid?",
        ),
        starter=(CheckFailed, "never written"),
        limits=(
            Limit(
                counter="global_store_sectors",
                size=1024,
                most=128,
                why="Each element is written once, by one thread.",
            ),
        ),
        mutants={
            "a_block_further": Mutant(
                mistake="The step is a block, and the blocks do each other's work.",
                edits=[("gridDim.x * blockDim.x", "blockDim.x")],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
            "number_of_blocks": Mutant(
                mistake="The step counts blocks, not threads.",
                edits=[("gridDim.x * blockDim.x", "gridDim.x")],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
            "neighbour": Mutant(
                mistake="Each thread goes on to its neighbour.",
                edits=[("gridDim.x * blockDim.x", "1")],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
        },
    ),
    Exercise(
        id="05.c",
        name="guards",
        title="Guards: no thread leaves the picture",
        kernel="negative",
        inputs=picture,
        outputs=("y",),
        sizes=((1, 1), (3, 5), (16, 16), (17, 33), (33, 17)),
        launches=(covering((32, 8)), covering((16, 16))),
        reference=lambda v: 1 - v.x,
        hints=(
            "A thread may be too far to the right, or too far down. Compare its "
            "column with `cols` and its row with `rows`; both must hold.",
        ),
        starter=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
        limits=(
            Limit(
                counter="global_store_sectors",
                size=(33, 40),
                most=165,
                why="Each pixel is written once, by one thread.",
            ),
        ),
        mutants={
            "columns_only": Mutant(
                mistake="The rows have no guard.",
                edits=[("row < rows && col < cols", "col < cols")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "rows_only": Mutant(
                mistake="The columns have no guard.",
                edits=[("row < rows && col < cols", "row < rows")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "either": Mutant(
                mistake="One of the two guards is enough.",
                edits=[("&&", "||")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "of_the_total": Mutant(
                mistake="The guard lets a row run over into the next one.",
                edits=[("row < rows && col < cols", "row * cols + col < rows * cols")],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
        },
    ),
    Exercise(
        id="05.d",
        name="dot",
        title="Dot product: a row times a column",
        kernel="product",
        inputs=matrices,
        outputs=("C",),
        sizes=SHAPES,
        picture=(2, 4, 3),
        launches=(over_the_result((16, 16)), over_the_result((32, 4))),
        reference=lambda v: v.A @ v.B,
        roundings=lambda size: size[2],
        magnitude=lambda v: np.abs(v.A) @ np.abs(v.B),
        hints=(
            "Term k multiplies A[row][k] and B[k][col]. A row of A has K elements. How "
            "many has a row of B?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "rows_of_k": Mutant(
                mistake="A row of B is taken to be as long as a row of A.",
                edits=[("k * N + col", "k * K + col")],
                fails=(CheckFailed, "wrong"),
            ),
            "row_times_row": Mutant(
                mistake="B is read along a row.",
                edits=[("B[k * N + col]", "B[col * K + k]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
