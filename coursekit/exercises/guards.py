"""Advice for an access that is out of bounds although a condition guards it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from coursekit.errors import OutOfBoundsError
from coursekit.exercises.guarding import Guard, guards, in_scope
from coursekit.exercises.index_values import Values
from coursekit.exercises.trial import Problem, Trial
from coursekit.toolchain.cuda_source import (
    code_only,
    empty_ifs,
    function_lines,
    partner,
)

_WHAT = re.compile(
    r"(?:reads|writes|updates) (\w+)\[(-?\d+)\], but \w+ has (\d+) element"
)
_NAME = re.compile(r"\s*\(?\s*\w+\s*\)?\s*")
_UP_TO = re.compile(r"(\w+)\s*<=\s*(\w+)")
_AS_VECTORS = (
    r"\b(\w+)\s*=\s*reinterpret_cast\s*<\s*(?:const\s+)?"
    r"(?:float|int|uint)([24])\s*\*\s*>\s*\(\s*{array}\s*\)"
)

Advice = tuple[str, str]  # likely cause, cure
NONE: Advice = ("", "")


@dataclass(frozen=True)
class Access:
    """An access out of bounds: its array, its index there, and the array's extent.

    Attributes
    ----------
    array, name : str
        What the array is called, and the pointer that the line uses.
    index, extent : int
        In elements of the array.
    start : int
        Offset in the source.
    expression : str
        The index, as the line has it.
    each : int
        Elements of the array for one of the pointer: 4 for a float4.
    """

    array: str
    name: str
    index: int
    extent: int
    start: int
    expression: str
    each: int = 1


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
    values = values_of(kernel, trial, error.thread, error.block)
    if values is None:
        return
    lines = function_lines(source, trial.exercise.kernel) or (0, 0)
    if not lines[0] <= (error.line or 0) <= lines[1]:
        return
    cause, cure = advice(error, source, values)
    if cause:
        error.args = (type(error).explained(error.what, cause, cure).args[0],)
        error.cause, error.cure = cause, cure


def values_of(kernel: Any, trial: Trial, thread: Any, block: Any) -> Values | None:
    """Return what the kernel's text tells of its variables in one thread.

    Parameters
    ----------
    kernel : Kernel
    trial : Trial
    thread, block : tuple of int or None

    Returns
    -------
    Values or None
        None where the source does not have the kernel as such.
    """
    source = kernel.module.source
    lines = function_lines(source, trial.exercise.kernel)
    if lines is None:
        return None
    body = "\n".join(code_only(source).split("\n")[lines[0] - 1 : lines[1]])
    known = _known(kernel, trial, thread, block)
    return Values(body[body.find("{") :], known)


def _known(kernel: Any, trial: Trial, thread: Any, block: Any) -> dict[str, int]:
    """Return the integer parameters and the built-in variables of a thread."""
    given = Problem.of(trial.exercise, trial.size, trial.salt).given.values()
    known = {
        parameter.name: int(value)
        for parameter, value in zip(kernel.parameters, given, strict=True)
        if isinstance(value, Integral)
    }
    built_in = {
        "threadIdx": thread,
        "blockIdx": block,
        "blockDim": trial.block,
        "gridDim": trial.grid,
    }
    for name, extent in built_in.items():
        for axis, value in zip("xyz", extent or (), strict=False):
            known[f"{name}.{axis}"] = value
    return known


def advice(error: OutOfBoundsError, source: str, values: Values) -> Advice:
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
    told = _WHAT.search(error.what)
    if told is None or error.line is None:
        return NONE
    array, index, extent = told[1], int(told[2]), int(told[3])
    found = list(_in_line(code, error.line, array, index, extent))
    access = _meant(found, values)
    if access is None:
        if index < 0 or len(found) != 1:
            return NONE
        return _moved(found[0], code, values) or _in_a_loop(found[0], code, values)
    for start, condition in empty_ifs(code[: access.start]):
        if values.of(condition) == 0 and in_scope(code, start, access.start):
            return _empty_guard(code.count("\n", 0, start) + 1, condition, values)
    holding = guards(code, access.start)
    if split := next((guard for guard in holding if guard.parts[1:]), None):
        return _comma(split)
    holding = [guard for guard in holding if values.of(guard.condition) == 1]
    if holding:
        return _guarded(access, holding, values)
    return _computed(access, values)


def _in_line(
    code: str, line: int, array: str, index: int, extent: int
) -> Iterator[Access]:
    """Yield what a line accesses by an array's name, or by a pointer to vectors."""
    lines = code.split("\n")
    begin = sum(len(text) + 1 for text in lines[: line - 1])
    text = lines[line - 1] if line <= len(lines) else ""
    names = {array: 1}
    for alias in re.finditer(_AS_VECTORS.format(array=re.escape(array)), code):
        names[alias[1]] = int(alias[2])
    for name, each in names.items():
        for found in re.finditer(rf"\b{re.escape(name)}\s*\[", text):
            end = partner(text, found.end() - 1, "[]") or len(text)
            expression, start = text[found.end() : end].strip(), begin + found.start()
            yield Access(array, name, index, extent, start, expression, each)


