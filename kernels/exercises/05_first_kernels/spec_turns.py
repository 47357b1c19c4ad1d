"""The pieces of "your turn" of chapter 05: a few lines behind each idea."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import (
    Exercise,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)

SHAPES = ((1, 1, 1), (3, 5, 2), (16, 16, 8), (17, 33, 5))


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
        name="stride",
        title="Stride: from one element to the next",
        kernel="scale",
        inputs=scaled,
        outputs=("y",),
        sizes=(0, 1, 31, 32, 33, 255, 300),
        launches=(few(2, 64), few(3, 32), few(9, 64)),
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
                why="Each element must be written once, by one thread. Here threads "
                "do each other's work.",
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
        id="05.b",
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
