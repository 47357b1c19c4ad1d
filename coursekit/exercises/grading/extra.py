"""Checks of the instructor's own, which the students do not have.

The file is Python, and has a dict CHECKS, or SIZES, or both::

    CHECKS = {"05.1": (("negative numbers", check),)}
    SIZES = {"05.1": (7, 500)}

A check is called with the answer (the kernel, the function, the program) and a NumPy
generator, which is the student's own where `--seed` is given. It raises an
AssertionError, or `CheckFailed.explained`, where the answer is wrong. SIZES are more
sizes of a kernel's problem.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coursekit import paths
from coursekit.errors import ArgumentError, CheckFailed, CourseError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.exercise import Exercise
from coursekit.exercises.grading import variants
from coursekit.exercises.inputs import Size
from coursekit.exercises.stages import Bench, Stage, require_right
from coursekit.exercises.trial import Trial, written

Check = tuple[str, Callable[[Any, np.random.Generator], Any]]


@dataclass(frozen=True)
class Extra:
    """What a file of the instructor holds.

    Attributes
    ----------
    checks : dict of str to tuple of (str, callable)
    sizes : dict of str to tuple
    """

    checks: dict[str, tuple[Check, ...]] = field(default_factory=dict)
    sizes: dict[str, tuple[Size, ...]] = field(default_factory=dict)


def read(file: str) -> Extra:
    """Run the file, and return what it holds; "" holds nothing.

    Raises
    ------
    ArgumentError
        It cannot be run, or has neither CHECKS nor SIZES.
    """
    if not file:
        return Extra()
    names: dict[str, Any] = {"__name__": "coursekit_extra", "__file__": file}
    try:
        exec(compile(paths.read_regular(Path(file)), file, "exec"), names)
    except Exception as failure:
        raise _refused(file, f"raised {type(failure).__name__}: {failure}") from failure
    found = Extra(names.get("CHECKS", {}), names.get("SIZES", {}))
    if not (found.checks or found.sizes) or not _is_whole(found):
        raise _refused(file, "holds no CHECKS and no SIZES by id, or other values")
    return found


def _is_whole(found: Extra) -> bool:
    try:
        return all(
            isinstance(name, str) and callable(check)
            for checks in found.checks.values()
            for name, check in checks
        ) and all(isinstance(sizes, tuple) for sizes in found.sizes.values())
    except (AttributeError, TypeError, ValueError):
        return False


def stages(entry: Entry, extra: Extra, seed: str) -> list[Stage]:
    """Return the stages that the file adds to an exercise."""
    start = variants.number(seed, entry)
    found = [
        Stage(name, functools.partial(_run, check, name, start), "extra")
        for name, check in extra.checks.get(entry.id, ())
    ]
    sizes = extra.sizes.get(entry.id, ())
    if sizes and isinstance(entry.exercise, Exercise):
        shown = f"more sizes: {', '.join(map(written, sizes))}"
        found.insert(0, Stage(shown, functools.partial(_sizes, sizes), "extra"))
    return found


def _sizes(sizes: tuple[Size, ...], bench: Bench) -> None:
    for size in sizes:
        for launch in bench.exercise.launches:
            require_right(bench, Trial.of(bench.exercise, size, launch))


def _run(check: Callable, name: str, start: int, bench: Bench) -> None:
    """Run a check; what it raises is reported as a wrong answer."""
    try:
        check(bench.answer, np.random.default_rng(start))
    except CourseError:
        raise
    except Exception as failure:
        what = str(failure) if isinstance(failure, AssertionError) else ""
        raise CheckFailed.explained(
            f"{name}: {what or f'{type(failure).__name__}: {failure}'}.",
            "This is a check of your instructor's.",
        ) from failure


def _refused(file: str, what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"The file of extra checks, {file}, {what}.",
        "Such a file is Python with dicts by the ids of exercises.",
        'Write for example CHECKS = {"05.1": (("negative numbers", check),)}, where '
        "check(answer, generator) raises an AssertionError.",
    )
