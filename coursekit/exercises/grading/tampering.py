"""Notice that an answer has changed the course's code, or NumPy's, while it ran."""

from __future__ import annotations

import builtins
import math
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np

_KINDS = (FunctionType, BuiltinFunctionType, type, property, classmethod, staticmethod,
          ModuleType, np.ufunc)  # fmt: skip
_WATCHED = ("coursekit", "numpy")

Snapshot = dict[str, object]


def snapshot() -> Snapshot:
    """Return each function, class and module of the watched modules, by its name."""
    found: Snapshot = {}
    modules = {
        name: module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in _WATCHED and module is not None
    }
    found.update({f"sys.modules[{name!r}]": each for name, each in modules.items()})
    for module in [*modules.values(), builtins, math]:
        for name, value in list(vars(module).items()):
            if isinstance(value, _KINDS):
                found[f"{module.__name__}.{name}"] = value
            if isinstance(value, type) and value.__module__.startswith("coursekit"):
                found.update(_members(value))
    return found


def _members(kind: type) -> Snapshot:
    members: Snapshot = {
        f"{kind.__module__}.{kind.__qualname__}.{name}": value
        for name, value in vars(kind).items()
        if isinstance(value, _KINDS)
    }
    return members


def changed(before: Snapshot) -> str:
    """Return the name of something that is another thing now; "" for none."""
    now = snapshot()
    for name, value in before.items():
        if now.get(name) is not value:
            return name
    return ""
