"""How much code a short source stands for, after macros, calls and templates.

The compiler replaces a macro by its text, a call by the function, and a template's name
by an instance. Ten lines that each use the line above twice stand for a thousand; a
template that uses itself stands for as many instances as its parameters ask for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coursekit.toolchain.cuda_source import partner, without_comments

_WORD = re.compile(r"[A-Za-z_]\w*")
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)\n]*)\))?((?:\\\n|[^\n])*)", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_NAMESPACE = re.compile(r"\bnamespace\b[\w\s:]*\{")
_TYPE = re.compile(r"\b(?:struct|class|union)\s+(?:\w+\s*\([^)]*\)\s*)?(\w+)")
_CALLED = re.compile(r"(\w+)\s*(?:<[^(]*>)?\s*\(")
_LAMBDA = re.compile(r"\bauto\s+(\w+)\s*=\s*\[")
_ASSIGNED = re.compile(r"(\w+)\s*(?:<.*>)?\s*=[^=]", re.DOTALL)


@dataclass(slots=True)
class _Definition:
    """What a name stands for: words, and how often a macro repeats its argument."""

    words: list[str] = field(default_factory=list)
    repeats: int = 1
    is_template: bool = False


def uses(source: str) -> float:
    r"""Return how many of its own definitions a source uses, counted in full.

    It is infinite where a template uses itself.

    Examples
    --------
    >>> uses("#define A x\n#define B A A\n#define C B B\n__global__ void k() { C C }")
    15.0
    >>> uses("template<int N> struct F { static const int v = F<N - 1>::v; };")
    inf
    """
    text = without_comments(source)
    found: dict[str, _Definition] = {}
    for name, parameters, body in _MACRO.findall(text):
        _add(found, name, body)
        named = set(_WORD.findall(parameters)) | {"__VA_ARGS__"}
        repeats = sum(word in named for word in _WORD.findall(body))
        found[name].repeats = max(found[name].repeats, repeats)
    code = _NAMESPACE.sub(" ", _DIRECTIVE.sub(" ", text))
    for head, body in _blocks(code):
        if name := _name(head):
            rest = head[head.index(name) + len(name) :]
            _add(found, name, f"{rest} {body}")
            found[name].is_template |= "template" in head
        for match in _LAMBDA.finditer(body):
            start = body.find("{", match.end())
            end = partner(body, start, "{}") if start >= 0 else None
            _add(found, match[1], body[start : end or len(body)])
    return _Sizes(found).largest()


def _add(found: dict[str, _Definition], name: str, body: str) -> None:
    found.setdefault(name, _Definition()).words += _WORD.findall(body)


def _blocks(code: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before and in each outermost pair of braces, and statements."""
    start = 0
    while start < len(code):
        end = re.compile(r"[{;}]").search(code, start)
        if end is None:
            return
        if end[0] == "{":
            closed = partner(code, end.start(), "{}") or len(code)
            yield code[start : end.start()], code[end.start() : closed]
            start = closed + 1
        else:
            if end[0] == ";":
                yield code[start : end.start()], ""
            start = end.end()


def _name(head: str) -> str:
    """Return the name that a head declares: of a type, a function, or a variable."""
    if head.lstrip().startswith("template"):
        opened = head.find("<")
        closed = partner(head, opened, "<>") if opened >= 0 else None
        head = head[closed + 1 :] if closed is not None else head
    for pattern in (_TYPE, _CALLED, _ASSIGNED):
        if match := pattern.search(head):
            return match[1]
    return ""


class _Sizes:
    """The sizes of definitions, each computed once."""

    def __init__(self, found: dict[str, _Definition]) -> None:
        self._found = found
        self._sizes: dict[str, float] = {}
        self._open: list[str] = []

    def largest(self) -> float:
        """Return the size of the largest definition."""
        try:
            return max(map(self.of, self._found), default=0.0)
        except RecursionError:
            return math.inf

    def of(self, name: str) -> float:
        """Return how many uses of definitions a name stands for, itself included."""
        if name in self._open:
            cycle = self._open[self._open.index(name) :]
            return math.inf if any(self._found[n].is_template for n in cycle) else 1.0
        if name not in self._sizes:
            self._open.append(name)
            self._sizes[name] = self._computed(self._found[name])
            self._open.pop()
        return self._sizes[name]

    def _computed(self, definition: _Definition) -> float:
        used = [word for word in definition.words if word in self._found]
        nested = math.prod(self._found[word].repeats for word in used)
        return (1 + sum(map(self.of, used))) * float(min(nested, 10**9))
