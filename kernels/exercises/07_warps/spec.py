"""Exercises of chapter 07: lanes that agree, add, vote, scan, and lie side by side."""

import numpy as np

from coursekit.errors import BarrierError, CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Limit, Mutant, blank, blocks, shuffled

MODULUS = 2**32  # of unsigned arithmetic
# 1024 floats are 32 requests of one warp each, and 128 sectors of 32 bytes.
READ_ONCE = Limit(
    counter="global_load_requests",
    size=1024,
    most=32,
    why="Each warp reads its 32 elements once; the rest goes from register to "
    "register.",
)


def at_most(counter, most, why):
    """Return a limit on a counter for 1024 elements."""
    return Limit(counter=counter, size=1024, most=most, why=why)


def unsigned(n, generator):
    """Return what the kernel of 07.1 takes."""
    x = shuffled(n, generator, np.uint32) * np.uint32(40503)
    return {"x": x, "y": blank(n, np.uint32), "n": n, "turns": 5}


def by_parity(v):
    """Apply one rule to odd elements and the other to even ones."""
    tripled = folded = v.x
    for _ in range(v.turns):
        tripled = (3 * tripled + 1) % MODULUS
        folded = ((folded ^ (folded >> 1)) + 5) % MODULUS
    return np.where(np.arange(v.n) % 2 == 1, tripled, folded)


