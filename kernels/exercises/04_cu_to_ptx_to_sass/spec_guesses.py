"""Guesses of chapters 04a and 04b."""

from coursekit.exercises import Guess

GUESSES = {
    "virtual": Guess(
        question="PTX names a register `%r3`. What is it?",
        options=(
            "register 3 of the multiprocessor",
            "a name, for which the second compiler chooses a register",
            "4 bytes of shared memory",
        ),
        hint="PTX is written for a GPU that does not exist, before anybody knows how "
        "many registers there are per thread.",
        answer="a name, for which the second compiler chooses a register",
        because="PTX has as many virtual registers as the first compiler likes. The "
        "assembler ptxas maps them to at most 255 real ones per thread.",
    ),
    "predicate": Guess(
        question="A warp comes to `@P0 EXIT`, and P0 is true in three of its lanes. "
        "What happens?",
        options=(
            "the whole warp ends",
            "three lanes end, and 29 go on",
            "the warp waits until P0 is true in all lanes",
        ),
        hint="A predicate belongs to a lane, as a register does.",
        answer="three lanes end, and 29 go on",
        because="An instruction with a predicate takes effect in those lanes where the "
        "predicate is true. No jump is needed.",
    ),
    "fma_value": Guess(
        question="a = x = 1 + 2^-12 and y = -(1 + 2^-11). The exact product is 1 + "
        "2^-11 + 2^-24. What is a * x + y in float32, computed by one FMA?",
        options=("0", "2^-24", "2^-11"),
        hint="An FMA adds y to the exact product, and rounds only the result.",
        answer="2^-24",
        because="The exact sum is 2^-24, which float32 holds. With two roundings the "
        "product becomes 1 + 2^-11, and the sum 0.",
    ),
    "held": Guess(
        question="A thread loads 48 floats, waits at a barrier, and then stores them. "
        "How many registers of 32 bits does it need at least while it waits?",
        options=(1, 24, 48, 255),
        hint="Behind the barrier all these values are still needed.",
        answer=48,
        because="48 values wait for their stores at the same time. What has to be "
        "remembered besides, such as addresses, comes on top.",
    ),
    "inductor": Guess(
        question="What does torch.compile (its Inductor) write for a GPU?",
        options=("CUDA C++", "kernels in Triton", "PTX", "machine code"),
        hint="It writes Python that you can print and read. Which row of the drawing "
        "begins with a language for kernels in Python?",
        answer="kernels in Triton",
        because="Inductor generates Triton, and Triton's compiler goes through MLIR, "
        "LLVM and PTX. For matrix products it may call a library. nvFuser, which older "
        "pages name, takes no part in it.",
    ),
    "which_runs": Guess(
        question="`nvcc -arch=sm_90` made a program, and an H200 runs it. Does the "
        "driver compile PTX first?",
        options=("yes, at every start", "yes, once", "no"),
        hint="The H200 has compute capability 9.0. What has nvcc put into the program "
        "for sm_90?",
        answer="no",
        because="The program carries machine code for sm_90, and the H200 runs it as "
        "it is. The driver compiles PTX only where no machine code fits.",
    ),
    "suffix_a": Guess(
        question="PTX for `compute_90a` uses Hopper's wgmma. On which GPUs does it "
        "run?",
        options=(
            "compute capability 9.0 alone",
            "9.0 and everything later",
            "all GPUs, more slowly",
        ),
        hint="Blackwell has no wgmma: it has other instructions for its tensor cores.",
        answer="compute capability 9.0 alone",
        because="The suffix a stands for features of one architecture, which later "
        "ones may drop. Code with it is not forward compatible.",
    ),
    "no_gpu": Guess(
        question="Which of these needs neither a GPU nor a driver?",
        options=(
            "NVRTC: from CUDA C++ to PTX or a cubin",
            "cuModuleLoadData",
            "cuLaunchKernel",
        ),
        hint="All functions whose names begin with cu, and a large letter, belong to "
        "the driver.",
        answer="NVRTC: from CUDA C++ to PTX or a cubin",
        because="NVRTC is a library with a compiler in it. That is why this course can "
        "compile on any machine.",
    ),
    "late": Guess(
        question="saxpy is launched with an n that is twice as large as its arrays. "
        "Which call returns the error?",
        options=("cuModuleGetFunction", "cuLaunchKernel", "cuCtxSynchronize"),
        hint="A launch returns before the kernel has run.",
        answer="cuCtxSynchronize",
        because="The launch is right, and returns CUDA_SUCCESS. The fault happens "
        "later, and the next call that waits reports it.",
    ),
}
