"""Error messages for wrong results: the elements, their threads, a likely cause."""

from __future__ import annotations

import numpy as np

from coursekit.errors import CheckFailed, CourseError
from coursekit.exercises import judging, ownership, picture
from coursekit.exercises.trial import Outcome

MOST_LISTED = 5

# Kind of wrong result: (likely cause, cure).
ADVICE = {
    "nothing": (
        "No thread stores into it, or the store is never reached.",
        "Start with one line that stores any value into the thread's own element.",
    ),
    "never": (
        "No thread stores there: an index skips it, or a guard is too strict.",
        "Work out by hand which indices the threads compute, and which one is missed.",
    ),
    "wrong": (
        "The thread stores into the element, but computes another value.",
        "Work out by hand what one such thread reads, and what it computes.",
    ),
    "kept": (
        "The element should stay as it was, and a thread stores into it.",
        "Work out by hand which threads get there, and which guard keeps them out.",
    ),
    "nan": (
        "The thread uses what the output held before, which is NaN until something is "
        "stored there; or it divides 0 by 0, or takes the root of a negative number.",
        "To add up, begin with 0 in a variable of the thread and store the sum once.",
    ),
    "order": (
        "One thread uses what another thread of the launch writes, without waiting.",
        "Find the element that two threads share; order the two accesses, for "
        "example with __syncthreads() between them.",
    ),
    "input": (
        "The kernel stores through the pointer of an input.",
        "Store into the output only, and keep `const` on the inputs.",
    ),
}


def small(outcome: Outcome) -> CourseError:
    """Build the error for a wrong result of the small problem, with its tables."""
    judged = next(output for output in outcome.judged() if not output.passed)
    lines = [f"The small problem: {_count(judged)}."]
    rest = picture.others(outcome)
    lines += [f"with {rest}"] if rest else []
    for table in picture.tables(outcome):
        lines += [table.caption, *table.text.split("\n")]
    lines += [_line(outcome, judged, index) for index in judged.indices(1)]
    return CheckFailed.explained("\n  ".join(lines), *ADVICE[_kind(outcome, judged)])


def values(outcome: Outcome, judged: judging.Judged) -> CourseError:
    """Build the error for wrong elements, the first few of them listed."""
    trial = outcome.trial
    head = f"{trial}: {_count(judged)}."
    if trial.order != "forward":
        head = (
            f"The result depends on the order of the warps.\n  {trial}, "
            f"{named(trial.order)}: {_count(judged)}."
        )
    lines = [_line(outcome, judged, index) for index in judged.indices(MOST_LISTED)]
    left = int(judged.wrong.sum()) - len(lines)
    lines += [f"and {left} more"] if left else []
    kind = _kind(outcome, judged) if trial.order == "forward" else "order"
    return CheckFailed.explained("\n    ".join([head, *lines]), *ADVICE[kind])


def changed(outcome: Outcome, name: str, index: tuple[int, ...]) -> CourseError:
    """Build the error for an input that the kernel has overwritten."""
    before = judging.number(outcome.problem.given[name][index])
    after = judging.number(outcome.after[name][index])
    return CheckFailed.explained(
        f"{outcome.trial}: the kernel changed the input {name}.\n    "
        f"{name}[{picture.place(index)}] was {before} and is {after}",
        *ADVICE["input"],
    )


def named(order: str | int) -> str:
    """Return the order in which the warps ran, as a phrase."""
    return "warps in reverse" if order == "reverse" else f"warps shuffled ({order})"


def _count(judged: judging.Judged) -> str:
    bad, total = int(judged.wrong.sum()), judged.wrong.size
    never = int(judged.untouched.sum())
    what = f"{bad} of {total} elements of {judged.name}"
    if never == bad:
        return f"{what} {'was' if bad == 1 else 'were'} never written"
    text = f"{what} {'is' if bad == 1 else 'are'} wrong"
    return f"{text}, {never} of them never written" if never else text


def _kind(outcome: Outcome, judged: judging.Judged) -> str:
    if judged.untouched.all():
        return "nothing"
    first, name = next(judged.indices(1)), judged.name
    if judged.untouched[first]:
        return "never"
    keeps = name in outcome.trial.exercise.accumulates
    if keeps and outcome.problem.given[name][first] == judged.expected[first]:
        return "kept"
    lost = np.isnan(judged.got[first]) and not np.isnan(judged.expected[first])
    return "nan" if lost else "wrong"


def _line(outcome: Outcome, judged: judging.Judged, index: tuple[int, ...]) -> str:
    expected, got = judged.shown(index)
    verdict = judged.verdict(index)
    shown = verdict if got == "-" else f"got {got}"
    if verdict.startswith("wrong: "):
        shown += f", {verdict.removeprefix('wrong: ')}"
    text = f"{judged.name}[{picture.place(index)}]: expected {expected}, {shown}"
    who = _owner(outcome, index, judged.wrong.shape)
    return f"{text}  (thread {who[1]} of block {who[0]})" if who else text


def _owner(outcome: Outcome, index, shape):
    rule, trial = outcome.trial.exercise.owner, outcome.trial
    if rule is None:
        return None
    if rule == "element":
        return ownership.owner(index, shape, trial.grid, trial.block)
    return rule(index, trial.grid, trial.block)
