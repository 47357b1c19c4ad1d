"""Guesses of chapter 15, first part."""

from coursekit.exercises import Guess

GUESSES = {
    "flip": Guess(
        question="An image has a single 1, in its middle. The filter holds the numbers "
        "from 1 to 9, by rows. What does your kernel write into the top left corner of "
        "the nine results around the 1?",
        hint="Lay the filter's middle on that corner. Which of its places is over "
        "the 1?",
        answer=9,
        because="The 1 is below and to the right, under the filter's last place. So "
        "the filter appears rotated by 180 degrees.",
    ),
    "math": Guess(
        question="With CUDNN_TENSOR_OP_MATH every convolution runs on tensor cores.",
        hint="What if the channels do not fit, or another engine is faster?",
        answer=False,
        because="The math type permits tensor cores. Whether an engine uses them "
        "depends on types, channels and what the library chooses.",
    ),
    "fused": Guess(
        question="The results of a convolution take 8 MB. Bias and ReLU follow, each "
        "by a kernel of its own. How many MB do these two kernels move, without the "
        "bias itself?",
        hint="Each reads its input and writes its result.",
        answer=32,
        because="Twice 8 MB read and 8 MB written. In one graph both results are "
        "virtual, and nothing of this is moved.",
    ),
    "rejected": Guess(
        question="Which graph does no engine compute in one kernel?",
        options=(
            "convolution, add, ReLU",
            "convolution, ReLU, convolution",
            "matrix product, bias, tanh",
        ),
        hint="Which result needs values from blocks of other SMs?",
        answer="convolution, ReLU, convolution",
        because="The second convolution needs a neighbourhood of the first one's "
        "results, from all of its channels.",
    ),
    "order": Guess(
        question="Blocks add their parts of a weight's gradient by atomicAdd. The same "
        "kernel runs twice on the same numbers. Are the results equal, bit by bit?",
        options=("always", "not always"),
        hint="Is the order of the blocks fixed? And does rounding depend on it?",
        answer="not always",
        because="Additions of float32 round, so their order matters, and the order of "
        "blocks is not fixed.",
    ),
    "running": Guess(
        question="Running averages are updated with a factor of 1 at each step. What "
        "do they hold after 100 steps?",
        options=(
            "the mean of all batches",
            "the statistics of the last batch",
            "the statistics of the first batch",
        ),
        hint="Put a factor of 1 into new = (1 - factor) * old + factor * batch.",
        answer="the statistics of the last batch",
        because="With a factor of 1 nothing of the old average is kept. Take a small "
        "factor, such as 0.1: it is `momentum` in the next cell.",
    ),
    "paths": Guess(
        question="CTC sums over all paths of 3 frames that read as ab. Repeats merge, "
        "and blanks (-) vanish: a-b is one. How many are there?",
        hint="Two letters leave one frame: it is a blank or a repeat. Write the paths "
        "down.",
        answer=5,
        because="They are aab, abb, -ab, a-b and ab-.",
    ),
    "log": Guess(
        question="The status is SUBLIBRARY_LOADING_FAILED, and the file is there. "
        "What do you look at next?",
        options=(
            "the strides of the tensors",
            "what the file itself needs: ldd names libraries that are not found",
            "the size of the workspace",
        ),
        hint="The machine of the log has no driver, and so no libcuda.so.1.",
        answer="what the file itself needs: ldd names libraries that are not found",
        because="A library that lacks another one cannot be loaded. Here it is the "
        "driver's libcuda.so.1; often two versions are mixed.",
    ),
    "adversarial": Guess(
        question="libcudnn_adv has functions that make adversarial examples.",
        hint="Its header cudnn_adv.h has RNNs and the CTC loss.",
        answer=False,
        because="adv is for advanced: RNN, CTC loss and attention.",
    ),
}
