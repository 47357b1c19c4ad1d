"""Guesses of chapter 13."""

from coursekit.exercises import Guess

GUESSES = {
    "level": Guess(
        question="A matrix of 4096 x 4096 floats times a vector: how many operations "
        "per byte that has to be read?",
        options=("0.5", "8", "1000"),
        hint="Each float of the matrix is needed once. What is done with it?",
        answer="0.5",
        because="A multiplication and an addition per 4 bytes. So gemv waits for "
        "memory, however it is written.",
    ),
    "columns": Guess(
        question="Memory holds a b c d e f. cuBLAS is told that this is a matrix of "
        "2 rows and 3 columns. What is to the right of a?",
        options=("b", "c", "d"),
        hint="The first column takes the first two letters.",
        answer="c",
        because="By columns the matrix is a c e above b d f.",
    ),
    "half": Guess(
        question="A float32 element is 2049, and B is the identity. What does SGEMM "
        "return in its place if the handle was set to CUBLAS_TENSOR_OP_MATH, and the "
        "library takes half precision?",
        hint="Half precision has 11 bits for the significand, the hidden one included.",
        answer=2048,
        because="2049 needs 12 bits. Nothing in the call itself tells that its "
        "precision is lower.",
    ),
    "nine": Guess(
        question="Each float32 of A and of B is split into three numbers of BF16. How "
        "many products of BF16 matrices make the product of A and B?",
        hint="Every part of A meets every part of B.",
        answer=9,
        because="Three times three. So the name of the compute type ends in BFX9.",
    ),
    "alone": Guess(
        question="A kernel computes C in tiles of 64 x 64, one per block. C is that "
        "small. On how many SMs does the product run?",
        hint="How many tiles does C have?",
        answer=1,
        because="One tile is one block, and a block runs on one SM.",
    ),
    "waves": Guess(
        question="Six blocks of step 2 fit on an SM, and an H200 has 132 SMs. A batch "
        "has 1024 blocks. In how many waves do they run?",
        hint="How many blocks does the GPU hold at once?",
        answer=2,
        because="792 are held at once. The others wait for the second wave, which "
        "leaves most SMs idle.",
    ),
    "epilogue": Guess(
        question="Y has 8 MB. A kernel after the product adds the bias and applies "
        "GELU. How many MB does it move that an epilogue would not, without the bias "
        "itself?",
        hint="The kernel has to read Y and to write it.",
        answer=16,
        because="8 MB are read again and 8 MB are written again. An epilogue changes "
        "values while they are in registers.",
    ),
    "pytorch": Guess(
        question="PyTorch calls cuBLAS to copy a tensor from the CPU to the GPU.",
        hint="What does BLAS stand for?",
        answer=False,
        because="Copies are made by the CUDA runtime. PyTorch calls cuBLAS where "
        "tensors on the GPU are multiplied.",
    ),
}
