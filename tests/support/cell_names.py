"""The names that a notebook's cell reads, defines and changes."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from coursekit.exercises.cells import cpp
from coursekit.exercises.cells.cuda import Options
from coursekit.toolchain.declarations import kernels

IN_CPP = ("%%cuda", "%%cpp")
MODULES = {"ck", "math", "np", "plot", "torch"}


@dataclass(frozen=True)
class Names:
    """What a cell does with names of the notebook.

    Attributes
    ----------
    reads, defines : frozenset of str
    changes : frozenset of str
        Variables whose contents it changes: arguments of a launch, those of which it
        assigns an element or an attribute, those of which a statement calls a method.
    """

    reads: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()


def bound_names(cell: NotebookNode) -> list[str]:
    """Return the names that a cell of C++ binds: its kernels, and its NAME."""
    if cell.source.startswith("%%cpp"):
        line = cell.source.partition("\n")[0].removeprefix("%%cpp")
        name = cpp.Options.parse(line).name
        return [name] if name else []
    if not cell.source.startswith("%%cuda"):
        return []
    line, _, body = cell.source.partition("\n")
    declared = [kernel for kernel in kernels(body) if not kernel.is_template]
    named = Options.parse(line.removeprefix("%%cuda")).name
    names = [kernel.name.rpartition("::")[2] for kernel in declared]
    return [*names, *([named] if named else [])]


def parsed(cell: NotebookNode) -> ast.Module | None:
    """Return a cell of Python as a tree, without its magics; None for other cells."""
    if cell.cell_type != "code" or cell.source.startswith(IN_CPP):
        return None
    return ast.parse(re.sub(r"(?m)^%.*$", "", cell.source))


def names(cell: NotebookNode) -> Names:
    """Return the names that a cell reads, defines and changes."""
    if cell.cell_type == "code" and cell.source.startswith(IN_CPP):
        inserted = re.findall(r"\{(\w+)", cell.source.partition("\n")[0])
        return Names(frozenset(inserted), frozenset(bound_names(cell)))
    tree = parsed(cell)
    if tree is None:
        return Names()
    top = symtable.symtable(ast.unparse(tree), cell.get("id", ""), "exec")
    symbols = top.get_symbols()
    inner = [symbol for scope in _scopes_in(top) for symbol in scope.get_symbols()]
    used = [symbol for symbol in inner if symbol.is_global()] + symbols
    return Names(
        frozenset(each.get_name() for each in used if each.is_referenced())
        - {name for node in ast.walk(tree) for name in _bound_before_use(node)},
        frozenset(
            each.get_name()
            for each in symbols
            if each.is_assigned() or each.is_imported()
        ),
        frozenset(name for node in ast.walk(tree) for name in _changed(node)),
    )


def _scopes_in(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the functions and comprehensions within a scope."""
    for child in table.get_children():
        yield child
        yield from _scopes_in(child)


def _bound_before_use(node: ast.AST) -> set[str]:
    """Return the name of a `:=`, which stands where the cell first needs it."""
    return _within(node.target) if isinstance(node, ast.NamedExpr) else set()


def _changed(node: ast.AST) -> set[str]:
    """Return the variables that a launch, a method or an assignment may change."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        method = node.value.func
        return _within(method) - MODULES if isinstance(method, ast.Attribute) else set()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
        return {name for argument in node.args for name in _within(argument)}
    if isinstance(node, ast.Subscript | ast.Attribute):
        return set() if isinstance(node.ctx, ast.Load) else _within(node.value)
    return set()


def _within(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