def _meant(found: list[Access], values: Values) -> Access | None:
    """Choose the access of an error by the value of its index.

    The variable of a loop has no value that the text tells; where it is the only
    index of the line, the error tells it.
    """
    for access in found:
        value = values.of(access.expression)
        if value is not None and value * access.each == access.index:
            return access
    if len(found) != 1:
        return None
    (access,) = found
    value, rest = divmod(access.index, access.each)
    if rest or not re.fullmatch(r"[A-Za-z_]\w*", access.expression):
        return None
    if values.of(access.expression) is not None:
        return None
    values.take(access.expression, value)
    return access


def _moved(access: Access, code: str, values: Values) -> Advice | None:
    """Advise on a pointer that was moved on before the line."""
    moved = rf"\b{re.escape(access.name)}\s*\+=[^;]*"
    move = re.search(moved, code[: access.start])
    if access.each != 1 or move is None:
        return None
    index = values.of(access.expression)
    if index is None:
        return (
            f"`{move[0]}` moved {access.name} on before, and the line goes on from "
            f"there by `{access.expression}`: in all to {access.name}[{access.index}].",
            f"{access.name} has {access.extent} elements in all: work out by hand "
            "where the part of this block begins.",
        )
    return (
        f"The line asks for {access.name}[{index}], and {access.name} was moved on by "
        f"{access.index - index} elements before.",
        f"{access.name} has {access.extent} elements in all: work out by hand where "
        "the part of this block begins.",
    )


def _in_a_loop(access: Access, code: str, values: Values) -> Advice:
    """Advise on a guarded index that a loop counts."""
    around = guards(code, access.start)
    holding = [guard for guard in around if not guard.shown.startswith("for ")]
    if holding == around:
        return NONE
    if any(values.of(guard.condition) != 1 for guard in holding):
        return NONE
    holding = holding or [guard for guard in around if _asks_more(guard, values)]
    if not holding:
        return NONE
    return (
        f"The thread passes the guard `{holding[0].shown}`, and `{access.expression}` "
        f"is {access.index}: this expression is wrong, or the bound of the loop.",
        f"The elements of {access.array} are 0 to {access.extent - 1}: work out the "
        "last index of the loop. In a matrix, the step from row to row is the length "
        "of its row.",
    )


def _computed(access: Access, values: Values) -> Advice:
    """Advise on an index from a line whose own value the text does not tell."""
    rule = values.declaration(access.expression)
    if access.index < 0 or rule is None or values.of(rule) is not None:
        return NONE
    name, held = access.expression, access.index // access.each
    return (
        f"{name} is {held}, computed as `{rule}`. This expression is wrong, or a "
        "guard or the bound of a loop lets one of its variables grow too large.",
        f"{_inside(access)}: work out {name} by hand for this thread and this block.",
    )


