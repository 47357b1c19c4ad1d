"""Guesses and a quiz of chapter 00."""

from coursekit.exercises import Guess

TOOLS = ("PyTorch", "torch.compile", "Triton", "CUDA C++", "none of these")

GUESSES = {
    "first_out": Guess(
        question="4 blocks of 256 threads, 1000 elements, no guard. Which is the "
        "first thread without an element?",
        options=(
            "thread 0 of block 1",
            "thread 232 of block 3",
            "thread 255 of block 3",
            "thread 1000 of block 3",
        ),
        hint="The last index is 999. How many threads are in blocks 0 to 2?",
        answer="thread 232 of block 3",
        because="768 threads come before block 3, and 768 + 232 = 1000.",
    ),
    "launches": Guess(
        question="Which of these launches of a kernel without arguments is refused?",
        options=("[1, (32, 32)]", "[1, (32, 33)]", "[70000, 1]"),
        hint="A block has a largest number of threads, which is a power of two. "
        "Multiply the dimensions of each block.",
        answer="[1, (32, 33)]",
        because="32 * 33 = 1056 threads in one block, and 1024 are the most. A grid "
        "may have 70000 blocks, and far more.",
    ),
    "not_simulated": Guess(
        question="Which of these can nobody tell you without a GPU?",
        options=(
            "the bytes that a kernel reads",
            "the thread that reads past the end of an array",
            "the milliseconds that a kernel takes",
            "the registers that a thread needs",
        ),
        hint="Three of the four follow from the kernel's instructions and the "
        "addresses that they use.",
        answer="the milliseconds that a kernel takes",
        because="A time belongs to one device. The course shows recorded times, and "
        "never simulates one.",
    ),
    "stride": Guess(
        question="A warp that reads neighbouring floats needs 4 sectors. How many "
        "does it need if thread i reads `x[8 * i]`?",
        options=(4, 8, 32, 256),
        hint="How many bytes lie between the floats of two neighbouring threads?",
        answer=32,
        because="8 floats are 32 bytes, so each of the 32 threads has a sector of its "
        "own, and uses 4 bytes of it.",
    ),
    "one_block": Guess(
        question="An H200 adds two arrays of 2^25 floats: with one block of 256 "
        "threads, or with as many blocks as needed. How many times faster is the "
        "second?",
        options=("about 4", "about 40", "about 400"),
        hint="An H200 has 132 multiprocessors, and each holds up to 2048 threads. How "
        "many of them does one block use?",
        answer="about 400",
        because="One block uses one multiprocessor, and too few threads even there to "
        "keep its share of the memory busy.",
    ),
}

QUIZZES = {
    "tools": (
        Guess(
            question="You try a new loss function, five lines of tensor arithmetic, "
            "and do not know yet whether it helps.",
            options=TOOLS,
            hint="What do you want to find out first?",
            answer="PyTorch",
            because="Find out first whether the idea is worth a kernel.",
        ),
        Guess(
            question="The model works. A profile shows ten small operations in a row "
            "between two matrix products.",
            options=TOOLS,
            hint="Each of the ten writes its result to memory and the next reads it.",
            answer="torch.compile",
            because="It fuses a row of small operations into one kernel.",
        ),
        Guess(
            question="You multiply two large matrices, and nothing else.",
            options=TOOLS,
            hint="Has somebody tuned this for years?",
            answer="PyTorch",
            because="On an NVIDIA GPU it calls cuBLAS, NVIDIA's matrix library. "
            "Measure before you compete with that.",
        ),
        Guess(
            question="A softmax with an unusual mask. torch.compile leaves it in four "
            "kernels, and your team writes Python.",
            options=TOOLS,
            hint="Which language describes blocks of elements, and has masks?",
            answer="Triton",
            because="Rows and masks are what it describes best, and it stays Python. "
            "It runs on AMD's GPUs too.",
        ),
        Guess(
            question="The threads of a warp pass values to each other in an order "
            "that you choose.",
            options=TOOLS,
            hint="Which of them lets you say what a single thread does?",
            answer="CUDA C++",
            because="Triton hides single threads and warps.",
        ),
        Guess(
            question="A C++ program has to sort a hundred million keys.",
            options=TOOLS,
            hint="Every program that sorts needs a fast sort. Must you write it?",
            answer="none of these",
            because="A library: CUB and Thrust come with CUDA, and sort on the GPU.",
        ),
        Guess(
            question="A trained PyTorch model has to run on phones.",
            options=TOOLS,
            hint="Does the phone have PyTorch, or an NVIDIA GPU?",
            answer="none of these",
            because="An export: torch.export, and then ExecuTorch.",
        ),
        Guess(
            question="You add 100 numbers, once.",
            options=TOOLS,
            hint="100 elements are 4 warps. An H200 has room for 64 warps in each of "
            "its 132 multiprocessors.",
            answer="none of these",
            because="The CPU is done before a GPU has begun.",
        ),
    ),
}
