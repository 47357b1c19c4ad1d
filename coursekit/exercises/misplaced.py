"""Advice for an element that no thread writes: the index of the thread that should."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from coursekit.exercises import guards
from coursekit.exercises.index_values import Values
from coursekit.exercises.ownership import Extent
from coursekit.exercises.trial import Trial
from coursekit.toolchain.cuda_source import code_only, function_lines, partner

_STORE = r"\b{name}\s*\["
_ASSIGNS = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)")


def advice(
    kernel: Any,
    trial: Trial,
    name: str,
    place: tuple[tuple[int, ...], tuple[int, ...]],
    who: tuple[Extent, Extent],
) -> tuple[str, str] | None:
    """Return cause and cure where a thread's index is not that of its element.

    Parameters
    ----------
    kernel : Kernel
    trial : Trial
    name : str
        The output.
    place : tuple
        The index of an element that nothing has written, and the output's shape.
    who : tuple
        (block, thread) of the thread that should have written it.

    Returns
    -------
    tuple of str, or None
        None where the kernel's text does not tell the index, or it is right.
    """
    block, thread = who
    expression = _stored(kernel.module.source, trial.exercise.kernel, name)
    values = guards.values_of(kernel, trial, thread, block)
    if expression is None or values is None:
        return None
    wanted, found = int(np.ravel_multi_index(*place)), values.of(expression)
    if found is None or found == wanted:
        return None
    shown, source = expression, values.declaration(expression)
    if source is not None and values.of(source) == found:
        shown, expression = f"{expression} = {source}", source
    cause = (
        f"In thread {thread} of block {block} the index {shown} is {found}, not "
        f"{wanted}: {values.listed(expression)}."
    )
    if max(trial.grid) > 1 and not _asks_for_block(expression, values):
        cause += " It is the same in every block."
    return cause, (
        "Correct the index, so that each thread of the grid has an element of its own."
    )


def _stored(source: str, kernel: str, name: str) -> str | None:
    """Return the index at which a kernel stores into an array, if it is only one."""
    lines = function_lines(source, kernel)
    if lines is None:
        return None
    code = "\n".join(code_only(source).split("\n")[lines[0] - 1 : lines[1]])
    if re.search(rf"\b{re.escape(name)}\s*\+=", code):
        return None
    found = set()
    for start in re.finditer(_STORE.format(name=re.escape(name)), code):
        end = partner(code, start.end() - 1, "[]")
        if end is not None and _ASSIGNS.match(code, end + 1):
            found.add(code[start.end() : end].strip())
    return found.pop() if len(found) == 1 else None


def _asks_for_block(expression: str, values: Values) -> bool:
    """Whether an index depends on the block, directly or by a variable."""
    sources = (values.declaration(name) or "" for name in values.names(expression))
    return "blockIdx" in " ".join([expression, *sources])
