"""Chapter 16c: Thrust, CUB and sorting; your turn 16.o to 16.s, and k-means."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Case,
    Exercise,
    Guess,
    Mutant,
    ProgramExercise,
    Slip,
    blank,
    covering,
)

BLOCK = 128  # threads of a block in 16.q
NO_LABEL = (
    "0 is divided by 0: `some` is larger than the number of labels that were found."
)


def signed(n, generator):
    """Return what the kernel of 16.q takes: about half of the numbers are above 0."""
    x = generator.integers(-9, 10, n).astype(np.int32)
    out, kept = np.zeros(n, np.int32), blank(-(-n // BLOCK), np.int32)
    return {"x": x, "out": out, "kept": kept, "n": n}


def positive(v):
    """Keep each block's numbers above 0; what is behind them stays 0."""
    out, kept = np.zeros(v.n, np.int64), []
    for first in range(0, v.n, BLOCK):
        wanted = [x for x in v.x[first : first + BLOCK] if x > 0]
        out[first : first + len(wanted)] = wanted
        kept.append(len(wanted))
    return {"out": out, "kept": np.array(kept, np.int64)}


def keys_and_zeros(n, generator):
    """Return what the kernel of 16.r takes: random keys, and counts of zero bits."""
    bit = 1 if n <= 8 else 9
    x = generator.integers(0, 8 if n <= 8 else 2**32, n).astype(np.uint32)
    upto = np.cumsum(x >> np.uint32(bit) & 1 ^ 1).astype(np.int32)
    return {"x": x, "y": blank(n, np.uint32), "upto": upto, "bit": bit, "n": n}


def split(v):
    """Sort by one bit, and keep the order of what is equal."""
    return v.x[np.argsort(v.x >> v.bit & 1, kind="stable")]


def some_digits(n, generator):
    """Return what the kernel of 16.s takes: few different digits."""
    digits = generator.integers(0, 4, n).astype(np.uint32)
    return {"digits": digits, "ranks": blank(n, np.int32), "n": n}


