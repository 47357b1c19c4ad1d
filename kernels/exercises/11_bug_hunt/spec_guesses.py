"""Guesses and quizzes of chapter 11."""

from coursekit.exercises import Guess

GUESSES = {
    "ones": Guess(
        question="The same kernel, the same sizes, random values in place of ones. Is "
        "it right?",
        options=("yes", "yes, up to rounding", "no"),
        hint="If all values are 1, can you tell which of them the kernel has read?",
        answer="no",
        because="It reads wrong elements of B. If all are 1, any element will do.",
    ),
    "out_of_bounds": Guess(
        question="On a GPU, cudaMalloc gave you 4,000 bytes, and a thread reads the "
        "float behind them. What happens?",
        options=(
            "an error, at once",
            "an error, at the next call",
            "most often nothing",
        ),
        hint="Does the hardware check an address against arrays, or against pages "
        "of memory?",
        answer="most often nothing",
        because="Memory is handed out in larger pieces. The hardware checks pages, "
        "not arrays.",
    ),
    "ai_softmax": Guess(
        question="Ragged width, distinct values of both signs, a tight tolerance, four "
        "checkers. Is the kernel right?",
        hint="Think of a row in which every value is far below 0.",
        answer=False,
        because="Its maximum starts at 0. If all values of a row are far below 0, "
        "all exponentials underflow, and the row is 0 / 0.",
    ),
    "silent": Guess(
        question="Of how many of these twelve mistakes does no checker say a word?",
        hint="Checkers see how memory is used; a wrong formula may use it correctly.",
        answer=5,
        because="A wrong formula breaks no rule of the machine.",
    ),
}
QUIZZES = {
    "review_tools": (
        Guess(
            question="A kernel gives the right result in every order that you try. It "
            "has no race.",
            hint="How many orders are possible, and how many have you tried?",
            answer=False,
            because="A few orders prove nothing about the others. racecheck asks "
            "whether anything forbids them.",
        ),
        Guess(
            question="Which tool needs no GPU fault, no luck and no reference, and "
            "finds a tile that was read before it was written?",
            options=("memcheck", "initcheck", "a larger test"),
            hint="The access lies within its bounds, so ask what the value was before.",
            answer="initcheck",
            because="The access is in bounds, so memcheck is silent. The value is "
            "whatever was there before.",
        ),
        Guess(
            question="cudaMemcpy returns error 700. The copy was wrong.",
            hint="When does a launch report an error that its kernel makes?",
            answer=False,
            because="The call reports what an earlier kernel did.",
        ),
    ),
    "review_limits": (
        Guess(
            question="A block of dim3(H, W) threads, one for each pixel. Up to which H "
            "* W?",
            hint="A block has a largest number of threads, whatever its shape.",
            answer=1024,
            because="A launch with more threads per block fails: a 33 x 32 picture "
            "needs two blocks.",
        ),
        Guess(
            question="A sum of 100 products of floats. Which error is allowed, in "
            "units of 2^-24 of the sum of the |a b|?",
            hint="Each fused multiply-add rounds once.",
            answer=100,
            because="One rounding for each term, with fused multiply-add.",
        ),
        Guess(
            question="You read the clock, launch, and read the clock again. What was "
            "timed?",
            options=("the kernel", "the launch", "the kernel and its copies"),
            hint="When does a launch return?",
            answer="the launch",
            because="The launch returns before the kernel runs. Chapter 12 times the "
            "kernel.",
        ),
    ),
}
