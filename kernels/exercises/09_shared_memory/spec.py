"""Exercises of chapter 09: padding, channels last, a swizzle, in place, a halo."""

import numpy as np

from coursekit.errors import (
    CheckFailed,
    DataRaceError,
    OutOfBoundsError,
    UninitializedReadError,
)
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled

RADIUS = 24
MATRICES = ((1, 1), (31, 65), (32, 32), (33, 7), (64, 40))
SQUARE = (64, 64)  # 4096 floats: 512 sectors, 128 requests of a warp


def at_most(counter, most, why, size=SQUARE):
    """Return a limit on a counter."""
    return Limit(counter=counter, size=size, most=most, why=why)


ONCE = "All values together fill {most} sectors, and no sector is needed twice."


def whole_sectors(size=SQUARE, most=512, why=ONCE):
    """Return limits that only accesses along rows of global memory keep."""
    why = why.format(most=most)
    return tuple(
        at_most(f"global_{access}_sectors", most, why, size)
        for access in ("load", "store")
    )


def no_conflicts(size=SQUARE):
    """Return limits that only a tile without bank conflicts keeps."""
    why = "32 lanes can ask 32 different banks, in both directions."
    return tuple(
        at_most(f"shared_{access}_bank_conflicts", 0, why, size)
        for access in ("load", "store")
    )


def tiles(side, threads_down, shared_bytes=0):
    """Launch blocks of side x threads_down threads, one for each square tile."""

    def launch(size):
        rows, cols = size if isinstance(size, tuple) else (size, size)
        grid = (blocks(cols, side), blocks(rows, side))
        return grid, (side, threads_down), shared_bytes

    return launch


def matrix(size, generator):
    """Return what the kernels of 09.1 and 09.3 take: a matrix and its target."""
    rows, cols = size
    x = shuffled(size, generator)
    return {"x": x, "out": blank((cols, rows)), "rows": rows, "cols": cols}


def images(size, generator):
    """Return what the kernel of 09.2 takes."""
    count, channels, pixels = size
    out = blank((count, pixels, channels))
    return {"x": shuffled(size, generator), "out": out, "C": channels, "HW": pixels}


def image_tiles(threads_down):
    """Launch a block for each 32 x 32 tile of each image."""

    def launch(size):
        count, channels, pixels = size
        return (blocks(pixels, 32), blocks(channels, 32), count), (32, threads_down)

    return launch


def square(n, generator):
    """Return what the kernel of 09.4 takes."""
    return {"x": shuffled((n, n), generator), "n": n}


def a_row(n, generator):
    """Return what the kernel of 09.5 takes."""
    return {"a": shuffled(n, generator), "out": blank(n), "n": n, "radius": RADIUS}


def with_halo(threads):
    """Launch blocks with shared memory for their elements and a halo."""
    return lambda n: (blocks(n, threads), threads, 4 * (threads + 2 * RADIUS))


def sums_around(v):
    """Return the sum of each element and RADIUS neighbours on either side."""
    before = np.append(0, np.cumsum(np.pad(v.a, v.radius)))
    return before[2 * v.radius + 1 :][: v.n] - before[: v.n]


