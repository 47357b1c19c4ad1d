"""The self-test of chapter 00: who passes it can skip chapter 01."""

from coursekit.exercises import Guess

C_AND_CPP = (
    Guess(
        question="`int x = 3; int *p = &x; *p = 7;` What is `x` now?",
        hint="p holds the address of x. What does `*p = 7` change?",
        answer=7,
        because="`*p` is the variable at the address that p holds, and that is x.",
    ),
    Guess(
        question="`x` is a `float *` to the first of many floats. What is the same as "
        "`x[2]`?",
        options=("`x + 2`", "`*(x + 2)`", "`*x + 2`", "`&x + 2`"),
        hint="`x + 2` is an address.",
        answer="`*(x + 2)`",
        because="`x + 2` is the address of the third float, and the star takes what "
        "lies there.",
    ),
    Guess(
        question="`void f(float *p) { p = new float[8]; }` What does the caller's "
        "pointer hold after `f(q)`?",
        options=(
            "the address of the new floats",
            "what it held before",
            "a null pointer",
        ),
        hint="A call copies its arguments. Is a pointer an exception?",
        answer="what it held before",
        because="f has changed its own copy. It would need the address of q, a "
        "`float **`.",
    ),
    Guess(
        question="`Network *nn` points to a struct with the member `w1`. Which of "
        "these is its `w1`?",
        options=("`nn.w1`", "`nn->w1`", "`*nn.w1`", "`&nn->w1`"),
        hint="A dot takes a member of a struct, and nn is a pointer to one.",
        answer="`nn->w1`",
        because="The arrow follows the pointer; it is short for `(*nn).w1`.",
    ),
    Guess(
        question="With `int n = 50000;` the expression `n * n * sizeof(float)` is "
        "10,000,000,000.",
        hint="C computes from left to right. Does the first product fit into an int?",
        answer=False,
        because="`n * n` is an int, which ends at 2,147,483,647. It overflows before "
        "the size_t comes.",
    ),
    Guess(
        question="`std::vector<float> x(n);` stands in a function. When are its floats "
        "freed?",
        options=(
            "when the program calls delete",
            "when the block of brackets ends",
            "when the program ends",
        ),
        hint="A vector owns its floats. How long does a local variable live?",
        answer="when the block of brackets ends",
        because="There its destructor runs, which frees them.",
    ),
)
MATHEMATICS = (
    Guess(
        question="A has 2 rows and 3 columns, B has 3 rows and 4 columns. How many "
        "elements has the matrix product A * B?",
        hint="Each row of A meets each column of B.",
        answer=8,
        because="2 rows of A and 4 columns of B give 2 * 4 elements.",
    ),
    Guess(
        question="A has the rows (1, 2) and (3, 4), B the rows (5, 6) and (7, 8). "
        "What is A * B in row 0 and column 1?",
        hint="Row 0 of A times column 1 of B, element by element, and added.",
        answer=22,
        because="1 * 6 + 2 * 8 = 22.",
    ),
    Guess(
        question="y = (3 * x + 1)^2. What is dy/dx at x = 1?",
        hint="The outer function is a square, the inner one is 3 * x + 1.",
        answer=24,
        because="2 * (3 * x + 1) from the square, times 3 from inside: 2 * 4 * 3.",
    ),
    Guess(
        question="A loss L depends on z, and z depends on w. dL/dz is 5, and dz/dw is "
        "-2. What is dL/dw?",
        hint="The chain rule multiplies what lies along the path.",
        answer=-10,
        because="5 * -2 = -10. Backpropagation does this at every node.",
    ),
)

QUIZZES = {"skip_01": (*C_AND_CPP, *MATHEMATICS)}
