"""Tiny exercises for the tests of the engine: spec, starters, solutions."""

from __future__ import annotations

from pathlib import Path

SPEC = """
from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank, covering, shuffled


def inputs(n, generator):
    return {"out": blank(n), "a": shuffled(n, generator), "n": n}


def turned(size, generator):
    rows, cols = size
    return {"out": blank((cols, rows)), "a": shuffled(size, generator),
            "rows": rows, "cols": cols}


EXERCISES = (
    Exercise(
        id="42.1",
        name="map",
        title="Add ten",
        stars=1,
        kernel="add_ten",
        inputs=inputs,
        outputs=("out",),
        reference=lambda v: v.a + 10,
        hints=("Think of one thread.", "Which element is its own?", "out[i] = ..."),
        mutants={
            "no_guard": Mutant(
                mistake="The guard is gone.",
                edits=[("if (i < n) out", "out")],
                fails=(OutOfBoundsError, "reads a[8], but a has 8 elements"),
            ),
            "one_less": Mutant(
                mistake="The guard stops one thread too early.",
                edits=[("i < n", "i < n - 1")],
                fails=(CheckFailed, "never written"),
            ),
            "eleven": Mutant(
                mistake="The number is another one.",
                edits=[("+ 10", "+ 11")],
                fails=(CheckFailed, "8 of 8 elements of out are wrong"),
            ),
        },
        starter=(CheckFailed, "never written"),
    ),
    Exercise(
        id="42.2",
        name="turn",
        title="Transpose",
        stars=2,
        kernel="turn",
        inputs=turned,
        outputs=("out",),
        reference=lambda v: v.a.T,
        sizes=((1, 1), (3, 5), (17, 33)),
        hints=("a", "b", "c"),
        mutants={},
        launches=(covering((16, 16)), covering((8, 4))),
        defines={"STEP": "1"},
    ),
)
"""
YOUR_TURN_SPEC = """
from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Guess, Mutant, blank, shuffled


def inputs(n, generator):
    return {"out": blank(n), "a": shuffled(n, generator), "n": n}


EXERCISES = (
    Exercise(
        id="42.a",
        name="plus",
        title="Add ten at once",
        kernel="add_ten",
        inputs=inputs,
        outputs=("out",),
        reference=lambda v: v.a + 10,
        sizes=(1, 33),
        hints=("Each thread has one element.",),
        mutants={
            "eleven": Mutant(
                mistake="The number is another one.",
                edits=[("+ 10", "+ 11")],
                fails=(CheckFailed, "8 of 8 elements of out are wrong"),
            ),
        },
        starter=(CheckFailed, "never written"),
    ),
)
GUESSES = {
    "sectors": Guess(
        question="How many bytes has a sector?",
        options=(16, 32, 128),
        hint="A line of 128 bytes has four of them.",
        answer=32,
        because="128 / 4 = 32.",
    ),
}
QUIZZES = {"review": (GUESSES["sectors"],)}
"""
HEAD = "// Map: out[i] = a[i] + 10.\n"
KERNEL = """__global__ void add_ten(float *out, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    BODY
}
"""
BODIES = {
    "exercises/42_tests/1_map.cu": "// Your code here.",
    "solutions/42_tests/1_map.cu": "if (i < n) out[i] = a[i] + 10;",
}
TURN = """// Turn: out is a, transposed.
__global__ void turn(float *out, const float *a, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        out[(row + 1 - STEP) + col * rows] = a[row * cols + col];
}
"""


def add_ten(body: str) -> str:
    """Return the kernel of exercise 42.1 with this body."""
    return HEAD + KERNEL.replace("BODY", body)


def add_your_turn(root: Path) -> None:
    """Write 42.a, a guess and a quiz beside the exercises below a folder."""
    for kind in ("exercises", "solutions"):
        topic = root / kind / "42_tests"
        map_of = (topic / "1_map.cu").read_text(encoding="utf-8")
        (topic / "a_plus.cu").write_text(map_of)
    (root / "exercises" / "42_tests" / "spec_turn.py").write_text(YOUR_TURN_SPEC)


def fill(root: Path) -> None:
    """Write the exercises and solutions below a folder."""
    for name, body in BODIES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(add_ten(body))
    for kind in ("exercises", "solutions"):
        (root / kind / "42_tests" / "2_turn.cu").write_text(TURN)
    (root / "exercises" / "42_tests" / "spec.py").write_text(SPEC)
