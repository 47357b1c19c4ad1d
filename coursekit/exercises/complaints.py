"""Error messages for wrong results: the elements, their threads, a likely cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from coursekit.errors import CheckFailed, CourseError
from coursekit.exercises import (
    diagnosis,
    judging,
    misplaced,
    ownership,
    picture,
    poison,
    slips,
)
from coursekit.exercises.judging import Judged
from coursekit.exercises.trial import Outcome, Trial
from coursekit.toolchain.cuda_source import code_only

MOST_LISTED = 5
EXP_OVERFLOWS = 88.7  # in float32
_TWICE = re.compile(
    r"(?P<one>thread .*) writes (?P<array>\w+)\[(?P<index>\d+)\], and "
    r"(?P<other>thread .*) writes it:"
)
# Of two whole numbers, as in 1 / 2; not the 1 of i1 / 2 or of 0.1 / 2, nor 2.0.
_QUOTIENT = re.compile(r"(?<![\w.])(\d+)\s*/\s*(\d+)(?![\w.])")
_EXP = re.compile(r"\b(?:__)?exp[f2]?f?\s*\(")

Advice = tuple[str, str]  # likely cause, cure
Complaint = Callable[[Outcome, Judged, Advice], CourseError]
# The advice for each kind of wrong result.
ADVICE: dict[str, Advice] = {
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
    "shared": (
        "Many threads change this one element. A contribution is missing, comes twice, "
        "or is another value.",
        "Work out by hand what each thread contributes in this launch.",
    ),
    "quotient": (
        "Both sides of a `/` are whole numbers, as in 1 / 2, and then C++ drops the "
        "fraction: 1 / 2 is 0.",
        "Make one of them a float, as in 1.0f / 2.",
    ),
    "unchanged": (
        "The element still holds what it held before the launch: no thread changes it.",
        "Start with one line that adds any value to it.",
    ),
    "elsewhere": (
        "No thread changes this element, though some change others.",
        "Work out by hand into which elements the threads store, and which thread "
        "has to store into this one.",
    ),
    "overwritten": (
        "The element holds the new part alone: what it held before is lost.",
        "Add to the element, for other parts of the result are in it already.",
    ),
    "kept": (
        "The element should stay as it was, and a thread stores into it.",
        "Work out by hand which threads get there: an index is wrong, or a guard is "
        "missing.",
    ),
    "nan": (
        "The thread uses what the output held before, which is NaN until something is "
        "stored there; or it divides 0 by 0, subtracts inf from inf, or takes the root "
        "of a negative number.",
        "To add up, begin with 0 in a variable of the thread and store the sum once.",
    ),
    "overflow": (
        "exp(x) overflows above x = 88.7 in float32, and is 0 below x = -104: inf / inf"
        " and 0 / 0 are nan, 1 / inf is 0. Where every input is 1, the kernel's result "
        "is finite.",
        "Keep the arguments of exp small: a number that is subtracted from each of "
        "them may cancel in the result.",
    ),
    "order": (
        "The checkers see no race: an atomic, or a choice that depends on which warp "
        "comes first, gives another result in another order.",
        "Find what depends on the order, for example the old value that an atomic "
        "returns. A GPU may run the warps in any order.",
    ),
    "input": (
        "The kernel stores through the pointer of an input.",
        "Store into the output only, and keep `const` on the inputs.",
    ),
}


def require_values(kernel: Any, outcome: Outcome, complain: Complaint) -> None:
    """Refuse a wrong value; a checker's finding in the launch explains it best.

    Parameters
    ----------
    kernel : Kernel
    outcome : Outcome
    complain : callable
        `small` or `values`: builds the error where no checker finds a defect.

    Raises
    ------
    CheckFailed, DataRaceError, UninitializedReadError, BarrierError
    """
    judged = next((output for output in outcome.judged() if not output.passed), None)
    if judged is None:
        return
    defect = diagnosis.defect(kernel, outcome.trial)
    if defect is None:
        raise complain(outcome, judged, advice(kernel, outcome, judged))
    twice = written_twice(defect, outcome)
    if twice is not None:
        raise complain(outcome, judged, twice)
    note_values(defect, outcome, judged)
    raise defect


def small(outcome: Outcome, judged: Judged, advice: Advice) -> CourseError:
    """Build the error for a wrong result of the small problem, with its tables."""
    lines = [f"The small problem: {_count(judged)}."]
    rest = picture.others(outcome)
    lines += [f"with {rest}"] if rest else []
    for table in picture.tables(outcome):
        lines += [table.caption, *table.text.split("\n")]
    lines += [_line(outcome, judged, index) for index in judged.indices(1)]
    lines += _patterns(judged, 1)
    return CheckFailed.explained("\n  ".join(lines), *advice)


def values(outcome: Outcome, judged: Judged, advice: Advice) -> CourseError:
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
    lines += _patterns(judged, MOST_LISTED)
    return CheckFailed.explained("\n    ".join([head, *lines]), *advice)


def note_values(error: CourseError, outcome: Outcome, judged: Judged) -> None:
    """Add to a checker's finding the wrong values of the launch, as notes."""
    error.add_note(f"{seen(outcome.trial)}: {_count(judged)}.")
    for index in judged.indices(1):
        error.add_note(f"    {_line(outcome, judged, index)}")
    for text in _patterns(judged, MOST_LISTED):
        error.add_note(f"  {text}")


