"""The checkers find nothing in the correct kernels of the course.

One launch serves all checkers, see checkers_together.py.
"""

from __future__ import annotations

import copy

import checkers_together
import course_kernels as kernels
import pytest
import test_broken_kernels as broken

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.checking import compiled
from coursekit.exercises.trial import Problem, Trial

TRIALS = [
    pytest.param(entry, size, number, id=f"{entry.id}-{size}-{number}")
    for entry in catalogue.entries(kernels.KERNELS)
    if entry.solution.suffix == ".cu"
    for size in dict.fromkeys((entry.exercise.small, *entry.exercise.sizes))
    for number in range(len(entry.exercise.launches))
]

pytestmark = pytest.mark.usefixtures("simulated", "compiled_here")


def said(*launch) -> list[str]:
    """What the checkers have to say of a launch.

    If it is long, racecheck is also asked alone, which then may compile it.
    """
    watched = checkers_together.watch(checkers_together.CHECKERS, launch)
    every = [watched.of(name) for name in checkers_together.CHECKERS]
    if watched.is_long:
        *first, shared_bytes, cooperative = launch
        every.append(ck.racecheck(*first, shared_bytes, cooperative=cooperative))
    return [str(one) for found in every for one in (*found, *found.notes)]


@pytest.mark.parametrize(("name", "sizes"), kernels.CASES)
def test_nothing_is_found_in_a_kernel(name, sizes, capfd):
    launch = kernels.launch_of(name, sizes)
    found = said(
        ck.compile(kernels.KERNELS / name, defines=launch.defines)[launch.kernel],
        launch.grid,
        launch.block,
        launch.arguments,
        launch.shared_bytes,
        launch.cooperative,
    )
    assert found == []


@pytest.mark.parametrize(("entry", "size", "number"), TRIALS)
def test_nothing_is_found_in_a_solution(entry, size, number, capfd):
    exercise = entry.exercise
    trial = Trial.of(exercise, size, exercise.launches[number])
    text = entry.solution.read_text(encoding="utf-8")
    kernel = compiled(entry, text)[exercise.kernel]
    arguments = tuple(Problem.of(exercise, size).given.values())
    launch = kernel, trial.grid, trial.block, arguments, trial.shared_bytes, False
    assert said(*launch) == []


BROKEN = [one for one in broken.CHECKED if one.checker in checkers_together.CHECKERS]


@pytest.mark.parametrize("declared", BROKEN, ids=str)
def test_checkers_find_together_what_one_finds_alone(declared):
    launch = broken.launch_of(declared)
    found = checkers_together.check(
        ck.compile(kernels.KERNELS / declared.file)[launch.kernel],
        launch.grid,
        launch.block,
        broken.blank_as_fresh(copy.deepcopy(launch.arguments)),
        shared_bytes=launch.shared_bytes,
    )
    alone = broken.check(declared.checker, declared)
    assert [(one.kind, one.line, one.count) for one in found[declared.checker]] == [
        (one.kind, one.line, one.count) for one in alone
    ]
