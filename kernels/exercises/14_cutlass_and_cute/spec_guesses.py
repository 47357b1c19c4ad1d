"""Guesses and quizzes of chapter 14."""

from coursekit.exercises import Guess

GUESSES = {
    "vector": Guess(
        question="A tensor of int8 has 64 channels and lies in NC/32HW32, with H x W "
        "pixels. How many bytes lie between channel 31 and channel 32 of one pixel?",
        options=("1", "32", "32 * H * W - 31"),
        hint="Channels 0 to 31 of all pixels come first. Where in this part is channel "
        "31 of pixel 0?",
        answer="32 * H * W - 31",
        because="Channel 32 is the first element behind 32 * H * W elements, and "
        "channel 31 of pixel 0 is element 31.",
    ),
    "compose": Guess(
        question="`matrix` is (4,8):(8,1), and the other layout is 8:4. Which offsets "
        "has the composition?",
        options=("0, 1, 2, ..., 7", "0, 4, 8, ..., 28", "0, 8, 16, ..., 56"),
        hint="The layout 8:4 gives 0, 4, 8, ... These are coordinates of `matrix`, "
        "counted down its columns of 4.",
        answer="0, 1, 2, ..., 7",
        because="Coordinate 4 * c is the top of column c, and this element has the "
        "offset c: the composition is the first row.",
    ),
    "same_counts": Guess(
        question="Chapter 09's swizzled transpose computes each index by hand. "
        "Compared with it, how many sectors does the kernel of CuTe load and store?",
        options=("more", "as many", "fewer"),
        hint="Which elements do the lanes of a warp load and store at the same time, "
        "in either kernel?",
        answer="as many",
        because="Warps copy rows of 32 floats in both. A layout that is known when the "
        "kernel is compiled becomes the same index arithmetic.",
    ),
    "instructions": Guess(
        question="Four warps share a tile of 64 x 64 x 32. One instruction multiplies "
        "16 x 8 x 16. How many instructions does a warp execute per tile?",
        hint="How many 16 x 8 pieces has the tile of C, and how many steps of 16 has "
        "K? Then share them among 4 warps.",
        answer=16,
        because="4 * 8 pieces of C, 2 steps of K: 64 instructions, 16 for each warp.",
    ),
    "d_type": Guess(
        question="nvcc says: incomplete type "
        "`DefaultGemmConfiguration<Row, float, Half, Half, float, float>`. What is "
        "wrong in `Gemm<Half, Row, Half, Row, float, Row, float, Row, float, "
        "OpClassTensorOp, Sm80>`?",
        options=(
            "float cannot be the type of the sums",
            "it names a type and a layout for D",
            "Sm80 has no tensor cores for Half",
        ),
        hint="The template looks for the unit and the architecture. Which two did it "
        "find in their places?",
        answer="it names a type and a layout for D",
        because="D has the type and the layout of C. Two parameters too many move all "
        "that follow, so `Row` stands where the unit should.",
    ),
    "half_shape": Guess(
        question="nvcc says: incomplete type `cutlass::arch::Mma<...GemmShape<8, 8, "
        "4>...>`. Which instruction shape has Sm80 for products of halves?",
        options=("4 x 4 x 4", "16 x 8 x 16", "32 x 32 x 32"),
        hint="You have met it in `cute_gemm`.",
        answer="16 x 8 x 16",
        because="mma.sync of Ampere multiplies 16 x 8 x 16 halves. 8 x 8 x 4 was "
        "Volta's shape, and on Sm80 it is that of doubles.",
    ),
    "saved": Guess(
        question="A product of N x N float32 sums is followed by a kernel for bias and "
        "GELU. Fused, which share of the accesses to the N x N arrays remains?",
        options=("a half", "a third", "two thirds"),
        hint="Unfused, the product is stored, loaded and stored again.",
        answer="a third",
        because="Of a store, a load and a store, the last store remains.",
    ),
    "no_class": Guess(
        question="nvcc says: namespace `cutlass::conv::device` has no member "
        "`Conv2dFprop`. What takes its place?",
        options=(
            "ImplicitGemmConvolution, with a kernel of DefaultConv2dFprop",
            "Gemm, on a matrix that a first kernel has built",
            "TensorNHWC<float>, with three arguments",
        ),
        hint="No matrix of windows is built. And two names are needed: one makes "
        "the kernel, one launches it.",
        answer="ImplicitGemmConvolution, with a kernel of DefaultConv2dFprop",
        because="`DefaultConv2dFprop<...>::Kernel` is the kernel, and "
        "`device::ImplicitGemmConvolution<Kernel>` launches it.",
    ),
}
QUIZZES = {
    "review": (
        Guess(
            question="(4,(2,4)):(8,(1,2)) and (4,8):(8,1) have the same offsets.",
            hint="Which stride follows from 2:1 and 4:2?",
            answer=True,
            because="2:1 and 4:2 join to 8:1.",
        ),
        Guess(
            question="How many elements needs (4,8):(10,1) in memory?",
            hint="The largest offset belongs to coordinate (3, 7).",
            answer=38,
            because="3 * 10 + 7 * 1 = 37, and the offsets begin at 0.",
        ),
        Guess(
            question="FlashAttention 3 and 4 do without CUTLASS and CuTe.",
            hint="Hand-written kernels for Hopper and Blackwell need layouts of tensor "
            "cores, too.",
            answer=False,
            because="Both are built on them: in C++, and in the CuTe DSL.",
        ),
    ),
}
