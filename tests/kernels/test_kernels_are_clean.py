"""The checkers find nothing in the correct kernels of the course.

One launch serves all checkers but racecheck, see checkers_together.py.
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

pytestmark = pytest.mark.usefixtures("simulated")


def said(*launch, **options) -> list[str]:
    """What the checkers have to say of a launch."""
    findings = checkers_together.check(*launch, **options).values()
    return [str(one) for found in findings for one in (*found, *found.notes)]


def races(*launch, **options) -> list[str]:
    """What racecheck has to say of a launch."""
    found = ck.racecheck(*launch, **options)
    return [str(one) for one in (*found, *found.notes)]


every_way = pytest.mark.parametrize("look", [races, said])


@every_way
@pytest.mark.parametrize(("name", "sizes"), kernels.CASES)
def test_nothing_is_found_in_a_kernel(look, name, sizes, capfd):
    launch = kernels.launch_of(name, sizes)
    found = look(
        ck.compile(kernels.KERNELS / name, defines=launch.defines)[launch.kernel],
        launch.grid,
        launch.block,
        copy.deepcopy(launch.arguments),
        shared_bytes=launch.shared_bytes,
        cooperative=launch.cooperative,
    )
    assert found == []


@every_way
@pytest.mark.parametrize(("entry", "size", "number"), TRIALS)
def test_nothing_is_found_in_a_solution(look, entry, size, number, capfd):
    exercise = entry.exercise
    trial = Trial.of(exercise, size, exercise.launches[number])
    text = entry.solution.read_text(encoding="utf-8")
    kernel = compiled(entry, text)[exercise.kernel]
    arguments = tuple(Problem.of(exercise, size).given.values())
    found = look(
        kernel, trial.grid, trial.block, arguments, shared_bytes=trial.shared_bytes
    )
    assert found == []


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
