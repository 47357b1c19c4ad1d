"""`minimise`: the smallest launch that still fails as a given one does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.minimise.cases import length, smaller
from coursekit.lessons.minimise.result import Minimised
from coursekit.lessons.minimise.trials import Trials
from coursekit.runtime import simulator


def minimise(
    launch: Callable[..., Any],
    /,
    *,
    least: int | Mapping[str, int] = 1,
    tries: int = 400,
    **case: Any,
) -> Minimised:
    """Shrink the sizes and the data of a failing launch as far as it still fails.

    A case fails where `launch` raises an error of the course or an AssertionError, or
    returns False. Only the *same* failure counts: an error of the same class, and of
    the same line of the kernel. Each size is tried at its least and then bisected;
    arrays lose elements, and what is left becomes 0 where that changes nothing. That
    goes on until no step helps. All launches are simulated; a checker that is asked
    inside of `launch` has to raise what it finds, with ``raise_=True``.

    Parameters
    ----------
    launch : callable
        Takes the case by keyword, launches, and compares.
    least : int or mapping of str to int
        The smallest size to try, for all or by name; of an array, its length.
    tries : int
        Cases to run, at most.
    **case
        What fails: whole numbers are sizes, lists and one-dimensional arrays are data.

    Returns
    -------
    Minimised

    Raises
    ------
    ArgumentError
        The case does not fail, or is neither sizes nor data.

    Examples
    --------
    >>> def launch(rows, cols):
    ...     assert cols <= 32
    >>> minimise(launch, rows=500, cols=300).case
    {'rows': 1, 'cols': 33}

    Source: A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing
    Input, IEEE Transactions on Software Engineering 28 (2002): delta debugging.
    """
    if not callable(launch):
        raise ArgumentError.explained(
            f"minimise got {type(launch).__name__}, which cannot be called.",
            "Its first argument is a function that launches and compares.",
            "Write for example ck.minimise(launch, rows=500, cols=300).",
        )
    start = {name: _checked(name, value) for name, value in case.items()}
    bounds = {name: _bound(least, name) for name in start}
    with simulator.active() or simulator.simulator():
        trials = Trials(launch, tries)
        trials.begin(start)
        before = None
        while before != trials.count and not trials.spent:
            before = trials.count
            for name in start:
                smaller(trials, name, bounds[name])
    attempts = tuple(trials.attempts)
    return Minimised(start, trials.case, trials.failure, attempts, trials.spent)


def _bound(least: int | Mapping[str, int], name: str) -> int:
    return least.get(name, 1) if isinstance(least, Mapping) else least


def _checked(name: str, value: Any) -> int | np.ndarray:
    """Return a size as an int, data as an array of one dimension."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    array = np.asarray(value)
    if array.ndim == 1 and array.dtype.kind in "fiub" and length(array):
        return array
    raise ArgumentError.explained(
        f"minimise got {name}={value!r}.",
        "It shrinks whole numbers, and arrays of numbers with one dimension.",
        "Give the launch function what stays as it is, by a default or a lambda.",
    )
