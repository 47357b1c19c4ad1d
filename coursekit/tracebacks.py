"""Errors as a notebook shows them: the line of the cell, the name, the message."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator


def render(error: BaseException) -> list[str]:
    """Return the lines that IPython shows for an error, without library frames.

    ``%xmode Verbose`` brings IPython's whole traceback back; `error.__traceback__`
    is complete in any case. This never raises: an error here would reach the reader
    in place of the real one, and nbval would not see the cell fail.
    """
    summary = traceback.format_exception_only(error)
    # format_exception_only writes the module's name, which a student has not typed.
    summary[0] = summary[0].removeprefix(f"{type(error).__module__}.")
    try:
        return _full(error) or [*_cell_lines(error), "".join(summary).rstrip("\n")]
    except Exception:
        return ["".join(summary).rstrip("\n")]


def _full(error: BaseException) -> list[str] | None:
    """IPython's own traceback, when the reader asked for the verbose one."""
    from IPython import get_ipython

    handler = get_ipython().InteractiveTB
    if handler.mode != "Verbose":
        return None
    return handler.structured_traceback(type(error), error, error.__traceback__)


def _cell_lines(error: BaseException) -> Iterator[str]:
    """Name each line of a notebook cell on the way to the error.

    A `%%magic` cell is left out: its Python line is not one that anybody wrote.
    """
    from IPython import get_ipython

    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        cell = get_ipython().compile.format_code_name(file)
        text = linecache.getline(file, line).strip()
        if cell is not None and "run_cell_magic(" not in text:
            yield f"{' '.join(cell)}, line {line}:  {text}"
