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
        because="The 32 words lie in the 16 even banks, two in each.",
    ),
    "same_float4": Guess(
        question="All 32 lanes read the same float4. How many wavefronts does that "
        "take?",
        options=(1, 2, 4, 32),
        hint="A request of 16 bytes per lane is served in four parts, unless lanes "
        "agree.",
        answer=2,
        because="Different values would take 4. Neighbours that agree halve that, "
        "and no more.",
    ),
    "blocks_per_sm": Guess(
        question="A block of 256 threads takes 48 KiB. How many of them fit on an SM "
        "of an H200, where 8 would be full?",
        hint="An SM has 228 KiB of shared memory for blocks, and the system takes 1 "
        "KiB per block.",
        answer=4,
        because="228 / (48 + 1) = 4.65, as the system takes 1 KiB per block.",
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
            hint="What does a bank deliver in one wavefront: a word, or a value "
            "for one lane?",
            answer=False,
            because="One word goes to any number of lanes in one wavefront.",
        ),
        Guess(
            question="What does a tile save against `transpose_naive`?",
            options=("sectors read", "sectors written", "bytes in shared memory"),
            hint="Compare the sectors of both kernels for reading, and then for "
            "writing.",
            answer="sectors written",
            because="The tile lowers them from 4096 to 512. The sectors read were "
            "512 before, too.",
        ),
    ),
    "review_tiles": (
        Guess(
            question="32 lanes read 32 different float4. How many wavefronts at least?",
            hint="Shared memory delivers at most 128 bytes per wavefront.",
            answer=4,
            because="They have 512 bytes, and a wavefront delivers 128. That is no "
            "bank conflict.",
        ),
        Guess(
            question="One tile, without a second copy, is filled and used in a loop. "
            "How many barriers in each iteration?",
            hint="What can go wrong if a fast warp begins the next iteration "
            "before the others are done?",
            answer=2,
            because="One barrier after the tile is filled, and one before it is "
            "filled again.",
        ),
        Guess(
            question="More shared memory for each block always makes a kernel faster.",
            hint="What else on the SM needs the memory that a block reserves?",
            answer=False,
            because="Fewer blocks fit on an SM, and the L1 cache becomes smaller.",
        ),
    ),
}
