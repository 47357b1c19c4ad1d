"""Guesses of chapter 22."""

from coursekit.exercises import Guess

GUESSES = {
    "square": Guess(
        question="A program multiplies x by itself and stores each part of the "
        "gradient with `w.grad = x.data * wx.grad`: first for the left factor, then "
        "for the right one. What does it find for the derivative of x * x at x = 3?",
        hint="Both factors are the same x. What happens to the first part when the "
        "second one is stored?",
        answer=3,
        because="The second part overwrites the first: 3 in place of 3 + 3. With += "
        "both parts count.",
    ),
    "shared": Guess(
        question="y = x * x + x, and x is 3. What is the derivative of y with respect "
        "to x?",
        hint="x is used three times. Each use passes a part back, and the parts add "
        "up.",
        answer=7,
        because="The product passes 3 back twice, and the sum passes 1: 3 + 3 + 1.",
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
        question="The text has 13 different characters, and the weights are small. "
        "What is the loss of the first step, about?",
        options=("0.1", "1", "2.6", "13"),
        hint="With small weights all 13 logits are nearly equal. The loss is -log of "
        "the probability of the right character.",
        answer="2.6",
        because="Each character gets the probability 1/13, and log(13) = 2.565.",
    ),
}
