"""Run the stages of an exercise on a kernel and report how far it came."""

from __future__ import annotations

from typing import Any

from coursekit.errors import ArgumentError, CheckFailed, CourseError, UnknownNameError
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.stages import Bench, stages
from coursekit.exercises.verdict import Verdict


def examine(entry: Entry, candidate: Any) -> Verdict:
    """Check a solution.

    Parameters
    ----------
    entry : Entry
    candidate : Kernel, Module, str or CourseError
        A kernel; a module that holds it; its source text; or why there is none.

    Returns
    -------
    Verdict
        With the error of the first stage that failed, if any.
    """
    steps = stages(entry)
    bench = Bench(entry, None, [])
    passed, error = 0, None
    try:
        bench.kernel = _kernel(entry, candidate)
        for step in steps:
            step.run(bench)
            passed += 1
    except CourseError as failure:
        error = failure
    return Verdict(
        entry.id,
        entry.exercise.title,
        tuple(step.name for step in steps),
        passed,
        error,
        tuple(bench.tables),
    )


def _kernel(entry: Entry, candidate: Any) -> Any:
    if isinstance(candidate, CourseError):
        raise candidate.with_traceback(None)
    if isinstance(candidate, str):
        candidate = compiled(entry, candidate)
    if hasattr(candidate, "launch"):
        return candidate
    if not hasattr(candidate, "kernels"):
        raise ArgumentError.explained(
            f"check got {type(candidate).__name__}, which is no kernel.",
            "Without a second argument it takes what the exercise's cell compiled.",
            f'Write ck.check("{entry.id}"), or give a kernel or a module.',
        )
    try:
        return candidate[entry.exercise.kernel]
    except UnknownNameError as failure:
        names = ", ".join(candidate.kernels) or "no kernel at all"
        raise CheckFailed.explained(
            f"There is no kernel {entry.exercise.kernel}; the cell has {names}.",
            "It was renamed, or it lost its __global__.",
            f"Call it {entry.exercise.kernel} again.",
        ) from failure


def compiled(entry: Entry, text: str, **options: Any) -> Any:
    """Compile a solution as its exercise asks for.

    Parameters
    ----------
    entry : Entry
    text : str
        CUDA C++, without the line of the `%%cuda`.
    **options
        `defines` are added to the exercise's own; the others are `ck.compile`'s.
    """
    from coursekit import compiler  # starts NVRTC, which listing need not wait for

    defines = {**entry.exercise.defines, **options.pop("defines", {})}
    name = options.pop("name", f"exercise_{entry.id}.cu")
    return compiler.compile(text, defines=defines, name=name, **options)