def seen(trial: Trial) -> str:
    """Return the launch in which something was seen, as the start of a sentence."""
    order = "" if trial.order == "forward" else f", {named(trial.order)}"
    return f"  Seen with {trial}{order}"


def _patterns(judged: Judged, most: int) -> list[str]:
    """Explain the first of some wrong values that comes from unwritten memory."""
    texts = (
        poison.explained(judged.got[index], judged.expected[index])
        for index in judged.indices(most)
    )
    return [text for text in texts if text][:1]


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


def _count(judged: Judged) -> str:
    bad, total = int(judged.wrong.sum()), judged.wrong.size
    never = int(judged.untouched.sum())
    what = f"{bad} of {total} elements of {judged.name}"
    if never == bad:
        return f"{what} {'was' if bad == 1 else 'were'} never written"
    text = f"{what} {'is' if bad == 1 else 'are'} wrong"
    return f"{text}, {never} of them never written" if never else text


def written_twice(defect: CourseError, outcome: Outcome) -> Advice | None:
    """Return the advice for an output that one line writes twice; None for any other.

    There the index is wrong, and neither a barrier nor an atomic makes it right.

    Parameters
    ----------
    defect : CourseError
        What the checkers found.
    outcome : Outcome
    """
    found = _TWICE.search(defect.what)
    places = re.findall(r"(\S+:\d+) .*<-", defect.what) if found else ()
    if not found or len(set(places)) != 1 or len(places) != 2:
        return None
    if found["array"] not in outcome.problem.expected:
        return None
    element = f"{found['array']}[{found['index']}]"
    return (
        f"{found['one']} and {found['other']} both write {element}: the index is the "
        "same for both.",
        "Work out the index for these two threads by hand; no two threads may get the "
        "same element.",
    )


def advice(kernel: Any, outcome: Outcome, judged: Judged) -> Advice:
    """Return the likely cause of a wrong result in which no checker finds a defect."""
    known = slips.advice(outcome, judged) or _misplaced(kernel, outcome, judged)
    return known or ADVICE[_kind(kernel, outcome, judged)]


def _misplaced(kernel: Any, outcome: Outcome, judged: Judged) -> Advice | None:
    """Return the advice for an element whose own thread computes another index."""
    if not judged.untouched.any() or judged.untouched.all():
        return None
    index = tuple(int(i) for i in np.argwhere(judged.untouched)[0])
    who = _owner(outcome, index, judged.wrong.shape)
    if who is None or outcome.trial.order != "forward":
        return None
    place = index, judged.wrong.shape
    return misplaced.advice(kernel, outcome.trial, judged.name, place, who)


def _kind(kernel: Any, outcome: Outcome, judged: Judged) -> str:
    if outcome.trial.order != "forward":
        return "order"
    if judged.untouched.all():
        return "nothing"
    first, name = next(judged.indices(1)), judged.name
    if judged.untouched[first]:
        return "never"
    if name in outcome.trial.exercise.accumulates:
        before = outcome.problem.given[name][first]
        if before in (judged.expected[first], judged.got[first]):
            if before == judged.expected[first]:
                return "kept"
            changed = np.any(judged.got != outcome.problem.given[name])
            return "elsewhere" if changed else "unchanged"
        if _is_part_alone(outcome, judged):
            return "overwritten"
    got, expected = judged.got[first], judged.expected[first]
    lost = got == 0 != expected or not np.isfinite(got)
    if not (lost and np.isfinite(expected)):
        return _kind_of_value(kernel, outcome, judged)
    may_overflow = _EXP.search(kernel.module.source) and _is_large(outcome)
    if may_overflow and diagnosis.overflows(kernel, outcome.trial, name, first):
        return "overflow"
    return "nan" if np.isnan(got) else _kind_of_value(kernel, outcome, judged)


def _is_part_alone(outcome: Outcome, judged: Judged) -> bool:
    """Whether each wrong element lacks exactly what it held before the launch."""
    before = outcome.problem.given[judged.name].astype(np.float64)
    lacks = judging.wrong(
        judged.expected - before, judged.got, outcome.problem.allowed[judged.name]
    )
    return not lacks[judged.wrong].any()


def _kind_of_value(kernel: Any, outcome: Outcome, judged: Judged) -> str:
    """Tell what all threads change, and whole quotients, from other wrong values."""
    if judged.name in outcome.trial.exercise.accumulates and judged.wrong.size == 1:
        return "shared"
    code = code_only(kernel.module.source)
    if judged.wrong.all() and any(int(a) < int(b) for a, b in _QUOTIENT.findall(code)):
        return "quotient"
    return "wrong"


def _is_large(outcome: Outcome) -> bool:
    """Whether a float32 among the inputs is too large, or too small, for exp."""
    inputs = (
        value
        for name, value in outcome.problem.given.items()
        if name not in outcome.problem.expected
    )
    return any(
        isinstance(value, np.ndarray)
        and value.dtype == np.float32
        and (np.abs(value) > EXP_OVERFLOWS).any()
        for value in inputs
    )


def _line(outcome: Outcome, judged: Judged, index: tuple[int, ...]) -> str:
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
