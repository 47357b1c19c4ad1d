"""Exercises that check themselves.

What a `spec.py` of kernels/exercises/ imports is here. What students call, such as
`ck.check` and `ck.hint`, is in `coursekit.exercises.student`.
"""

from coursekit.exercises.exercise import Exercise, Limit, Wait
from coursekit.exercises.guess import Guess
from coursekit.exercises.host_exercise import HostExercise
from coursekit.exercises.inputs import blank, blocks, covering, ramp, shuffled
from coursekit.exercises.mutant import Mutant
from coursekit.exercises.program_exercise import Case, ProgramExercise
from coursekit.exercises.slip import Slip

__all__ = [
    "Case",
    "Exercise",
    "Guess",
    "HostExercise",
    "Limit",
    "Mutant",
    "ProgramExercise",
    "Slip",
    "Wait",
    "blank",
    "blocks",
    "covering",
    "ramp",
    "shuffled",
]
