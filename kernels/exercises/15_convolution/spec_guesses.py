"""Chapter 15: the guesses about kernels of convolution."""

from coursekit.exercises import Guess

GUESSES = {
    "reads": Guess(
        question="64 filters of 3 x 3. In the kernel with a thread per result, how "
        "often is a value in the middle of the image loaded?",
        hint="For one filter, how many results have the pixel under their filter? And "
        "how many filters are there?",
        answer=576,
        because="9 results * 64 filters.",
    ),
    "matrix": Guess(
        question="x takes 25 MB. How many MB does the matrix of im2col take, about?",
        options=(25, 100, 225),
        hint="How many times does a pixel occur in the matrix?",
        answer=225,
        because="Each pixel is in 9 rows, but for those at the border: 9 * 25 MB.",
    ),
    "halo": Guess(
        question="A block computes 8 x 8 pixels of a 3 x 3 convolution. How many "
        "pixels does it load?",
        hint="One more on each of the four sides.",
        answer=100,
        because="10 * 10 pixels are 1.56 per result. Without sharing it would be 9.",
    ),
    "shift": Guess(
        question="An image with W pixels per row lies in shared memory, pixel by "
        "pixel. A matrix row of pixel p, tap (r, s), comes from pixel p + ...?",
        options=("r * 3 + s", "(r - 1) * W + s - 1", "(s - 1) * W + r - 1"),
        hint="r counts rows of the filter, and its middle is 1.",
        answer="(r - 1) * W + s - 1",
        because="A row down is W pixels further, a column to the right is one.",
    ),
    "one_plane": Guess(
        question="An image of 56 x 56 pixels, 64 channels, in NCHW. How many values "
        "apart are two successive channels of a pixel?",
        hint="All pixels of a channel lie before the next channel. How many are they?",
        answer=3136,
        because="A channel has a plane of 56 * 56 values.",
    ),
    "fewer": Guess(
        question="F(2 x 2, 3 x 3) computes 2 x 2 results by 16 multiplications. How "
        "many times as many does the direct sum need?",
        hint="Four results have nine products each.",
        answer=2.25,
        because="36 / 16.",
        tolerance=0.01,
    ),
    "named": Guess(
        question="Which algorithm needs a workspace nine times as large as x?",
        options=("GEMM", "IMPLICIT_GEMM", "DIRECT"),
        hint="It writes what another one only computes addresses for.",
        answer="GEMM",
        because="Its matrix has nine values for each value of x.",
    ),
}
