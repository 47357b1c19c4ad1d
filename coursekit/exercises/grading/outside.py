"""Find what reaches outside of an exercise, in the text of an answer.

A Python answer runs in the process that judges it, and a C++ program on the same
machine, so an answer could change its own verdict, or read what it should print. This
module looks for the ways to do so that no answer needs. It makes cheating a matter of
work; it is no wall against malice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from coursekit.exercises.catalogue import Entry

MOST_CHARACTERS = 100_000
_MODULES = {
    "__future__", "array", "bisect", "cmath", "collections", "copy", "coursekit",
    "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "itertools",
    "math", "numpy", "random", "re", "statistics", "struct", "torch",
    "typing",
}  # fmt: skip
_NAMES = {
    "__builtins__", "__import__", "breakpoint", "compile", "delattr", "eval", "exec",
    "getattr", "globals", "input", "locals", "open", "setattr", "vars",
}  # fmt: skip
_METHODS = {
    "__abs__", "__add__", "__call__", "__enter__", "__exit__", "__init__", "__iter__",
    "__len__", "__matmul__", "__mul__", "__neg__", "__next__", "__post_init__",
    "__pow__", "__radd__", "__repr__", "__rmul__", "__rsub__", "__rtruediv__",
    "__str__", "__sub__", "__truediv__",
}  # fmt: skip
# Attributes: of frames, of modules that lead inside, of what evaluates texts.
_INSIDE = {
    "analysis", "benchmarking", "core", "cpp_extension", "ctypeslib", "exercises",
    "f2py", "get_type_hints", "hub", "lessons", "lib", "load", "package", "program",
    "runtime", "simt", "singledispatch", "singledispatchmethod", "testing",
    "toolchain", "widgets",
}  # fmt: skip
_FRAMES = re.compile(r"(?:tb|f|gi|cr|ag)_\w+|with_traceback|mro")
# In CUDA C++ and C++: blanks and comments of a directive are gone before they apply.
_INCLUDE = re.compile(r"(?:#|%:|\?\?=)[ \t]*(include\w*|import|embed)\b[ \t]*([^\n]*)")
_SYSTEM_HEADER = re.compile(r"<\w[\w.+-]*(?:/\w[\w.+-]*)*>")
_CALLS = re.compile(
    r"\b(?:__asm__|__asm|_*syscall|asm|dlopen|dup2?|environ|exec[lv]\w*|f?open(?:at)?|"
    r"freopen|fork|i?fstream|ifstream|kill|mmap|ofstream|popen|posix_spawn\w*|ptrace|"
    r"process_vm_\w+|system|vfork)\b"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def objection(entry: Entry, text: str) -> str:
    """Return what in an answer reaches outside, as a sentence; "" for nothing.

    What the starter or the solution of the exercise does as well is allowed.
    """
    if len(text) > MOST_CHARACTERS:
        return f"it has {len(text):,} characters, more than {MOST_CHARACTERS:,}"
    own = _reaches(entry.exercise.magic, text)
    allowed = {
        what
        for path in (entry.starter, entry.solution)
        for _, what in _reaches(entry.exercise.magic, _content(path))
    }
    for line, what in own:
        if what not in allowed:
            return f"line {line} {what}"
    return ""


def _content(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _reaches(magic: str, text: str) -> list[tuple[int, str]]:
    """Return (line, what it does) for all that reaches outside."""
    if magic != "%%host":
        return list(_in_cpp(text, programs=magic == "%%cpp"))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # it does not run either
    return sorted(
        (getattr(node, "lineno", 1), what)
        for node in ast.walk(tree)
        for what in _in_python(node)
    )


def _in_cpp(text: str, *, programs: bool) -> Iterator[tuple[int, str]]:
    joined = re.sub(r"\\[ \t]*\r?\n", "", text)
    code = _COMMENT.sub(lambda found: _blank(found.group()), joined)
    for found in _INCLUDE.finditer(code):
        # A text in quotes is blank by now: what is included is not known.
        if found[1] != "include" or not _SYSTEM_HEADER.fullmatch(found[2].strip()):
            line = joined.count("\n", 0, found.start()) + 1
            yield line, "includes a file that is no header in angle brackets"
    for found in _CALLS.finditer(code) if programs else ():
        line = joined.count("\n", 0, found.start()) + 1
        yield line, f"uses `{found.group()}`, which reaches files or other programs"


def _blank(text: str) -> str:
    """Return the line ends of a comment or a text, and blanks for the rest."""
    return re.sub(r"[^\n]", " ", text)


def _in_python(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from _modules(alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names):
            yield from _modules([module or "."])
            yield from filter(None, (_name(alias.name) for alias in names))
        case ast.Attribute(attr=name, ctx=context):
            yield from filter(None, [_attribute(name)])
            if not isinstance(context, ast.Load) and not _is_of_self(node):
                yield f"changes `.{name}` of an object"
        case ast.Name(id=name):
            yield from filter(None, [_name(name)])
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            if name.startswith("__") and name not in _METHODS:
                yield f"defines `{name}`, which can make a wrong value look right"
        case ast.MatchClass(kwd_attrs=names):
            yield from filter(None, map(_attribute, names))
        case ast.Call(func=ast.Name(id="type"), args=[_, _, *_]):
            yield "makes a class with `type`"


def _modules(names) -> Iterator[str]:
    for name in names:
        first, _, rest = name.partition(".")
        if first not in _MODULES or (first == "coursekit" and rest):
            yield f"imports {name}"


def _name(name: str) -> str:
    hidden = name.startswith("__") and name not in ("__name__", "__future__")
    return f"uses `{name}`" if hidden or name in _NAMES or name in _INSIDE else ""


def _attribute(name: str) -> str:
    """Judge the name of an attribute; those of coursekit's own modules lead inside."""
    if name in _METHODS or name == "__name__":
        return ""
    if name.startswith("_") or _FRAMES.fullmatch(name) or name in _INSIDE:
        return f"uses `.{name}`"
    return ""


def _is_of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "ctx")
