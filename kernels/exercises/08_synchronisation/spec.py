"""Exercises of chapter 08: barriers, an atomic, a fence, a lock, a histogram."""

import numpy as np

from coursekit.errors import (
    BarrierError,
    CheckFailed,
    DataRaceError,
)
from coursekit.exercises import Exercise, Limit, Wait, blank, blocks, shuffled

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
    """Return what the kernel of 08.3 takes."""
    return {
        "x": shuffled(n, generator),
        "parts": blank(blocks(n, 64)),
        "tickets": np.zeros(1, np.uint32),
        "most": blank(1),
        "n": n,
    }


def parts_and_all(v):
    """Return the largest of each 64 elements, how many there are, and the largest."""
    padded = np.pad(v.x, (0, -len(v.x) % 64 if len(v.x) else 64))
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
            "none_before_the_loop": (DataRaceError, "no barrier between them"),
            "none_after_reading": (DataRaceError, "no barrier between them"),
            "none_after_writing": (CheckFailed, "wrong"),
            "barriers_of_a_warp": (DataRaceError, "no barrier between them"),
            "barrier_in_a_branch": (BarrierError, "not every thread of the block"),
            "steps_of_two": (CheckFailed, "wrong"),
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
        starter=(CheckFailed, "wrong"),
        mutants={
            "tries_once": (CheckFailed, "wrong"),
            "maximum_of_the_bits": (CheckFailed, "wrong"),
            "exchanges": (CheckFailed, "wrong"),
            "smallest": (CheckFailed, "wrong"),
            "one_less": (CheckFailed, "wrong"),
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
        sizes=(0, 1, 33, 64, 65, 255, 1023, 1025),
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
            "first_fence_alone": (DataRaceError, "told the thread"),
            "fence_after_the_ticket": (DataRaceError, "nothing orders blocks"),
            "fence_of_the_block": (DataRaceError, "nothing orders blocks"),
            "barrier_for_a_fence": (DataRaceError, "nothing orders blocks"),
            "ticket_not_atomic": (DataRaceError, "nothing orders blocks"),
            "first_block": (CheckFailed, "wrong"),
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
        starter=(DataRaceError, "nothing orders blocks"),
        mutants={
            "no_fences": (DataRaceError, "nothing orders blocks"),
            "fences_of_the_block": (DataRaceError, "nothing orders blocks"),
            "one_fence": (DataRaceError, "nothing orders blocks"),
            "second_fence_alone": (DataRaceError, "told the thread"),
            "looks_without_the_lock": (DataRaceError, "nothing orders blocks"),
            "lock_not_atomic": (DataRaceError, "nothing orders blocks"),
            "place_outside": (DataRaceError, "nothing orders blocks"),
            "smallest": (CheckFailed, "wrong"),
            "never_taken": (CheckFailed, "lock was 1 before the launch"),
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
            "not_set_to_zero": (CheckFailed, "wrong"),
            "none_after_zero": (CheckFailed, "wrong"),
            "none_before_adding": (CheckFailed, "wrong"),
            "counts_not_atomic": (CheckFailed, "wrong"),
            "adds_not_atomic": (DataRaceError, "nothing orders blocks"),
            "first_warp_of_counters": (CheckFailed, "wrong"),
            "one_thread_adds": (CheckFailed, "global_atomic_requests is"),
        },
        limits=(PRIVATE,),
    ),
)
