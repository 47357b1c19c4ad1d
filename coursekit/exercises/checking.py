"""Run the stages of an exercise on an answer; a Verdict says how far it came."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from coursekit.errors import (
    ArgumentError,
    CheckFailed,
    CompileError,
    CourseError,
    UnknownNameError,
)
from coursekit.exercises import host_running, host_stages, program_stages
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.host_exercise import HostExercise
from coursekit.exercises.program_exercise import ProgramExercise
from coursekit.exercises.stages import Bench, Stage, stages
from coursekit.exercises.verdict import Verdict
from coursekit.toolchain.cuda_source import code_only

_UNSET = re.compile(r'variable "(\w+)" is used before its value is set')
_UNREAD = re.compile(r'variable "(\w+)" was (?:declared but never|set but never)')
_TYPE = r"\b(?:float|double|int|unsigned|long|bool|half|__half|auto)\b"


def examine(entry: Entry, candidate: Any, added: Sequence[Stage] = ()) -> Verdict:
    """Check a solution.

    Parameters
    ----------
    entry : Entry
    candidate : Kernel, Module, callable, Ran, Program, str or CourseError
        A kernel, or a module that holds it; a function, a program, or what a cell has
        left; the source text; or why there is none.
    added : sequence of Stage
        More stages, behind those of the exercise.

    Returns
    -------
    Verdict
        With the error of the first stage that failed, if any.
    """
    on_host = isinstance(entry.exercise, HostExercise | ProgramExercise)
    find, steps = _answered(entry)
    steps = (*steps, *added)
    bench = Bench(entry, None, [])
    passed, error = 0, None
    try:
        bench.answer = find(entry, candidate)
        for step in steps:
            step.run(bench)
            passed += 1
    except CourseError as failure:
        error = failure
        for warning in unset_warnings(bench.answer):
            error.add_note(f"  {warning}")
    return Verdict(
        entry.id,
        entry.exercise.title,
        tuple(step.name for step in steps),
        passed,
        error,
        tuple(bench.tables),
        remarks=() if error else tuple(bench.remarks),
        drawn="What the check saw" if on_host else "The small problem",
    )


def _answered(entry: Entry) -> tuple[Callable[..., Any], tuple[Stage, ...]]:
    """Return what finds the answer to an exercise, and the stages of its check."""
    if isinstance(entry.exercise, HostExercise):
        return host_running.function, host_stages.stages(entry)
    if isinstance(entry.exercise, ProgramExercise):
        return program_stages.program_of, program_stages.stages(entry)
    return kernel_of, stages(entry)


def kinds(entry: Entry, added: Sequence[Stage] = ()) -> tuple[str, ...]:
    """Return the kinds of an exercise's stages, in order."""
    return tuple(step.kind for step in (*_answered(entry)[1], *added))


def unset_warnings(answer: Any) -> list[str]:
    """Return the compiler's warnings that may explain a miss, a sentence each.

    Of a kernel these are unset variables, and one that hides another of its name; of
    a program all but what is unused.

    Parameters
    ----------
    answer : Kernel, callable or None
        Only a kernel and a program have warnings.
    """
    of_program = [
        text for text in getattr(answer, "warnings", ()) if "unused" not in text
    ]
    if of_program:
        return [f"The compiler has warned: {text}." for text in of_program[:2]]
    log = getattr(getattr(answer, "module", None), "log", "")
    source = code_only(getattr(getattr(answer, "module", None), "source", ""))
    return [
        f"The compiler has warned: {name} is used before its value is set."
        for name in dict.fromkeys(_UNSET.findall(log))
    ] + [
        f"The compiler has warned: {name} is declared twice, and one of the two is "
        "never read. Leave out the type where the first is meant."
        for name in dict.fromkeys(_UNREAD.findall(log))
        if _is_hidden(name, source)
    ]


def _is_hidden(name: str, source: str) -> bool:
    """Whether a variable is declared again where the first one still lives."""
    declared = rf"{_TYPE}[^;(){{}}]*\b{name}\b\s*[=,;]"
    blocks = [_open_blocks(source[: f.start()]) for f in re.finditer(declared, source)]
    return any(
        inner[: len(outer)] == outer
        for number, outer in enumerate(blocks)
        for inner in blocks[number + 1 :]
    )


def _open_blocks(text: str) -> list[int]:
    """Return where the blocks begin that are open at the end of a text."""
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
    return opened


def is_untouched(entry: Entry, candidate: Any) -> bool:
    """Whether there is no attempt yet: no cell has run, or it has the starter's text.

    Parameters
    ----------
    entry : Entry
    candidate : Kernel, Module, callable, Ran, str or CourseError
        As for `examine`.
    """
    if isinstance(candidate, CourseError):
        return isinstance(candidate, CheckFailed)
    holder = getattr(candidate, "module", candidate)
    text = candidate if isinstance(candidate, str) else getattr(holder, "source", None)
    text = getattr(text, "text", text)  # of a program's source
    starter = entry.starter.read_text(encoding="utf-8")
    return isinstance(text, str) and _lines(text) == _lines(starter)


def _lines(text: str) -> list[str]:
    """Return the lines of a text, without spaces at their ends and blank lines."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def kernel_of(entry: Entry, candidate: Any) -> Any:
    """Return the kernel of an exercise that an answer holds; an error is raised.

    Parameters
    ----------
    entry : Entry
    candidate : Kernel, Module, str or CourseError
        As for `examine`.

    Raises
    ------
    CheckFailed
        The answer has no such kernel; the message says why.
    """
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
        raise _no_kernel(entry, candidate) from failure
    except CompileError as failure:
        if entry.exercise.kernel in candidate.templates:
            raise _no_kernel(entry, candidate) from failure
        raise


def _no_kernel(entry: Entry, module: Any) -> CheckFailed:
    """Say why a module lacks the kernel of an exercise."""
    name, starter = entry.exercise.kernel, f'ck.reset("{entry.id}") shows the starter.'
    if name in module.templates:
        return CheckFailed.explained(
            f"The kernel {name} is a template, and the check launches a plain kernel.",
            "The exercise fixes the types of the parameters.",
            f"Remove the line template<...>, and write the types out: {starter}",
        )
    if not module.kernels:
        return CheckFailed.explained(
            f"There is no kernel {name}; the cell has no kernel at all.",
            "A kernel is a function that begins with __global__.",
            f"Write `__global__ void {name}(` before its parameters: {starter}",
        )
    return CheckFailed.explained(
        f"There is no kernel {name}; the cell has {', '.join(module.kernels)}.",
        "It was renamed, or it lost its __global__.",
        f"Call it {name} again.",
    )


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
    from coursekit.runtime import (
        compiler,  # starts NVRTC, which listing need not wait for
    )

    defines = {**entry.exercise.defines, **options.pop("defines", {})}
    name = options.pop("name", f"exercise_{entry.id}.cu")
    return compiler.compile(text, defines=defines, name=name, **options)
