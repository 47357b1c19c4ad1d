"""Guesses of chapter 16 about random numbers, transforms and solvers."""

from coursekit.exercises import Guess

GUESSES = {
    "random_bytes": Guess(
        question="A state of 24 bytes lies in memory. A thread loads it, draws one "
        "float, stores the float, and stores the state. How many bytes does it move?",
        hint="24 bytes come, and what goes?",
        answer=52,
        because="24 + 24 + 4. A launch of step 1 moves 13 times what its result has.",
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
    "random_order": Guess(
        question="cuRAND's default order takes four words of sequence 0, four words of "
        "sequence 1, and so on, for 65536 sequences. Where does value 4 come from?",
        options=(
            "sequence 0, counter 1",
            "sequence 1, counter 0",
            "sequence 4, counter 0",
        ),
        hint="Values 0 to 3 are the four words of sequence 0.",
        answer="sequence 1, counter 0",
        because="Each sequence gives four words before the next one has its turn.",
    ),
    "random_same": Guess(
        question="All threads of a kernel call curand_init(1234, 0, 0, &state), and "
        "each draws a number. What do they draw?",
        options=(
            "all the same number",
            "different numbers",
            "numbers that depend on the order of threads",
        ),
        hint="Seed, sequence and offset: what else could tell the threads apart?",
        answer="all the same number",
        because="Nothing but these three decides what is drawn. Give each thread a "
        "sequence of its own.",
    ),
    "random_points": Guess(
        question="pi from 10,000 random points is off by 0.016, as a rule. How many "
        "points make the error ten times smaller?",
        options=("100,000", "1,000,000", "10,000,000"),
        hint="The error of a mean falls as one over the square root of the number of "
        "points.",
        answer="1,000,000",
        because="Ten times smaller is a hundred times as many. So random points are "
        "for problems in which nothing better is known.",
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
