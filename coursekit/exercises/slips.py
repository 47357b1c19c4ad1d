"""Usual mistakes that are known by the wrong result which they give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from coursekit.exercises import judging

if TYPE_CHECKING:
    from coursekit.exercises.trial import Outcome


def advice(outcome: Outcome, judged: judging.Judged) -> tuple[str, str] | None:
    """Return cause and cure of the first slip whose result an output equals, or None.

    Parameters
    ----------
    outcome : Outcome
    judged : Judged
        The output that is wrong.
    """
    exercise, problem = outcome.trial.exercise, outcome.problem
    if outcome.trial.order != "forward":
        return None
    values = SimpleNamespace(**problem.wide())
    for slip in exercise.slips:
        found = slip.result(values)
        if not isinstance(found, dict):
            found = {exercise.outputs[0]: found}
        if judged.name not in found:
            continue
        result = np.asarray(found[judged.name])
        allowed = problem.allowed[judged.name]
        if not judging.wrong(result, judged.got, allowed).any():
            return slip.cause, slip.cure
    return None
