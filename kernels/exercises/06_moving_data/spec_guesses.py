"""Guesses and quizzes of chapter 06."""

from coursekit.exercises import Guess

GUESSES = {
    "count_in_bytes": Guess(
        question="The call above asks for 1000. How many of the 1000 floats arrive?",
        hint="In which unit does cudaMemcpy count its third argument?",
        answer=250,
        because="The call copies 1000 bytes, and a float has 4. The size should be n "
        "* sizeof(float).",
    ),
    "swapped": Guess(
        question="h_x is full and d_x is new. You swap the two by mistake: "
        "cudaMemcpy(h_x, d_x, bytes, cudaMemcpyDefault). What happens?",
        options=("it copies h_x to d_x", "it overwrites h_x", "it returns an error"),
        hint="Which of the two pointers is the target, and how does "
        "cudaMemcpyDefault find out where they point to?",
        answer="it overwrites h_x",
        because="The target comes first, and cudaMemcpyDefault asks the pointers, "
        "which are both valid. The data are lost, and the call reports "
        "success.",
    ),
    "default_stream": Guess(
        question="Two kernels of 100 us in two streams; between them a kernel of 20 us "
        "goes into the default stream. How long does it take, about?",
        options=("110 us", "130 us", "225 us"),
        hint="A kernel in the default stream waits for the streams before it, and they "
        "wait for it.",
        answer="225 us",
        because="The small kernel waits for the left half, and the right half waits "
        "for the small kernel.",
    ),
    "chunks": Guess(
        question="With which number of chunks is the makespan shortest?",
        options=(4, 32, 256),
        hint="Many chunks fill the engines early, but each of them also costs the host "
        "three calls.",
        answer=32,
        because="More chunks fill the engines sooner. But each costs three calls of 5 "
        "us, and 256 of them keep the host busy for 3,840 us.",
    ),
    "unified": Guess(
        question="Unified memory is managed by the compiler, nvcc: it puts in the "
        "copies.",
        hint="When is it known which pages a program touches: while it is compiled, or "
        "while it runs?",
        answer=False,
        because="nvcc sees an ordinary pointer. The driver moves pages while the "
        "program runs, when the CPU or the GPU touches them.",
    ),
    "graph": Guess(
        question="10 kernels of 2 us, 5 us per call. One by one they take 52 us. As "
        "one graph?",
        options=("7 us", "25 us", "50 us"),
        hint="A graph saves calls of the host; the kernels still run one after "
        "another.",
        answer="25 us",
        because="One call of 5 us, then 10 kernels of 2 us each. The kernels "
        "themselves get no shorter.",
    ),
    "nvcc_fuses": Guess(
        question="Two kernels in one file, and -O3: nvcc makes one of them.",
        hint="To join two kernels, one has to know how both are launched, and in which "
        "order.",
        answer=False,
        because="nvcc compiles each kernel by itself and never joins two. XLA, "
        "PyTorch's Inductor and cuDNN's graphs do, because they see the whole "
        "computation.",
    ),
}
QUIZZES = {
    "review_copies": (
        Guess(
            question="`cudaMemcpyAsync` from a `std::vector` returns at once.",
            hint="A copy that does not wait needs memory that the driver can read at "
            "any time.",
            answer=False,
            because="The memory of a std::vector is pageable. The call may wait "
            "until the data lie in a staging buffer.",
        ),
        Guess(
            question="Two streams: a kernel in one reads what a copy in the other "
            "writes. What orders them?",
            options=("the order of the calls", "an event", "nothing is needed"),
            hint="Calls in one stream keep their order, but these two are in different "
            "streams.",
            answer="an event",
            because="Between streams there is no order until you ask for one.",
        ),
        Guess(
            question="In, run, out: 300 us each as one chunk. Calls cost nothing. How "
            "many us with 3 chunks?",
            hint="The first chunk passes three engines. How long does it take, "
            "and how often does a chunk end after that?",
            answer=500,
            because="300 * (1 + 2 / 3) = 500.",
        ),
    ),
    "review_launches": (
        Guess(
            question="A graph makes the kernels in it faster.",
            hint="Does a graph change what a kernel does, or how it is started?",
            answer=False,
            because="A graph saves calls, and gaps between kernels. Each kernel "
            "takes as long as before.",
        ),
        Guess(
            question="cudaTriggerProgrammaticLaunchCompletion makes results visible.",
            hint="Is it the same to start early and to see results?",
            answer=False,
            because="It lets the next kernel start early. Before that kernel reads, "
            "it has to wait with cudaGridDependencySynchronize().",
        ),
        Guess(
            question="Which launch sees what all children of a kernel wrote?",
            options=("fire and forget", "tail launch", "none"),
            hint="Which of the two launches waits for the children?",
            answer="tail launch",
            because="It starts when the parent and all its children have ended.",
        ),
    ),
}
