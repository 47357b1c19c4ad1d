"""Exercises of chapter 17: tiles, patches, four at a time, and a claim about banks."""

import numpy as np

from coursekit.errors import (
    CheckFailed,
    DataRaceError,
    OutOfBoundsError,
    UninitializedReadError,
)
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled

SQUARE, SLAB = (32, 32, 32), (64, 64, 32)


def tiles(down, across, block, more=0):
    """Launch a block for each tile of C, and `more` beside them."""

    def launch(size):
        return (blocks(size[1], across) + more, blocks(size[0], down)), block

    return launch


def product(size, generator):
    """Return what the kernels of 17.2 and 17.3 take."""
    M, N, K = size
    return {
        "A": shuffled((M, K), generator),
        "B": shuffled((K, N), generator),
        "C": blank((M, N)),
        "M": M,
        "N": N,
        "K": K,
    }


def queries_and_keys(size, generator):
    """Return what the kernel of 17.1 takes."""
    M, N, D = size
    return {
        "Q": shuffled((M, D), generator),
        "K": shuffled((N, D), generator),
        "S": blank((M, N)),
        "M": M,
        "N": N,
        "D": D,
    }


def panel(size, generator):
    """Return what the kernel of 17.4 takes."""
    M, K = size
    return {"A": shuffled(size, generator), "out": blank((K, M)), "M": M, "K": K}


def panels(more=0):
    """Launch a block of 256 threads for each 128 rows and 8 columns of A."""

    def launch(size):
        return (blocks(size[0], 128) + more, blocks(size[1], 8) + more), 256

    return launch


def at_most(counter, most, size, why):
    """Return a limit on a counter."""
    return Limit(counter=counter, size=size, most=most, why=why)


