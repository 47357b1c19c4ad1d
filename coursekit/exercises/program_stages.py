"""The stages of a check of a C++ program."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, cast

from coursekit.errors import ArgumentError, CheckFailed, CourseError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.program_exercise import Case, ProgramExercise
from coursekit.exercises.stages import Bench, Stage
from coursekit.exercises.tables import Table
from coursekit.runtime.programs.program import Program, program
from coursekit.runtime.programs.result import Run

SECONDS = 3.0  # of computing, for a run of an exercise
SHOWN_LINES = 8
OTHERWISE = "The sanitizers saw no defect: the program computes something else."


def compiled(entry: Entry, text: str) -> Program:
    """Compile an answer, with sanitizers, under the name of its exercise."""
    return program(text, sanitize=True, name=f"{entry.exercise.name}.cpp")


def program_of(entry: Entry, candidate: Any) -> Program:
    """Return the program of an answer; why there is none is raised.

    Parameters
    ----------
    entry : Entry
    candidate : Program, str or CourseError
        What a cell has left; the text of an answer; or why there is none.
    """
    if isinstance(candidate, CourseError):
        raise candidate.with_traceback(None)
    if isinstance(candidate, str):
        candidate = compiled(entry, candidate)
    if not isinstance(candidate, Program):
        raise ArgumentError.explained(
            f"check got {type(candidate).__name__}, which is no program.",
            "Without a second argument it takes what the exercise's cell compiled.",
            f'Write ck.check("{entry.id}"), or give the text of a program.',
        )
    return candidate


def cases(entry: Entry) -> tuple[Case, ...]:
    """Return the runs that an answer has to pass; the cell shows the first."""
    return cast(ProgramExercise, entry.exercise).cases


def stages(entry: Entry) -> tuple[Stage, ...]:
    """Return the stages of an exercise, in order."""
    first, *others = cases(entry)
    found = [
        Stage("compiles", lambda bench: None, "compiles"),
        Stage(f"prints what is asked: {_called(entry, first)}", _first, "first run"),
    ]
    if others:
        inputs = f"{len(others)} other input{'s' if len(others) > 1 else ''}"
        found.append(Stage(f"{inputs}, under the sanitizers", _others, "other runs"))
    return tuple(found)


def run(entry: Entry, answer: Program, case: Case) -> Run:
    """Run an answer on a case."""
    return answer.run(*case.args, stdin=case.stdin, timeout_s=SECONDS)


def _called(entry: Entry, case: Case) -> str:
    return " ".join([f"./{entry.exercise.name}", *map(str, case.args)])


def _first(bench: Bench) -> None:
    case = cases(bench.entry)[0]
    ran = run(bench.entry, bench.answer, case)
    bench.tables.append(_table(_called(bench.entry, case), case, ran))
    _require(bench.entry, case, ran)


def _others(bench: Bench) -> None:
    for case in cases(bench.entry)[1:]:
        _require(bench.entry, case, run(bench.entry, bench.answer, case))


def _require(entry: Entry, case: Case, ran: Run) -> None:
    """Refuse a run with a finding, then one that left something else than asked."""
    called = _called(entry, case)
    for finding in ran.findings:
        cause = case.causes.get(finding.kind) or finding.cause
        failure = CheckFailed.explained(finding.what, cause, finding.cure)
        failure.add_note(f"  Seen in `{called}`{_given(case)}.")
        raise failure
    problem, printed = _first_difference(case, ran)
    if not problem and ran.returncode != case.returncode:
        problem = (
            f"returns {ran.returncode} from main, and should return {case.returncode}"
        )
    if problem:
        raise CheckFailed.explained(
            f"`{called}`{_given(case)} {problem}.",
            case.causes.get(printed) or case.cause or OTHERWISE,
            "Follow the program by hand for this input, or let it print the values "
            "on the way.",
        )


def _given(case: Case) -> str:
    return f" with {case.stdin!r} to read" if case.stdin else ""


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _first_difference(case: Case, ran: Run) -> tuple[str, str]:
    """Return what is wrong with the output, and the first line that is."""
    pairs = zip_longest(_lines(ran.stdout), _lines(case.stdout))
    for number, (got, expected) in enumerate(pairs, 1):
        if got != expected:
            asked = "nothing more" if expected is None else f"{expected!r}"
            shown = f"{got[:100]!r}" if got else "nothing"
            problem = f"prints {shown} in line {number}, and should print {asked}"
            return problem, got or ""
    return "", ""


def _table(called: str, case: Case, ran: Run) -> Table:
    """Return expected and printed lines side by side."""
    pairs = list(zip_longest(_lines(case.stdout), _lines(ran.stdout), fillvalue="-"))
    rows = [
        (str(number), expected or "-", got[:100] or "-", _mark(expected, got))
        for number, (expected, got) in enumerate(pairs[:SHOWN_LINES], 1)
    ]
    return Table(called, ("line", "expected", "printed", ""), tuple(rows))


def _mark(expected: str, got: str) -> str:
    return "" if expected == got else "wrong"
