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
        because="A thread alone takes 4 bytes of a sector, and asks for the same "
        "sector again in its next iteration.",
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
        question="Threads can share half of the time of a program. How many times as "
        "fast can it become at most?",
        hint="Let the shared half take no time at all. What is left?",
        answer=2,
        because="The other half stays: 1 / (1 - 0.5) = 2, with any number of threads.",
    ),
    "launch": Guess(
        question="This program, without its CHECKs, asks for blocks of 1025 threads. "
        "What does it print?",
        options=("a CUDA error", "FAIL, a wrong sum", "nothing: it hangs"),
        hint="The launch is refused, so no thread runs. Who notices, and when?",
        answer="FAIL, a wrong sum",
        because="The launch returns nothing, and the kernel never ran. Only the "
        "comparison with the CPU notices; without it, the program says PASS.",
    ),
}
