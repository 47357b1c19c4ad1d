"""Tables of a small problem: each element, expected and computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from coursekit.exercises import judging
from coursekit.exercises.tables import Table
from coursekit.exercises.trial import Outcome, written

MOST_ROWS = 16
MOST_INPUTS = 4
BEFORE = "before"  # the column of an output that the kernel changes in place


def tables(outcome: Outcome) -> list[Table]:
    """Return a table for each output of a launch."""
    return [_table(outcome, judged) for judged in outcome.judged()]


def _table(outcome: Outcome, judged: judging.Judged) -> Table:
    shape = judged.expected.shape
    beside = list(_beside(outcome.problem.given, outcome.problem.expected, shape))
    if judged.name in outcome.trial.exercise.accumulates:
        beside.append((BEFORE, outcome.problem.given[judged.name]))
    rows = []
    first = _first_row(judged)
    for index in list(np.ndindex(shape))[first : first + MOST_ROWS]:
        expected, got = judged.shown(index)
        inputs = [_written(outcome, name, array[index]) for name, array in beside]
        verdict = judged.verdict(index)
        rows.append((place(index), *inputs, expected, got, verdict))
    names = [name for name, _ in beside]
    size = judged.expected.size
    part = f" (elements {first} to {first + len(rows) - 1} of {size})"
    return Table(
        f"{judged.name}, {outcome.trial}{part if len(rows) < size else ''}",
        (_axes(len(shape)), *names, "expected", "got", "result"),
        tuple(rows),
    )


def _first_row(judged: judging.Judged) -> int:
    """Return where a table begins, so that the first wrong element is in it."""
    wrong = np.flatnonzero(judged.wrong)
    if not wrong.size or wrong[0] < MOST_ROWS:
        return 0
    return int(min(wrong[0] - MOST_ROWS // 2, judged.wrong.size - MOST_ROWS))


def _beside(given: dict[str, Any], outputs, shape) -> Iterator[tuple[str, np.ndarray]]:
    """Return the inputs that have a value for each element of the output."""
    fitting = [
        (name, value)
        for name, value in given.items()
        if name not in outputs
        and isinstance(value, np.ndarray)
        and value.shape == shape
    ]
    return iter(fitting[:MOST_INPUTS])


def others(outcome: Outcome) -> str:
    """Write the inputs that no table shows: `n = 8, table = 0.25 0.5`."""
    problem = outcome.problem
    parts = []
    shapes = [array.shape for array in problem.expected.values()]
    for name, value in problem.given.items():
        if name in problem.expected:
            continue
        if not isinstance(value, np.ndarray):
            parts.append(f"{name} = {judging.number(value)}")
        elif value.shape not in shapes:
            first = " ".join(
                _written(outcome, name, element) for element in value.flat[:MOST_ROWS]
            )
            more = " ..." if value.size > MOST_ROWS else ""
            parts.append(f"{name} ({written(value.shape)}) = {first}{more}")
    return ", ".join(parts)


def _written(outcome: Outcome, name: str, value: Any) -> str:
    """Write an element of an input: a number, or a pattern of bits."""
    in_hex = name in outcome.trial.exercise.in_hex
    return judging.pattern(value) if in_hex else judging.number(value)


def place(index: tuple[int, ...]) -> str:
    """Write an index: 5, or 2, 3."""
    return ", ".join(map(str, index))


def _axes(count: int) -> str:
    return {1: "i", 2: "row, col"}.get(count, "index")
