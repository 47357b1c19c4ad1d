"""Guesses and quizzes of chapter 09."""

from coursekit.exercises import Guess

GUESSES = {
    "transpose_sides": Guess(
        question="A warp is 32 neighbours of a row of x. How many sectors does it "
        "read, and how many does it write?",
        options=("4 and 4", "4 and 32", "32 and 4", "32 and 32"),
        hint="Neighbours in a row of x become neighbours in a column of out.",
        answer="4 and 32",
        because="It reads along a row and writes down a column: 32 rows of out.",
    ),
    "stride_6": Guess(
        question="Stride 6: lane 0 reads word 0, lane 1 word 6, lane 2 word 12 and so "
        "on. How many wavefronts does the request take?",
        options=(1, 2, 6, 32),
        hint="Take the number of the word modulo 32 for each lane, and count how many "
        "banks differ.",
        answer=2,
        because="Only even banks are asked, so 32 words come out of 16 banks.",
    ),
    "same_float4": Guess(
        question="All 32 lanes read the same float4. How many wavefronts does that "
        "take?",
        options=(1, 2, 4, 32),
        hint="A request of 16 bytes per lane is served in four parts, unless lanes "
        "agree.",
        answer=2,
        because="Without neighbours that agree it would be 4. They halve it, and no "
        "more.",
    ),
    "blocks_per_sm": Guess(
        question="A block of 256 threads takes 48 KiB. How many of them fit on an SM "
        "of an H200, where 8 would be full?",
        hint="An SM has 228 KiB of shared memory for blocks, and the system takes 1 "
        "KiB per block.",
        answer=4,
        because="228 / (48 + 1) = 4.65, with 1 KiB of each block for the system.",
    ),
}
QUIZZES = {
    "review_banks": (
        Guess(
            question="Lanes read words 0, 12, 24, ... of shared memory. How many "
            "wavefronts?",
            hint="How many different banks does 12 * lane modulo 32 reach?",
            answer=4,
            because="The greatest common divisor of 12 and 32 is 4.",
        ),
        Guess(
            question="Two lanes read the same word of a bank. That is a conflict.",
            hint="A bank can send one word to several lanes at once.",
            answer=False,
            because="One word goes to any number of lanes in one wavefront.",
        ),
        Guess(
            question="What does a tile save against `transpose_naive`?",
            options=("sectors read", "sectors written", "bytes in shared memory"),
            hint="Compare the sectors of both kernels for reading, and then for "
            "writing.",
            answer="sectors written",
            because="512 in place of 4096. Reading took 512 before, too.",
        ),
    ),
    "review_tiles": (
        Guess(
            question="32 lanes read 32 different float4. How many wavefronts at least?",
            hint="Shared memory delivers at most 128 bytes per wavefront.",
            answer=4,
            because="512 bytes at 128 bytes per wavefront. It is no conflict.",
        ),
        Guess(
            question="One tile, without a second copy, is filled and used in a loop. "
            "How many barriers in each iteration?",
            hint="One barrier protects what is read, another what is overwritten next.",
            answer=2,
            because="One behind filling, one before the next filling.",
        ),
        Guess(
            question="More shared memory for each block always makes a kernel faster.",
            hint="Shared memory that a block reserves is missing elsewhere on the SM.",
            answer=False,
            because="It leaves room for fewer blocks, and for less L1 cache.",
        ),
    ),
}
