"""The kernels that a source text declares: names, scopes, parameter names.

The text is read as tokens, with scopes followed through namespaces, so that
templates, attributes, launch bounds and nested names are understood. What
macros make is not seen; the compiler's output is the authority.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\s+|^[ \t]*\#(?:\\.|[^\n\\])*)
    |(?P<string>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\d(?:'?[\w.])*)
    |(?P<sign>::|.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TYPE_WORDS = frozenset((
    "const", "volatile", "unsigned", "signed", "char", "short", "int", "long",
    "float", "double", "bool", "void", "struct", "class", "enum", "typename", "auto",
    "__restrict__", "__restrict", "restrict", "size_t", "__grid_constant__", "half",
    "half2", "__half", "__half2",
))  # fmt: skip
_ATTRIBUTES = frozenset((
    "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__",
    "__attribute__", "__declspec", "alignas", "decltype",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Declaration:
    """A kernel definition as it stands in the source text.

    Attributes
    ----------
    name : str
        With its namespaces: q::scale.
    line : int
        The line of the kernel's name, from 1.
    is_template : bool
        Whether it must be instantiated first.
    parameters : tuple of (str or None)
        Names; None for a parameter without one.
    """

    name: str
    line: int
    is_template: bool
    parameters: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int


def kernels(text: str) -> tuple[Declaration, ...]:
    """Return the kernels that a source text defines, in its order.

    Examples
    --------
    >>> kernels("namespace q { __global__ void f(int* a, int) {} }")
    (Declaration(name='q::f', line=1, is_template=False, parameters=('a', None)),)
    """
    if "__global__" not in text:
        return ()
    found: dict[tuple[str, tuple[str | None, ...]], Declaration] = {}
    for scope, tokens in _definitions(list(_tokens(text))):
        declaration = _declaration(scope, tokens)
        if declaration is not None:
            found.setdefault((declaration.name, declaration.parameters), declaration)
    return tuple(found.values())


def _tokens(text: str) -> Iterator[_Token]:
    line, last = 1, 0
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "skip":
            continue
        line += text.count("\n", last, found.start())
        last = found.start()
        yield _Token(found[0], line)


def _definitions(
    tokens: list[_Token],
) -> Iterator[tuple[tuple[str, ...], list[_Token]]]:
    """Yield the scope and the tokens before the body of every `{` of a namespace."""
    scopes: list[tuple[str, ...]] = []
    start = index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text in "([":
            index = _closing(tokens, index)
        elif text in ";}":
            if text == "}" and scopes:
                scopes.pop()
            start = index + 1
        elif text == "{":
            head = tokens[start:index]
            inner = _namespace(head)
            if inner is None:
                yield tuple(name for scope in scopes for name in scope), head
                index = _closing(tokens, index)
            else:
                scopes.append(inner)
            start = index + 1
        index += 1


def _namespace(head: list[_Token]) -> tuple[str, ...] | None:
    """Return the names that a `{` opens: () for extern "C", None for other bodies."""
    words = [token.text for token in head]
    if words[:1] == ["extern"] and len(words) == 2:
        return ()
    if "namespace" not in words[:2]:
        return None
    return tuple(word for word in words if word not in ("namespace", "inline", "::"))


def _closing(tokens: list[_Token], index: int) -> int:
    """Return the index of the bracket that closes the one at `index`."""
    opening, depth = tokens[index].text, 0
    closing = _OPENING[opening]
    for at in range(index, len(tokens)):
        depth += (tokens[at].text == opening) - (tokens[at].text == closing)
        if depth == 0:
            return at
    return len(tokens)


def _declaration(scope: tuple[str, ...], tokens: list[_Token]) -> Declaration | None:
    words = [token.text for token in tokens]
    if "__global__" not in words:
        return None
    is_template = words[:2] == ["template", "<"]
    index = _closing(tokens, 1) + 1 if is_template else 0
    while index < len(tokens) - 1:
        if words[index + 1] == "(":
            if words[index] not in _ATTRIBUTES and words[index].isidentifier():
                break
            index = _closing(tokens, index + 1)
        index += 1
    else:
        return None
    inside = tokens[index + 2 : _closing(tokens, index + 1)]
    name = "::".join((*scope, words[index]))
    names = tuple(_parameter_name(part) for part in _split(inside))
    return Declaration(name, tokens[index].line, is_template, names)


def _split(tokens: list[_Token]) -> list[list[str]]:
    """Split a parameter list at its commas, leaving those of inner brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _OPENING.values())
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token.text)
    return [] if parts in ([[]], [["void"]]) else parts


def _parameter_name(words: list[str]) -> str | None:
    if "=" in words:
        words = words[: words.index("=")]
    if "(" in words:  # float (*tile)[16]
        inner = words[words.index("(") + 1 :]
        return next((word for word in inner if word.isidentifier()), None)
    if "[" in words:
        words = words[: words.index("[")]
    if len(words) < 2 or not words[-1].isidentifier() or words[-2] == "::":
        return None
    return None if words[-1] in _TYPE_WORDS else words[-1]
