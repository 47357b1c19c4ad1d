"""Guesses of chapter 02."""

from coursekit.exercises import Guess

GUESSES = {
    "chain": Guess(
        question="A loop does a million additions, and each needs the result of the "
        "one before. Who is done first?",
        options=("one core of a CPU", "an H200", "both at about the same time"),
        hint="How many of the additions can be under way at the same time?",
        answer="one core of a CPU",
        because="A chain keeps one lane busy. A core of a CPU has about twice the "
        "clock, and an addition takes it no more clocks.",
    ),
    "share": Guess(
        question="A library multiplies two matrices of 2048 x 2048 floats in 1.66 ms. "
        "The RTX 3070 has 46 SMs of 128 lanes, and they ran at 1.48 GHz. What "
        "percentage of the peak at that clock is this?",
        hint="2 * 2048**3 operations in 1.66 ms are 10.35 TFLOP/s. Your function "
        "peaks gives the other number; take this clock, not the data sheet's.",
        answer=59,
        tolerance=1,
        because="10.35 of 17.4 TFLOP/s, which is 59 %.",
    ),
    "fits": Guess(
        question="A block has 256 threads, and each needs 64 registers. How many such "
        "blocks does an SM of the H200 hold, if nothing else limits them?",
        options=(4, 8, 32, 1024),
        hint="How many registers does a whole block need? Divide 65,536 by that.",
        answer=4,
        because="A block needs 256 * 64 registers, and 65,536 are four times that. "
        "There would be room for the warps of eight.",
    ),
    "flight": Guess(
        question="The memory of an H100 delivers at most 3,350 bytes per nanosecond, "
        "and each byte is 380 ns on its way. How many bytes are on their way when the "
        "memory is never idle?",
        options=("3,350", "about 130,000", "about 1,300,000", "about 13,000,000"),
        hint="A belt moves 3 boxes per second, and a box stays on it for 10 seconds. "
        "How many boxes lie on it?",
        answer="about 1,300,000",
        because="3,350 * 380 = 1,273,000: the rate times the time on the way.",
    ),
    "ridge": Guess(
        question="A kernel does 30 FLOP per byte, in FP32. What limits it on an H200, "
        "and what on an RTX 4090?",
        options=(
            "memory on both",
            "arithmetic on both",
            "memory on the H200, arithmetic on the RTX 4090",
            "arithmetic on the H200, memory on the RTX 4090",
        ),
        hint="The H200 has 66.9 TFLOP/s and 4,800 GB/s; the RTX 4090 has 82.6 and "
        "1,008. How many FLOP per byte does each need before arithmetic is the limit?",
        answer="arithmetic on the H200, memory on the RTX 4090",
        because="The ridge of the H200 is at 14 FLOP per byte, and that of the RTX "
        "4090 at 82.",
    ),
    "clock": Guess(
        question="A program from 2022 prints `prop.clockRate`, a field of "
        "`cudaDeviceProp`. What does CUDA 13 do with it?",
        options=(
            "it prints the clock",
            "it prints 0",
            "it does not compile",
            "it prints the clock of the memory",
        ),
        hint="A clock that changes all the time is no property of a device.",
        answer="it does not compile",
        because="CUDA 13 has taken the clocks out of the structure; "
        "cudaDeviceGetAttribute still answers.",
    ),
}
