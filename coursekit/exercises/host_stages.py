"""The stages of a check of a Python function."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from collections.abc import Callable

from coursekit.errors import CheckFailed, CourseError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.host_running import function, run
from coursekit.exercises.stages import Bench, Stage


def stages(entry: Entry) -> tuple[Stage, ...]:
    """Return the stages of an exercise, in order."""
    return (
        Stage("runs, with the parameters of the starter", check_signature, "compiles"),
        *(
            Stage(name, functools.partial(_run, check, quiet=number > 0), "check")
            for number, (name, check) in enumerate(entry.exercise.checks)
        ),
    )


def check_signature(bench: Bench) -> None:
    """Compare the parameters with the starter's."""
    starter = bench.entry.starter.read_text(encoding="utf-8")
    ran = run(bench.entry, starter, file=f"starter_{bench.entry.id}.py")
    asked = inspect.signature(function(bench.entry, ran))
    given = inspect.signature(bench.answer)
    name = bench.entry.exercise.function
    try:
        given.bind(*asked.parameters)
    except TypeError as failure:
        raise CheckFailed.explained(
            f"The function is {name}{given}, but the exercise calls {name}{asked}.",
            "A parameter was added or removed.",
            "Put the parameters back as they were in the starter: "
            f'ck.reset("{bench.entry.id}") shows it.',
        ) from failure


def _run(check: Callable, bench: Bench, *, quiet: bool) -> None:
    """Run a check; an exception in it is reported as a wrong answer, not as a crash."""
    printed = contextlib.redirect_stdout(io.StringIO())
    try:
        with printed if quiet else contextlib.nullcontext():
            check(bench.answer, bench.tables.append)
    except CourseError:
        raise
    except Exception as failure:
        raise CheckFailed.explained(
            f"The check cannot use what {bench.entry.exercise.function} returns or "
            f"leaves: {type(failure).__name__}: {failure}.",
            "It is of another kind than the exercise asks for.",
            "Read the comment at the top of the starter again.",
        ) from failure
