"""Variants: sizes and data of a kernel's check that are drawn for one student.

The sizes lie between those of the exercise, and keep what these have in common: a
factor, or being powers of two. A variant that the course's own solution does not pass
is passed over, since it asks for more than the exercise does, or for extents that do
not belong together. Only kernels have
variants: checks of Python functions and of programs are fixed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np

from coursekit.errors import CheckFailed, CourseError, LaunchError
from coursekit.exercises import checking
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.exercise import Exercise
from coursekit.exercises.inputs import Size
from coursekit.exercises.stages import Bench, Stage, require_right
from coursekit.exercises.trial import Trial, written

# What a reference raises besides, where no such problem exists.
NO_PROBLEM = (ArithmeticError, LookupError, ValueError)
DRAWN = 2  # sizes that are drawn for a student
TRIES = 20


def number(seed: str, entry: Entry) -> int:
    """Return the number that all draws for a student and an exercise start from."""
    digest = hashlib.sha256(f"{entry.id}\0{seed}".encode("utf-8", "replace"))
    return int.from_bytes(digest.digest()[:8])


def stage(entry: Entry, seed: str) -> Stage | None:
    """Return the stage of a student's variant; None for what has no variants."""
    if not seed or not isinstance(entry.exercise, Exercise):
        return None
    chosen = sizes(entry.exercise, np.random.default_rng(number(seed, entry)))
    name = f"your variant: sizes {', '.join(map(written, chosen))}"
    salt = number(seed, entry)
    return Stage(name, lambda bench: _check(bench, chosen, salt), "variant")


def sizes(exercise: Exercise, generator: np.random.Generator) -> tuple[Size, ...]:
    """Draw new sizes, in front of one that the exercise has."""
    given = exercise.sizes
    tuples = [size if isinstance(size, tuple) else (size,) for size in given]
    axes = [sorted(set(axis)) for axis in zip(*tuples, strict=True)]
    drawn: list[Size] = []
    for _ in range(TRIES):
        extents = tuple(_drawn(axis, generator) for axis in axes)
        size = extents if isinstance(given[0], tuple) else extents[0]
        if size not in given and size not in drawn and len(drawn) < DRAWN:
            drawn.append(size)
    return *drawn, given[int(generator.integers(len(given)))]


def _drawn(axis: list[int], generator: np.random.Generator) -> int:
    """Draw an extent like those of an axis."""
    positive = [extent for extent in axis if extent > 0]
    if len(positive) < 2 or all(e & (e - 1) == 0 for e in positive):
        return int(generator.choice(axis))
    step = math.gcd(*positive)
    low, high = positive[0] // step, positive[-1] // step
    return step * int(generator.integers(low, high + 1))


def _check(bench: Bench, chosen: tuple[Size, ...], salt: int) -> None:
    for trial in _trials(bench.exercise, chosen, salt):
        try:
            require_right(bench, trial)
        except (CourseError, *NO_PROBLEM) as error:
            if _solution_passes(bench.entry, trial):
                raise _named(error) from None


def _trials(exercise: Exercise, chosen: tuple[Size, ...], salt: int) -> Iterator[Trial]:
    for size in chosen:
        for launch in exercise.launches:
            try:
                trial = Trial.of(exercise, size, launch, salt=salt)
            except LaunchError:  # a block cannot be that large
                continue
            yield trial


def _solution_passes(entry: Entry, trial: Trial) -> bool:
    text = entry.solution.read_text(encoding="utf-8")
    try:
        bench = Bench(entry, checking.kernel_of(entry, text), [])
        require_right(bench, trial)
    except (CourseError, *NO_PROBLEM):
        return False
    return True


def _named(error: Exception) -> Exception:
    """Say that data and size of a failure are the student's own."""
    if isinstance(error, CheckFailed):
        error.add_note("  The sizes and values of this stage are drawn for you alone.")
    return error
