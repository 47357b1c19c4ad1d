"""A tiny exercise in Python for the tests of the engine."""

from __future__ import annotations

from pathlib import Path

SPEC = """
from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise
from coursekit.exercises.tables import Table


def doubles(function, show):
    show(Table("of three", ("x", "result"), (("3", str(function(3))),)))
    if function(3) != 6:
        raise CheckFailed.explained("double(3) is not 6.", "why", "what to do")


def adds_up(function, show):
    if sum([function(1), function(2)]) != 6:
        raise CheckFailed.explained("The sum is not 6.")


EXERCISES = (
    HostExercise(
        id="42.3",
        name="double",
        title="Double",
        stars=1,
        function="double",
        checks=(("three", doubles), ("a sum", adds_up)),
        hints=("a", "b", "c"),
        mutants={},
        starter=(CheckFailed, "not 6"),
    ),
)
"""
STARTER = """# Double: return 2 * x.
def double(x):
    # Your code here.
    return x
"""
SOLUTION = STARTER.replace("return x", "return 2 * x")


def fill(root: Path) -> None:
    """Add the exercise to a folder of tiny exercises."""
    for kind, text in (("exercises", STARTER), ("solutions", SOLUTION)):
        folder = root / kind / "42_tests"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "3_double.py").write_text(text)
    (root / "exercises" / "42_tests" / "spec_host.py").write_text(SPEC)