def ranks(v, of=lambda equal, lane: equal[:lane].sum()):
    """Count equal digits before each element, within its warp; or what `of` counts."""
    found = np.zeros(v.n, np.int64)
    for i in range(v.n):
        warp = v.digits[i // 32 * 32 :][:32]
        found[i] = of(warp == v.digits[i], i % 32)
    return found


def as_word(v):
    """Return for each lane the bits of the lanes before it that have its digit."""
    return ranks(v, lambda equal, lane: equal[:lane] @ 2 ** np.arange(lane))


def backwards(v):
    """Sort by one bit, but turn the order of the ones around."""
    ones = v.x >> v.bit & 1 == 1
    return np.concatenate([v.x[~ones], v.x[ones][::-1]])


def shifted(v):
    """Return what 16.q stores if all places are one too large."""
    out = np.zeros(v.n + 1, np.int64)
    for first in range(0, v.n, BLOCK):
        wanted = [x for x in v.x[first : first + BLOCK] if x > 0]
        out[first + 1 : first + 1 + len(wanted)] = wanted
    return out[: v.n]


EXERCISES = (
    ProgramExercise(
        id="16.o",
        name="norm",
        title="A functor, and one call",
        cases=(
            Case(
                args=(3, 4),
                stdout="5\n",
                causes={
                    "2.64575": "The numbers were added, and not their squares: Square "
                    "returns x itself, or `thrust::reduce` is still called, which "
                    "takes no functor for its elements.",
                    "25": "That is the sum of the squares; a norm is its root.",
                },
            ),
            Case(
                args=(0.5, 0.5, 0.5, 0.5),
                stdout="1\n",
                cause="The sum has the type of the first value: with 0 in place of "
                "0.0f it is an int, and each addition drops the fraction.",
            ),
            Case(args=(), stdout="0\n"),
        ),
        hints=(
            "thrust::transform_reduce takes the range, the functor, the first value of "
            "the sum, and what adds: thrust::plus<float>{}.",
            "thrust::transform_reduce(x.begin(), x.end(), Square{}, 0.0f, "
            "thrust::plus<float>{})",
        ),
        starter=(CheckFailed, "prints '2.64575' in line 1, and should print '5'"),
        mutants={
            "whole_numbers": Mutant(
                mistake="The sum begins with an int, and is one.",
                edits=[("0.0f, thrust::plus<float>{}", "0, thrust::plus<int>{}")],
                fails=(CheckFailed, "with 0 in place of 0.0f it is an int"),
            ),
            "no_square": Mutant(
                mistake="The functor returns the number itself.",
                edits=[("return x * x", "return x")],
                fails=(CheckFailed, "prints '2.64575' in line 1"),
            ),
            "only_added": Mutant(
                mistake="The squares are multiplied, not added.",
                edits=[("0.0f, thrust::plus", "1.0f, thrust::multiplies")],
                fails=(CheckFailed, "prints '12' in line 1"),
            ),
        },
    ),
    ProgramExercise(
        id="16.p",
        name="invoice",
        title="Look up, multiply and add in one pass",
        cases=(
            Case(
                args=(1, 2, 3, 4, 1, 1),
                stdout="32\n",
                causes={
                    "49": "The prices are those of articles 0, 1 and 2: the "
                    "permutation iterator has to take its indices from `articles`.",
                },
            ),
            Case(args=(2, 10), stdout="40\n"),
            Case(args=(0, 1, 0, 1, 0, 1, 3, 1, 3, 1), stdout="8.5\n"),
        ),
        hints=(
            "thrust::make_permutation_iterator(values, indices): element i of it is "
            "values[indices[i]].",
            "auto price = thrust::make_permutation_iterator(prices.begin(), "
            "articles.begin());",
        ),
        starter=(CheckFailed, "prints '49' in line 1, and should print '32'"),
        mutants={
            "other_indices": Mutant(
                mistake="It looks up prices by quantities.",
                edits=[("prices.begin(), articles.begin()",
                        "prices.begin(), quantities.begin()")],
                fails=(CheckFailed, "reads 4 bytes right behind a block of 16 bytes"),
            ),
        },
    ),
    Exercise(
        id="16.q",
        name="keep",
        title="No gaps, by a scan of CUB",
        kernel="keep_positive",
        inputs=signed,
        outputs=("out", "kept"),
        accumulates=("out",),
        reference=positive,
        sizes=(0, 1, 33, 300),
        launches=(covering(BLOCK), lambda n: (n // BLOCK + 2, BLOCK)),
        owner=None,
        hints=(
            "The scan takes 1 for a number that is wanted and 0 for another. "
            "Scan(room).ExclusiveSum(in, out, total) fills out and total.",
            "Scan(room).ExclusiveSum(wanted, place, total);",
        ),
        slips=(
            Slip(
                shifted,
                "Each number lies one place too far: the place counts the number "
                "itself.",
                "Which of the two sums of BlockScan leaves the thread's own number "
                "out?",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "inclusive": Mutant(
                mistake="The sum includes the number itself: places begin with 1.",
                edits=[("ExclusiveSum", "InclusiveSum")],
                fails=(CheckFailed, "one place too far"),
            ),
            "places_of_all": Mutant(
                mistake="It adds up the numbers, not how many are wanted.",
                edits=[("ExclusiveSum(wanted,", "ExclusiveSum(i < n ? x[i] : 0,")],
                fails=(OutOfBoundsError, "writes out[-9]"),
            ),
        },
    ),
    Exercise(
        id="16.r",
        name="split",
        title="Sort by one bit",
        kernel="split",
        inputs=keys_and_zeros,
        outputs=("y",),
        reference=split,
        in_hex=("x", "y"),
        owner=None,
        hints=(
            "The ones lie behind all zeros, and upto[n - 1] says how many zeros there "
            "are. How many ones lie before key i?",
            "Of the keys before i, upto[i] are zeros where key i is a one; so "
            "i - upto[i] are ones.",
        ),
        slips=(
            Slip(
                backwards,
                "The keys with a 1 lie behind all zeros, but in the opposite order.",
                "The first one comes right behind the zeros. How many ones lie before "
                "key i?",
            ),
        ),
        starter=(CheckFailed, "both write y[0]"),
        mutants={
            "backwards": Mutant(
                mistake="The ones are stored from the end: their order turns around.",
                edits=[("upto[n - 1] + i - upto[i]", "n - 1 - (i - upto[i])")],
                fails=(CheckFailed, "the opposite order"),
            ),
            "no_zeros_before": Mutant(
                mistake="The ones begin at place 0, as the zeros do.",
                edits=[("upto[n - 1] + i - upto[i]", "i - upto[i]")],
                fails=(CheckFailed, "both write y[0]"),
            ),
            "one_further": Mutant(
                mistake="Every one lies a place too far.",
                edits=[("upto[n - 1] + i - upto[i]", "upto[n - 1] + i - upto[i] + 1")],
                fails=(OutOfBoundsError, "writes y[8]"),
            ),
        },
    ),
    Exercise(
        id="16.s",
        name="rank",
        title="The rank of a digit in its warp",
        kernel="rank_in_warp",
        inputs=some_digits,
        outputs=("ranks",),
        reference=ranks,
        hints=(
            "A number whose bits are 1 for lanes 0 to lane - 1: (1u << lane) - 1. And "
            "with `same` it leaves the lanes to count.",
            "int rank = __popc(same & (1u << lane) - 1);",
        ),
        slips=(
            Slip(
                lambda v: ranks(v, lambda equal, lane: equal.sum()),
                "All lanes with this digit are counted, also those behind.",
                "Which bits of `same` belong to lanes below `lane`? Mask the others.",
            ),
            Slip(
                lambda v: ranks(v, lambda equal, lane: equal[: lane + 1].sum()),
                "A lane counts itself.",
                "The mask has the bits below bit `lane`, and not that bit.",
            ),
            Slip(
                lambda v: ranks(v, lambda equal, lane: equal[lane + 1 :].sum()),
                "The lanes behind this one are counted.",
                "Bit 0 of `same` is lane 0. Which bits are below bit `lane`?",
            ),
            Slip(
                lambda v: ranks(v, lambda equal, lane: equal[lane:].sum()),
                "The lanes behind this one are counted, and the lane itself.",
                "Bit 0 of `same` is lane 0. Which bits are below bit `lane`?",
            ),
            Slip(
                as_word,
                "This is the word with the right bits, not their number.",
                "__popc(word) counts the bits of a word that are 1.",
            ),
            Slip(
                lambda v: ranks(v, lambda equal, lane: equal.argmax()),
                "This is the first lane with the digit.",
                "__popc(word) counts the bits of a word that are 1.",
            ),
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "itself": Mutant(
                mistake="A lane counts itself.",
                edits=[("(1u << lane) - 1", "(2u << lane) - 1")],
                fails=(CheckFailed, "A lane counts itself"),
            ),
            "all_of_them": Mutant(
                mistake="It counts all lanes with this digit.",
                edits=[("same & (1u << lane) - 1", "same")],
                fails=(CheckFailed, "also those behind"),
            ),
            "lanes_behind": Mutant(
                mistake="It counts the lanes behind this one.",
                edits=[("same & (1u << lane) - 1", "same >> lane >> 1")],
                fails=(CheckFailed, "lanes behind this one are counted."),
            ),
        },
    ),
    ProgramExercise(
        id="16.5",
        name="kmeans",
        title="K-means by five calls",
        stars=2,
        cases=(
            Case(
                args=(1, 2, 3, 10, 11, 12),
                stdout="2\n11\n100\n",
                causes={
                    "0": "No center has moved: `step` finds labels, and does nothing "
                    "with them, or `some` is still 0.",
                    "11": "Sum i is not always that of center i: where a center has "
                    "no numbers, `found` tells to which center a sum belongs.",
                    "39": "The centers are sums: divide them by the counts.",
                    "inf": "Sums are divided by 0: nothing has added up `ones` into "
                    "`counts`.",
                    "nan": NO_LABEL,
                    "-nan": NO_LABEL,
                },
            ),
            Case(
                args=(12, 1, 99, 3, 101, 11, 2, 10),
                stdout="2\n11\n100\n",
                cause="reduce_by_key adds up neighbours with equal keys. Equal labels "
                "are neighbours only once x is sorted by its labels.",
            ),
            Case(
                args=(90, 110, 1, 120),
                stdout="0\n1\n106.667\n",
                cause="The first center has no numbers. So the first sum belongs to "
                "another one: reduce_by_key tells in `found` to which.",
            ),
        ),
        hints=(
            "thrust::sort_by_key(labels.begin(), labels.end(), x.begin()) brings equal "
            "labels together.",
            "thrust::reduce_by_key(labels.begin(), labels.end(), x.begin(), "
            "found.begin(), sums.begin()) returns a pair; its first minus "
            "found.begin() is how many labels it has found. A second call adds up "
            "ones into counts.",
            "auto ends = thrust::reduce_by_key(...); some = ends.first - "
            "found.begin(); and before it, sort_by_key.",
        ),
        starter=(CheckFailed, "prints '0' in line 1, and should print '2'"),
        mutants={
            "not_sorted": Mutant(
                mistake="Labels are added up in the order of the numbers.",
                edits=[("    thrust::sort_by_key(labels.begin(), labels.end(), "
                        "x.begin());\n", "")],
                fails=(CheckFailed, "Equal labels are neighbours only once"),
            ),
            "centers_in_order": Mutant(
                mistake="Sum i goes to center i, also where a center has no numbers.",
                edits=[("thrust::make_permutation_iterator(centers.begin(), "
                        "found.begin())", "centers.begin()")],
                fails=(CheckFailed, "`found` tells to which center"),
            ),
            "sums_for_means": Mutant(
                mistake="The centers become sums.",
                edits=[("thrust::divides<float>{}",
                        "[](float sum, int) { return sum; }")],
                fails=(CheckFailed, "The centers are sums"),
            ),
        },
    ),
)  # fmt: skip

GUESSES = {
    "sort_fused": Guess(
        question="thrust::transform squares n floats into a second array, then "
        "thrust::reduce adds those up. How many bytes of memory per element do the "
        "two calls read and write, if no cache helps?",
        options=("4", "8", "12"),
        hint="One call reads x and writes the squares. What does the other one read?",
        answer="12",
        because="4 + 4 + 4. nvcc never makes one kernel of two calls; who wants 4 "
        "bytes calls transform_reduce.",
    ),
    "sort_threads": Guess(
        question="128 threads call cub::BlockReduce's Sum. In which threads is the "
        "result that it returns valid?",
        options=("in thread 0", "in the first warp", "in all of them"),
        hint="Which threads read shared memory last in the tree of 10a?",
        answer="in thread 0",
        because="The others have parts of it. Who needs it everywhere stores it in "
        "shared memory, and puts a barrier behind that.",
    ),
    "sort_twice": Guess(
        question="A program calls cub::DeviceRadixSort::SortKeys once, with a null "
        "pointer for the temporary storage. What has it sorted?",
        options=("all keys", "one digit", "nothing"),
        hint="The call has an argument that it writes, and that is no array.",
        answer="nothing",
        because="It has written how many bytes it needs. The second call, with that "
        "many, sorts.",
    ),
    "sort_stable": Guess(
        question="A pass by the low digit gave 21, 31, 12, 32. The pass by the high "
        "digit keeps no order among equal digits. What can it give?",
        options=("12 21 31 32 only", "12 21 32 31, too", "any order"),
        hint="Which two keys have equal high digits, and which came first?",
        answer="12 21 32 31, too",
        because="31 and 32 are equal to this pass. That is why each pass must be "
        "stable.",
    ),
    "sort_runs": Guess(
        question="The tiles of step 4 have 16,384 keys of 4 bytes. How many bytes has "
        "a run of equal digits, of 256, in the mean?",
        options=(64, 256, 1024),
        hint="How many keys of one digit are there in a tile?",
        answer=256,
        because="64 keys of 4 bytes: eight sectors. A longer run wastes less at its "
        "two ends.",
    ),
    "sort_bytes": Guess(
        question="Four passes read and write each key of 4 bytes once, and one "
        "kernel before them reads all keys to count. How many bytes per key?",
        hint="Four times 8, and one more reading.",
        answer=36,
        because="4 * 8 + 4. A copy moves 8: so this sort can be no faster than 4.5 "
        "copies.",
    ),
}
