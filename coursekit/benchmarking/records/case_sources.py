"""Hash the sources of the kernels that a case launches, to detect stale records."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from coursekit.runtime.launching import Kernel, Launcher
from coursekit.runtime.modules import Module

LIBRARY = hashlib.sha256(b"").hexdigest()  # of a case that launches no kernel of ours
_DEEPEST, _WIDEST = 5, 64
_LIBRARIES = ("coursekit", "numpy", "cupy", "torch", "triton", "matplotlib", "IPython")
_COMMENT = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)


def sha256(case: Callable) -> str:
    """Hash the sources of the kernels that a case launches, in hexadecimal.

    Comments and spacing do not count; macros given to the compiler do. A case that
    launches no kernel of ours, such as one of a library, has the hash of nothing.
    """
    units = {_unit(module) for module in modules(case)}
    return hashlib.sha256("".join(sorted(units)).encode()).hexdigest()


def modules(case: Callable) -> list[Module]:
    """Return the compiled modules that a function refers to, directly or not."""
    compiled: dict[int, Module] = {}
    seen: set[int] = set()
    pending = [(case, 0)]
    while pending:
        value, depth = pending.pop()
        if id(value) in seen or depth > _DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, Module):
            compiled[id(value)] = value
        else:
            pending += [(part, depth + 1) for part in _parts(value)]
    return list(compiled.values())


def code_of(source: str) -> str:
    """Return a source without comments, blank lines and needless spaces."""
    bare = _COMMENT.sub(lambda match: match["text"] or " ", source)
    lines = (" ".join(line.split()) for line in bare.split("\n"))
    return "\n".join(line for line in lines if line)


def _unit(module: Module) -> str:
    texts = sorted(code_of(text) for text in module.sources.values())
    return json.dumps([texts, sorted(module.options)])


def _parts(value: Any) -> Iterator[Any]:
    """Yield the values inside of a value that may lead to a kernel."""
    if isinstance(value, Launcher):
        yield value.kernel
    elif isinstance(value, Kernel):
        yield value.module
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value)
    elif isinstance(value, Mapping):
        yield from list(value.values())[:_WIDEST]
    elif isinstance(value, (tuple, list)):
        yield from value[:_WIDEST]
    elif not _is_foreign(type(value).__module__):
        yield from list(getattr(value, "__dict__", {}).values())[:_WIDEST]


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    if _is_foreign(function.__module__):
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    yield from function.__defaults__ or ()
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that a function and its inner functions use."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*(_names(part) for part in inner))


def _is_foreign(module: str | None) -> bool:
    """Tell whether a module is a library's, or a folder of ours that has no cases.

    The folders of `coursekit` whose functions launch kernels for a benchmark say so
    themselves, by `HOLDS_CASES`.
    """
    root, *below = (module or "").split(".")
    if root == "builtins":
        return True
    folder = sys.modules.get(".".join([root, *below[:1]]))
    return root in _LIBRARIES and not getattr(folder, "HOLDS_CASES", False)
