"""Which cells of a notebook show a widget: told by what they call.

A stored output does not tell: the views of widgets are not kept.
"""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat

import coursekit
from coursekit.exercises.cells.working_copies import CLAIM

MAKERS = {
    name
    for module, names in coursekit._HOME.items()
    for name in names
    if module.startswith("widgets")
}


def widget_cells(notebook: Path) -> list[str]:
    """Return the ids of the cells that show a widget, in a student's copy too."""
    shown, variables = [], set()
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "code" or CLAIM in cell.metadata.get("tags", ()):
            continue
        body = _statements(cell.source)
        for step in body:
            if isinstance(step, ast.Assign) and _is_widget(step.value, variables):
                variables |= {t.id for t in step.targets if isinstance(t, ast.Name)}
        last = body[-1] if body else None
        if isinstance(last, ast.Expr) and _is_widget(last.value, variables):
            shown.append(cell.id)
    return shown


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell; none of a cell with a magic."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def _is_widget(value: ast.expr, variables: set[str]) -> bool:
    """Tell whether an expression is `ck.guess(...)`, or a variable that is one."""
    if isinstance(value, ast.Name):
        return value.id in variables
    made = value.func if isinstance(value, ast.Call) else None
    if not isinstance(made, ast.Attribute):
        return False
    home = ast.unparse(made.value)
    return home == "ck.widgets" or (home == "ck" and made.attr in MAKERS)
