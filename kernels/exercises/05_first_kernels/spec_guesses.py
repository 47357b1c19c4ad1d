"""Guesses of chapter 05."""

from coursekit.exercises import Guess

GUESSES = {
    "sectors": Guess(
        question="All three launches read the same 2 * 16,384 floats. Which one asks "
        "for the most sectors?",
        options=("[1, 1]", "[1, 256]", "[64, 256]", "all the same"),
        hint="Think of one load of one warp. How many floats does it want, and how "
        "many lie in the sectors that it asks for?",
        answer="[1, 1]",
        because="A lone thread takes 4 of the 32 bytes of a sector, and asks for the "
        "same sector again in its next iteration.",
    ),
    "columns": Guess(
        question="A request is one load of one warp. In `negative` each request "
        "needs 4 sectors. How many does it need with x and y swapped?",
        options=(1, 4, 8, 32),
        hint="How far apart are two threads of a warp in memory now, and how long is "
        "a sector?",
        answer=32,
        because="Each of the 32 threads is one whole row away from the next, so none "
        "shares a sector with another.",
    ),
    "amdahl": Guess(
        question="Half of the time of a program can be shared by threads. How many "
        "times as fast can the whole program become at most?",
        hint="Let the shared half take no time at all. What is left?",
        answer=2,
        because="The other half stays: 1 / (1 - 0.5) = 2, with any number of threads.",
    ),
    "launch": Guess(
        question="Leave out every CHECK of this program, but keep the calls inside "
        "them, and launch blocks of 1025 threads. How does the program end?",
        options=("a CUDA error", "FAIL, a wrong sum", "it hangs", "PASS"),
        hint="The launch is refused, so no thread runs. Which line of the program can "
        "notice that?",
        answer="FAIL, a wrong sum",
        because="Nobody reads the status of the launch, and the kernel never ran. Only "
        "the comparison notices; without it, the program would print PASS.",
    ),
}
