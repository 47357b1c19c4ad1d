"""Python files that line information names: their text, and a name to show."""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass
from pathlib import Path

from coursekit.toolchain.sources import display_name

_LIBRARIES = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A file of Python source.

    Attributes
    ----------
    name : str
        The name in messages: a path from the current folder, ``cell_5.py`` for the
        notebook cell In[5], ``triton/language/standard.py`` in a library.
    text : str
        Its text; empty where the file is not here.
    own : bool
        Whether it is the user's, not a library's.
    """

    name: str
    text: str
    own: bool


def python_file(path: str, otherwise: str = "") -> PythonFile:
    """Describe the file at a path.

    Parameters
    ----------
    path : str
        As a compiler wrote it, perhaps in an earlier process: cells of a notebook are
        known again by the end of their path.
    otherwise : str
        The path to take where nothing is known of the first one.
    """
    text = _text(path)
    if not text:
        path = _same_cell(path) or otherwise or path
        text = _text(path)
    cell = _cell(path)
    if cell:
        return PythonFile(f"cell_{cell}.py", text, True)
    parts = Path(path).parts
    for folder in _LIBRARIES:
        if folder in parts:
            inside = parts[len(parts) - parts[::-1].index(folder) :]
            return PythonFile("/".join(inside), text, False)
    standard = path.startswith((sys.base_prefix + "/lib", sys.prefix + "/lib"))
    return PythonFile(display_name(Path(path)), text, not standard)


def function_lines(text: str, name: str, near: int = 0) -> tuple[int, int] | None:
    r"""Return the first and the last line of a function, its decorators included.

    Parameters
    ----------
    text : str
    name : str
    near : int
        A line of it, where several functions have the name; else the last one counts.

    Examples
    --------
    >>> function_lines("x = 1\n@jit\ndef f():\n    return x\n", "f")
    (2, 4)
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a cell with magics
        return None
    spans = [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), end)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == name
        for end in [node.end_lineno or node.lineno]
    ]
    around = [span for span in spans if span[0] <= near <= span[1]]
    fitting = around or spans
    return fitting[-1] if fitting else None


def _text(path: str) -> str:
    return "".join(linecache.getlines(path))


def _same_cell(path: str) -> str:
    """Return the cell of this session whose file has the same name, or nothing."""
    name = Path(path).name
    known = (each for each in linecache.cache if _cell(each))
    return next((each for each in known if Path(each).name == name), "")


def _cell(path: str) -> str:
    """Return the number of the notebook cell that a path stands for, or nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return ""
    found = shell.compile.format_code_name(path)
    return str(found[1]).strip("In[]") if found else ""
