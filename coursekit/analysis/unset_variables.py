"""Uninitialised variables of a kernel, and a build that keeps them in memory.

An optimising compiler may take any value for an uninitialised variable, so that its
PTX does not show the mistake. In the build made here such variables lie in memory,
where the simulator sees every read: a thread's in local, a block's in shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from coursekit.errors import CourseError
from coursekit.runtime.modules import Module
from coursekit.toolchain.cuda_source import code_only

if TYPE_CHECKING:
    from coursekit.runtime.launching import Kernel

_KEEP = "ck_unset"
_PRELUDE = (
    f"template<class T> __device__ __forceinline__ void {_KEEP}(T& x) "
    '{ asm volatile("" :: "l"(&x) : "memory"); }\n#line 1\n'
)
_NO_TYPES = re.compile(
    r"(?:return|delete|goto|using|typedef|extern|static|throw|else|do|case|default|break"
    r"|continue|asm|new|friend|template|constexpr|auto|if|for|while|switch)\b"
    r"|__(?:shared|constant|device|grid_constant)__\b"
)
_LABEL = re.compile(r"\s*(?:case\b[^:;{}]*|default|[A-Za-z_]\w*)\s*:(?!:)")
_WORDS = "unsigned|signed|long|short|int|char|float|double|bool"
_DECLARATION = re.compile(
    r"\s*(?:(?:const|volatile|struct|typename|alignas\s*\([^()]*\)"
    r"|__align__\s*\([^()]*\))\s+)*"
    rf"(?:(?:(?:{_WORDS})\b\s*)+|[A-Za-z_][\w:]*(?:\s*<[^;{{}}()=]*>(?:::\w+)*)?\s)"
    r"\s*(?P<names>[*\s]*[A-Za-z_].*)$",
    re.DOTALL,
)
_NAME = re.compile(r"\s*[*\s]*([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*$")
_TYPE_SCOPE = re.compile(r"\b(?:struct|class|union|enum|namespace)\b|\bextern\b")
_ON_CHIP = re.compile(r"\b__shared__\s+[^;={}\[\]()]*;")
_SIGNS = re.compile(r"[;{}()]")
_INNERMOST = re.compile(r"\([^(){}]*\)|\{[^(){}]*\}")


def declared(source: str) -> list[tuple[int, str]]:
    """Find variables of functions that are declared without a value.

    Returns
    -------
    list of (int, str)
        Offset behind the declaration, and the name of the variable.
    """
    code = code_only(source)
    return [
        (end, name)
        for start, end in _statements(code)
        for name in _unset_names(code[start : end - 1])
    ]


def names(kernel: Kernel) -> frozenset[str]:
    """Return the variables that a kernel's source declares without a value."""
    module = cast(Module, kernel.module)
    if module.language != "CUDA C++":
        return frozenset()
    return frozenset(name for _, name in declared(module.source))


def kept(kernel: Kernel) -> Kernel | None:
    """Build a kernel again so that its uninitialised variables can be watched.

    Returns None where it has none, neither of threads nor of blocks, and where such a
    build cannot be made.
    """
    module = cast(Module, kernel.module)
    if module.language != "CUDA C++":
        return None
    places = declared(module.source)
    if not places and not _ON_CHIP.search(code_only(module.source)):
        return None
    try:
        return _Kept(module, places)[kernel.name]
    except CourseError:
        return None


class _Kept(Module):
    """A module with variables kept in memory; messages show the source as it was."""

    def __init__(self, module: Module, places: Sequence[tuple[int, str]]):
        text, parts, last = module.source, [_PRELUDE], 0
        for end, name in places:
            parts += [text[last:end], f" {_KEEP}({name});"]
            last = end
        unit = module._unit
        source = replace(unit.source, text="".join([*parts, text[last:]]))
        super().__init__(replace(unit, source=source, options=(*unit.options, "-G")))
        self._text = text

    @property
    def source(self) -> str:
        return self._text


def _statements(code: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of statements in functions that end in a semicolon."""
    scopes: list[str] = []
    start = depth = 0
    for match in _SIGNS.finditer(code):
        sign, at = match.group(), match.start()
        if sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "{":
            scopes.append(_scope(code[start:at], scopes, depth))
            start = start if scopes[-1] == "value" else at + 1
        elif sign == "}":
            ended = scopes.pop() if scopes else ""
            start = start if ended == "value" else at + 1
        elif not depth and (not scopes or scopes[-1] != "value"):
            if "code" in scopes and scopes[-1] == "code":
                yield start, at + 1
            start = at + 1


def _scope(before: str, scopes: list[str], depth: int) -> str:
    """Return what a brace opens: "code", a "type", or a "value" in braces."""
    inside = bool(scopes) and scopes[-1] in ("code", "value")
    head = before.strip()
    if _TYPE_SCOPE.search(head) and not head.endswith(")"):
        return "type"
    if depth or (inside and head and not _opens_code(head)):
        return "value"
    return "code" if inside or head.endswith(")") or _opens_code(head) else "type"


def _opens_code(head: str) -> bool:
    return bool(re.search(r"(?:\)|\belse|\bdo|\btry|:|\bconst|\bnoexcept)$", head))


def _unset_names(statement: str) -> Iterator[str]:
    """Yield the names that a statement declares without a value."""
    while label := _LABEL.match(statement):
        statement = statement[label.end() :]
    if _NO_TYPES.match(statement.lstrip()):
        return
    declaration = _DECLARATION.match(statement)
    if declaration:
        for part in re.split(r",(?![^\[]*\])", _without_values(declaration["names"])):
            name = _NAME.match(part)
            if name is None:
                if not re.match(r"\s*[*&\s]*\w+\s*[\[\w\s\]]*[=({]", part):
                    return
            else:
                yield name[1]


def _without_values(text: str) -> str:
    """Replace brackets and their text by an equals sign: commas there part no names."""
    while _INNERMOST.search(text):
        text = _INNERMOST.sub("=", text)
    return text
