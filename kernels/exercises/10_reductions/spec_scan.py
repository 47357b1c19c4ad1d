"""Chapter 10b: your turn 10.f to 10.j, and the guesses about counters and scans."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError, OutOfBoundsError
from coursekit.exercises import Exercise, Guess, Limit, Mutant, blank, shuffled

BINS = 256
LISTED = 16  # the rows of the table that a small problem is drawn with
SEGMENT = 32  # of all problems but the small one, whose segments have 4


def some_bytes(n, generator):
    """Return what the histograms take; the counters do not start at 0.

    A small problem has small bytes, whose counters its table lists.
    """
    return {
        "x": generator.integers(0, LISTED if n <= 8 else BINS, n).astype(np.uint8),
        "counts": np.arange(BINS, dtype=np.uint32),
        "n": n,
    }


def a_histogram(**fields):
    """Return a piece whose kernel counts bytes."""
    return Exercise(
        kernel="histogram",
        inputs=some_bytes,
        outputs=("counts",),
        accumulates=("counts",),
        reference=lambda v: v.counts + np.bincount(v.x, minlength=BINS),
        owner=None,
        **fields,
    )


def a_round(n, generator):
    """Return what the kernel of 10.h takes."""
    x = shuffled(n, generator, np.int32)
    return {"x": x, "out": blank(n, np.int32), "away": 4, "n": n}


def one_round(v):
    """Add what lies `away` places before, where there is something."""
    earlier = np.concatenate([np.zeros(v.away, np.int64), v.x])[: v.n]
    return v.x + earlier


def segments(n, generator):
    """Return what the kernel of 10.i takes: segments that are scanned, and totals."""
    x, segment = shuffled(n, generator, np.int32), 4 if n <= 8 else SEGMENT
    parts = [x[k : k + segment] for k in range(0, n, segment)]
    y = np.concatenate([np.cumsum(part) for part in parts] or [x]).astype(np.int32)
    totals = np.cumsum([part.sum() for part in parts] or [0]).astype(np.int32)
    return {"y": y, "totals": totals, "segment": segment, "n": n}


def joined(v):
    """Add to each segment the sum of all segments in front of it."""
    before = np.concatenate([[0], v.totals])
    return v.y + before[np.arange(v.n) // v.segment]


def tiles(n, generator):
    """Return what the kernel of 10.j takes: a third of the tiles know the whole sum."""
    own = shuffled(n, generator, np.int32)
    whole = (generator.random(n) < 1 / 3).astype(np.int32)
    whole[:1] = 1  # there is nothing before tile 0
    sums = np.where(whole == 1, np.cumsum(own), own).astype(np.int32)
    return {"sums": sums, "whole": whole, "before": blank(n, np.int32), "tiles": n}


def all_before(v):
    """Walk over the tiles and know the sum of all before each."""
    total, before = 0, np.zeros(v.tiles, np.int64)
    for t in range(v.tiles):
        before[t] = total
        total = v.sums[t] if v.whole[t] else total + v.sums[t]
    return before


EXERCISES = (
    a_histogram(
        id="10.f",
        name="private",
        title="Count in the counters of the block",
        launches=(lambda n: (2, 256), lambda n: (1, 64)),
        hints=(
            "Several threads may find the same byte at the same time, in shared "
            "memory as well. And who may read part before all have counted?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_barrier": Mutant(
                mistake="Counters are added up before all threads have counted.",
                edits=[("    __syncthreads();  // all have counted\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "not_atomic": Mutant(
                mistake="Two threads of the block read the same count, and one "
                "addition is lost.",
                edits=[("atomicAdd(&part[x[i]], 1u)", "part[x[i]] += 1u")],
                fails=(DataRaceError, "part["),
            ),
            "to_everybody": Mutant(
                mistake="The bytes are counted in the counters of all blocks.",
                edits=[("atomicAdd(&part[x[i]], 1u)", "atomicAdd(&counts[x[i]], 1u)")],
                fails=(CheckFailed, "global_atomic_requests is"),
            ),
        },
        limits=(
            Limit(
                counter="global_atomic_requests",
                size=4096,
                most=2 * 8,
                why="Each of the 2 blocks adds up 256 counters, 32 per request.",
            ),
        ),
    ),
    a_histogram(
        id="10.g",
        name="columns",
        title="Add up the columns without bank conflicts",
        sizes=(1, 33, 300),
        hints=(
            "The lanes of a warp have 32 neighbouring values of bin and the same k. "
            "In which bank is word 32 * bin + k?",
            "Any order of the 32 counters will do. Let lane l start with counter l.",
        ),
        starter=(CheckFailed, "shared_load_bank_conflicts is"),
        mutants={
            "past_the_row": Mutant(
                mistake="Each lane starts elsewhere, but does not return to the "
                "start of its row.",
                edits=[("(bin + k) % 32", "bin % 32 + k")],
                fails=(OutOfBoundsError, "part["),
            ),
            "across": Mutant(
                mistake="The sum runs over 32 values of one lane.",
                edits=[("32 * bin + (bin + k) % 32", "32 * k + bin % 32")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            Limit(
                counter="shared_load_bank_conflicts",
                size=256,
                most=0,
                why="32 lanes can read from 32 banks in every iteration.",
            ),
        ),
    ),
    Exercise(
        id="10.h",
        name="round",
        title="One round of a scan",
        kernel="scan_round",
        inputs=a_round,
        outputs=("out",),
        reference=one_round,
        hints=(
            "Which elements have nobody `away` places before them? They write too.",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "no_copy": Mutant(
                mistake="The first elements write nothing.",
                edits=[
                    (
                        "if (i < n)\n        out[i] = i >= away ? x[i] + x[i - away] "
                        ": x[i];",
                        "if (i < n && i >= away)\n        out[i] = x[i] + x[i - away];",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "before_the_start": Mutant(
                mistake="The first elements look for a partner before x[0].",
                edits=[("i >= away ? x[i] + x[i - away] : x[i]", "x[i] + x[i - away]")],
                fails=(OutOfBoundsError, "reads x[-"),
            ),
            "one_too_late": Mutant(
                mistake="The element at `away` has a partner, x[0], and misses it.",
                edits=[("i >= away", "i > away")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.i",
        name="totals",
        title="Add what lies in front of each segment",
        kernel="add_totals",
        inputs=segments,
        outputs=("y",),
        accumulates=("y",),
        reference=joined,
        hints=(
            "Element i lies in segment i / segment. In front of it lie the segments "
            "0 to i / segment - 1: which total is that, and which segment has none?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "own_too": Mutant(
                mistake="The total of the element's own segment is added as well.",
                edits=[("totals[i / segment - 1]", "totals[i / segment]")],
                fails=(CheckFailed, "wrong"),
            ),
            "first_too": Mutant(
                mistake="The first segment has nothing in front of it.",
                edits=[(" && i >= segment", "")],
                fails=(OutOfBoundsError, "totals["),
            ),
            "by_block": Mutant(
                mistake="A block is taken for a segment.",
                edits=[("i / segment - 1", "blockIdx.x")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="10.j",
        name="look_back",
        title="Look back for the sum in front of a tile",
        kernel="look_back",
        inputs=tiles,
        outputs=("before",),
        reference=all_before,
        hints=(
            "Start with tile - 1 and go down. Which sum is the last one that you add?",
            "Add sums[t] first, and then leave the loop if whole[t]: the sum of the "
            "tiles 0 to t is everything that is left.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "never_stops": Mutant(
                mistake="Sums of all are added to sums of all.",
                edits=[("        if (whole[t])\n            break;\n", "")],
                fails=(CheckFailed, "wrong"),
            ),
            "stops_before": Mutant(
                mistake="The search ends without the sum that ended it.",
                edits=[
                    ("        sum += sums[t];\n", ""),
                    (
                        "            break;\n",
                        "            break;\n        sum += sums[t];\n",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "itself": Mutant(
                mistake="The tile adds its own sum.",
                edits=[("int t = tile - 1", "int t = tile")],
                fails=(CheckFailed, "wrong"),
            ),
            "from_the_front": Mutant(
                mistake="The search begins with tile 0.",
                edits=[("int t = tile - 1; t >= 0; t--", "int t = 0; t < tile; t++")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)

GUESSES = {
    "counters_felt": Guess(
        question="On an H200, one counter per value and block takes 1.46 ms for 2^30 "
        "bytes. How long does the kernel take with a column per lane?",
        options=("1.46 ms", "0.73 ms", "0.25 ms"),
        hint="A thread asks for one byte, waits until it arrives, counts it, and asks "
        "for the next. Which of these did the columns shorten?",
        answer="1.46 ms",
        because="Both wait for memory: each thread has one byte on its way.",
    ),
    "sweeps_felt": Guess(
        question="The sweeps take 2,036 additions in place of 9,217. Which kernel is "
        "faster on an H200?",
        options=("the rounds", "the sweeps"),
        hint="With 4 apart, neighbouring threads read places 8 words apart. In how "
        "many banks do they lie?",
        answer="the rounds",
        because="The sweeps pay in bank conflicts and idle threads what they save in "
        "additions.",
    ),
    "three_kernels": Guess(
        question="x and y are large. How many bytes per element do the three kernels "
        "move together?",
        hint="The first kernel reads x and writes y. What does the third kernel do "
        "with nearly every element of y? The totals are few.",
        answer=16,
        because="The first kernel moves 8 bytes per element, and the third reads and "
        "writes y again. There is one total per 4096 elements.",
    ),
}
