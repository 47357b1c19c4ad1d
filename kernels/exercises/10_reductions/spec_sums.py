"""Chapter 10a: your turn 10.a to 10.e, and the guesses about sums."""

import numpy as np

from coursekit.errors import (
    CheckFailed,
    DataRaceError,
    OutOfBoundsError,
    UninitializedReadError,
)
from coursekit.exercises import (
    Exercise,
    Guess,
    Limit,
    Mutant,
    blocks,
    covering,
    shuffled,
)

START = 3.0  # what the total holds before
QUADS = (0, 4, 32, 36, 256, 1028)  # sizes, multiples of 4
MOST = 100  # instructions of a warp: about 15 with an element per thread


def one_total(n, generator):
    """Return what the sums take; the values are multiples of 1/4, so sums are exact."""
    return {
        "x": shuffled(n, generator),
        "total": np.full(1, START, np.float32),
        "n": n,
    }


def a_thread_per_quad(block):
    """Launch a thread for every four elements."""
    return lambda n: (blocks(n, 4 * block), block)


def one_block_more(block):
    """Launch one block that has no elements behind those that have."""
    return lambda n: (blocks(n, block) + 1, block)


def always(grid, block):
    """Launch the same grid for any size."""
    return lambda n: (grid, block)


def a_sum(**fields):
    """Return a piece whose kernel adds the sum of x to total[0]."""
    return Exercise(
        inputs=one_total,
        outputs=("total",),
        accumulates=("total",),
        reference=lambda v: v.total + v.x.sum(),
        owner=None,
        **fields,
    )