def _asks_more(loop: Guard, values: Values) -> bool:
    """Whether a loop's condition has a part that holds whatever the loop counts."""
    return any(values.of(part) == 1 for part in loop.condition.split("&&"))


def _comma(guard: Guard) -> Advice:
    *ignored, counts = guard.parts
    return (
        f"The comma in `{guard.shown}` keeps its last part alone: only `{counts}` is "
        f"asked, and `{ignored[0]}` is not.",
        "Write && in place of the comma.",
    )


def _empty_guard(line: int, condition: str, values: Values) -> Advice:
    """Advise on a semicolon that ends an `if` before the access that it is to guard."""
    at = values.listed(condition)
    return (
        f"Line {line} has a semicolon right after `if ({condition})`. It ends the if, "
        f"and every thread runs what follows; here {at}.",
        "Remove the semicolon after the condition.",
    )


def _guarded(access: Access, holding: list[Guard], values: Values) -> Advice:
    """Advise on an access that all its guards let through."""
    index, guard = access.expression, holding[0]
    inside = _inside(access)
    asked = _asked(holding, values)
    through = f"The guard `{guard.shown}` lets the thread through"
    if access.index < 0:
        at = "" if _NAME.fullmatch(index) else f": {values.listed(index)}"
        return (
            f"{through}, and {index} = {access.index // access.each}{at}.",
            f"{inside}: keep out the threads for which {index} is negative.",
        )
    wide = next((one for one in holding if _lets_in_the_end(one, values)), None)
    own = [name for name in values.names(index) if not values.is_parameter(name)]
    missing = [name for name in own if not _asks(name, asked)]
    if _NAME.fullmatch(index) and missing:
        return (
            f"{through}: {values.listed(guard.condition)}. It does not ask for the "
            f"index, and {index} = {access.index // access.each}.",
            f"{inside}: compute {index} so that it stays there, or index "
            f"{access.array} with another variable; else compare {index} in the "
            "guard.",
        )
    if missing and missing != own:
        return (
            f"{through}, and does not ask for {missing[0]}: {values.listed(index)}.",
            f"{inside}. Compare {missing[0]} in the guard, too.",
        )
    if wide or _NAME.fullmatch(index):
        guard = wide or guard
        return (
            f"The guard `{guard.shown}` lets the thread through: "
            f"{values.listed(guard.condition)}.",
            f"{inside}{_other_guard(access, wide is not None)}",
        )
    return (
        f"The thread passes the guard `{guard.shown}`. The index expression is wrong: "
        f"{index} = {access.index // access.each} at {values.listed(index)}.",
        f"{inside}: work out {index} for the first and the last thread that pass "
        "the guard.",
    )


def _inside(access: Access) -> str:
    """Say which elements there are, and how many the pointer of the line sees."""
    inside = f"The elements of {access.array} are 0 to {access.extent - 1}"
    if access.each == 1:
        return inside
    count = access.extent // access.each
    has = f"has {count} element{'s' if count != 1 else ''}"
    return f"{inside}, {access.each} of them per element of {access.name}, which {has}"


def _other_guard(access: Access, is_wide: bool) -> str:
    """Say what a guard that lets the thread through has to ask."""
    if is_wide:
        return (
            ": a guard must keep out every other index. `<=` lets in one index too "
            "many."
        )
    if access.each > 1:
        return f": let the guard compare {access.expression} with that number."
    return (
        f": index {access.array} with another variable, or let the guard keep out "
        "every other index."
    )


def _asked(holding: list[Guard], values: Values) -> str:
    """Return all conditions, and what their names are computed from."""
    text = " ".join(one.condition for one in holding)
    sources = (values.declaration(name) or "" for name in values.names(text))
    return " ".join([text, *sources])


def _asks(name: str, conditions: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\b", conditions) is not None


def _lets_in_the_end(guard: Guard, values: Values) -> bool:
    """Whether a `<=` in a guard holds because both sides are equal."""
    for left, right in _UP_TO.findall(guard.condition):
        value = values.of(left)
        if value is not None and value == values.of(right):
            return True
    return False
