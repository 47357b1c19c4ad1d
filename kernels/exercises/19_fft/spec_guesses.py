"""Chapter 19: the guesses about Fourier transforms."""

from coursekit.exercises import Guess

GUESSES = {
    "bins": Guess(
        question="A cosine has three periods in eight values. For which k is |X[k]| "
        "not 0?",
        options=("3 only", "3 and 5", "3 and 6"),
        hint="A cosine is the sum of two arrows that rotate, one forwards and one "
        "backwards. Three rotations backwards in eight steps: how many forwards?",
        answer="3 and 5",
        because="Three rotations backwards and five forwards are the same eight "
        "points of the circle.",
    ),
    "alternating": Guess(
        question="x alternates: 1, -1, 1, -1, 1, -1, 1, -1. At which k is X[k] = 8?",
        hint="How many whole periods are there in the eight values?",
        answer=4,
        because="k counts periods: 8 values / 2 values per period. With four values it "
        "would be 2.",
    ),
    "stages": Guess(
        question="A row of 2^20 values: how many stages of radix 2?",
        hint="Each stage doubles the length of the transforms that are done.",
        answer=20,
        because="1 * 2^20 = 2^20.",
    ),
    "exchanges": Guess(
        question="4096 values, radix 16, 16 values per thread. How often do the "
        "threads of a row exchange values?",
        hint="How many stages of radix 16 make 4096? The first one reads from global "
        "memory, and the last one stores there.",
        answer=2,
        because="16 * 16 * 16 = 4096 are three stages, with an exchange between two.",
    ),
    "scale": Guess(
        question="cuFFT transforms 64 values forward, then back, and divides by "
        "nothing. By which factor is the result larger than x?",
        hint="X[0] is the sum of all values. What does the way back add up, for 64 "
        "equal values?",
        answer=64,
        because="The two sums multiply by n; NumPy's ifft divides by n.",
    ),
    "wraps": Guess(
        question="x has 6 values and w has 3. ifft(fft(x) * fft(w)), both of length 6, "
        "is a circular convolution. How many of its values differ from the plain one?",
        hint="The plain one has 6 + 3 - 1 values. Where do those beyond 6 go?",
        answer=2,
        because="The last 8 - 6 = 2 values wrap around, onto the first two.",
    ),
    "traffic": Guess(
        question="A row of 2^16 complex values, 8 bytes each, in two passes. How many "
        "bytes per value cross the global memory?",
        hint="A pass reads each value once and writes it once.",
        answer=32,
        because="2 passes * (8 + 8) bytes.",
    ),
}
