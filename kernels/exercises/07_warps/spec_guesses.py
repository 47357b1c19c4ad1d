"""Guesses and quizzes of chapter 07."""

from coursekit.exercises import Guess

GUESSES = {
    "two_ways": Guess(
        question="Two long ways, 16 lanes in each. What share of the lanes is active "
        "on average?",
        options=("25 %", "50 %", "75 %", "100 %"),
        hint="While the lanes of one way run, the lanes of the other way wait.",
        answer="50 %",
        because="In each step of either way, the other 16 lanes wait.",
    ),
    "tile_of_warp": Guess(
        question="Every block has 128 threads. In which of these do the lanes wait "
        "least?",
        options=("32 x 4", "16 x 8", "8 x 16"),
        hint="Work out which pixels one warp of 32 threads covers in each shape.",
        answer="8 x 16",
        because="A warp of 8 x 4 pixels is the most compact of the three, and points "
        "that are near each other take a similar number of iterations.",
    ),
    "shuffle_down": Guess(
        question="Each lane holds its own number. What does __shfl_down_sync with by = "
        "16 give to lane 20?",
        hint="Add 16 to the number of the lane, and compare the result with the number "
        "of lanes.",
        answer=20,
        because="There is no lane 36, and the shuffle does not wrap round: the lane "
        "gets its own value.",
    ),
    "points": Guess(
        question="32 lanes read x of 32 points that lie 12 bytes apart. How many "
        "sectors?",
        options=(3, 4, 12, 32),
        hint="Work out how many bytes lie between the first and the last value that "
        "the warp touches.",
        answer=12,
        because="32 * 12 = 384 bytes are touched from end to end: 12 sectors, of which "
        "a third is used.",
    ),
}
QUIZZES = {
    "review_lanes": (
        Guess(
            question="In a block of 8 x 8 threads, how many rows of threads are in one "
            "warp?",
            hint="A warp has 32 threads, and x runs fastest.",
            answer=4,
            because="32 / 8 = 4, because x runs fastest.",
        ),
        Guess(
            question="In a vector addition with a guard no warp can diverge.",
            hint="Look at the warp in which the array ends.",
            answer=False,
            because="The last warp has lanes on both sides of the guard if the array "
            "ends within it.",
        ),
        Guess(
            question="Which lane of a warp gets the whole sum from five "
            "__shfl_down_sync?",
            options=("lane 0", "lane 31", "all of them"),
            hint="In `__shfl_down_sync` each lane takes the value of a lane with a "
            "higher number.",
            answer="lane 0",
            because="The values move to lower lanes. With __shfl_xor_sync all lanes "
            "would get the sum.",
        ),
    ),
    "review_masks": (
        Guess(
            question="`__activemask()` is the right mask for a shuffle behind an if.",
            hint="Does the mask have to name the lanes that have arrived, or "
            "those that should take part?",
            answer=False,
            because="It names the lanes that run together now. Which lanes should "
            "take part follows from your condition.",
        ),
        Guess(
            question="32 lanes read 32 neighbouring doubles. How many sectors at "
            "least?",
            hint="A double has 8 bytes, and a sector has 32.",
            answer=8,
            because="32 * 8 bytes are 256, and 256 / 32 = 8.",
        ),
        Guess(
            question="The lanes of a warp always run in step, so __syncwarp() is a "
            "comment.",
            hint="What did compute capability 7.0 change about the lanes of a warp?",
            answer=False,
            because="Since compute capability 7.0 each lane has a program counter of "
            "its own, and lanes may run apart.",
        ),
    ),
}
