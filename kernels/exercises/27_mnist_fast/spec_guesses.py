"""Guesses and quizzes of chapter 27."""

from coursekit.exercises import Guess

GUESSES = {
    "sixty_four": Guess(
        question="At 64 pictures: what takes longest, if nothing else is in the way?",
        options=("the launches", "the bytes", "the multiply-adds"),
        hint="Work out all three times: 47 launches, the bytes, and the operations.",
        answer="the launches",
        because="47 launches of 3 us take 141 us. 199 MB take 42 us even if all come "
        "from memory, and 1.6 GFLOP take 24 us.",
    ),
    "sums_of_c": Guess(
        question="conv1 takes 9 multiply-adds for each of 32 channels and 784 pixels: "
        "225,792 per picture. C is symmetric. How much of that do the sums for mean "
        "and C take?",
        options=("a fifth", "a half", "as much"),
        hint="Count the sums, and the products of a symmetric matrix of 9 x 9, for "
        "each pixel.",
        answer="a fifth",
        because="9 sums and 45 products per pixel, (9 * 10) / 2 because C is "
        "symmetric: 54 * 784 = 42,336.",
    ),
    "negative_gamma": Guess(
        question="A channel's gamma has become negative. Which of the four values has "
        "to be kept?",
        options=("the largest", "the least", "all four"),
        hint="A negative factor reverses the order of the four values.",
        answer="the least",
        because="With a negative gamma the least y gives the largest result. The "
        "sign is known before the statistics are, as the deviation is never "
        "negative.",
    ),
    "bias_gradient": Guess(
        question="The last line is the fourth identity: the gradient of conv1's bias "
        "is 0. Why?",
        options=(
            "its mean is taken away",
            "the picture is small",
            "float64 rounds it off",
        ),
        hint="What does the normalisation subtract from all values of a channel?",
        answer="its mean is taken away",
        because="A bias moves all values of a channel alike, and the normalisation "
        "takes their mean away. PyTorch computes rounding noise there.",
    ),
    "seven_kernels": Guess(
        question="The kernels of chapter 26 move 12,228 MB for 4,096 pictures. And "
        "these seven?",
        options=("4,000 MB", "1,000 MB", "100 MB"),
        hint="Only what passes from one kernel to the next is moved, and conv2's "
        "results are the largest part.",
        answer="1,000 MB",
        because="1,048 MB. The results of conv2 are written once and read once, 206 "
        "MB each; those of p1 likewise, half as large.",
    ),
    "overflow": Guess(
        question="4,096 pictures of 784 pixels; a normalised pixel is 3 at most, its "
        "square 9. Does the sum of squares stay below 2^31?",
        options=("yes, by far", "barely", "no"),
        hint="Multiply 4,096, 784 and 9, and compare with 2^31, which is about 2.1 "
        "billion.",
        answer="yes, by far",
        because="4096 * 784 * 9 = 29 million. What one block adds has to stay below "
        "2^20: with 264 blocks nine times as many fit.",
    ),
    "three_products": Guess(
        question="An H200 makes 494.5 TFLOP/s in TF32 and 66.9 in float32 on its "
        "lanes. By how much may three products be faster than the lanes?",
        options=("2.5 times", "7.4 times", "not at all"),
        hint="Three products of tensor cores stand for one of float32.",
        answer="2.5 times",
        because="494.5 / 3 = 165 TFLOP/s, and 165 / 66.9 = 2.5.",
    ),
    "wgmma": Guess(
        question="The float32 convolutions asked by mma.sync, and now by wgmma: 960 / "
        "665 = 1.44. How much faster are they with 4,096 pictures?",
        options=("less than 1.44 times", "1.44 times", "more than 1.44 times"),
        hint="1.44 holds for loops that never wait for anything else: did these "
        "kernels wait?",
        answer="more than 1.44 times",
        because="Loops that never wait for anything else gain 1.44. These kernels "
        "did wait: between one product and the next that adds to it.",
    ),
    "persistent": Guess(
        question="How many blocks of the persistent kernel fit on an SM?",
        options=("1", "2", "8"),
        hint="A kernel reserves registers and shared memory for its largest phase.",
        answer="1",
        because="A kernel reserves what its largest phase needs. So every phase runs "
        "with eight warps per SM, also those that would have room for more.",
    ),
    "library": Guess(
        question="8,516 MB with 4,096 pictures, and your seven kernels move 1,048. "
        "Which of this chapter's identities would a library need to get there?",
        options=(
            "statistics without conv1",
            "pooling before normalising",
            "both, and more",
        ),
        hint="What can a kernel save that knows only one layer?",
        answer="both, and more",
        because="A library's kernel is right for every network, so it begins and "
        "ends in memory. Only you know which two layers follow each other.",
    ),
    "corner": Guess(
        question="Draw a 3 in a corner, a quarter as large. What happens to the bars?",
        options=(
            "hardly anything",
            "the 3 is still first, less surely",
            "another digit is read",
        ),
        hint="Recall what is done to a drawing before the network sees it.",
        answer="hardly anything",
        because="The drawing is scaled and moved before the network sees it, and the "
        "pen is as thick as before. The network was never told that the "
        "place does not matter.",
    ),
}
QUIZZES = {
    "review": (
        Guess(
            question="In TF32 your step is twice as fast as PyTorch's in float32. So "
            "you say:",
            options=("nothing yet", "ours is twice as fast", "TF32 is twice as fast"),
            hint="How many things differ between the two runs?",
            answer="nothing yet",
            because="Two things changed. Let both compute in the same precision.",
        ),
        Guess(
            question="A negative gamma: max pooling before the normalisation keeps the "
            "largest.",
            hint="Multiply four values by -1, and see which of them is the largest "
            "now.",
            answer=False,
            because="The least value becomes the largest result, so the pooling has "
            "to keep the least.",
        ),
        Guess(
            question="One persistent kernel in place of seven saves what?",
            options=("launches", "bytes", "waits of all for all"),
            hint="Do the phases of one kernel still need each other's results?",
            answer="launches",
            because="The phases still wait for sums over the batch, and their results "
            "still pass through memory or L2.",
        ),
    ),
}