EXERCISES = (
    Exercise(
        id="17.1",
        name="scores",
        title="Tiles: the scores of attention",
        stars=2,
        kernel="scores",
        inputs=queries_and_keys,
        outputs=("S",),
        sizes=((1, 1, 1), (17, 15, 24), (20, 35, 17)),
        picture=(2, 4, 3),
        launches=(tiles(16, 16, (16, 16)), tiles(16, 16, (16, 16), 1)),
        reference=lambda v: v.Q @ v.K.T,
        roundings=lambda size: size[2],
        owner=None,
        hints=(
            "It is step 3 of the ladder, with a second matrix that is read by rows, "
            "as the first one is. Both tiles are copied in the same way.",
            "Thread (x, y) copies Q[i0 + y][d0 + x] and K[j0 + y][d0 + x], and 0 past "
            "an edge. Then it multiplies q_tile[y][d] by k_tile[x][d]. In which banks "
            "do the lanes x find k_tile[x][d], if a row has 16 places?",
            "__shared__ float q_tile[16][17], k_tile[16][17]; in a loop over d0 in "
            "steps of 16: fill both, __syncthreads(), 16 multiply-adds, "
            "__syncthreads(). Behind it the guarded store of sum.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "no_first_barrier": Mutant(
                mistake="The tiles are read before they are complete.",
                edits=[("        __syncthreads();  // the tiles are complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "no_second_barrier": Mutant(
                mistake="Tiles are replaced while others still read them.",
                edits=[("        __syncthreads();  // all have read the tiles\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "unpadded": Mutant(
                mistake="A row of the tiles has 16 places.",
                edits=[("[17], k_tile[16][17]", "[16], k_tile[16][16]")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "turned_by_storing": Mutant(
                mistake="K is turned around while it is stored: the lanes meet in two "
                "banks.",
                edits=[
                    ("[17], k_tile[16][17]", "[16], k_tile[16][16]"),
                    ("k_tile[y][x]", "k_tile[x][y]"),
                    ("k_tile[x][d]", "k_tile[d][x]"),
                ],
                fails=(CheckFailed, "shared_store_bank_conflicts is"),
            ),
            "tile_not_turned": Mutant(
                mistake="It reads K's tile as if it were that of a matrix of D rows.",
                edits=[("k_tile[x][d]", "k_tile[d][x]")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_zeros": Mutant(
                mistake="What hangs over the edge keeps old values.",
                edits=[
                    (
                        "q_tile[y][x] = in_q ? Q[i * D + d0 + x] : 0.0f;\n"
                        "        k_tile[y][x] = in_k ? K[(j0 + y) * D + d0 + x] "
                        ": 0.0f;",
                        "if (in_q)\n"
                        "            q_tile[y][x] = Q[i * D + d0 + x];\n"
                        "        if (in_k)\n"
                        "            k_tile[y][x] = K[(j0 + y) * D + d0 + x];",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "no_guard": Mutant(
                mistake="It copies past the end of the vectors.",
                edits=[
                    ("bool in_q = i < M && d0 + x < D;", "bool in_q = i < M;"),
                    ("N && d0 + x < D", "N"),
                ],
                fails=(OutOfBoundsError, "reads"),
            ),
            "leaves_early": Mutant(
                mistake="Threads without a result leave, and do not copy.",
                edits=[
                    (
                        "float sum = 0.0f;",
                        "if (i >= M || j0 + x >= N)\n"
                        "        return;\n"
                        "    float sum = 0.0f;",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
        },
        limits=(
            at_most(
                "global_load_sectors",
                512,
                SQUARE,
                "4 blocks bring 2 pairs of tiles each, of 2 * 16 rows of 2 sectors.",
            ),
            at_most(
                "shared_load_bank_conflicts",
                0,
                SQUARE,
                "Each row can begin one bank further than the row before it.",
            ),
            at_most(
                "shared_store_bank_conflicts",
                128,
                SQUARE,
                "4 blocks store 2 pairs of tiles, 16 times each: where rows have 17 "
                "places, two lanes meet.",
            ),
        ),
    ),
    Exercise(
        id="17.2",
        name="patches",
        title="Patches: sixteen results per thread, in registers",
        stars=3,
        kernel="patches",
        inputs=product,
        outputs=("C",),
        # Two blocks in the second, two tiles in the last, which the checkers run.
        sizes=((1, 1, 16), (3, 66, 16), (33, 50, 32)),
        picture=(2, 4, 16),
        launches=(tiles(64, 64, (16, 16)), tiles(64, 64, (16, 16), 1)),
        reference=lambda v: v.A @ v.B,
        roundings=lambda size: size[2],
        owner=None,
        hints=(
            "Turn the loops around: k0 outside, the results inside. Then a pair of "
            "tiles, 64 x 16 of A and 16 x 64 of B, is there for all 16 results, "
            "which wait in float sum[4][4].",
            "Thread (x, y) keeps rows y, y + 16, y + 32, y + 48 and columns x, x + 16, "
            "x + 32, x + 48 of the tile. It copies four values of A and four of B "
            "for each pair of tiles.",
            "sum[i][j] += a_tile[y + 16 * i][k] * b_tile[k][x + 16 * j]; with "
            "constant bounds on i and j the compiler reads four values of each "
            "tile for 16 multiply-adds, and keeps sum in registers.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "no_first_barrier": Mutant(
                mistake="The tiles are read before they are complete.",
                edits=[("        __syncthreads();  // the tiles are complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "no_second_barrier": Mutant(
                mistake="Tiles are replaced while others still read them.",
                edits=[("        __syncthreads();  // all have read the tiles\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "rows_and_columns_swapped": Mutant(
                mistake="The patch is stored transposed.",
                edits=[(" = sum[n];", "\n                = sum[n % 4 * 4 + n / 4];")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_tile_only": Mutant(
                mistake="The patch is cleared for each pair of tiles.",
                edits=[
                    ("float sum[16] = {};", "float sum[16];"),
                    (
                        "for (int i = 0; i < 64; i += 16) {",
                        "for (int n = 0; n < 16; n++)\n"
                        "            sum[n] = 0.0f;\n"
                        "        for (int i = 0; i < 64; i += 16) {",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "wrong_stride": Mutant(
                mistake="A row of B is taken to have K elements.",
                edits=[("(k0 + y) * N", "(k0 + y) * K")],
                fails=(OutOfBoundsError, "reads B["),
            ),
            "no_guard": Mutant(
                mistake="The lower edge of A is not guarded.",
                edits=[
                    (
                        "row + i < M ? A[(row + i) * K + k0 + x] : 0",
                        "A[(row + i) * K + k0 + x]",
                    )
                ],
                fails=(OutOfBoundsError, "reads"),
            ),
            "patch_of_neighbours": Mutant(
                mistake="It reads side by side what it stores 16 apart.",
                edits=[("b_tile[k][x + n % 4 * 16]", "b_tile[k][4 * x + n % 4]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            at_most(
                "global_load_sectors",
                512,
                SLAB,
                "A tile of 64 x 64 needs 64 rows of A and 64 columns of B, once.",
            ),
            at_most(
                "shared_load_requests",
                2048,
                SLAB,
                "Eight values are enough for 16 multiply-adds.",
            ),
        ),
    ),
    Exercise(
        id="17.3",
        name="row_of_four",
        title="Four at a time: float4 from end to end",
        stars=2,
        kernel="row_of_four",
        inputs=product,
        outputs=("C",),
        sizes=((1, 4, 1), (17, 68, 17), (20, 36, 5)),
        picture=(2, 4, 3),
        launches=(tiles(16, 64, (16, 16)), tiles(16, 64, (16, 16), 1)),
        reference=lambda v: v.A @ v.B,
        roundings=lambda size: size[2],
        owner=None,
        hints=(
            "A float4 holds four neighbours, so a thread has to own four columns side "
            "by side: which is the first one of thread x?",
            "col = blockIdx.x * 64 + 4 * x. Let b_tile be float4 b_tile[16][16]. One "
            "guard serves all four, since N is a multiple of 4.",
            "b_tile[y][x] = in_b ? *(const float4 *)(B + (k0 + y) * N + col) : zero; "
            "float4 b = b_tile[k][x]; and in the end *(float4 *)(C + row * N + col) = "
            "sum, with float4 sum = {}, zero = {}.",
        ),
        starter=(CheckFailed, "global_load_requests is"),
        mutants={
            "columns_overlap": Mutant(
                mistake="Neighbours begin one column apart.",
                edits=[("* 64 + 4 * x", "* 64 + x")],
                fails=(OutOfBoundsError, "misaligned"),
            ),
            "only_loads": Mutant(
                mistake="It stores one value at a time.",
                edits=[
                    (
                        "*(float4 *)(C + row * N + col) = sum;",
                        "for (int j = 0; j < 4; j++)\n"
                        "            C[row * N + col + j] = (&sum.x)[j];",
                    )
                ],
                fails=(CheckFailed, "global_store_requests is"),
            ),
            "no_second_barrier": Mutant(
                mistake="Tiles are replaced while others still read them.",
                edits=[("        __syncthreads();  // all have read the tiles\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "guard_of_the_last": Mutant(
                mistake="It leaves the last four columns out.",
                edits=[("if (row < M && col < N)", "if (row < M && col + 4 < N)")],
                fails=(CheckFailed, "never written"),
            ),
            "no_guard": Mutant(
                mistake="It reads past the last row of B.",
                edits=[("k0 + y < K && col", "col")],
                fails=(OutOfBoundsError, "reads B["),
            ),
            "wrong_order": Mutant(
                mistake="Two of the four change places.",
                edits=[
                    ("a_tile[y][k] * b.y", "a_tile[y][k] * b.z"),
                    ("a_tile[y][k] * b.z,", "a_tile[y][k] * b.y,"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            at_most(
                "global_load_requests",
                128,
                SLAB,
                "4 blocks bring 2 pairs of tiles each: 8 requests for A and 8 for B.",
            ),
            at_most(
                "global_store_requests",
                32,
                SLAB,
                "4096 values, of which a warp stores 128 at a time.",
            ),
        ),
    ),
    Exercise(
        id="17.4",
        name="pack",
        title="A claim about banks: who conflicts, and how far to pad",
        stars=2,
        kernel="pack",
        inputs=panel,
        outputs=("out",),
        sizes=((4, 4), (132, 12), (64, 20)),
        picture=(4, 4),
        launches=(panels(), panels(1)),
        reference=lambda v: np.ascontiguousarray(v.A.T),
        owner=None,
        hints=(
            "Reading takes no more turns than it must. What about storing? Lanes 0 "
            "and 1 store rows k = 0 and k = 4 of the tile, at the same place in the "
            "row. How many words apart?",
            "4 * 128 words: the same bank. 16 pairs of lanes store 16 places side by "
            "side, twice; the second 16 should begin 16 banks further. Four rows "
            "have to be 16 more than a multiple of 32.",
            "4 * p = 16 modulo 32 holds for p = 132, which keeps every fourth place a "
            "multiple of 16 bytes too. 129 would not: a float4 could not be read.",
        ),
        starter=(CheckFailed, "shared_store_bank_conflicts is"),
        mutants={
            "one_more": Mutant(
                mistake="A row of 129 places, which float4 cannot begin in.",
                edits=[("tile[8][132]", "tile[8][129]")],
                fails=(OutOfBoundsError, "misaligned"),
            ),
            "eight_more": Mutant(
                mistake="Four rows further is the same bank again.",
                edits=[("tile[8][132]", "tile[8][136]")],
                fails=(CheckFailed, "shared_store_bank_conflicts is"),
            ),
            "more_rows": Mutant(
                mistake="It pads the wrong index.",
                edits=[("tile[8][132]", "tile[12][128]")],
                fails=(CheckFailed, "shared_store_bank_conflicts is"),
            ),
            "lanes_down_the_rows": Mutant(
                mistake="Lanes take a row each: nothing conflicts, but every sector "
                "comes twice.",
                edits=[
                    ("tile[8][132]", "tile[8][128]"),
                    ("/ 2, k = threadIdx.x % 2", "% 128, k = threadIdx.x / 128"),
                ],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "no_barrier": Mutant(
                mistake="Nobody waits for the tile.",
                edits=[("    __syncthreads();  // the tile is complete\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "other_way_round": Mutant(
                mistake="The four values are stored in reverse.",
                edits=[("(&a.x)[i];", "(&a.x)[3 - i];")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="It reads past the last row.",
                edits=[("if (row0 + row < M && k0 + k < K) {", "if (k0 + k < K) {")],
                fails=(OutOfBoundsError, "reads A["),
            ),
            "wrong_length": Mutant(
                mistake="Rows of the target are taken to have K elements.",
                edits=[("M + row0 + row", "K + row0 + row")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            at_most(
                "shared_store_bank_conflicts",
                0,
                (128, 8),
                "32 lanes can store to 32 different banks.",
            ),
            at_most(
                "shared_load_bank_conflicts",
                0,
                (128, 8),
                "Lanes that read side by side ask every bank once a turn.",
            ),
            at_most(
                "global_load_sectors",
                128,
                (128, 8),
                "128 rows of 8 values: a sector each, of which two lanes take halves.",
            ),
        ),
    ),
)
