"""Guesses and quizzes of chapter 17."""

from coursekit.exercises import Guess

GUESSES = {
    "intensity": Guess(
        question="Three matrices of 4096 x 4096, each moved once: about how many FLOP "
        "per byte?",
        options=(14, 170, 680, 4096),
        hint="A product of n x n matrices has 2 n^3 operations and three matrices of 4 "
        "n^2 bytes.",
        answer=680,
        because="2 n^3 operations and 12 n^2 bytes: n / 6 = 683.",
    ),
    "rows_of_a": Guess(
        question="threadIdx.x counts rows here. A warp reads A[row * K + k], and K = "
        "32. How many sectors?",
        options=(1, 4, 32),
        hint="The values that two neighbouring lanes read lie K floats apart.",
        answer=32,
        because="32 lanes read from 32 rows, which lie K floats apart. So each lane "
        "needs a sector of its own.",
    ),
    "wavefronts": Guess(
        question="Every FMA now reads shared memory: one value of A, one of B. A read "
        "of A serves four k at a time, 2 wavefronts; B takes one for each k. How many "
        "wavefronts per FMA?",
        options=(0.25, 0.5, 1.5, 2),
        hint="Add what A costs per k to what B costs per k.",
        answer=1.5,
        because="2 / 4 + 1 = 1.5. Four FMAs can be issued per clock cycle, and their "
        "reads take six.",
    ),
    "patch": Guess(
        question="Which patch of 16 results reads least?",
        options=("16 x 1", "8 x 2", "4 x 4"),
        hint="A patch of r x c results reads r + c values for r * c multiply-adds.",
        answer="4 x 4",
        because="(4 + 4) / 16 is 0.5; 8 x 2 reads 0.625, and 16 x 1 reads 1.0625.",
    ),
    "lane_numbers": Guess(
        question="8 x 4 lanes, numbered row by row: each read of B takes 4 wavefronts. "
        "Numbered so that lanes n and n ^ 2 want the same float4 of B, it takes?",
        options=(1, 2, 4),
        hint="Lanes n and n ^ 2 that read the same float4 are served at once.",
        answer=2,
        because="Where all lanes n and n ^ 2, or n ^ 1, agree, a wavefront serves "
        "twice as many.",
    ),
    "barriers": Guess(
        question="Step 8 needs two barriers for each pair of tiles. How many does step "
        "9 need?",
        options=(0, 1, 2),
        hint="What do the two barriers of step 8 protect? Two buffers change one "
        "of the two.",
        answer=1,
        because="One barrier says both: my copies have arrived, and I have left the "
        "other tiles.",
    ),
    "ceiling": Guess(
        question="Measured at n = 4096: which of these ends farthest below its "
        "ceiling?",
        options=("step 1", "step 3", "step 5", "step 9"),
        hint="Ask what the ceiling of each step leaves out.",
        answer="step 1",
        because="Its ceiling leaves out loads from global memory, and step 1 reads "
        "33 sectors per FMA.",
    ),
    "register_banks": Guess(
        question="FFMA R4, R6, R8, R4, over and over. How many clock cycles does each "
        "take?",
        options=(1, 2, 3),
        hint="Registers with even numbers lie in one bank, and a bank delivers one of "
        "them per clock cycle.",
        answer=3,
        because="All three numbers are even, so one bank delivers the values one "
        "after another.",
    ),
    "last_wave": Guess(
        question="n = 3000 has 288 tiles, 2.18 waves. Were the work shared evenly "
        "among all SMs, how many times as fast?",
        options=(1.02, 1.1, 1.38, 2.18),
        hint="A wave that is only partly filled takes as long as a whole one.",
        answer=1.38,
        because="Three waves take the time of three full ones, for the work of 2.18. "
        "3 / 2.18 = 1.38.",
    ),
    "three_products": Guess(
        question="Tensor cores of an H200 make 494.5 TFLOP/s in TF32 at best, its FMAs "
        "66.9. How much faster can 3xTF32 be than FMAs at their peak?",
        options=(1.2, 2.5, 7.4),
        hint="3xTF32 needs three products of tensor cores for each product of float32.",
        answer=2.5,
        because="494.5 / 3 = 164.8, and 164.8 / 66.9 is 2.46.",
    ),
}
QUIZZES = {
    "review_rates": (
        Guess(
            question="1.25 instructions per FMA: what share of the peak is left, at "
            "most?",
            options=("25 %", "75 %", "80 %"),
            hint="Each instruction takes an issue slot, and of 1.25 only one is an "
            "FMA.",
            answer="80 %",
            because="1 / 1.25 = 80 %. Each instruction takes one issue slot.",
        ),
        Guess(
            question="A patch of 8 x 16: how many values are read for one k?",
            hint="One k needs a column of the patch's rows of A, and a row of its "
            "columns of B.",
            answer=24,
            because="8 of A and 16 of B, for 128 FMAs.",
        ),
        Guess(
            question="More warps on an SM always hide more waiting.",
            hint="What do the warps of an SM share?",
            answer=False,
            because="With 64 registers per thread, the innermost loop spilled.",
        ),
    ),
    "review_tiles": (
        Guess(
            question="Tiles of 64 x 64 in place of 32 x 32: how does the traffic from "
            "global memory change?",
            options=("it halves", "it stays", "it doubles"),
            hint="A value of A is loaded once for each tile that lies in its row of "
            "tiles.",
            answer="it halves",
            because="Each value is loaded once for each tile beside it.",
        ),
        Guess(
            question="Padding the rows of a tile helps lanes that read along one row.",
            hint="Padding shifts each row against the row above it.",
            answer=False,
            because="It moves whole rows. Within a row nothing changes.",
        ),
        Guess(
            question="3xTF32: how many products of tensor cores for one of float32?",
            hint="Each number is split into a high and a low part. Which of the "
            "products are too small to matter?",
            answer=3,
            because="High by high, high by low, and low by high. Low by low is left "
            "out.",
        ),
    ),
}
