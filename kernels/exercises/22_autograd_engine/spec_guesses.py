"""Guesses of chapter 22."""

from coursekit.exercises import Guess

GUESSES = {
    "square": Guess(
        question="A program computes y = x * x. Backwards it stores "
        "`x.grad = x.data * y.grad` for the left factor, then the same for the right "
        "factor. What does x.grad hold at the end, for x = 3 and y.grad = 1?",
        hint="What happens to the first part when the second one is stored?",
        answer=3,
        because="The second part overwrites the first: 3 in place of 3 + 3. With += "
        "both parts count.",
    ),
    "passes": Guess(
        question="A function has one million inputs and one result. How many walks "
        "backwards through its graph give all derivatives?",
        options=("1", "2", "1,000", "1,000,000"),
        hint="One walk starts at the result. Which nodes does it reach?",
        answer="1",
        because="A walk starts at one result and reaches every input. A pushforward "
        "starts at the inputs, and gives one direction.",
    ),
    "first_loss": Guess(
        question="The text has 17 different characters, and the weights are small. "
        "What is the loss of the first step, about?",
        options=("0.1", "1", "2.8", "17"),
        hint="With small weights all 17 logits are nearly equal. The loss is -log of "
        "the probability of the right character.",
        answer="2.8",
        because="Each character gets the probability 1/17, and log(17) = 2.83.",
    ),
}
