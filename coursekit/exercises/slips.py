"""Usual mistakes that are known by the wrong result which they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.exercises import judging

if TYPE_CHECKING:
    from coursekit.exercises.trial import Outcome


@dataclass(frozen=True)
class Slip:
    """A usual mistake, told in place of the general advice where its result is found.

    Attributes
    ----------
    result : callable
        Takes what a reference takes; returns the first output as the mistake makes it.
    cause : str
        A sentence that is true of every kernel with this result.
    cure : str
        What to look at, as a sentence; it does not give the answer.
    """

    result: Callable[[Any], Any]
    cause: str
    cure: str


def advice(outcome: Outcome, judged: judging.Judged) -> tuple[str, str] | None:
    """Return cause and cure of the first slip whose result an output equals, or None.

    Parameters
    ----------
    outcome : Outcome
    judged : Judged
        The output that is wrong.
    """
    exercise, problem = outcome.trial.exercise, outcome.problem
    if judged.name != exercise.outputs[0] or outcome.trial.order != "forward":
        return None
    values = SimpleNamespace(**problem.wide())
    for slip in exercise.slips:
        result = np.asarray(slip.result(values))
        allowed = problem.allowed[judged.name]
        if not judging.wrong(result, judged.got, allowed).any():
            return slip.cause, slip.cure
    return None
