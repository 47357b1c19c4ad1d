"""Guesses and quizzes of chapter 12."""

from coursekit.exercises import Guess

GUESSES = {
    "stopwatch": Guess(
        question="A clock of the host is read, the kernel is launched, the clock is "
        "read again. How many us have passed?",
        options=(5, 841, 846),
        hint="Does a launch return before or after the kernel has run?",
        answer=5,
        because="The launch puts the kernel into a queue, and the host has not "
        "waited for it.",
    ),
    "which_number": Guess(
        question="Which number would you report for this kernel?",
        options=("the smallest", "the mean", "the median"),
        hint="Which of the three stays the same if one run is interrupted, or if one "
        "run is lucky?",
        answer="the median",
        because="The smallest time belongs to a GPU that is still cool. The mean "
        "moves with each interruption. Half of the times lie on either side "
        "of the median.",
    ),
    "busiest": Guess(
        question="matmul_naive, 1024 x 1024: each value of A and B is read 1024 times. "
        "Which part of the GPU is busiest?",
        options=("device memory", "L1 cache", "FP32 units"),
        hint="The three matrices have 12 MB together: where do they lie after the "
        "first reads?",
        answer="L1 cache",
        because="The matrices fit in the caches, so memory is nearly idle, and each "
        "multiply-add asks the L1 cache for two values.",
    ),
}
QUIZZES = {
    "myths": (
        Guess(
            question="nvcc fuses kernels that follow each other.",
            hint="What would the compiler have to know about the two launches?",
            answer=False,
            because="It compiles each kernel as it stands. Compilers of frameworks, "
            "such as torch.compile and XLA, write fused kernels.",
        ),
        Guess(
            question="On chip 20 TB/s, GPU memory about 100 GB/s: a fair comparison.",
            hint="Look up the memory bandwidth of a GPU of today.",
            answer=False,
            because="Even an RTX 3070 has 448 GB/s, and an A100 about 1.5 TB/s.",
        ),
        Guess(
            question="nvidia-smi shows 100 % utilisation, so the GPU is well used.",
            hint="Does one small kernel that runs all the time use the whole GPU?",
            answer=False,
            because="It is the share of time in which at least one kernel ran.",
        ),
    ),
    "review": (
        Guess(
            question="A kernel of 2 us, launched 1000 times in a loop. What helps "
            "most?",
            options=("more occupancy", "a graph, or one launch", "a faster clock"),
            hint="Compare 2 us with what one launch costs.",
            answer="a graph, or one launch",
            because="A call takes longer than the kernel.",
        ),
        Guess(
            question="Your GB/s are 130 % of the data sheet. What is the likeliest "
            "reason?",
            options=("a record", "data in L2", "a fast GPU"),
            hint="The data sheet states the rate of device memory; where else may data "
            "come from?",
            answer="data in L2",
            because="Or bytes were counted twice. No kernel reads memory faster than "
            "its data sheet.",
        ),
        Guess(
            question="Raising the occupancy always makes a kernel faster.",
            hint="What is occupancy good for, and does every kernel need it?",
            answer=False,
            because="With 33 % a library's kernel ran its busiest unit at 72 %.",
        ),
    ),
}
