"""Exercises of chapter 08: barriers, an atomic, a fence, a lock, a histogram."""

import numpy as np

from coursekit.errors import (
    BarrierError,
    CheckFailed,
    DataRaceError,
    UninitializedReadError,
)
from coursekit.exercises import Exercise, Limit, Mutant, Wait, blank, blocks, shuffled

LEAST = np.float32(-3e38)
BINS = 64
# At size 4096 the first launch has 16 blocks, and each hands over 64 counters:
# two requests of a warp. One request for each warp of pixels would be 128.
PRIVATE = Limit(
    counter="global_atomic_requests",
    size=4096,
    most=2 * 16,
    why="16 blocks count for themselves and hand over 64 counters each, 32 at a time.",
)


def one_block(n):
    """Launch a single block, with threads to spare."""
    return 1, 32 * (n // 32 + 1)


def largest_block(n):
    """Launch a single block, as large as they come."""
    return 1, 1024


def in_place(n, generator):
    """Return what the kernel of 08.1 takes."""
    return {"x": shuffled(n, generator), "n": n}


def below_zero(n, generator):
    """Return what the kernel of 08.2 takes: only negative values."""
    x = shuffled(n, generator) - np.float32(n)
    return {"x": x, "best": np.full(1, LEAST), "n": n}


def largest(v):
    """Return the largest value, or what was there before."""
    return np.array([max([v.best[0], *v.x])])


def tickets(n, generator):
    """Return what the kernel of 08.3 takes: only negative values."""
    return {
        "x": shuffled(n, generator) - np.float32(n),
        "parts": blank(blocks(n, 64)),
        "tickets": np.zeros(1, np.uint32),
        "most": blank(1),
        "n": n,
    }


def parts_and_all(v):
    """Return the largest of each 64 elements, how many there are, and the largest."""
    padded = np.pad(v.x, (0, -len(v.x) % 64), constant_values=-np.inf)
    parts = padded.reshape(-1, 64).max(axis=1)
    return {
        "parts": parts,
        "tickets": np.array([len(parts)]),
        "most": parts.max(keepdims=True),
    }


def lock_and_pair(n, generator):
    """Return what the kernel of 08.4 takes."""
    return {
        "x": shuffled(n, generator),
        "lock": np.zeros(1, np.int32),
        "best": np.full(1, LEAST),
        "place": np.full(1, -1, np.int32),
        "n": n,
    }


def pair(v):
    """Return the largest element and its place, with the lock given back."""
    return {
        "lock": np.zeros(1, np.int64),
        "best": np.array([max([v.best[0], *v.x])]),
        "place": np.array([v.x.argmax() if len(v.x) else -1]),
    }


def values(n, generator):
    """Return what the kernel of 08.5 takes."""
    x = generator.integers(0, BINS, n).astype(np.int32)
    return {"x": x, "counts": np.arange(BINS, dtype=np.int32), "n": n}


EXERCISES = (
    Exercise(
        id="08.1",
        name="running_maximum",
        title="Barriers: a running maximum",
        stars=1,
        kernel="running_maximum",
        inputs=in_place,
        outputs=("x",),
        accumulates=("x",),
        sizes=(0, 1, 2, 31, 32, 33, 255, 1000),
        launches=(one_block, largest_block),
        reference=lambda v: np.maximum.accumulate(v.x) if len(v.x) else v.x,
        hints=(
            "In every round each thread reads part[i - away] and writes part[i]. "
            "Which thread reads what this one writes?",
            "Two things must not happen: reading in this round what was written in "
            "it, and reading what the round before has not written yet.",
            "Read into `other`, then __syncthreads(), then write, then "
            "__syncthreads() again; both outside every if. One more stands in front "
            "of the loop.",
        ),
        starter=(DataRaceError, "no barrier between them"),
        mutants={
            "none_before_the_loop": Mutant(
                mistake="The loop begins before all parts are there.",
                edits=[("    __syncthreads();  // all parts are there\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "none_after_reading": Mutant(
                mistake="A part is overwritten while others still have to read it.",
                edits=[("        __syncthreads();  // all have read\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "none_after_writing": Mutant(
                mistake="The next round reads parts that are not written yet.",
                edits=[("        __syncthreads();  // all have written\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barriers_of_a_warp": Mutant(
                mistake="The barriers hold a warp together, and not the block.",
                edits=[
                    ("__syncthreads();  // all parts", "__syncwarp();  // all parts"),
                    (
                        "__syncthreads();  // all have read",
                        "__syncwarp();  // all have read",
                    ),
                    (
                        "__syncthreads();  // all have written",
                        "__syncwarp();  // all have written",
                    ),
                ],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "barrier_in_a_branch": Mutant(
                mistake="A barrier that threads without an element never reach.",
                edits=[
                    (
                        "__syncthreads();  // all have read\n"
                        "        if (i < n && i >= away)",
                        "if (i < n && i >= away) {\n"
                        "            __syncthreads();  // all have read",
                    ),
                    (
                        "__syncthreads();  // all have written",
                        "}\n        __syncthreads();  // all have written",
                    ),
                ],
                fails=(BarrierError, "not every thread of the block"),
            ),
            "steps_of_two": Mutant(
                mistake="The distance grows by two, so that some elements are left "
                "out.",
                edits=[("away *= 2", "away += 2")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="08.2",
        name="atomic_maximum",
        title="An atomic of your own: the maximum of floats",
        stars=2,
        kernel="maximum",
        inputs=below_zero,
        outputs=("best",),
        accumulates=("best",),
        reference=largest,
        owner=None,
        hints=(
            "atomicCAS(address, compare, value) writes `value` only if it finds "
            "`compare` there, and returns what it found in any case. It takes ints: "
            "__float_as_int and __int_as_float change the type and no bit.",
            "Remember the bits that you saw. While x[i] is larger than the float they "
            "mean, ask for the exchange. If the answer is not what you saw, somebody "
            "was faster: what you saw last is now the answer.",
            "int seen = atomicCAS(bits, 0, 0); while (x[i] > __int_as_float(seen)) "
            "{ int found = atomicCAS(bits, seen, __float_as_int(x[i])); "
            "if (found == seen) break; seen = found; }",
        ),
        starter=(DataRaceError, "this update is not atomic"),
        mutants={
            "tries_once": Mutant(
                mistake="Who is not the first to write gives up.",
                edits=[
                    (
                        "while (x[i] > __int_as_float(seen)) {\n"
                        "        int found = atomicCAS(bits, seen, "
                        "__float_as_int(x[i]));\n"
                        "        if (found == seen)\n"
                        "            break;  // nobody came between\n"
                        "        seen = found;\n"
                        "    }",
                        "if (x[i] > __int_as_float(seen)) \n"
                        "        atomicCAS(bits, seen, __float_as_int(x[i]));",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "maximum_of_the_bits": Mutant(
                mistake="The bits of negative floats are ordered the other way round.",
                edits=[
                    (
                        "int seen = atomicCAS(bits, 0, 0);  // looks, "
                        "and changes nothing\n"
                        "    while (x[i] > __int_as_float(seen)) {\n"
                        "        int found = atomicCAS(bits, seen, "
                        "__float_as_int(x[i]));\n"
                        "        if (found == seen)\n"
                        "            break;  // nobody came between\n"
                        "        seen = found;\n"
                        "    }",
                        "atomicMax(bits, __float_as_int(x[i]));",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "exchanges": Mutant(
                mistake="The exchange does not ask whether somebody came between.",
                edits=[
                    (
                        "int found = atomicCAS(bits, seen, __float_as_int(x[i]));\n"
                        "        if (found == seen)\n"
                        "            break;  // nobody came between\n"
                        "        seen = found;",
                        "atomicExch(bits, __float_as_int(x[i]));\n        break;",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "smallest": Mutant(
                mistake="The smaller value wins.",
                edits=[("x[i] >", "x[i] <")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_less": Mutant(
                mistake="The last element is left out.",
                edits=[("if (i >= n)", "if (i >= n - 1)")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="08.3",
        name="last_block",
        title="A fence: the last block needs all parts",
        stars=2,
        kernel="largest",
        inputs=tickets,
        outputs=("parts", "tickets", "most"),
        accumulates=("tickets",),
        sizes=(1, 31, 33, 64, 65, 255, 1023, 1025),
        launches=(
            lambda n: (blocks(n, 64), 64),
            lambda n: (blocks(n, 64), 32),
        ),
        reference=parts_and_all,
        owner=None,
        hints=(
            "The ticket says that the part is stored. Does it say that others can "
            "see it?",
            "An atomic orders no other access by itself. A fence does: what stands "
            "before it is visible before what stands behind it.",
            "__threadfence(); between the store to parts and the atomicAdd, and "
            "another one before the parts are read.",
        ),
        starter=(DataRaceError, "nothing orders blocks"),
        mutants={
            "first_fence_alone": Mutant(
                mistake="The ticket says that all parts are there, and orders no read "
                "behind it.",
                edits=[("    __threadfence();  // the parts are read after it\n", "")],
                fails=(DataRaceError, "told the thread"),
            ),
            "fence_after_the_ticket": Mutant(
                mistake="The fence comes when the ticket is drawn already.",
                edits=[
                    (
                        "    __threadfence();  // the part can be seen before the "
                        "ticket\n",
                        "",
                    ),
                    (
                        "if (ticket < gridDim.x - 1)",
                        "__threadfence();\n    if (ticket < gridDim.x - 1)",
                    ),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "fence_of_the_block": Mutant(
                mistake="The fences order for threads of the same block only.",
                edits=[
                    (
                        "__threadfence();  // the part can",
                        "__threadfence_block();  // the part can",
                    ),
                    (
                        "__threadfence();  // the parts",
                        "__threadfence_block();  // the parts",
                    ),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "barrier_for_a_fence": Mutant(
                mistake="A barrier of the warp stands where a fence belongs.",
                edits=[
                    (
                        "__threadfence();  // the part can",
                        "__syncwarp(1);  // the part can",
                    ),
                    ("__threadfence();  // the parts", "__syncwarp(1);  // the parts"),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "ticket_not_atomic": Mutant(
                mistake="Two blocks can draw the same ticket.",
                edits=[("atomicAdd(tickets, 1)", "(*tickets)++")],
                fails=(DataRaceError, "this update is not atomic"),
            ),
            "starts_at_zero": Mutant(
                mistake="The largest of negative values is not 0.",
                edits=[
                    ("float part = x[blockIdx.x * 64];", "float part = 0.0f;"),
                    ("float all = parts[0];", "float all = 0.0f;"),
                ],
                fails=(CheckFailed, "expected -6, got 0"),
            ),
            "first_block": Mutant(
                mistake="The block with the first ticket adds up, before the others "
                "are done.",
                edits=[("if (ticket < gridDim.x - 1)", "if (ticket > 0)")],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
        },
    ),
    Exercise(
        id="08.4",
        name="lock",
        title="A lock: two values that belong together",
        stars=3,
        kernel="largest_and_place",
        inputs=lock_and_pair,
        outputs=("lock", "best", "place"),
        accumulates=("lock", "best", "place"),
        sizes=(0, 1, 33, 64, 65, 255, 1023, 1025),
        launches=(
            lambda n: (blocks(n, 64), 64),
            lambda n: (blocks(n, 64), 32),
        ),
        reference=pair,
        owner=None,
        hints=(
            "No atomic changes two words at once, so one block at a time may look "
            "and write. Where does taking the lock belong, and where giving it back?",
            "Whoever gets 0 from atomicCAS(lock, 0, 1) holds the lock, and whoever "
            "gets 1 asks again. Looking at *best is part of what the lock protects.",
            "while (atomicCAS(lock, 0, 1) != 0) {} and __threadfence(); in front of "
            "the last if; __threadfence(); and atomicExch(lock, 0); behind it.",
        ),
        starter=(DataRaceError, "this update is not atomic"),
        mutants={
            "no_fences": Mutant(
                mistake="The lock orders nothing without its fences.",
                edits=[
                    ("    __threadfence();  // see what the last holder wrote\n", ""),
                    ("    __threadfence();  // let the next holder see it\n", ""),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "fences_of_the_block": Mutant(
                mistake="The fences order for threads of the same block only.",
                edits=[
                    ("__threadfence();  // see", "__threadfence_block();  // see"),
                    ("__threadfence();  // let", "__threadfence_block();  // let"),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "one_fence": Mutant(
                mistake="Nothing makes the pair visible before the lock is free.",
                edits=[("    __threadfence();  // let the next holder see it\n", "")],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "second_fence_alone": Mutant(
                mistake="Who gets the lock may still see an older pair.",
                edits=[
                    ("    __threadfence();  // see what the last holder wrote\n", "")
                ],
                fails=(DataRaceError, "told the thread"),
            ),
            "looks_without_the_lock": Mutant(
                mistake="The block looks at the best value before it has the lock.",
                edits=[
                    (
                        "while (atomicCAS(lock, 0, 1) != 0) {}",
                        "if (mine >= n || x[mine] <= *best)\n"
                        "        return;\n"
                        "    while (atomicCAS(lock, 0, 1) != 0) {}",
                    )
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "lock_not_atomic": Mutant(
                mistake="Two blocks can find the lock free at the same time.",
                edits=[
                    (
                        "while (atomicCAS(lock, 0, 1) != 0) {}",
                        "while (*(volatile int *)lock != 0) {}\n    *lock = 1;",
                    )
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "place_outside": Mutant(
                mistake="The place is written when the lock is given back already.",
                edits=[
                    (
                        "if (mine < n && x[mine] > *best) {",
                        "bool better = mine < n && x[mine] > *best;\n    if (better) {",
                    ),
                    ("        *place = mine;\n", ""),
                    (
                        "atomicExch(lock, 0);",
                        "atomicExch(lock, 0);\n    if (better)\n        *place = mine;",
                    ),
                ],
                fails=(DataRaceError, "nothing orders blocks"),
            ),
            "smallest": Mutant(
                mistake="The smallest of the blocks wins.",
                edits=[("[mine] > *best", "[mine] < *best")],
                fails=(CheckFailed, "wrong"),
            ),
            "never_taken": Mutant(
                mistake="Who finds the lock free leaves it free: 0 becomes 1 for "
                "nobody.",
                edits=[("lock, 0, 1", "lock, 1, 0")],
                fails=(CheckFailed, "lock was 1 before the launch"),
            ),
        },
        waits=(
            Wait(
                name="lock",
                value=1,
                why="Another block holds the lock then. The kernel does not wait for "
                "it, or never takes it: two blocks could be inside at once.",
            ),
        ),
    ),
    Exercise(
        id="08.5",
        name="histogram",
        title="A private histogram for each block",
        stars=3,
        kernel="histogram",
        inputs=values,
        outputs=("counts",),
        accumulates=("counts",),
        reference=lambda v: np.arange(BINS) + np.bincount(v.x, minlength=BINS),
        owner=None,
        hints=(
            "The counts are right. There are too many atomics on global memory: one "
            "for each element. Let each block count in shared memory first.",
            "Three steps: set the block's 64 counters to 0, count, add the counters "
            "to those in global memory. What must stand between the steps?",
            "__shared__ int part[64]; loops `for (int bin = threadIdx.x; bin < 64; "
            "bin += blockDim.x)` for the first and the last step, a __syncthreads() "
            "after the first and one before the last.",
        ),
        starter=(CheckFailed, "global_atomic_requests is"),
        mutants={
            "not_set_to_zero": Mutant(
                mistake="Nobody sets the counters to zero.",
                edits=[
                    (
                        "    for (int bin = threadIdx.x; bin < 64; "
                        "bin += blockDim.x)\n"
                        "        part[bin] = 0;\n",
                        "",
                    )
                ],
                fails=(UninitializedReadError, "which nothing has written"),
            ),
            "none_after_zero": Mutant(
                mistake="Some count before the counters are zero.",
                edits=[("    __syncthreads();  // all counters are 0\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "none_before_adding": Mutant(
                mistake="Counters are handed over before all have counted.",
                edits=[("    __syncthreads();  // all have counted\n", "")],
                fails=(DataRaceError, "no barrier between them"),
            ),
            "counts_not_atomic": Mutant(
                mistake="Threads of the block count over each other.",
                edits=[("atomicAdd(&part[x[i]], 1);", "part[x[i]] += 1;")],
                fails=(DataRaceError, "reads part["),
            ),
            "adds_not_atomic": Mutant(
                mistake="Blocks add up over each other.",
                edits=[
                    ("atomicAdd(&counts[bin], part[bin])", "counts[bin] += part[bin]")
                ],
                fails=(DataRaceError, "this update is not atomic"),
            ),
            "first_warp_of_counters": Mutant(
                mistake="Half of the counters are never handed over.",
                edits=[
                    (
                        "for (int bin = threadIdx.x; bin < 64; bin += blockDim.x)\n"
                        "        atomicAdd(&counts[bin], part[bin]);",
                        "for (int bin = threadIdx.x; bin < 32; bin += blockDim.x)\n"
                        "        atomicAdd(&counts[bin], part[bin]);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "one_thread_adds": Mutant(
                mistake="One thread hands over all counters, one after the other.",
                edits=[
                    (
                        "for (int bin = threadIdx.x; bin < 64; bin += blockDim.x)\n"
                        "        atomicAdd(&counts[bin], part[bin]);",
                        "if (threadIdx.x == 0)\n"
                        "        for (int bin = 0; bin < 64; bin++)\n"
                        "            atomicAdd(&counts[bin], part[bin]);",
                    )
                ],
                fails=(CheckFailed, "global_atomic_requests is"),
            ),
        },
        limits=(PRIVATE,),
    ),
)
