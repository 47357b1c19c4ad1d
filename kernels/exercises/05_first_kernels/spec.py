"""Exercises of chapter 05: six puzzles, from one line to a batch of products."""

import numpy as np

from coursekit.errors import (
    BarrierError,
    CheckFailed,
    DataRaceError,
    OutOfBoundsError,
)
from coursekit.exercises import (
    Exercise,
    Limit,
    Mutant,
    blank,
    blocks,
    covering,
    shuffled,
)

# 1024 floats are 128 sectors of 32 bytes; threads that do each other's work write more.
STORED_ONCE = Limit(
    counter="global_store_sectors",
    size=1024,
    most=128,
    why="Each element is written once, by a thread whose neighbours write the "
    "elements beside it.",
)
PICTURES = ((1, 1), (3, 5), (16, 16), (17, 33), (33, 17))


def one_array(n, generator):
    """Return what the kernels (a, out, n) take."""
    return {"a": shuffled(n, generator), "out": blank(n), "n": n}


def two_arrays(n, generator):
    """Return what the kernels (a, b, out, n) take."""
    a, b = shuffled(2 * n, generator).reshape(2, n)
    return {"a": a.copy(), "b": b.copy(), "out": blank(n), "n": n}


def picture(size, generator):
    """Return what the kernels (a, out, rows, cols) take."""
    rows, cols = size
    a = shuffled(size, generator)
    return {"a": a, "out": blank(size), "rows": rows, "cols": cols}


def in_place(n, generator):
    """Return what the kernels (x, n) take."""
    return {"x": shuffled(n, generator), "n": n}


