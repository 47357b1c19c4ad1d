"""Chapter 03a: your turn 03.a to 03.e, and the guesses about the memory hierarchy."""

import numpy as np

from coursekit.errors import CheckFailed, LaunchError
from coursekit.exercises import (
    Exercise,
    Guess,
    HostExercise,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)

CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)


def table(size, generator):
    """Return what the kernel of 03.a takes; sums of its values are exact."""
    rows, n = size
    return {"x": shuffled(size, generator), "out": blank(n), "rows": rows, "n": n}


def positive(n, generator):
    """Return what the kernel of 03.b takes: 64 rows of positive values."""
    x = 1 + np.abs(shuffled((64, n), generator))
    return {"x": x, "y": blank((64, n)), "n": n}


def scaled(n, generator):
    """Return what the kernel of 03.c takes."""
    x = shuffled(n, generator)
    return {"x": x, "s": np.float32(0.5), "y": blank(n), "n": n}


def chain(n, generator):
    """Return what the kernel of 03.d takes: one chain through all elements."""
    order = generator.permutation(n)
    following = np.empty(n, np.int32)
    following[order] = np.roll(order, -1)
    steps = 3 + n % 5
    return {"next": following, "end": blank(n, np.int32), "steps": steps, "n": n}


def columns(block):
    """Launch a thread for each column of the second axis."""
    return lambda size: (blocks(size[1], block), block)


def four_each(block):
    """Launch a thread for every four elements."""
    return lambda n: (blocks(n, 4 * block), block)


def threads(block):
    """Launch enough blocks of so many threads for n."""
    return lambda n: (blocks(n, block), block)


def reached(v):
    """Follow the chain from every element."""
    at = np.arange(v.n)
    for _ in range(int(v.steps)):
        at = v.next[at]
    return at


# ---------------------------------------------------------------- 03.e


def carve_outs(l1_left, show):
    """Compare with the carve-out that holds the blocks and what CUDA reserves."""
    cases = (1, 20), (1, 7), (2, 49), (1, 99), (2, 50), (3, 21), (1, 163), (0, 0)
    for count, kib in cases:
        expected = 256 - smallest(count * (kib + 1))
        found = l1_left(count, kib)
        if found != expected:
            raise CheckFailed.explained(
                f"l1_left({count}, {kib}) is {found}, and {expected} KiB are left.",
                *why(found, count, kib),
            )


def smallest(needed, strictly=False):
    """Return the smallest carve-out that holds so many KiB."""
    return min(size for size in CARVE_OUTS if size > needed - (not strictly))


def why(found, count, kib):
    """Return the likely cause of a wrong answer, and what to do."""
    needed = count * (kib + 1)
    if found is None:
        return (
            "A Python function without return gives None, also where it prints.",
            "Return the KiB that are left.",
        )
    if found in (
        256 - size for size in (count * kib, needed) if size not in CARVE_OUTS
    ):
        return (
            "The SM cannot split at any KiB: it has the ten sizes of CARVE_OUTS.",
            "Find the size that holds all blocks; return what it leaves of 256 KiB.",
        )
    if found in CARVE_OUTS and 256 - found not in CARVE_OUTS:
        return (
            "That is a carve-out: what shared memory gets, not what L1 keeps.",
            "Return the rest of the 256 KiB.",
        )
    if found == 256 - smallest(count * kib + 1):
        return (
            "CUDA reserves 1 KiB for itself in each block, not once per SM.",
            "Count the reserved memory of every block.",
        )
    if found == 256 - smallest(count * kib):
        return (
            "CUDA reserves 1 KiB of shared memory for itself in each block.",
            "Add it to what each block asks for.",
        )
    if found == 256 - smallest(needed, strictly=True):
        return (
            f"The blocks need {needed} KiB, and a carve-out of this size holds them.",
            "Take a carve-out that is equal, too.",
        )
    return (
        f"The blocks need {needed} KiB, with what CUDA reserves. The carve-out may be "
        "larger than that, never smaller, and L1 gets the rest of the 256 KiB.",
        "Take the smallest carve-out that is large enough.",
    )


