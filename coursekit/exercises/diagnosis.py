"""The defect behind a wrong value: a race, an unset value, a barrier not reached."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from coursekit.analysis.checking import initcheck, racecheck, synccheck
from coursekit.errors import (
    BarrierError,
    CourseError,
    DataRaceError,
    KernelError,
    UninitializedReadError,
    UnsupportedError,
)
from coursekit.exercises.trial import TIMEOUT_S, Problem, Trial
from coursekit.runtime.simulator import simulator

CHECKERS = (synccheck, racecheck, initcheck)
DEFECTS = (BarrierError, DataRaceError, UninitializedReadError)
# The launch has ended without a checker; a checker takes a multiple of its time.
PATIENCE = 12


def defect(kernel: Any, trial: Trial) -> KernelError | None:
    """Run the checkers on a launch that gave a wrong value.

    Parameters
    ----------
    kernel : Kernel
    trial : Trial
        The launch; the checkers see the same arguments and the same order of warps.

    Returns
    -------
    KernelError or None
        The first defect that explains a wrong value: an error, or else a warning.
    """
    for checker in CHECKERS:
        try:
            found = findings(checker, kernel, trial, PATIENCE * TIMEOUT_S)
        except UnsupportedError:
            continue
        errors = [one.error for one in found if isinstance(one.error, DEFECTS)]
        if errors:
            return errors[0]
    return None


def findings(checker: Any, kernel: Any, trial: Trial, timeout_s: float) -> Any:
    """Return the findings of a checker for a launch, without what the kernel prints."""
    given = tuple(Problem.of(trial.exercise, trial.size, trial.salt).given.values())
    shape = trial.grid, trial.block, given, trial.shared_bytes
    silent = contextlib.redirect_stdout(io.StringIO())
    with silent, simulator(order=trial.order, timeout_s=timeout_s):
        return checker(kernel, *shape)


def overflows(kernel: Any, trial: Trial, name: str, index: tuple[int, ...]) -> bool:
    """Whether a NaN, an infinity or a 0 is gone where each float of the input is 1.

    Then it comes from the size of the input, and not from the kernel's formula.
    """
    problem = Problem.of(trial.exercise, trial.size, trial.salt)
    inputs = {
        key: 1
        for key, value in problem.given.items()
        if key not in problem.expected
        and getattr(value, "dtype", None) == "float32"
        and value.shape
    }
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            outcome = trial.run(kernel, **inputs)
    except CourseError:
        return False
    return bool(0 < abs(outcome.after[name][index]) < float("inf"))
