"""Pieces of chapter 16 on sparse matrices: rows, formats, warps, paths, PageRank."""

from types import SimpleNamespace

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    Guess,
    HostExercise,
    Limit,
    Mutant,
    Slip,
    blank,
)
from coursekit.exercises import blocks as cover

WRONG = (CheckFailed, "wrong")


def lengths(rows):
    """Return row lengths of 0 to 6, and one of 70 where there is room."""
    found = np.arange(rows) * 5 % 7
    found[rows // 2] = 70 if rows > 32 else 3
    return found


def drawn(count, generator):
    """Return distinct numbers; a few of them are whole, and easy to multiply."""
    return ((1 + generator.permutation(count)) / (1 if count < 16 else 8)).astype(
        np.float32
    )


def csr(rows, generator):
    """Return what a product of a CSR matrix and x takes."""
    starts = np.append(0, np.cumsum(lengths(rows)) if rows else []).astype(np.int32)
    count = int(starts[-1])
    return {
        "starts": starts,
        "columns": generator.integers(0, rows + 1, count).astype(np.int32),
        "values": drawn(count, generator),
        "x": drawn(rows + 1, generator),
        "y": blank(rows), "rows": rows,
    }  # fmt: skip


def row_sums(v, products):
    """Add products up by rows."""
    upto = np.append(np.zeros((1, *products.shape[1:])), np.cumsum(products, 0), 0)
    return upto[v.starts[1:]] - upto[v.starts[:-1]]


def places(v):
    """Return for each entry its place in its row, and how many follow it there."""
    lengths = np.diff(v.starts)
    k, rows = np.arange(len(v.columns)), np.repeat(np.arange(len(lengths)), lengths)
    return k - np.asarray(v.starts)[rows], np.asarray(v.starts)[rows + 1] - 1 - k


def product(v, weights=1, columns=None):
    """Return A x; or what it is with other weights of entries, or other columns."""
    columns = v.columns if columns is None else columns
    return row_sums(v, weights * np.asarray(v.values) * np.asarray(v.x)[columns])


def bsr(rows, generator):
    """Return what a product of a BSR matrix and x takes; rows is even."""
    found = csr(rows // 2, generator)
    count, wide = len(found["columns"]), rows + 2
    return found | {
        "values": drawn(4 * count, generator),
        "x": drawn(wide, generator),
        "y": blank(rows), "rows": rows,
    }  # fmt: skip


def of_blocks(v, change=lambda values: values, step=2):
    """Return A x, two rows for each row of blocks; or the result of a slip."""
    values = change(np.asarray(v.values).reshape(-1, 2, 2))
    pairs = np.asarray(v.x)[step * np.asarray(v.columns)[:, None] + np.arange(2)]
    return row_sums(v, (values * pairs[:, None, :]).sum(2)).reshape(-1)


def path(size, generator):
    """Return rows' ends, and cuts of the merge path in no order."""
    rows, n = size
    ends = np.cumsum(lengths(rows)).astype(np.int32) if rows else np.zeros(0, np.int32)
    steps = rows + (int(ends[-1]) if rows else 0)
    cuts = generator.permutation(np.linspace(0, steps, n).astype(np.int32))
    return {
        "ends": ends, "cuts": cuts, "passed": blank(n, np.int32), "rows": rows, "n": n,
    }  # fmt: skip


def rows_passed(v, steps=lambda ends, row: ends + row + 1):
    """Walk along the path; or along one on which a row ends after other steps."""
    ended = steps(np.asarray(v.ends), np.arange(v.rows))
    passed = np.searchsorted(ended, np.asarray(v.cuts), side="right")
    return np.minimum(passed, np.asarray(v.cuts))


def spmm(size, generator):
    """Return what a product of a CSR matrix and a dense one takes."""
    rows, width = size
    found = csr(rows, generator)
    del found["x"], found["y"], found["rows"]
    return found | {
        "X": drawn((rows + 1) * width, generator).reshape(rows + 1, width),
        "Y": blank((rows, width)), "rows": rows, "width": width,
    }  # fmt: skip


def of_columns(v, index=lambda column, j, width: column * width + j):
    """Return A X; or what it is where X is read at other indices."""
    at = index(np.asarray(v.columns)[:, None], np.arange(v.width), v.width)
    return row_sums(v, np.asarray(v.values)[:, None] * np.ravel(v.X)[at])


def warps_for(block):
    """Launch a warp for each row."""
    return lambda rows: (cover(rows * 32, block), block)


def tiles_of(across, down):
    """Launch a thread for each element of Y."""
    return lambda size: (
        (cover(size[1], across), cover(size[0], down)),
        (across, down),
    )


# ---------------------------------------------------------------- pieces in Python


def several_rows(starts, show):
    """Compare starts of rows for entries with empty rows."""
    for rows in ([0, 0, 2, 2, 2], [1, 3, 3], [0, 1, 2], [2], []):
        entries = np.array(rows, np.int64)
        found = starts(entries, 5)
        wanted = np.searchsorted(entries, np.arange(6)).tolist()
        if np.asarray(found).tolist() != wanted:
            raise CheckFailed.explained(
                f"For 5 rows and entries in rows {rows} the starts are "
                f"{np.asarray(found).tolist()}, and should be {wanted}.",
                "A row begins where all rows before it end. An empty row begins and "
                "ends at one place, also behind the last entry.",
                "Count the entries of each row, then add up the counts.",
            )


def web(seed, n=40):
    """Return links as a matrix of shares, and which pages have none."""
    generator = np.random.default_rng(seed)
    targets = [
        np.unique(generator.integers(0, n, generator.integers(0, 5))) for _ in range(n)
    ]
    dense = np.zeros((n, n), np.float32)
    for page, linked in enumerate(targets):
        dense[linked, page] = 1 / max(len(linked), 1)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    matrix = SimpleNamespace(
        starts=starts,
        columns=columns.astype(np.int32),
        values=dense[rows, columns],
        shape=(n, n),
    )
    return matrix, dense.sum(0) == 0, dense.astype(np.float64)


def of_pages(ranks, show):
    """Compare with the ranks in float64."""
    A, dangling, dense = web(1)
    n = len(dense)
    rank = np.full(n, 1 / n)
    for _ in range(30):
        rank = 0.15 / n + 0.85 * (dense @ rank + rank[dangling].sum() / n)
    found = np.asarray(ranks(A, dangling), np.float64)
    if not abs(found.sum() - 1) < 1e-3:
        raise CheckFailed.explained(
            f"The ranks add up to {found.sum():.4g}, and should add up to 1.",
            "The product loses every surfer who is on a page without links."
            if found.sum() < 1
            else "More is given to the pages than the product has lost.",
            "Give every page the same share of what is lost; damping says how many "
            "follow a link.",
        )
    if not np.abs(found - rank).max() < 1e-5:
        page = int(np.abs(found - rank).argmax())
        raise CheckFailed.explained(
            f"The rank of page {page} is {found[page]:.5f}, and should be "
            f"{rank[page]:.5f}.",
            "The sum is right, so a share goes to the wrong pages.",
            "A share of damping moves on, by links or from pages without any; the rest "
            "goes to all pages alike.",
        )


# ---------------------------------------------------------------- all

EXERCISES = (
    Exercise(
        id="16.h",
        name="rows",
        title="A row per thread",
        kernel="rows_times_x",
        inputs=csr,
        outputs=("y",),
        reference=product,
        sizes=(0, 1, 33, 255, 1025),
        picture=4,
        roundings=140,
        owner=None,
        slips=(
            Slip(
                lambda v: product(v, columns=places(v)[0] % len(v.x)),
                "x is read from its beginning, as if the row had an entry in each "
                "column.",
                "Entry k stands in a column. Which array says in which?",
            ),
            Slip(
                lambda v: product(v, weights=places(v)[1] == 0),
                "Only the last product of each row is left: = replaces the sum.",
                "Add each product to the sum.",
            ),
            Slip(
                lambda v: row_sums(v, np.asarray(v.values)),
                "The values are added up, and x has no part in it.",
                "Each value meets an element of x: the one of its column.",
            ),
            Slip(
                lambda v: product(
                    v, columns=np.repeat(np.arange(v.rows), np.diff(v.starts))
                ),
                "Each value is multiplied by x[row].",
                "The row says where the sum goes. Which element of x does an entry "
                "meet?",
            ),
        ),
        starter=WRONG,
        hints=(
            "The entries of this row are starts[row] up to, not including, "
            "starts[row + 1].",
            "Entry k stands in column columns[k]: its partner is x[columns[k]].",
        ),
        mutants={
            "dense": Mutant(
                mistake="The vector is read as if the row had no gaps.",
                edits=[("x[columns[k]]", "x[k - starts[row]]")],
                fails=(CheckFailed, "read from its beginning"),
            ),
            "short": Mutant(
                mistake="The last entry of each row is left out.",
                edits=[("k < starts[row + 1]", "k < starts[row + 1] - 1")],
                fails=WRONG,
            ),
        },
    ),
    HostExercise(
        id="16.i",
        name="starts",
        title="From COO to CSR",
        function="starts",
        checks=(("rows, some of them empty", several_rows),),
        starter=(CheckFailed, "should be"),
        hints=(
            "np.bincount(row_of_entry, minlength=rows) counts the entries per row.",
            "np.append(0, np.cumsum(lengths)) has where each row begins.",
        ),
        mutants={
            "last_rows": Mutant(
                mistake="Rows behind the last entry are left out.",
                edits=[
                    (
                        "np.bincount(row_of_entry, minlength=rows)",
                        "np.bincount(row_of_entry)",
                    )
                ],
                fails=(CheckFailed, "should be"),
            ),
            "ends": Mutant(
                mistake="The ends are returned, without the first start.",
                edits=[("np.append(0, np.cumsum(lengths))", "np.cumsum(lengths)")],
                fails=(CheckFailed, "should be"),
            ),
        },
    ),
    Exercise(
        id="16.j",
        name="lanes",
        title="A row per warp",
        kernel="rows_by_warps",
        inputs=csr,
        outputs=("y",),
        reference=product,
        sizes=(0, 1, 33, 255),
        picture=4,
        launches=(warps_for(256), warps_for(64)),
        roundings=140,
        owner=None,
        limits=(
            Limit(
                counter="global_load_requests",
                size=255,
                most=1800,
                why="One round of 32 lanes reads nearly every row of this matrix.",
            ),
        ),
        slips=(
            Slip(
                lambda v: product(v, weights=places(v)[0] % 32 == 0),
                "y has the sum of lane 0 alone: products 0, 32, 64 .. of each row.",
                "The sums of 32 lanes have to be added up before lane 0 stores.",
            ),
            Slip(
                lambda v: product(v, weights=32),
                "Each sum is 32 times too large: every lane still adds up the whole "
                "row.",
                "Let a lane begin at its own entry, and go on by 32.",
            ),
            Slip(
                lambda v: product(v, weights=np.minimum(places(v)[0], 31) + 1),
                "A lane begins at its own entry, but goes on to the next one. So "
                "entries are added by several lanes.",
                "The entry after that of lane 0 belongs to lane 1. Which one is lane "
                "0's next?",
            ),
        ),
        starter=(CheckFailed, "requests"),
        hints=(
            "Lane 0 takes entries 0, 32, 64 .. of the row; lane 1 takes 1, 33 ..",
            "Start at starts[row] + lane, and go on by 32.",
            "Five rounds of __shfl_xor_sync, with 16, 8, 4, 2 and 1, add up 32 sums.",
        ),
        mutants={
            "not_added": Mutant(
                mistake="The sums of the other lanes are forgotten.",
                edits=[("away = 16", "away = 0")],
                fails=(CheckFailed, "lane 0 alone"),
            ),
            "all": Mutant(
                mistake="Every lane takes the whole row.",
                edits=[("starts[row] + lane", "starts[row]"), ("k += 32", "k++")],
                fails=(CheckFailed, "32 times too large"),
            ),
        },
    ),
    Exercise(
        id="16.k",
        name="blocks",
        title="Blocks of 2 x 2",
        kernel="blocks_times_x",
        inputs=bsr,
        outputs=("y",),
        reference=of_blocks,
        sizes=(0, 2, 34, 256),
        picture=4,
        roundings=280,
        owner=None,
        slips=(
            Slip(
                lambda v: of_blocks(v, step=1),
                "columns[b] is taken for a column of A. It counts blocks.",
                "A block is two columns wide. Which column does block column 2 begin "
                "with?",
            ),
            Slip(
                lambda v: of_blocks(v, lambda values: values.swapaxes(1, 2)),
                "Each block is read by columns: its values lie row by row.",
                "values[4 * b + 1] stands right of values[4 * b], and values[4 * b + "
                "2] below.",
            ),
            Slip(
                lambda v: of_blocks(v, lambda values: values[:, [0, 0]]),
                "Both rows take the upper row of each block.",
                "row % 2 says whether a row is the lower one.",
            ),
            Slip(
                lambda v: of_blocks(
                    v, lambda values: values.sum(1, keepdims=True).repeat(2, 1)
                ),
                "Both rows take all four values of each block.",
                "A row of a block has two values, and row % 2 says which two.",
            ),
            Slip(
                lambda v: of_blocks(v, lambda values: values * [1, 0]),
                "Only the first column of each block is added.",
                "Two values of a block stand in this row: add two products.",
            ),
        ),
        starter=WRONG,
        hints=(
            "Block b has the values 4 b to 4 b + 3, row by row. Its first column is "
            "2 * columns[b].",
            "For j 0 and 1: values[4 * b + row % 2 * 2 + j] * x[2 * columns[b] + j].",
        ),
        mutants={
            "columns": Mutant(
                mistake="The columns of blocks are taken for columns of A.",
                edits=[("x[2 * columns[b] + j]", "x[columns[b] + j]")],
                fails=(CheckFailed, "It counts blocks"),
            ),
            "transposed": Mutant(
                mistake="A block is read by columns.",
                edits=[("row % 2 * 2 + j", "row % 2 + 2 * j")],
                fails=(CheckFailed, "read by columns"),
            ),
        },
    ),
    Exercise(
        id="16.l",
        name="path",
        title="Where is a cut?",
        kernel="rows_before_cuts",
        inputs=path,
        outputs=("passed",),
        reference=rows_passed,
        sizes=((1, 3), (33, 9), (255, 65)),
        picture=(4, 14),  # a cut after each step: each mistake shows
        launches=(
            lambda size: (cover(size[1], 64), 64),
            lambda size: (cover(size[1], 256), 256),
        ),
        owner=None,
        slips=(
            Slip(
                lambda v: rows_passed(v, lambda ends, row: ends),
                "Products are counted, and ends of rows are not.",
                "The end of a row is a step of the path, too. How many rows have ended"
                " there?",
            ),
            Slip(
                lambda v: rows_passed(v, lambda ends, row: ends + row),
                "The step that ends the row itself is not counted.",
                "Rows 0 to row have ended then. How many rows are that?",
            ),
            Slip(
                lambda v: rows_passed(v, lambda ends, row: ends + row + 2),
                "Each row ends a step too late.",
                "Rows 0 to row have ended then. How many rows are that?",
            ),
            Slip(
                lambda v: rows_passed(v, lambda ends, row: row + 1),
                "Ends of rows are counted, and products are not.",
                "How many products stand before the end of this row?",
            ),
        ),
        starter=WRONG,
        hints=(
            "ends[row] products stand before the end of the row.",
            "Rows 0 to row have ended then: row + 1 steps.",
        ),
        mutants={
            "products": Mutant(
                mistake="The steps of the rows are forgotten.",
                edits=[("ends[row] + row + 1", "ends[row]")],
                fails=(CheckFailed, "ends of rows are not"),
            ),
            "one_row": Mutant(
                mistake="The step that ends the row itself is forgotten.",
                edits=[("ends[row] + row + 1", "ends[row] + row")],
                fails=(CheckFailed, "the row itself is not counted"),
            ),
        },
    ),
    Exercise(
        id="16.3",
        name="spmm",
        title="Sparse times dense",
        stars=2,
        kernel="rows_times_X",
        inputs=spmm,
        outputs=("Y",),
        reference=of_columns,
        sizes=((1, 1), (33, 33), (65, 40)),
        picture=(4, 2),
        launches=(tiles_of(32, 8), tiles_of(16, 4)),
        roundings=140,
        owner=None,
        slips=(
            Slip(
                lambda v: of_columns(v, lambda column, j, width: column + j * len(v.X)),
                "X is read by columns. It lies row by row.",
                "Where does row columns[k] of X begin?",
            ),
            Slip(
                lambda v: of_columns(v, lambda column, j, width: column + j * width),
                "X is read by columns. It lies row by row.",
                "Where does row columns[k] of X begin?",
            ),
            Slip(
                lambda v: of_columns(
                    v, lambda column, j, width: column * width + 0 * j
                ),
                "Every column of Y is the first one: j is missing in the index of X.",
                "A thread computes Y[row][j]. Which column of X does it read?",
            ),
        ),
        starter=(CheckFailed, "never written"),
        hints=(
            "A thread computes Y[row][j]: the loop of 16.h, with X in place of x.",
            "Row columns[k] of X begins at columns[k] * width.",
            "sum += values[k] * X[columns[k] * width + j];",
        ),
        mutants={
            "one_column": Mutant(
                mistake="Every column of Y gets the first column of X.",
                edits=[("* width + j];\n    Y", "* width];\n    Y")],
                fails=(CheckFailed, "j is missing"),
            ),
            "no_guard": Mutant(
                mistake="Threads beyond the last row have no guard.",
                edits=[("row >= rows || j >= width", "j >= width")],
                fails=(OutOfBoundsError, "starts["),
            ),
            "by_columns": Mutant(
                mistake="X is read by columns.",
                edits=[("X[columns[k] * width + j]", "X[columns[k] + j * width]")],
                fails=(CheckFailed, "X is read by columns"),
            ),
        },
    ),
    HostExercise(
        id="16.4",
        name="pagerank",
        title="PageRank",
        stars=2,
        function="ranks",
        checks=(("the ranks of 40 pages", of_pages),),
        starter=(CheckFailed, "add up to"),
        hints=(
            "What do the pages without links hold? The product loses it.",
            "lost = rank[dangling].sum(); each page gets lost / n.",
            "rank = (1 - damping) / n + damping * (passed + lost / n)",
        ),
        mutants={
            "lost": Mutant(
                mistake="Surfers on pages without links get lost.",
                edits=[("(passed + lost / n)", "passed")],
                fails=(CheckFailed, "add up to"),
            ),
            "to_one": Mutant(
                mistake="Each page gets all that is lost.",
                edits=[("lost / n", "lost")],
                fails=(CheckFailed, "add up to"),
            ),
            "no_jump": Mutant(
                mistake="Nobody jumps.",
                edits=[
                    (
                        "(1 - damping) / n + damping * (passed + lost / n)",
                        "passed + lost / n",
                    )
                ],
                fails=(CheckFailed, "The rank of page"),
            ),
        },
    ),
)

GUESSES = {
    "sparse_iterations": Guess(
        question="A thread computes a row. In a warp 31 rows have 2 non-zeros. The "
        "last row has 5000. How many iterations of the loop does the warp execute?",
        options=("2", "158", "5000"),
        hint="A warp leaves the loop when its last lane does.",
        answer="5000",
        because="158 is the mean, but the lanes of a warp run together: 31 of them "
        "wait for the long row.",
    ),
    "sparse_steps": Guess(
        question="A matrix has 300 rows and 4800 non-zeros. How many steps does its "
        "merge path have?",
        options=("300", "4800", "5100"),
        hint="A step either multiplies a non-zero or ends a row.",
        answer="5100",
        because="Each non-zero is one step, and each row is one step more. An empty "
        "row is a step too, so that no thread gets many of them.",
    ),
    "sparse_gather": Guess(
        question="32 lanes read x at 32 random columns of a million. How many sectors "
        "does the warp load?",
        options=("4", "about 8", "about 32"),
        hint="A sector has 8 floats. How likely do two columns share one?",
        answer="about 32",
        because="Hardly two of 32 random columns stand in the same 8. Of each sector "
        "of 32 bytes the warp uses 4.",
    ),
    "sparse_again": Guess(
        question="Sorting a matrix takes as long as 40 products. After that a product "
        "takes half of its time. After how many products have you lost nothing?",
        hint="Each product saves half of a product.",
        answer=80,
        because="80 halves are 40 products. A solver that multiplies a thousand times "
        "gains, and a program that multiplies once loses.",
    ),
    "sparse_address": Guess(
        question="A program makes a CSR descriptor of cuSPARSE, then stores new "
        "numbers into the array of values, and multiplies. Which values does it use?",
        options=("the old ones", "the new ones"),
        hint="What does cusparseCreateCsr get: numbers, or an address?",
        answer="the new ones",
        because="A descriptor holds addresses and sizes. Nothing is copied when it is "
        "made.",
    ),
}
