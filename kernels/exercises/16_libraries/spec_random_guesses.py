"""Guesses of chapter 16 about random numbers, transforms and solvers."""

from coursekit.exercises import Guess

GUESSES = {
    "random_bytes": Guess(
        question="A state of 24 bytes lies in memory. A thread loads it, draws one "
        "float, stores the float, and stores the state. How many bytes does it move?",
        hint="24 bytes come, and what goes?",
        answer=52,
        because="The state comes and goes, and the float goes. So a launch of step 1 "
        "moves 13 times what its result has.",
    ),
    "random_rounds": Guess(
        question="You need value number 4,000,000,000 of a sequence of Philox, and "
        "nothing else. How many rounds does a thread compute?",
        hint="The counter of that value is 1,000,000,000. What does Philox do with a "
        "counter?",
        answer=10,
        because="Any counter takes ten rounds. A generator with a state would have to "
        "draw all the values before.",
    ),
    "random_back": Guess(
        question="256 values are all 1. cuFFT transforms them forward, then back. What "
        "is each value then?",
        hint="Neither direction divides.",
        answer=256,
        because="Forward, the sum 256 stands at frequency 0. Back, each value gets "
        "all of it. You divide by the number of values yourself.",
    ),
    "random_info": Guess(
        question="cusolverDnDgetrf returns CUSOLVER_STATUS_SUCCESS, and info is 3. "
        "What has happened?",
        options=(
            "the third argument is wrong",
            "the third diagonal element of U is 0",
            "three rows were exchanged",
        ),
        hint="The status is about the call. What is info about?",
        answer="the third diagonal element of U is 0",
        because="The matrix is singular. The call itself was right, so its status is "
        "a success. A wrong argument would have a negative number.",
    ),
}