EXERCISES = (
    Exercise(
        id="03.a",
        name="register",
        title="Keep the running sum in a register",
        kernel="column_sums",
        inputs=table,
        outputs=("out",),
        sizes=((1, 1), (5, 31), (3, 33), (4, 300)),
        picture=(3, 8),
        launches=(columns(256), columns(64)),
        reference=lambda v: v.x.sum(axis=0),
        roundings=lambda size: size[0],
        magnitude=lambda v: np.abs(v.x).sum(axis=0),
        hints=(
            "A local variable, float sum = 0; lies in a register. Add to it in the "
            "loop. When does out[i] need a value?",
        ),
        starter=(CheckFailed, "global_store_sectors is"),
        limits=(
            Limit(
                counter="global_store_sectors",
                size=(8, 256),
                most=32,
                why="Each sum must be stored once, 256 * 4 B / 32 B = 32 sectors.",
            ),
        ),
        mutants={
            "stores_each": Mutant(
                mistake="The sum is in a register, but it is stored in the loop.",
                edits=[
                    (
                        "        sum += x[row * n + i];\n    out[i] = sum;",
                        "        out[i] = sum += x[row * n + i];",
                    )
                ],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
            "last_only": Mutant(
                mistake="Each iteration forgets the one before.",
                edits=[("sum += x", "sum = x")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="03.b",
        name="spill",
        title="Fix the spill",
        kernel="scale",
        inputs=positive,
        outputs=("y",),
        sizes=(1, 33, 255),
        picture=2,
        launches=(threads(1024), threads(128)),
        reference=lambda v: v.x / v.x.max(axis=0),
        roundings=2,
        hints=(
            "Which values must a thread keep between its two loops? The second loop "
            "could get x[k * n + i] from somewhere else.",
            "The array is not needed. Find the maximum first, and read x again in "
            "the second loop.",
        ),
        starter=(CheckFailed, "spill_store_bytes = "),
        limits=(
            Limit(
                counter="spill_store_bytes",
                size=255,
                most=0,
                why="A thread keeps more values than it has registers, and the rest "
                "lies in local memory.",
            ),
            Limit(
                counter="local_bytes",
                size=255,
                most=0,
                why="Nothing spills, but a whole array lies in local memory: where the "
                "loop is not unrolled, its index is known at run time only.",
            ),
            Limit(
                counter="registers",
                size=255,
                most=64,
                why="An SM has 65,536 registers, and a block of 1024 threads must fit.",
            ),
        ),
        mutants={
            "half_a_block": Mutant(
                mistake="More registers, but the launch has 1024 threads.",
                edits=[("__launch_bounds__(1024)", "__launch_bounds__(512)")],
                fails=(LaunchError, "at most 512"),
            ),
            "too_early": Mutant(
                mistake="A value is divided before the maximum is known.",
                edits=[
                    (
                        "        most = fmaxf(most, x[k * n + i]);\n"
                        "    for (int k = 0; k < ROWS; k++)\n        y",
                        "{       most = fmaxf(most, x[k * n + i]);\n        y",
                    ),
                    ("/ most;\n", "/ most; }\n"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "rolled": Mutant(
                mistake="The loop is not unrolled, so that the array has no registers.",
                edits=[
                    ("float most = 0;", "float own[ROWS], most = 0;"),
                    (
                        "    for (int k = 0; k < ROWS; k++)\n"
                        "        most = fmaxf(most, x[k * n + i]);",
                        "#pragma unroll 1\n    for (int k = 0; k < ROWS; k++)\n"
                        "        most = fmaxf(most, own[k] = x[k * n + i]);",
                    ),
                    ("= x[k * n + i] / most", "= own[k] / most"),
                ],
                fails=(CheckFailed, "local_bytes = 256"),
            ),
        },
    ),
    Exercise(
        id="03.c",
        name="neighbours",
        title="Neighbouring lanes read neighbours",
        kernel="scale",
        inputs=scaled,
        outputs=("y",),
        launches=(four_each(256), four_each(64)),
        reference=lambda v: v.s * v.x,
        owner=None,
        hints=(
            "In iteration k, lanes 0 and 1 should take elements side by side. What "
            "must the thread's number be multiplied by?",
            "A block takes blockDim.x neighbouring elements in each iteration. "
            "Iteration k begins k * blockDim.x behind the base.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        limits=(
            Limit(
                counter="global_load_sectors",
                size=1024,
                most=128,
                why="1024 * 4 B / 32 B = 128 sectors hold x. In each iteration a warp "
                "should use every byte of the sectors that it reads.",
            ),
        ),
        mutants={
            "a_warp_further": Mutant(
                mistake="The iterations lie 32 elements apart, and warps overlap.",
                edits=[("k * blockDim.x", "k * 32")],
                fails=(CheckFailed, "never written"),
            ),
            "k_first": Mutant(
                mistake="The block's four iterations are four elements apart.",
                edits=[("k * blockDim.x", "k")],
                fails=(CheckFailed, "never written"),
            ),
        },
    ),
    Exercise(
        id="03.d",
        name="walk",
        title="Pointer chase: one load after the other",
        kernel="walk",
        inputs=chain,
        outputs=("end",),
        sizes=(1, 31, 33, 255),
        picture=8,
        launches=(threads(256), threads(32)),
        reference=reached,
        owner=None,
        hints=(
            "One step replaces `at` by the element behind it. Which array says what "
            "is behind element `at`?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_chain": Mutant(
                mistake="Each step reads the same element.",
                edits=[("next[at]", "next[0]")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_step_less": Mutant(
                mistake="The walk is one step too short.",
                edits=[("int step = 0", "int step = 1")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="03.e",
        name="l1_left",
        title="The L1 that is left",
        function="l1_left",
        checks=(("the split of eight launches", carve_outs),),
        hints=(
            "Each block takes kib + 1 KiB. The SM cannot split at any KiB: which "
            "entry of CARVE_OUTS is the smallest that holds all blocks?",
        ),
        starter=(CheckFailed, "ten sizes"),
        mutants={
            "no_reserve": Mutant(
                mistake="CUDA's own KiB per block is forgotten.",
                edits=[("(kib + 1)", "kib")],
                fails=(CheckFailed, "reserves 1 KiB"),
            ),
            "exact": Mutant(
                mistake="The split is taken to be free.",
                edits=[("256 - carve_out", "256 - needed")],
                fails=(CheckFailed, "ten sizes"),
            ),
            "once": Mutant(
                mistake="CUDA's own KiB is counted once, not in each block.",
                edits=[("blocks * (kib + 1)", "blocks * kib + 1")],
                fails=(CheckFailed, "not once per SM"),
            ),
            "below": Mutant(
                mistake="The largest size that the blocks exceed is taken.",
                edits=[("min(", "max("), (">= needed", "<= needed")],
                fails=(CheckFailed, "never smaller"),
            ),
            "larger_than_asked": Mutant(
                mistake="The first size above what the blocks ask for is taken.",
                edits=[("(kib + 1)", "kib"), (">= needed", "> needed")],
                fails=(CheckFailed, "l1_left(3, 21) is 192, and 156 KiB are left."),
            ),
            "printed": Mutant(
                mistake="The answer is printed, not returned.",
                edits=[("return 256 - carve_out", "print(256 - carve_out)")],
                fails=(CheckFailed, "without return gives None"),
            ),
            "larger": Mutant(
                mistake="A carve-out of exactly the right size is passed over.",
                edits=[(">= needed", "> needed")],
                fails=(CheckFailed, "that is equal, too"),
            ),
        },
    ),
)

GUESSES = {
    "alias": Guess(
        question="The sum of 8 values runs through out[i], as in the starter of "
        "03.a. How often does a thread store to out[i]?",
        options=("once", "8 times", "9 times"),
        hint="out and x may be the same array. May the compiler wait with a store?",
        answer="9 times",
        because="One store is the 0, and each of 8 iterations stores. The compiler "
        "may not leave one out: x could overlap with out, and the next load would "
        "see the store.",
    ),
    "local": Guess(
        question="A thread counts in its own array of 16 integers, and the index "
        "comes from data. Where does the array lie?",
        options=(
            "in registers",
            "in shared memory",
            "in device memory, behind L1 and L2",
        ),
        hint="A register has no address: an instruction names it by a fixed number.",
        answer="in device memory, behind L1 and L2",
        because="That is local memory: local to the thread by name, but not by place. "
        "Its recently used lines lie in L1, as those of global memory.",
    ),
    "stride": Guess(
        question="Neighbouring lanes read floats that are 8 floats apart. How many "
        "sectors does one load of a warp touch?",
        options=(4, 8, 32),
        hint="8 floats are 32 bytes. How many bytes has a sector?",
        answer=32,
        because="Each of the 32 lanes reads from a sector of its own, and uses 4 of "
        "its 32 bytes.",
    ),
    "first_step": Guess(
        question="A chain of 64 KiB fits into L1 of an H100, and one of 1 MiB "
        "does not. How many times as long does a load take in the longer one?",
        options=("1 to 2 times", "5 to 8 times", "more than 100 times"),
        hint="The longer chain fits into L2, which is on the same chip as L1.",
        answer="5 to 8 times",
        because="41 clock cycles from L1, and 263 on average from L2.",
    ),
    "in_flight": Guess(
        question="Memory answers after 340 ns, and 3350 GB/s are wanted. How many "
        "MB must be on their way at any time? (1 GB/s is 1 byte per ns.)",
        hint="Latency times bandwidth: 340 ns * 3350 bytes per ns.",
        answer=1.14,
        tolerance=0.02,
        because="340 ns * 3350 bytes per ns = 1.14 MB, which is 8.6 KB for each of "
        "132 SMs.",
    ),
}