def rows_of_warps(x):
    """Return x with a row for each warp, filled up with zeros."""
    padded = np.zeros(-(-len(x) // 32) * 32)
    padded[: len(x)] = x
    return padded.reshape(-1, 32)


def one_sum_a_warp(n, generator):
    """Return what the kernel of 07.2 takes."""
    return {"x": shuffled(n, generator), "sums": blank(-(-n // 32)), "n": n}


def both_signs(n, generator):
    """Return what the kernel of 07.3 takes: about half of x is above 0."""
    x = shuffled(n, generator) - np.float32(n // 2 * 0.25)
    return {"x": x, "rank": blank(n, np.int32), "n": n}


def positives_before(v):
    """Count, for each element, those above 0 before it in its warp."""
    positive = (rows_of_warps(v.x) > 0).astype(np.int64)
    return (positive.cumsum(axis=1) - positive).reshape(-1)[: v.n]


def one_array(n, generator):
    """Return what the kernels of 07.4 and 07.5 take but for the names."""
    return {"x": shuffled(n, generator), "out": blank(n), "n": n}


def doubling(n, generator):
    """Return what the kernel of 07.5 takes."""
    return {"a": shuffled(n, generator), "out": blank(n), "n": n}


def four_a_thread(block):
    """Return a launch with one thread for four elements."""
    return lambda n: (blocks(n, 4 * block), block)


EXERCISES = (
    Exercise(
        id="07.1",
        name="agree",
        title="Agree: no warp parts",
        stars=2,
        kernel="two_rules",
        inputs=unsigned,
        outputs=("y",),
        reference=by_parity,
        owner=None,
        hints=(
            "The rule belongs to the element. But which thread takes which element "
            "is for you to choose.",
            "Let the first half of all threads take the even elements, and the "
            "second half the odd ones. How many even elements are there when n is "
            "odd?",
            "half = (n + 1) / 2; thread t below half takes 2 * t, and the others "
            "take 2 * (t - half) + 1.",
        ),
        starter=(CheckFailed, "divergent_branches is"),
        mutants={
            "half_rounded_down": Mutant(
                mistake="With an odd number of elements, one even element is "
                "forgotten.",
                edits=[("(n + 1) / 2;  // as many are even", "n / 2;")],
                fails=(OutOfBoundsError, "reads x[1], but x has 1 element"),
            ),
            "evens_twice": Mutant(
                mistake="The second half of the threads takes the even elements again.",
                edits=[("(t - half) + 1", "(t - half)")],
                fails=(CheckFailed, "never written"),
            ),
            "rules_swapped": Mutant(
                mistake="Each rule is applied to the other elements.",
                edits=[("if (i % 2 == 1) {", "if (i % 2 == 0) {")],
                fails=(CheckFailed, "wrong"),
            ),
            "rule_by_thread": Mutant(
                mistake="Whole warps agree, but the thread decides, not the element.",
                edits=[
                    (
                        "int half = (n + 1) / 2;  // as many are even\n"
                        "    int i = t < half ? 2 * t : 2 * (t - half) + 1;",
                        "int i = t;",
                    ),
                    ("if (i % 2 == 1) {", "if (t / 32 % 2 == 1) {"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="Spare threads are not sent home.",
                edits=[("    if (t >= n)\n        return;\n", "")],
                fails=(OutOfBoundsError, "but x has 8 elements"),
            ),
            "sorted_in_the_warp": Mutant(
                mistake="Elements are sorted within a warp only, so that each warp "
                "still parts.",
                edits=[
                    (
                        "if (t >= n)",
                        "int lane = t % 32;\n"
                        "    int i = t - lane + (lane < 16 ? 2 * lane : 2 * (lane "
                        "- 16) + 1);\n"
                        "    if (i >= n)",
                    ),
                    (
                        "    int half = (n + 1) / 2;  // as many are even\n"
                        "    int i = t < half ? 2 * t : 2 * (t - half) + 1;\n",
                        "",
                    ),
                ],
                fails=(CheckFailed, "divergent_branches is"),
            ),
        },
        limits=(
            at_most(
                "divergent_branches",
                0,
                "With 512 even and 512 odd elements, whole warps can take one rule.",
            ),
        ),
    ),
    Exercise(
        id="07.2",
        name="warp_sum",
        title="Warp sum: 32 become one, in registers",
        stars=2,
        kernel="warp_sums",
        inputs=one_sum_a_warp,
        outputs=("sums",),
        reference=lambda v: rows_of_warps(v.x).sum(axis=1),
        roundings=5,
        owner=None,
        hints=(
            "After the first step lane 0 should hold its own value and that of lane "
            "16, lane 1 those of 1 and 17, and so on.",
            "__shfl_down_sync(0xffffffff, sum, 16) fetches the sum of the lane 16 "
            "above. Then 8, 4, 2, 1. All 32 lanes have to come along.",
            "for (int away = 16; away > 0; away /= 2) "
            "sum += __shfl_down_sync(0xffffffff, sum, away);",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "stops_early": Mutant(
                mistake="The last step is missing: neighbours are never added.",
                edits=[("16; away > 0", "16; away > 1")],
                fails=(CheckFailed, "wrong"),
            ),
            "starts_late": Mutant(
                mistake="The first step is missing: only 16 lanes are added up.",
                edits=[("16; away > 0", "8; away > 0")],
                fails=(CheckFailed, "wrong"),
            ),
            "other_way": Mutant(
                mistake="The values move up, away from lane 0.",
                edits=[("__shfl_down_sync", "__shfl_up_sync")],
                fails=(CheckFailed, "wrong"),
            ),
            "leaves_early": Mutant(
                mistake="Spare lanes have left when the others ask for their values.",
                edits=[
                    (
                        "float sum = i < n ? x[i] : 0.0f;",
                        "if (i >= n)\n        return;\n    float sum = x[i];",
                    )
                ],
                fails=(BarrierError, "__shfl"),
            ),
            "in_a_branch": Mutant(
                mistake="Only the lanes that still add come to the shuffle.",
                edits=[
                    (
                        "sum += __shfl_down_sync(0xffffffff, sum, away);",
                        "if (threadIdx.x % 32 < away)\n"
                        "            sum += __shfl_down_sync(0xffffffff, sum, away);",
                    )
                ],
                fails=(BarrierError, "__shfl"),
            ),
            "half_a_mask": Mutant(
                mistake="The mask leaves out half of the lanes that call.",
                edits=[("0xffffffff", "0x0000ffff")],
                fails=(BarrierError, "__shfl"),
            ),
            "no_zero": Mutant(
                mistake="Spare lanes read past the end.",
                edits=[("float sum = i < n ? x[i] : 0.0f;", "float sum = x[i];")],
                fails=(OutOfBoundsError, "reads x[8], but x has 8 elements"),
            ),
            "one_lane_reads": Mutant(
                mistake="Lane 0 reads all 32 elements by itself.",
                edits=[
                    (
                        "float sum = i < n ? x[i] : 0.0f;\n"
                        "    for (int away = 16; away > 0; away /= 2)\n"
                        "        sum += __shfl_down_sync(0xffffffff, sum, away);\n"
                        "    if (threadIdx.x % 32 == 0 && i < n)",
                        "float sum = 0.0f;\n"
                        "    if (threadIdx.x % 32 == 0 && i < n) {\n"
                        "        for (int j = i; j < i + 32 && j < n; j++)\n"
                        "            sum += x[j];",
                    ),
                    ("}", "    }\n}"),
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
            "through_shared": Mutant(
                mistake="The sum is right, but goes through shared memory.",
                edits=[
                    (
                        "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                        "__shared__ float part[1024];\n"
                        "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
                    ),
                    (
                        "float sum = i < n ? x[i] : 0.0f;\n"
                        "    for (int away = 16; away > 0; away /= 2)\n"
                        "        sum += __shfl_down_sync(0xffffffff, sum, away);\n"
                        "    if (threadIdx.x % 32 == 0 && i < n)",
                        "part[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
                        "    __syncwarp();\n"
                        "    if (threadIdx.x % 32 == 0 && i < n) {\n"
                        "        float sum = 0.0f;\n"
                        "        for (int j = 0; j < 32; j++)\n"
                        "            sum += part[threadIdx.x + j];",
                    ),
                    ("}", "    }\n}"),
                ],
                fails=(CheckFailed, "shared_load_requests is"),
            ),
        },
        limits=(
            READ_ONCE,
            at_most("shared_load_requests", 0, "Registers are enough."),
        ),
    ),
    Exercise(
        id="07.3",
        name="rank",
        title="Rank: one vote tells how many came before",
        stars=2,
        kernel="rank_positive",
        inputs=both_signs,
        outputs=("rank",),
        reference=positives_before,
        hints=(
            "__ballot_sync gives every lane one number whose bit l says what lane l "
            "answered.",
            "Keep the bits below your own, and count the ones that are left. "
            "__popc counts ones.",
            "(1u << lane) - 1 has a one for each lower lane, so the rank is "
            "__popc(mask & ((1u << lane) - 1)).",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "counts_itself": Mutant(
                mistake="The lane counts itself, too.",
                edits=[
                    (
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n",
                        "",
                    ),
                    ("mask & below", "mask & ((2u << lane) - 1)"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "counts_above": Mutant(
                mistake="The lanes above are counted.",
                edits=[
                    (
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n",
                        "",
                    ),
                    ("mask & below", "mask >> lane >> 1"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "counts_all": Mutant(
                mistake="All lanes of the warp are counted.",
                edits=[
                    (
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n",
                        "",
                    ),
                    ("rank[i] = __popc(mask & below);", "rank[i] = __popc(mask);"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "thread_for_lane": Mutant(
                mistake="The place in the block is taken for the lane.",
                edits=[
                    ("    int lane = threadIdx.x % 32;\n", ""),
                    (
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n",
                        "",
                    ),
                    ("mask & below", "mask & ((1u << threadIdx.x) - 1)"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "vote_in_a_branch": Mutant(
                mistake="Only the lanes that would say yes come to the vote.",
                edits=[
                    (
                        "bool positive = i < n && x[i] > 0.0f;\n"
                        "    unsigned mask = __ballot_sync(0xffffffff, positive);\n"
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane",
                        "unsigned mask = 0;\n"
                        "    if (i < n && x[i] > 0.0f)\n"
                        "        mask = __ballot_sync(0xffffffff, true);",
                    ),
                    ("mask & below", "mask & ((1u << lane) - 1)"),
                ],
                fails=(BarrierError, "__ballot"),
            ),
            "no_guard": Mutant(
                mistake="Spare lanes write past the end.",
                edits=[
                    (
                        "unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n"
                        "    if (i < n)\n"
                        "        rank[i] = __popc(mask & below);",
                        "rank[i] = __popc(mask & ((1u << lane) - 1));",
                    )
                ],
                fails=(OutOfBoundsError, "writes rank[8]"),
            ),
            "negative_counted": Mutant(
                mistake="The elements that are not above 0 are counted.",
                edits=[
                    (
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n",
                        "",
                    ),
                    ("mask & below", "~mask & ((1u << lane) - 1)"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "reads_them_all": Mutant(
                mistake="No vote: each lane reads the elements before its own.",
                edits=[
                    (
                        "int lane = threadIdx.x % 32;\n"
                        "    bool positive = i < n && x[i] > 0.0f;\n"
                        "    unsigned mask = __ballot_sync(0xffffffff, positive);\n"
                        "    unsigned below = (1u << lane) - 1;  "
                        "// a one for each lower lane\n"
                        "    if (i < n)\n"
                        "        rank[i] = __popc(mask & below);",
                        "if (i >= n)\n"
                        "        return;\n"
                        "    int found = 0;\n"
                        "    for (int j = i - threadIdx.x % 32; j < i; j++)\n"
                        "        found += x[j] > 0.0f;\n"
                        "    rank[i] = found;",
                    )
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
        },
        limits=(READ_ONCE,),
    ),
    Exercise(
        id="07.4",
        name="warp_scan",
        title="Scan: running sums in five steps",
        stars=3,
        kernel="warp_scan",
        inputs=one_array,
        outputs=("out",),
        reference=lambda v: rows_of_warps(v.x).cumsum(axis=1).reshape(-1)[: v.n],
        roundings=5,
        hints=(
            "After the step with away = 1 each lane holds two neighbours, its own "
            "and the one below. After away = 2 it holds four.",
            "__shfl_up_sync(0xffffffff, sum, away) fetches from lane - away. A lane "
            "below `away` has no such partner, and gets its own value back.",
            "float other = __shfl_up_sync(...) for all lanes; then "
            "if (lane >= away) sum += other; with away = 1, 2, 4, 8, 16.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "own_value_added": Mutant(
                mistake="A lane without a lower partner adds its own value.",
                edits=[
                    ("    int lane = threadIdx.x % 32;\n", ""),
                    (
                        "if (lane >= away)  // lower lanes got their own value back\n"
                        "            sum += other;",
                        "sum += other;",
                    ),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "in_a_branch": Mutant(
                mistake="Only the lanes that add come to the shuffle.",
                edits=[
                    (
                        "        float other = __shfl_up_sync(0xffffffff, sum, "
                        "away);\n",
                        "",
                    ),
                    ("other;", "__shfl_up_sync(0xffffffff, sum, away);"),
                ],
                fails=(BarrierError, "__shfl"),
            ),
            "stops_early": Mutant(
                mistake="The step of 16 is missing.",
                edits=[("1; away < 32", "1; away < 16")],
                fails=(CheckFailed, "wrong"),
            ),
            "other_way": Mutant(
                mistake="The values come from above.",
                edits=[
                    (
                        "float other = __shfl_up_sync(0xffffffff, sum, away);\n"
                        "        if (lane >= away)  // lower lanes got their own "
                        "value back",
                        "float other = __shfl_down_sync(0xffffffff, sum, away);\n"
                        "        if (lane + away < 32)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "without_itself": Mutant(
                mistake="Each sum leaves out its own element.",
                edits=[("out[i] = sum;", "out[i] = sum - x[i];")],
                fails=(CheckFailed, "wrong"),
            ),
            "half_a_mask": Mutant(
                mistake="The mask leaves out half of the lanes that call.",
                edits=[("0xffffffff", "0x0000ffff")],
                fails=(BarrierError, "__shfl"),
            ),
            "one_too_few": Mutant(
                mistake="Lane `away` does not add, though it has a partner.",
                edits=[
                    (
                        "if (lane >= away)  // lower lanes got their own value back",
                        "if (lane > away)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(READ_ONCE,),
    ),
    Exercise(
        id="07.5",
        name="four_each",
        title="Four each: neighbours for neighbours",
        stars=1,
        kernel="double_all",
        inputs=doubling,
        outputs=("out",),
        launches=(four_a_thread(256), four_a_thread(64)),
        reference=lambda v: 2 * v.a,
        owner=None,
        hints=(
            "In one turn of the loop, lane 0 reads a[k] and lane 1 reads a[4 + k]. "
            "How far apart should they be?",
            "Turn k of the loop should be one stretch of memory for all threads "
            "together. How many threads has the grid?",
            "int threads = gridDim.x * blockDim.x; and turn k of thread t takes "
            "element t + k * threads.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "steps_of_a_block": Mutant(
                mistake="The steps are a block wide, and blocks overlap.",
                edits=[
                    ("    int threads = gridDim.x * blockDim.x;\n", ""),
                    ("int i = t + k * threads;", "int i = t + k * blockDim.x;"),
                ],
                fails=(CheckFailed, "never written"),
            ),
            "steps_of_a_warp": Mutant(
                mistake="The steps are a warp wide, and warps overlap.",
                edits=[
                    ("    int threads = gridDim.x * blockDim.x;\n", ""),
                    ("int i = t + k * threads;", "int i = t + k * 32;"),
                ],
                fails=(CheckFailed, "never written"),
            ),
            "no_guard": Mutant(
                mistake="Spare turns leave the array.",
                edits=[
                    (
                        "if (i < n)\n            out[i] = 2.0f * a[i];",
                        "out[i] = 2.0f * a[i];",
                    )
                ],
                fails=(OutOfBoundsError, "but a has 8 elements"),
            ),
            "three_each": Mutant(
                mistake="The last quarter is left out.",
                edits=[("0; k < 4; k++", "0; k < 3; k++")],
                fails=(CheckFailed, "never written"),
            ),
            "in_pairs": Mutant(
                mistake="Pairs of neighbours stay with one thread.",
                edits=[("t + k * threads", "2 * (t + k / 2 * threads) + k % 2")],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "no_doubling": Mutant(
                mistake="The elements are copied, not doubled.",
                edits=[("out[i] = 2.0f * a[i];", "out[i] = a[i];")],
                fails=(CheckFailed, "wrong"),
            ),
        },
        limits=(
            at_most(
                "global_load_sectors",
                128,
                "1024 floats are 128 sectors, and no sector is needed twice.",
            ),
        ),
    ),
)
