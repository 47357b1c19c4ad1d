"""Guesses of chapter 01."""

from coursekit.exercises import Guess

GUESSES = {
    "next": Guess(
        question="An array of floats begins at address 1000, and `p` points to its "
        "first element. Which address is `p + 2`?",
        options=(1002, 1004, 1008, 1016),
        hint="`p + 2` points to the third element. A float has 4 bytes.",
        answer=1008,
        because="Adding 1 to a pointer goes to the next element, and two floats have 8 "
        "bytes.",
    ),
    "int16": Guess(
        question="An `int16_t` has 16 bits. Which is the largest number that it holds?",
        options=(32767, 32768, 65535, 65536),
        hint="16 bits have 65536 patterns. Half of them stand for negative numbers, "
        "and one for zero.",
        answer=32767,
        because="Half of its patterns are negative numbers. Without a sign, a "
        "`uint16_t` reaches 65535.",
    ),
    "rebuild": Guess(
        question="You change `network.cpp` and run make again. Which files does it "
        "make anew?",
        options=(
            "network.o",
            "network.o and network",
            "main.o, network.o and network",
        ),
        hint="Follow the rules: what is made of network.cpp, and what is made of that?",
        answer="network.o and network",
        because="network.o is older than network.cpp, and then network is older than "
        "network.o. main.o depends on neither.",
    ),
    "heap": Guess(
        question="`float *x = new float[n];` Where do these floats lie?",
        options=(
            "in the GPU's memory",
            "in the CPU's memory",
            "on the stack",
            "wherever there is more room",
        ),
        hint="Which processor runs `new`? What would cudaMalloc be for otherwise?",
        answer="in the CPU's memory",
        because="The heap is a part of the host's DRAM. A kernel's arrays lie in "
        "device memory, which cudaMalloc allocates.",
    ),
}