EXERCISES = (
    Exercise(
        id="09.1",
        name="pad",
        title="Pad a tile: a quarter turn without conflicts",
        stars=1,
        kernel="quarter_turn",
        inputs=matrix,
        outputs=("out",),
        sizes=MATRICES,
        launches=(tiles(32, 8), tiles(32, 16)),
        reference=lambda v: np.rot90(v.x, -1),
        owner=None,
        hints=(
            "When the tile is read, the lanes of a warp differ in the first index. "
            "How many words apart are their places, and what is that modulo 32?",
            "Make the rows one bank longer, so that each begins one bank further. "
            "Which of the two 32 is the length of a row?",
            "__shared__ float tile[32][33]; and no other line changes.",
        ),
        starter=(CheckFailed, "shared_load_bank_conflicts is"),
        mutants={
            "one_more_row": Mutant(
                mistake="The tile has a row to spare where a column is needed.",
                edits=[("tile[32][33]", "tile[33][32]")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "two_columns": Mutant(
                mistake="Two columns to spare put a column into 16 banks only.",
                edits=[("tile[32][33]", "tile[32][34]")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the tile.",
                edits=[("    __syncthreads();  // the tile is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barrier_of_a_warp": Mutant(
                mistake="Each warp waits for itself only.",
                edits=[("__syncthreads();  // the tile is complete", "__syncwarp();")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "guards_swapped": Mutant(
                mistake="Rows and columns are mixed up in the second guard.",
                edits=[("rows && left + down < cols", "cols && left + down < rows")],
                fails=(OutOfBoundsError, "writes out["),
            ),
            "not_turned": Mutant(
                mistake="It is transposed, and not turned.",
                edits=[("rows - 1 - top -", "top +")],
                fails=(CheckFailed, "wrong"),
            ),
            "other_way_round": Mutant(
                mistake="It is turned to the left.",
                edits=[
                    (
                        "out[(left + down) * rows + rows - 1 - top - lane]",
                        "out[(cols - 1 - left - down) * rows + top + lane]",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(*whole_sectors(), *no_conflicts()),
    ),
    Exercise(
        id="09.2",
        name="channels_last",
        title="Channels last, in whole sectors",
        stars=2,
        kernel="channels_last",
        inputs=images,
        outputs=("out",),
        sizes=((1, 1, 1), (2, 3, 35), (2, 33, 40), (3, 64, 31)),
        launches=(image_tiles(8), image_tiles(16)),
        reference=lambda v: v.x.transpose(0, 2, 1),
        owner=None,
        hints=(
            "For each image it is a transpose: a row for each channel comes in, a "
            "row for each pixel goes out. Put 32 x 32 values into a tile between "
            "the two.",
            "Behind the barrier the threads change their roles: threadIdx.x now "
            "counts channels, and the loop goes over pixels. So both guards are new.",
            "Declare __shared__ float tile[32][33]; store to tile[down][threadIdx.x]; "
            "__syncthreads(); then, with channel = blockIdx.y * 32 + threadIdx.x and "
            "pixel = blockIdx.x * 32 + down, out[image + pixel * C + channel] = "
            "tile[threadIdx.x][down].",
        ),
        starter=(CheckFailed, "global_store_sectors is"),
        mutants={
            "image_forgotten": Mutant(
                mistake="All images are the first one.",
                edits=[("int image = blockIdx.z * C * HW;", "int image = 0;")],
                fails=(CheckFailed, "never written"),
            ),
            "unpadded": Mutant(
                mistake="A column of the tile lies in one bank.",
                edits=[("tile[32][33]", "tile[32][32]")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the tile.",
                edits=[("    __syncthreads();  // the tile is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "rows_for_columns": Mutant(
                mistake="The tile is read as it was written.",
                edits=[("tile[threadIdx.x][down]", "tile[down][threadIdx.x]")],
                fails=(CheckFailed, "wrong"),
            ),
            "same_guard": Mutant(
                mistake="The second guard is the one of the first loop.",
                edits=[
                    (
                        "if (pixel < HW && channel < C)\n"
                        "            out[image + pixel * C + channel] "
                        "= tile[threadIdx.x][down];",
                        "if (blockIdx.x * 32 + threadIdx.x < HW\n"
                        "            && blockIdx.y * 32 + down < C)\n"
                        "            out[image + pixel * C + channel] "
                        "= tile[threadIdx.x][down];",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "order_of_the_input": Mutant(
                mistake="The result is stored in the order of the input.",
                edits=[("pixel * C + channel", "channel * HW + pixel")],
                fails=(CheckFailed, "wrong"),
            ),
            "without_a_tile": Mutant(
                mistake="The lanes write to 32 pixels still, by way of a register.",
                edits=[
                    (
                        "tile[down][threadIdx.x] = x[image + channel * HW + pixel];",
                        "out[image + pixel * C + channel]\n"
                        "                = x[image + channel * HW + pixel];",
                    ),
                    (
                        "out[image + pixel * C + channel] = tile[threadIdx.x][down]",
                        "tile[threadIdx.x][down] = 0.0f",
                    ),
                ],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
        },
        limits=(*whole_sectors((2, 64, 64), 1024), *no_conflicts((2, 64, 64))),
    ),
    Exercise(
        id="09.3",
        name="swizzle",
        title="A swizzle: both directions, and not one word to spare",
        stars=3,
        kernel="transpose_16",
        inputs=matrix,
        outputs=("out",),
        sizes=MATRICES,
        launches=(tiles(16, 16, 1024), tiles(16, 8, 1024)),
        reference=lambda v: v.x.T,
        owner=None,
        hints=(
            "A warp is two rows of 16 threads. Stored, its 32 words lie side by "
            "side. Read, 16 rows are asked for two neighbouring words each, and "
            "rows 0, 2, 4, ... begin in the same bank.",
            "Let each row keep its 16 values in an order of its own, so that column "
            "c lies at another place in each row. Storing and reading must agree on "
            "the place.",
            "Value (row, col) lies at 16 * row + (col ^ row). Stored, row is `down` "
            "and col is `across`; read, it is the other way round.",
        ),
        starter=(CheckFailed, "shared_load_bank_conflicts is"),
        mutants={
            "padded": Mutant(
                mistake="A column to spare, for which there is no room.",
                edits=[
                    ("[16 * down + (across ^ down)]", "[17 * down + across]"),
                    ("[16 * across + (down ^ across)]", "[17 * across + down]"),
                ],
                fails=(OutOfBoundsError, "tile["),
            ),
            "only_stored": Mutant(
                mistake="It is stored in another order, and read in the old one.",
                edits=[("(down ^ across)", "down")],
                fails=(CheckFailed, "wrong"),
            ),
            "only_read": Mutant(
                mistake="It is read in another order than it was stored.",
                edits=[("(across ^ down)", "across")],
                fails=(CheckFailed, "wrong"),
            ),
            "half_the_row": Mutant(
                mistake="Rows 0 and 1 share an order, and so do 2 and 3.",
                edits=[
                    ("across ^ down", "across ^ down / 2"),
                    ("down ^ across", "down ^ across / 2"),
                ],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "eight_orders": Mutant(
                mistake="Rows 0 and 8 share an order, and so do 1 and 9.",
                edits=[
                    ("across ^ down", "across ^ down % 8"),
                    ("down ^ across", "down ^ across % 8"),
                ],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the tile.",
                edits=[("    __syncthreads();  // the tile is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "doubled": Mutant(
                mistake="Twice the row leads out of the row.",
                edits=[
                    ("across ^ down", "across ^ 2 * down"),
                    ("down ^ across", "down ^ 2 * across"),
                ],
                fails=(OutOfBoundsError, "tile["),
            ),
        },
        limits=(*whole_sectors(), *no_conflicts()),
    ),
    Exercise(
        id="09.4",
        name="in_place",
        title="In place: two tiles change places",
        stars=3,
        kernel="transpose_in_place",
        inputs=square,
        outputs=("x",),
        accumulates=("x",),
        sizes=(0, 1, 31, 32, 33, 65),
        picture=3,
        launches=(tiles(32, 8), tiles(32, 16)),
        reference=lambda v: v.x.T,
        owner=None,
        hints=(
            "Block (a, b) and block (b, a) want each other's tiles, and no barrier "
            "reaches from block to block. Let one block of each pair do the work of "
            "both.",
            "Blocks with blockIdx.x > blockIdx.y leave at once. The others read two "
            "tiles into shared memory, the one at (top, left) and the one at (left, "
            "top), wait, and write each to where the other one was.",
            "if (top + down < n && left + lane < n) here[down][lane] = x[(top + down) "
            "* n + left + lane]; the same with top and left swapped for there; behind "
            "the barrier x[(top + down) * n + left + lane] = there[lane][down], and "
            "swapped again for here. Pad both tiles.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "both_blocks": Mutant(
                mistake="Both blocks of a pair move both tiles.",
                edits=[
                    (
                        "    if (blockIdx.x > blockIdx.y)\n"
                        "        return;  // the other block of the pair moves both "
                        "tiles\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the tiles.",
                edits=[("    __syncthreads();  // both tiles are complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "diagonal_left_out": Mutant(
                mistake="The tiles on the diagonal stay as they are.",
                edits=[("blockIdx.x >", "blockIdx.x >=")],
                fails=(CheckFailed, "wrong"),
            ),
            "tiles_not_turned": Mutant(
                mistake="The tiles change places, and are not turned.",
                edits=[
                    ("there[lane][down]", "there[down][lane]"),
                    ("= here[lane][down]", "= here[down][lane]"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "one_way": Mutant(
                mistake="One tile of the pair is moved, the other one is not.",
                edits=[
                    (
                        "x[(left + down) * n + top + lane] = here[lane][down]",
                        "here[lane][down] = 0.0f",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "unpadded": Mutant(
                mistake="A column of a tile lies in one bank.",
                edits=[("[33], there[32][33]", "[32], there[32][32]")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "no_guard": Mutant(
                mistake="The last tiles reach out of the square.",
                edits=[
                    (
                        "if (left + down < n && top + lane < n)\n"
                        "            there[down][lane] = x[(left + down) * n + top "
                        "+ lane];",
                        "if (left + down < n)\n"
                        "            there[down][lane] = x[(left + down) * n + top "
                        "+ lane];",
                    )
                ],
                fails=(OutOfBoundsError, "reads x["),
            ),
        },
        limits=(
            *whole_sectors(
                64,
                768,
                "The square fills 512 sectors, half of them in its two tiles on the "
                "diagonal, which may be moved twice.",
            ),
            *no_conflicts(64),
        ),
    ),
    Exercise(
        id="09.5",
        name="moving_sums",
        title="Moving sums: a tile with a halo, as large as the launch says",
        stars=2,
        kernel="moving_sums",
        inputs=a_row,
        outputs=("out",),
        launches=(with_halo(256), with_halo(64)),
        reference=sums_around,
        roundings=2 * RADIUS + 1,
        owner=None,
        hints=(
            "The threads of a block need its own elements, `radius` more on the left "
            "and `radius` more on the right. extern __shared__ float tile[]; gives "
            "you room for all of them.",
            "There are more places than threads, so fill the tile in a loop, in steps "
            "of blockDim.x. Place t holds element blockIdx.x * blockDim.x - radius + "
            "t, or 0 if there is no such element. Then all wait.",
            "for (int t = threadIdx.x; t < blockDim.x + 2 * radius; t += blockDim.x) "
            "fills; __syncthreads(); then the sum of thread threadIdx.x goes over "
            "tile[threadIdx.x] to tile[threadIdx.x + 2 * radius].",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "no_barrier": Mutant(
                mistake="Nobody waits for the tile.",
                edits=[("    __syncthreads();  // the tile is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "no_right_halo": Mutant(
                mistake="The halo on the right is left out.",
                edits=[("= blockDim.x + 2 * radius", "= blockDim.x + radius")],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "one_turn": Mutant(
                mistake="Each thread brings one element, which is not enough.",
                edits=[
                    (
                        "for (int t = threadIdx.x; t < wide; t += blockDim.x) {",
                        "int t = threadIdx.x;\n    if (t < wide) {",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "leaves_early": Mutant(
                mistake="Threads without an element leave, and bring none to the tile.",
                edits=[
                    (
                        "int begin = blockIdx.x * blockDim.x - radius;",
                        "if (blockIdx.x * blockDim.x + threadIdx.x >= n)\n"
                        "        return;\n"
                        "    int begin = blockIdx.x * blockDim.x - radius;",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "nothing_outside": Mutant(
                mistake="Places beyond the ends are not set to 0.",
                edits=[
                    (
                        "tile[t] = 0 <= k && k < n ? a[k] : 0.0f;",
                        "if (0 <= k && k < n)\n            tile[t] = a[k];",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "one_short": Mutant(
                mistake="The sum ends one element early.",
                edits=[("t <= threadIdx", "t < threadIdx")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_too_many": Mutant(
                mistake="The sum takes one element too many.",
                edits=[("radius; t++", "radius + 1; t++")],
                fails=(OutOfBoundsError, "tile["),
            ),
            "no_guard": Mutant(
                mistake="The elements before the first are read.",
                edits=[("0 <= k && k", "k")],
                fails=(OutOfBoundsError, "reads a[-"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_sectors",
                size=4096,
                most=16 * 38,
                why="16 blocks need 256 + 48 floats each, which are 38 sectors.",
            ),
        ),
    ),
)
