"""Guesses and quizzes of chapter 08."""

from coursekit.exercises import Guess

GUESSES = {
    "lost_counts": Guess(
        question="1000 values are counted. How many do the counters hold together?",
        options=("fewer than 1000", "1000", "more than 1000"),
        hint="Each thread reads the counter, adds 1 and writes it back, and another "
        "may read in between.",
        answer="fewer than 1000",
        because="Threads that read the same count write the same sum, and all but "
        "one of their additions are lost.",
    ),
    "race_definition": Guess(
        question="A race is when one thread begins its next task before another one is "
        "done; cudaDeviceSynchronize() prevents it.",
        hint="Who waits at cudaDeviceSynchronize: the host, or the threads of the "
        "kernel?",
        answer=False,
        because="It makes the host wait for the end of a kernel. The threads inside "
        "have raced by then.",
    ),
    "orders": Guess(
        question="Three warps with two steps each can be played in 90 orders. How many "
        "of them give the right result?",
        options=(6, 18, 48, 90),
        hint="An order is right if each warp stores before its neighbour reads. "
        "Play a few orders, and estimate the share.",
        answer=48,
        because="These are the orders in which every warp stores before its "
        "neighbour reads.",
    ),
    "two_copies": Guess(
        question="A barrier counts once for each warp. 256 threads, 10 rounds, one "
        "barrier before the loop. How many are counted with two copies?",
        hint="Count the barriers that one warp reaches, and multiply by the number of "
        "warps.",
        answer=88,
        because="8 warps * (1 + 10). With one copy it is 8 * (1 + 2 * 10) = 168.",
    ),
}
QUIZZES = {
    "review_barriers": (
        Guess(
            question="256 threads reach one `__syncthreads()`. How many barriers are "
            "counted?",
            hint="Each warp that arrives is counted.",
            answer=8,
            because="One for each of the 8 warps.",
        ),
        Guess(
            question="A kernel gave the right result a million times, so it has no "
            "race.",
            hint="Does a right result say anything about the orders that did not "
            "occur?",
            answer=False,
            because="A kernel of this chapter has a race, and 48 of its 90 orders "
            "give the right result.",
        ),
        Guess(
            question="`atomicAdd` also makes what you stored before it visible to "
            "others.",
            hint="An atomic protects one word. What does it promise about other words?",
            answer=False,
            because="It is a relaxed operation. A fence before it makes earlier "
            "stores visible.",
        ),
    ),
    "review_atomics": (
        Guess(
            question="A float sum by atomics has the same bits in every run.",
            hint="Does the order of additions change a sum of floats?",
            answer=False,
            because="No addition is lost, but their order is open, and each addition "
            "rounds.",
        ),
        Guess(
            question="Blocks hand each other data through a flag. Which fence?",
            options=("__threadfence_block()", "__threadfence()", "none"),
            hint="The fence has to reach as far as the threads that read the flag.",
            answer="__threadfence()",
            because="Blocks share the device. The fence of a block orders stores for "
            "the threads of that block only.",
        ),
        Guess(
            question="10 blocks, 64 counters each in shared memory. How many global "
            "atomic requests hand them over?",
            hint="A warp handles 32 counters with one request.",
            answer=20,
            because="Each of the 10 blocks hands over 64 counters, with two requests "
            "of a warp.",
        ),
    ),
}
