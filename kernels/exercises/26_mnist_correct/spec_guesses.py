"""Guesses and quizzes of chapter 26."""

from coursekit.exercises import Guess

GUESSES = {
    "fc1": Guess(
        question="What share of all these numbers is in fc1.weight?",
        options=("a third", "two thirds", "nineteen in twenty"),
        hint="fc1 joins 3,136 values to 128 others; compare that product with 421,834.",
        answer="nineteen in twenty",
        because="128 * 3,136 = 401,408 of 421,834. The convolutions do most of the "
        "work, and have few numbers, because they use each of them at every pixel.",
    ),
    "implicit": Guess(
        question="16 filters of 8 channels. About how many sectors does the direct "
        "kernel read, for each one that the implicit product reads?",
        options=("2", "12", "100"),
        hint="In a tile of 16 x 16 threads, a value that one thread loads serves 16 "
        "threads.",
        answer="12",
        because="A thread of the direct kernel loads 72 weights and 72 pixels for "
        "itself alone. In a tile, what one thread loads serves 16.",
    ),
    "first_loss": Guess(
        question="What is the loss of a network that gives every digit the same "
        "probability?",
        options=("1", "2.3", "10"),
        hint="The loss is -log of the probability that the right digit gets.",
        answer="2.3",
        because="-log(1/10) = log(10) = 2.303. Every training should begin near it.",
    ),
    "how_far": Guess(
        question="The same weights, the same batches, ten passes. How far apart are "
        "ours and PyTorch's share of right digits?",
        options=(
            "not at all",
            "points at first, then a fraction of one",
            "ever further",
        ),
        hint="Both round differently. Does training amplify such a difference, or "
        "does it remove it?",
        answer="points at first, then a fraction of one",
        because="Each rounds differently, and a rate of 0.1 amplifies it: 3.7 points "
        "after the first pass. From the fifth on it is 0.25 at most.",
    ),
}
QUIZZES = {
    "review": (
        Guess(
            question="All gradients are too large by the number of pictures. What is "
            "missing?",
            options=("the loss is a mean", "zeroing dw", "the rate"),
            hint="Where in the step is something divided by the number of pictures?",
            answer="the loss is a mean",
            because="The factor 1 / N belongs to the gradient of the logits, and all "
            "other gradients follow from that.",
        ),
        Guess(
            question="When a digit is to be read, by which mean is it normalised?",
            options=("the running one", "its own", "that of the last batch"),
            hint="May the result for one digit depend on the other digits of a batch?",
            answer="the running one",
            because="The result for a digit must not depend on the other digits of "
            "its batch.",
        ),
    ),
}
