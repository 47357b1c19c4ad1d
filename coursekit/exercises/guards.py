"""Advice for an access that is out of bounds although a condition guards it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from coursekit.errors import OutOfBoundsError
from coursekit.exercises.index_values import Values
from coursekit.exercises.trial import Problem, Trial
from coursekit.toolchain.cuda_source import (
    code_only,
    empty_ifs,
    function_lines,
    partner,
)

_WHAT = re.compile(
    r"(?:reads|writes|updates) (\w+)\[(\d+)\], but \w+ has (\d+) element"
)
_IF = re.compile(r"\bif\s*\(")
_LEAVES = re.compile(r"\{?\s*return\s*;")
_NAME = re.compile(r"\s*\(?\s*\w+\s*\)?\s*")


@dataclass(frozen=True)
class Access:
    """An access out of bounds: its array, its index there, and the array's extent."""

    array: str
    index: int
    extent: int
    start: int
    expression: str


def explain(error: OutOfBoundsError, kernel: Any, trial: Trial) -> None:
    """Put the cause and the cure of a guarded access into its error.

    Parameters
    ----------
    error : OutOfBoundsError
        It stays as it is where no condition guards the access.
    kernel : Kernel
    trial : Trial
        The launch that the error ended.
    """
    source = kernel.module.source
    lines = function_lines(source, trial.exercise.kernel)
    if lines is None or not lines[0] <= (error.line or 0) <= lines[1]:
        return
    body = "\n".join(code_only(source).split("\n")[lines[0] - 1 : lines[1]])
    body = body[body.find("{") :]
    values = Values(body, _known(error, kernel, trial))
    cause, cure = advice(error, source, values)
    if cause:
        error.args = (type(error).explained(error.what, cause, cure).args[0],)
        error.cause, error.cure = cause, cure


def _known(error: OutOfBoundsError, kernel: Any, trial: Trial) -> dict[str, int]:
    """Return the integer parameters and the built-in variables of a thread."""
    given = Problem.of(trial.exercise, trial.size).given.values()
    known = {
        parameter.name: int(value)
        for parameter, value in zip(kernel.parameters, given, strict=True)
        if isinstance(value, Integral)
    }
    built_in = {
        "threadIdx": error.thread,
        "blockIdx": error.block,
        "blockDim": trial.block,
        "gridDim": trial.grid,
    }
    for name, extent in built_in.items():
        for axis, value in zip("xyz", extent or (), strict=False):
            known[f"{name}.{axis}"] = value
    return known


def advice(error: OutOfBoundsError, source: str, values: Values) -> tuple[str, str]:
    """Return cause and cure of a guarded access; empty texts for any other.

    Parameters
    ----------
    error : OutOfBoundsError
    source : str
        The text of the kernel that the error comes from.
    values : Values
        The names of the kernel, with their values for the thread of the error.
    """
    code = code_only(source)
    access = _access(error, code, values)
    if access is None:
        return "", ""
    for start, condition in empty_ifs(code[: access.start]):
        if values.of(condition) == 0 and _in_scope(code, start, access.start):
            return _empty_guard(code.count("\n", 0, start) + 1, condition, values)
    for condition, shown in _guards(code, access.start):
        if values.of(condition) == 1:
            return _advice(access, condition, shown, values)
    return "", ""


def _empty_guard(line: int, condition: str, values: Values) -> tuple[str, str]:
    """Advise on a semicolon that ends an `if` before the access that it is to guard."""
    at = values.listed(condition)
    return (
        f"Line {line} has a semicolon right after `if ({condition})`. It ends the if, "
        f"and every thread runs what follows; here {at}.",
        "Remove the semicolon after the condition.",
    )


def _advice(access: Access, condition: str, shown: str, values: Values):
    index, last = access.expression, access.extent - 1
    at = values.listed(index if not _NAME.fullmatch(index) else condition)
    inside = f"The elements of {access.array} are 0 to {last}"
    if not _NAME.fullmatch(index):
        return (
            f"The thread passes the guard `{shown}`. "
            f"The index expression is wrong: {index} = {access.index} at {at}.",
            f"{inside}: work out {index} for the first and the last thread that pass "
            "the guard.",
        )
    if re.search(rf"\b{re.escape(index.strip())}\b", condition):
        return (
            f"The guard `{shown}` lets the thread through: {at}.",
            f"{inside}: a guard must keep out every other index. `<=` lets in one "
            "index too many."
            if "<=" in condition
            else f"{inside}: index {access.array} with another variable, or let the "
            "guard keep out every other index.",
        )
    return (
        f"The guard `{shown}` lets the thread through: {at}. It does not ask for the "
        f"index, and {index.strip()} = {access.index}.",
        f"{inside}: compute {index.strip()} so that it stays there, or index "
        f"{access.array} with another variable; else compare {index.strip()} in the "
        "guard.",
    )


def _access(error: OutOfBoundsError, code: str, values: Values) -> Access | None:
    """Find the access of an error in its line, by the value of its index."""
    told = _WHAT.search(error.what)
    if told is None or error.line is None:
        return None
    array, index, extent = told[1], int(told[2]), int(told[3])
    lines = code.split("\n")
    begin = sum(len(line) + 1 for line in lines[: error.line - 1])
    line = lines[error.line - 1] if error.line <= len(lines) else ""
    for found in re.finditer(rf"\b{re.escape(array)}\s*\[", line):
        end = partner(line, found.end() - 1, "[]") or len(line)
        expression = line[found.end() : end].strip()
        if values.of(expression) == index:
            return Access(array, index, extent, begin + found.start(), expression)
    return None


def _guards(code: str, at: int) -> Iterator[tuple[str, str]]:
    """Yield the conditions that hold at an offset, innermost first, and their texts."""
    found = []
    for start in _IF.finditer(code[:at]):
        closed = partner(code, start.end() - 1, "()")
        if closed is None or closed > at:
            continue
        condition = " ".join(code[start.end() : closed].split())
        body = closed + 1 + len(code[closed + 1 :]) - len(code[closed + 1 :].lstrip())
        braces = code.startswith("{", body)
        end = partner(code, body, "{}") if braces else code.find(";", body)
        if body <= at <= (end or at):
            found.append((condition, f"if ({condition})"))
        elif _LEAVES.match(code, body) and _in_scope(code, start.start(), at):
            found.append((f"!({condition})", f"if ({condition}) return"))
    yield from reversed(found)


def _in_scope(code: str, start: int, at: int) -> bool:
    """Whether the block in which a text stands is still open at an offset."""
    depth = 0
    for sign in re.findall(r"[{}]", code[start:at]):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return True
