"""Guesses of chapter 23."""

from coursekit.exercises import Guess

TOOLS = ("torch.compile", "Triton", "CUDA")

GUESSES = {
    "behind": Guess(
        question="A Triton program loads 128 elements without a mask, and the array "
        "ends after 100. What are the other 28?",
        options=("zeros", "whatever lies in memory there", "copies of the last one"),
        hint="Who could compare the addresses with the array's end? The kernel gets "
        "a pointer.",
        answer="whatever lies in memory there",
        because="A pointer knows no length, in Triton as in CUDA. On a GPU nothing "
        "may be reported; the simulator reports it.",
    ),
    "requests": Guess(
        question="Our kernel adds with one element per thread, and its warps make "
        "1024 load requests. Triton has 8 elements per thread. How many load "
        "requests does it make?",
        hint="A thread loads up to 16 bytes with one instruction.",
        answer=256,
        because="One request of a warp loads 4 floats per thread: a quarter of the "
        "requests, for the same sectors.",
    ),
    "shifted": Guess(
        question="The same kernel gets `x[1:]`, which begins 4 bytes later. What "
        "happens to Triton's loads of x?",
        options=(
            "nothing changes",
            "they move more sectors",
            "the launch fails",
        ),
        hint="A load of 16 bytes needs an address that is a multiple of 16.",
        answer="they move more sectors",
        because="Triton compiles a variant for such a pointer: each thread keeps "
        "its 4 neighbours, and loads them one by one, 16 bytes apart from the next "
        "thread's.",
    ),
    "lost": Guess(
        question="5 programs each load out[0], add 1 and store it. It was 0. What is "
        "it afterwards, on a GPU?",
        options=("5", "1", "any number from 1 to 5"),
        hint="When does each of them load?",
        answer="any number from 1 to 5",
        because="Programs that load before another one stores lose its update. How "
        "many do so is left to chance.",
    ),
    "bf16": Guess(
        question="The interpreter adds 1 and 1, both in bfloat16. What is the sum?",
        options=("2", "an error", "about 1.7e38"),
        hint="NumPy has no bfloat16. The interpreter keeps the 16 bits in an integer.",
        answer="about 1.7e38",
        because="It adds the bits: 0x3F80 + 0x3F80 = 0x7F00, which is 1.7e38 in "
        "bfloat16.",
    ),
    "tuned": Guess(
        question="Of tiles of 16, 32 and 64, which one reads the fewest bytes of a "
        "and b?",
        options=(16, 32, 64),
        hint="A program loads a row of tiles of a and a column of tiles of b, for "
        "one tile of c.",
        answer=64,
        because="Each value is loaded once by N / TILE programs, so larger tiles "
        "halve and halve again what is read.",
    ),
    "mask_bytes": Guess(
        question="The backward pass has to drop what the forward pass dropped. How "
        "many bytes of a mask have to be stored for it?",
        hint="What does `tl.rand` need to give the same numbers again?",
        answer=0,
        because="The same seed and the same index give the same number.",
    ),
    "score_bytes": Guess(
        question="Attention for 4096 queries and keys. How many bytes of scores does "
        "the kernel below write to global memory?",
        options=("0", "64 MiB, once", "64 MiB, three times"),
        hint="Look where `scores` is used in the code below, and where it is stored.",
        answer="0",
        because="A tile of scores lives in registers, and is used up before the next "
        "one comes.",
    ),
    "whose": Guess(
        question="Who decided that the tile of this Numba kernel lies in shared "
        "memory?",
        options=("you", "Numba's compiler", "the driver"),
        hint="In which line is the tile made?",
        answer="you",
        because="`cuda.shared.array` is `__shared__`, spelled in Python. In Triton "
        "the compiler decides, and sets the barriers, too.",
    ),
    "masks": Guess(
        question="x has 1000 elements, and a block has 128. What does Helion write "
        "for the last block?",
        options=("a mask", "nothing: n must be a multiple of 128", "a second kernel"),
        hint="Helion gets the tensor, not a pointer: what does it know?",
        answer="a mask",
        because="`hl.tile` runs over the size of x, so Helion knows where it ends.",
    ),
    "layout": Guess(
        question="A layout has the shape (4, 8) and the strides (1, 4). Where does "
        "element (1, 2) lie?",
        hint="Multiply each coordinate by its stride, and add.",
        answer=9,
        because="1 * 1 + 2 * 4 = 9. This is a matrix stored by columns.",
    ),
}

QUIZZES = {
    "tools": (
        Guess(
            question="y = gelu(x + bias) on 4096 x 4096, in a model of PyTorch. Which "
            "tool do you try first?",
            options=TOOLS,
            hint="Which one takes the PyTorch line as it is?",
            answer="torch.compile",
            because="It fuses chains of elementwise operations, and writes Triton for "
            "them.",
        ),
        Guess(
            question="Softmax over rows with a mask of your own, fused with dropout. "
            "torch.compile makes two kernels of it. What next?",
            options=TOOLS,
            hint="Does it need anything that a program for one row cannot say?",
            answer="Triton",
            because="A row fits one program, and the reductions are one line each.",
        ),
        Guess(
            question="A histogram in which each warp has counters of its own in shared "
            "memory. Which tool?",
            options=TOOLS,
            hint="Which of the three has a name for a warp's own memory?",
            answer="CUDA",
            because="Triton has no shared memory and no warps that you could name.",
        ),
    )
}
