"""The checkers find nothing in the correct kernels of the course."""

from __future__ import annotations

import copy

import pytest
import test_kernels as kernels

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.checking import compiled
from coursekit.exercises.trial import Problem, Trial

CHECKERS = ("memcheck", "racecheck", "initcheck", "synccheck")
TRIALS = [
    pytest.param(entry, size, number, id=f"{entry.id}-{size}-{number}")
    for entry in catalogue.entries(kernels.KERNELS)
    if entry.solution.suffix == ".cu"
    for size in dict.fromkeys((entry.exercise.small, *entry.exercise.sizes))
    for number in range(len(entry.exercise.launches))
]

pytestmark = pytest.mark.usefixtures("simulated")


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(("name", "sizes"), kernels.CASES)
def test_nothing_is_found_in_a_kernel(checker, name, sizes, capfd):
    launch = kernels.launch_of(name, sizes)
    arguments = copy.deepcopy(launch.arguments)
    kernel = ck.compile(kernels.KERNELS / name)[launch.kernel]
    found = getattr(ck, checker)(
        kernel,
        launch.grid,
        launch.block,
        arguments,
        shared_bytes=launch.shared_bytes,
        cooperative=launch.cooperative,
    )
    assert (list(found), found.notes) == ([], ())


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(("entry", "size", "number"), TRIALS)
def test_nothing_is_found_in_a_solution(checker, entry, size, number, capfd):
    exercise = entry.exercise
    trial = Trial.of(exercise, size, exercise.launches[number])
    text = entry.solution.read_text(encoding="utf-8")
    kernel = compiled(entry, text)[exercise.kernel]
    arguments = tuple(Problem.of(exercise, size).given.values())
    found = getattr(ck, checker)(
        kernel, trial.grid, trial.block, arguments, shared_bytes=trial.shared_bytes
    )
    assert (list(found), found.notes) == ([], ())
