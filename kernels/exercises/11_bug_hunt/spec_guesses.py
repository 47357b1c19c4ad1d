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
        hint="The hardware checks pages, and a page is much larger than 4,000 bytes.",
        answer="most often nothing",
        because="Memory is handed out in larger pieces; the hardware knows pages, not "
        "arrays.",
    ),
    "ai_softmax": Guess(
        question="Ragged width, distinct values of both signs, a tight tolerance, four "
        "checkers. Is the kernel right?",
        hint="Think of a row in which every value is far below 0.",
        answer=False,
        because="Its maximum begins at 0. Subtract anything, and softmax stays the "
        "same, until all exponentials vanish.",
    ),
    "silent": Guess(
        question="Of how many of these twelve mistakes does no checker say a word?",
        hint="Checkers see how memory is used; a wrong formula may use it correctly.",
        answer=5,
        because="A formula that is wrong breaks no rule of the machine.",
    ),
}
QUIZZES = {
    "review_tools": (
        Guess(
            question="A kernel gives the right result in every order that you try. It "
            "has no race.",
            hint="An order that you did not try may still be possible.",
            answer=False,
            because="You try some orders. racecheck asks whether anything forbids the "
            "others.",
        ),
        Guess(
            question="Which tool needs no GPU fault, no luck and no reference, and "
            "finds a tile that was read before it was written?",
            options=("memcheck", "initcheck", "a larger test"),
            hint="The access lies within its bounds, so ask what the value was before.",
            answer="initcheck",
            because="The access is in bounds, and the value is whatever was there.",
        ),
        Guess(
            question="cudaMemcpy returns error 700. The copy was wrong.",
            hint="A launch returns at once, so an error of the kernel is reported "
            "later.",
            answer=False,
            because="It reports what an earlier kernel did.",
        ),
    ),
    "review_limits": (
        Guess(
            question="A block of dim3(H, W) threads, one for each pixel. Up to which H "
            "* W?",
            hint="A block has a largest number of threads, whatever its shape.",
            answer=1024,
            because="More is no launch at all: a 33 x 32 picture needs two blocks.",
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
            hint="A launch returns before the kernel has run.",
            answer="the launch",
            because="It returns before the kernel runs. Chapter 12 does it right.",
        ),
    ),
}