def one_block(n):
    """Launch a single block, with threads to spare."""
    return 1, 32 * (n // 32 + 1)


def largest_block(n):
    """Launch a single block, as large as they come."""
    return 1, 1024


def heads(size, generator):
    """Return what the kernel of 05.6 takes."""
    count, queries, keys, width = size
    return {
        "Q": shuffled((count, queries, width), generator),
        "K": shuffled((count, keys, width), generator),
        "S": blank((count, queries, keys)),
        "queries": queries,
        "keys": keys,
        "width": width,
    }


def one_layer_a_head(block):
    """Return a launch whose x covers keys, y queries, and z heads."""

    def launch(size):
        count, queries, keys, _ = size
        x, y = block
        return (blocks(keys, x), blocks(queries, y), count), block

    return launch


EXERCISES = (
    Exercise(
        id="05.1",
        name="map",
        title="Map: an iteration becomes a thread",
        stars=1,
        kernel="add_ten",
        inputs=one_array,
        outputs=("out",),
        sizes=(0, 1, 31, 32, 33, 100),
        launches=(one_block, largest_block),
        reference=lambda v: v.a + 10,
        hints=(
            "All threads compute element 0 now. The loop had i = 0, 1, 2, ...; the "
            "threads of the block are numbered in the same way.",
            "The text above the cell names the number of a thread in its block.",
            "int i = thread...; the number of a thread in its block, along x.",
        ),
        starter=(CheckFailed, "never written"),
        longest_warp=40,  # 11 with an element per thread
        mutants={
            "number_of_the_block": Mutant(
                mistake="The number of the block stands for that of the thread.",
                edits=[("threadIdx.x", "blockIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "from_one": Mutant(
                mistake="The threads are counted from 1.",
                edits=[("threadIdx.x", "threadIdx.x + 1")],
                fails=(CheckFailed, "never written"),
            ),
            "guard_too_wide": Mutant(
                mistake="The guard lets one thread too many through.",
                edits=[("if (i < n)", "if (i <= n)")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "loop_stays": Mutant(
                mistake="Every thread still does all iterations.",
                edits=[
                    (
                        "int i = threadIdx.x;\n    if (i < n)\n",
                        "for (int i = 0; i < n; i++)\n",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "in_place": Mutant(
                mistake="The input is changed on the way.",
                edits=[
                    ("const float *a", "float *a"),
                    ("out[i] = a[i] + 10.0f;", "out[i] = a[i] += 10.0f;"),
                ],
                fails=(CheckFailed, "changed the input a"),
            ),
        },
    ),
    Exercise(
        id="05.2",
        name="zip",
        title="Zip: two arrays become one",
        stars=1,
        kernel="difference",
        inputs=two_arrays,
        outputs=("out",),
        reference=lambda v: v.a - v.b,
        hints=(
            "threadIdx.x starts again at 0 in every block. Count the threads of the "
            "blocks before this one, too.",
            "blockIdx.x blocks come before this one, and each has blockDim.x threads.",
            "int i = blockIdx.x * blockDim.x + threadIdx.x; and then a[i] - b[i] "
            "goes to out[i].",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "swapped_operands": Mutant(
                mistake="The operands are swapped.",
                edits=[("out[i] = a[i] - b[i];", "out[i] = b[i] - a[i];")],
                fails=(CheckFailed, "wrong"),
            ),
            "thread_only": Mutant(
                mistake="The index leaves out the block.",
                edits=[("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")],
                fails=(CheckFailed, "never written"),
            ),
            "wrong_stride": Mutant(
                mistake="The index counts blocks of the grid, not threads of the "
                "block.",
                edits=[("x * blockDim", "x * gridDim")],
                fails=(CheckFailed, "never written"),
            ),
            "four_each": Mutant(
                mistake="Each thread takes four neighbours, and most threads take "
                "none.",
                edits=[
                    (
                        "if (i < n) {\n        out[i] = a[i] - b[i];\n    }",
                        "for (int j = 4 * i; j < 4 * i + 4 && j < n; j++)\n"
                        "        out[j] = a[j] - b[j];",
                    )
                ],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
            "swapped_index": Mutant(
                mistake="Block and thread change places in the index.",
                edits=[
                    (
                        "blockIdx.x * blockDim.x + threadIdx.x",
                        "threadIdx.x * blockDim.x + blockIdx.x",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "neighbour": Mutant(
                mistake="The second array is read one element further on.",
                edits=[("out[i] = a[i] - b[i];", "out[i] = a[i] - b[i + 1];")],
                fails=(OutOfBoundsError, "reads b[8], but b has 8 elements"),
            ),
            "guard_too_wide": Mutant(
                mistake="The guard lets one thread too many through.",
                edits=[("if (i < n) {", "if (i <= n) {")],
                fails=(OutOfBoundsError, "[8], but"),
            ),
        },
        limits=(STORED_ONCE,),
    ),
    Exercise(
        id="05.3",
        name="guard",
        title="Guard: no thread leaves the array",
        stars=1,
        kernel="backwards",
        inputs=one_array,
        outputs=("out",),
        reference=lambda v: v.a[::-1],
        hints=(
            "The grid is rounded up to whole blocks. Which numbers do the spare "
            "threads have?",
            "The elements are 0 to n - 1. A thread whose number i is not one of them "
            "has nothing to do.",
            "if (...) in front of the last line; the condition compares i with n.",
        ),
        starter=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
        owner=None,
        mutants={
            "guard_too_wide": Mutant(
                mistake="The guard lets one thread too many through.",
                edits=[("if (i < n)", "if (i <= n)")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "one_less": Mutant(
                mistake="The guard stops one thread too early.",
                edits=[("if (i < n)", "if (i < n - 1)")],
                fails=(CheckFailed, "never written"),
            ),
            "thread_guard": Mutant(
                mistake="The guard asks for the number in the block.",
                edits=[("if (i < n)", "if (threadIdx.x < n)")],
                fails=(OutOfBoundsError, "reads a["),
            ),
            "half": Mutant(
                mistake="The guard lets half of the threads through.",
                edits=[("if (i < n)", "if (i < n / 2)")],
                fails=(CheckFailed, "never written"),
            ),
            "index_of_the_end": Mutant(
                mistake="The guard is right; the last element has another number.",
                edits=[("out[n - 1 - i] = a[i];", "out[n - i] = a[i];")],
                fails=(OutOfBoundsError, "writes out[8]"),
            ),
        },
        limits=(STORED_ONCE,),
    ),
    Exercise(
        id="05.4",
        name="map_2d",
        title="Map in 2-D: a picture, darker on the left",
        stars=2,
        kernel="fade",
        inputs=picture,
        outputs=("out",),
        sizes=PICTURES,
        launches=(covering((32, 8)), covering((16, 16))),
        reference=lambda v: v.a + np.arange(v.cols),
        hints=(
            "Two indices, two guards. x counts the columns; write the row in the same "
            "way, with y.",
            "Before row `row` lie `row` whole rows, of `cols` elements each.",
            "if (row < rows && col < cols), and the element is row * cols + col.",
        ),
        longest_warp=130,  # 27 with an element per thread, 263 with a row per thread
        starter=(CheckFailed, "never written"),
        mutants={
            "transposed": Mutant(
                mistake="The result is stored by columns.",
                edits=[
                    ("out[row * cols + col]", "out[col * rows + row]"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "wrong_stride": Mutant(
                mistake="A row is taken to have as many elements as there are rows.",
                edits=[
                    (
                        "out[row * cols + col] = a[row * cols + col]",
                        "out[row * rows + col] = a[row * rows + col]",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "guard_swapped": Mutant(
                mistake="The guard compares rows with columns.",
                edits=[("row < rows && col < cols", "row < cols && col < rows")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "guard_of_the_total": Mutant(
                mistake="The guard lets a row run over into the next one.",
                edits=[("row < rows && col < cols", "row * cols + col < rows * cols")],
                fails=(CheckFailed, "wrong"),
            ),
            "half_a_guard": Mutant(
                mistake="The rows have no guard.",
                edits=[("if (row < rows && col < cols)", "if (col < cols)")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "serial": Mutant(
                mistake="One thread computes the whole picture.",
                edits=[
                    (
                        "if (row < rows && col < cols)\n"
                        "        out[row * cols + col] = a[row * cols + col] + col;",
                        "if (row == 0 && col == 0)\n"
                        "        for (int i = 0; i < rows * cols; i++)\n"
                        "            out[i] = a[i] + i % cols;",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "a_row_each": Mutant(
                mistake="One thread computes a whole row.",
                edits=[
                    (
                        "if (row < rows && col < cols)\n"
                        "        out[row * cols + col] = a[row * cols + col] + col;",
                        "if (row < rows && col == 0)\n"
                        "        for (int i = row * cols; i < (row + 1) * cols; i++)\n"
                        "            out[i] = a[i] + i % cols;",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "axes_swapped": Mutant(
                mistake="Rows and columns change places: x counts rows.",
                edits=[
                    ("int col =", "int row ="),
                    ("int row = blockIdx.y", "int col = blockIdx.y"),
                ],
                fails=(CheckFailed, "never written"),
            ),
        },
    ),
    Exercise(
        id="05.5",
        name="shift_left",
        title="Shift left: everyone reads before anyone writes",
        stars=3,
        kernel="shift_left",
        inputs=in_place,
        outputs=("x",),
        accumulates=("x",),
        sizes=(0, 1, 2, 31, 32, 33, 255, 1023),
        launches=(one_block, largest_block),
        reference=lambda v: np.append(v.x[1:], v.x[-1:]),
        hints=(
            "Thread 31 needs x[32], and thread 32 writes there. They are in "
            "different warps, and nobody says which warp runs first.",
            "Each thread has its value in `next`. Before the first thread writes, "
            "every thread of the block must have read: compare reverse_block.",
            "End the first if behind the reading. Then __syncthreads(); outside of "
            "any if. Then a second if (i < n - 1) around the writing.",
        ),
        longest_warp=100,  # 15 with an element per thread
        starter=(DataRaceError, "no barrier between them"),
        mutants={
            "barrier_missing": Mutant(
                mistake="Reading and writing stand apart, and nobody waits.",
                edits=[
                    (
                        "    __syncthreads();  // all have read before the first one "
                        "writes\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barrier_too_late": Mutant(
                mistake="The barrier comes after the writes.",
                edits=[
                    (
                        "    }\n"
                        "    __syncthreads();  // all have read before the first one "
                        "writes\n"
                        "    if (i < n - 1) {\n",
                        "",
                    ),
                    ("next;\n    }", "next;\n    }\n    __syncthreads();"),
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barrier_of_a_warp": Mutant(
                mistake="The barrier holds back one warp only, not the block.",
                edits=[("__syncthreads()", "__syncwarp()")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barrier_in_a_branch": Mutant(
                mistake="Threads without work wait at another barrier.",
                edits=[
                    (
                        "    }\n"
                        "    __syncthreads();  // all have read before the first one "
                        "writes\n"
                        "    if (i < n - 1) {\n",
                        "        __syncthreads();  // barrier inside the if\n",
                    ),
                    ("    }\n}", "    }\n    __syncthreads();\n}"),
                ],
                fails=(BarrierError, "not every thread of the block reaches"),
            ),
            "serial": Mutant(
                mistake="One thread moves all elements.",
                edits=[
                    (
                        "    __syncthreads();  // all have read before the first one "
                        "writes\n"
                        "    if (i < n - 1) {\n"
                        "        x[i] = next;\n"
                        "    }\n",
                        "",
                    ),
                    (
                        "if (i < n - 1) {\n        next = x[i + 1];",
                        "if (i == 0) {\n"
                        "        for (; i < n - 1; i++)\n"
                        "            x[i] = x[i + 1] + next;",
                    ),
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "past_the_end": Mutant(
                mistake="The last thread reads past the end.",
                edits=[
                    (
                        "if (i < n - 1) {\n        next",
                        "if (i < n) {\n        next",
                    ),
                    (
                        "if (i < n - 1) {\n        x[i]",
                        "if (i < n) {\n        x[i]",
                    ),
                ],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "other_way": Mutant(
                mistake="The values move to the right.",
                edits=[
                    (
                        "if (i < n - 1) {\n        next = x[i + 1];",
                        "if (0 < i && i < n) {\n        next = x[i - 1];",
                    ),
                    (
                        "if (i < n - 1) {\n        x[i]",
                        "if (0 < i && i < n) {\n        x[i]",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="05.6",
        name="batched",
        title="Batched: the scores of every attention head",
        stars=3,
        kernel="scores",
        inputs=heads,
        outputs=("S",),
        sizes=((1, 1, 1, 1), (3, 5, 7, 2), (2, 16, 16, 8), (3, 17, 33, 5)),
        picture=(2, 2, 2, 3),
        launches=(one_layer_a_head((16, 16)), one_layer_a_head((32, 4))),
        reference=lambda v: v.Q @ v.K.swapaxes(1, 2),
        roundings=lambda size: size[3],
        magnitude=lambda v: np.abs(v.Q) @ np.abs(v.K).swapaxes(1, 2),
        hints=(
            "Everything of a head lies one head further on than in the head before. "
            "How many elements of K does one head have? How many of S?",
            "Move each pointer on by the number of the head times that. The grid has "
            "one layer per head, as the line for Q says.",
            "K += head * ... and S += head * ...; a head of S has queries * keys.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "one_head": Mutant(
                mistake="Every head reads the keys of head 0.",
                edits=[("    K += head * keys * width;\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_result": Mutant(
                mistake="Every head writes over the scores of head 0.",
                edits=[("    S += head * queries * keys;\n", "")],
                fails=(CheckFailed, "never written"),
            ),
            "wrong_stride": Mutant(
                mistake="A head of K is taken to be as long as a head of Q.",
                edits=[("K += head * keys", "K += head * queries")],
                fails=(CheckFailed, "wrong"),
            ),
            "transposed": Mutant(
                mistake="The scores are stored by columns.",
                edits=[("S[q * keys + k] = sum", "S[k * queries + q] = sum")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="The keys have no guard.",
                edits=[("if (q < queries && k < keys) {", "if (q < queries) {")],
                fails=(OutOfBoundsError, "reads K["),
            ),
            "one_term_short": Mutant(
                mistake="The sum leaves out its last term.",
                edits=[("0; j < width", "0; j < width - 1")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