EXERCISES = (
    a_sum(
        id="10.a",
        name="atomic",
        title="Every thread adds to one total",
        kernel="sum_all",
        hints=(
            "`total[0] += x[i]` reads, adds and writes in three steps, and threads "
            "overtake each other in between. Which function of chapter 08 does the "
            "three in one? And which threads have no element?",
        ),
        starter=(CheckFailed, "wrong"),
        longest_warp=MOST,
        mutants={
            "one_thread": Mutant(
                mistake="One thread adds all elements.",
                edits=[
                    (
                        "    if (i < n)\n        atomicAdd(total, x[i]);",
                        "    if (i == 0)\n        for (; i < n; i++) total[0] += x[i];",
                    )
                ],
                fails=(CheckFailed, "one thread does the work of many"),
            ),
            "not_atomic": Mutant(
                mistake="Threads read the same total, and all additions but one "
                "are lost.",
                edits=[("atomicAdd(total, x[i])", "total[0] += x[i]")],
                fails=(DataRaceError, "total[0]"),
            ),
            "no_guard": Mutant(
                mistake="Spare threads read past the end.",
                edits=[("    if (i < n)\n    ", "")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
        },
    ),
    a_sum(
        id="10.b",
        name="tree",
        title="One round of the tree",
        kernel="sum_tree",
        launches=(covering(256), one_block_more(256)),
        hints=(
            "In the drawing, with 2 apart, places 0 and 4 add: the multiples of 4. "
            "Which places add with 1 apart, and which with 4?",
            "if (t % (2 * apart) == 0) lets these threads add sums[t + apart] to "
            "their own place. What must happen before the next round reads?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_barrier": Mutant(
                mistake="A round begins before the one before it is over.",
                edits=[
                    (
                        "        __syncthreads();  // the round is over before the "
                        "next begins\n",
                        "",
                    )
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "all_add": Mutant(
                mistake="Every thread adds, past the end and over its neighbours.",
                edits=[("if (t % (2 * apart) == 0)", "if (t + apart < THREADS)")],
                fails=(DataRaceError, "sums["),
            ),
            "multiples_of_apart": Mutant(
                mistake="Twice as many threads add as there are pairs.",
                edits=[("t % (2 * apart)", "t % apart")],
                fails=(OutOfBoundsError, "sums["),
            ),
        },
        limits=(
            Limit(
                counter="shared_load_requests",
                size=1024,
                most=4 * 95,
                why="A tree of 256 values has eight rounds, and few warps add in the "
                "last ones.",
            ),
        ),
    ),
    a_sum(
        id="10.c",
        name="two_levels",
        title="Warp 0 adds the sums of the warps",
        kernel="sum_warps",
        hints=(
            "Warp 0 reads what other warps have stored. What must stand before it?",
            "Lane w of warp 0 loads of_warp[w] if there is a warp w, otherwise 0, and "
            "then all its lanes call warp_sum.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_barrier": Mutant(
                mistake="Warp 0 reads before the other warps have stored.",
                edits=[
                    ("    __syncthreads();  // every warp has stored its sum\n", "")
                ],
                fails=(DataRaceError, "of_warp["),
            ),
            "all_lanes_load": Mutant(
                mistake="Lanes load sums of warps that do not exist.",
                edits=[("lane < blockDim.x / 32 ? of_warp[lane] : 0", "of_warp[lane]")],
                fails=(UninitializedReadError, "of_warp["),
            ),
            "only_eight": Mutant(
                mistake="The block is taken to have eight warps.",
                edits=[("lane < blockDim.x / 32", "lane < 8")],
                fails=(UninitializedReadError, "of_warp["),
            ),
            "one_thread": Mutant(
                mistake="Thread 0 adds the sums one after the other.",
                edits=[
                    (
                        "if (warp == 0)\n        own = warp_sum(lane < blockDim.x / 32 "
                        "? of_warp[lane] : 0);",
                        "if (threadIdx.x == 0)\n        for (int w = 1; w < "
                        "blockDim.x / 32; w++) own += of_warp[w];",
                    )
                ],
                fails=(CheckFailed, "shared_load_requests is"),
            ),
        },
        limits=(
            Limit(
                counter="shared_load_requests",
                size=1024,
                most=4,
                why="In each of the 4 blocks, the lanes of one warp load the sums of "
                "all warps in one request. Here one thread loads them one by one.",
            ),
            Limit(
                counter="global_atomic_requests",
                size=1024,
                most=4,
                why="Each of the 4 blocks adds to the total once.",
            ),
        ),
    ),
    a_sum(
        id="10.d",
        name="quads",
        title="Four values per load",
        kernel="sum_quads",
        sizes=QUADS,
        launches=(a_thread_per_quad(256), a_thread_per_quad(64)),
        hints=(
            "n counts floats. How many float4 are there? A thread beyond them has "
            "nothing to load, and still takes part in the shuffles.",
            "float4 q = quads[i]; loads 16 bytes, and q.x, q.y, q.z, q.w are the "
            "four values.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "guard_of_floats": Mutant(
                mistake="The guard counts floats, and the index counts float4.",
                edits=[("i < n / 4", "i < n")],
                fails=(OutOfBoundsError, "but x has"),
            ),
            "four_loads": Mutant(
                mistake="Four loads of 4 bytes: right, and four times the requests.",
                edits=[
                    ("float4 q = quads[i];", "const float *q = x + 4 * i;"),
                    ("(q.x + q.y) + (q.z + q.w)", "(q[0] + q[1]) + (q[2] + q[3])"),
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
            "three_of_four": Mutant(
                mistake="One of the four values is forgotten.",
                edits=[("(q.z + q.w)", "q.z")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_requests",
                size=1024,
                most=8,
                why="1024 values are 8 requests of 32 lanes with four values each.",
            ),
        ),
    ),
    a_sum(
        id="10.e",
        name="stay",
        title="A grid that stays",
        kernel="sum_stay",
        sizes=QUADS,
        launches=(always(2, 64), always(1, 32)),
        hints=(
            "Chapter 05 has a loop in which a thread jumps ahead by all threads of "
            "the grid. Does `own` keep what the iterations before have found?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "jumps_a_block": Mutant(
                mistake="The step is one block, so blocks add the same elements.",
                edits=[("gridDim.x * blockDim.x", "blockDim.x")],
                fails=(CheckFailed, "wrong"),
            ),
            "last_only": Mutant(
                mistake="Each iteration throws away the sum of the one before.",
                edits=[("own += (q.x", "own = (q.x")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_thread": Mutant(
                mistake="One thread goes over the whole array.",
                edits=[
                    (
                        "for (; i < n / 4; i += gridDim.x * blockDim.x)",
                        "for (; blockIdx.x + threadIdx.x == 0 && i < n / 4; i++)",
                    )
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_requests",
                size=1024,
                most=8,
                why="1024 values are 8 requests of 32 lanes with four values each.",
            ),
            Limit(
                counter="global_atomic_requests",
                size=1024,
                most=4,
                why="The grid has four warps, and each adds to the total once.",
            ),
        ),
    ),
)

GUESSES = {
    "queue": Guess(
        question="4096 elements, 16 blocks of 256 threads. The blocks run on as many "
        "SMs as they like. How many additions does the address of `total` serve one "
        "after the other?",
        options=(16, 128, 4096),
        hint="A warp sends one request, but its 32 lanes want to change one word.",
        answer=4096,
        because="All additions go to one word, and an address serves one at a time.",
    ),
    "rounds": Guess(
        question="A tree over 256 values: how many rounds?",
        hint="Each round halves the number of values that count.",
        answer=8,
        because="2^8 = 256.",
    ),
    "packed_banks": Guess(
        question="Step 3 with 4 apart: thread t reads `sums[8 * t]`. How many "
        "wavefronts does a full warp take?",
        options=(1, 4, 8, 32),
        hint="Word w lies in bank w % 32. How many different banks are 0, 8, 16, "
        "24, 32, ...?",
        answer=8,
        because="32 words lie in 4 banks, so each bank delivers 8 of them.",
    ),
    "felt": Guess(
        question="Steps 3 to 5 save divergence, bank conflicts and barriers. On an "
        "H200 the tree takes 0.490 ms for 2^26 floats. How long does step 5 take?",
        options=("0.49 ms", "0.25 ms", "0.07 ms"),
        hint="A saving shortens the time only where the kernel waits. How many "
        "additions queue up at the address of `total` in the tree, and how many in "
        "step 5?",
        answer="0.49 ms",
        because="Both have one atomic addition per block of 256 elements, and that "
        "queue takes longer than all else.",
    ),
    "sixteenth": Guess(
        question="In step 6 a block of 256 threads adds 4096 elements. By which factor "
        "does the queue at `total` get shorter?",
        hint="There is still one atomic addition per block.",
        answer=16,
        because="4096 / 256 = 16 times as many elements per block.",
    ),
    "stops_growing": Guess(
        question="A float32 total starts with 0. Add 1 to it 2^25 times, one after the "
        "other. What comes out?",
        options=("33,554,432", "16,777,216", "infinity"),
        hint="float32 keeps 24 binary digits. From which total on does 1 lie below "
        "the last of them?",
        answer="16,777,216",
        because="That is 2^24. There 1 is half a unit in the last place, and is "
        "rounded off.",
    ),
}
