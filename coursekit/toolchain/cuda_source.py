"""Lines, functions and tokens of CUDA C++ source, found without compiling it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

_NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_EMPTY_BODY = re.compile(r"\s*;(?!\s*else\b)")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


def header_lines(source: str) -> int:
    """Count the lines down to the end of the comment that opens a file.

    Blank lines before the comment count as part of it; without such a comment
    the answer is 0.
    """
    lines = source.split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and lines[start].lstrip().startswith("/*"):
        for index in range(start, len(lines)):
            if "*/" in lines[index]:
                return index + 1
        return 0
    end = start
    while end < len(lines) and lines[end].lstrip().startswith("//"):
        end += 1
    return end if end > start else 0


def function_lines(source: str, function: str) -> tuple[int, int] | None:
    """Return the first and last line of a function, numbered from 1.

    Template and attribute lines belong to it, and the comment right above it,
    unless that is the comment that opens the file.
    """
    code = code_only(source)
    found = _definition(code, function)
    if found is None:
        return None
    start, end = found
    boundary = max(code.rfind(sign, 0, start) for sign in ";{}")
    declaration = code[boundary + 1 : start]
    begin = start - len(declaration.lstrip())
    first = source.count("\n", 0, begin) + 1
    lines, header = source.split("\n"), header_lines(source)
    while first - 1 > header and lines[first - 2].lstrip().startswith("//"):
        first -= 1
    return first, source.count("\n", 0, end) + 1


def tokens(source: str) -> list[tuple[str, str]]:
    """Split a source into (kind, text), for colouring.

    Kinds are plain, comment, directive, keyword, type and literal; the texts put
    together are the source.
    """
    from pygments.lexers.c_like import CudaLexer

    lexer = CudaLexer(stripnl=False, ensurenl=False)
    # A comment on the last line needs a line end to be recognised.
    found = lexer.get_tokens(source + "\n")
    kinds = ((_kind(token), text) for token, text in found)
    runs = [
        (kind, "".join(text for _, text in run))
        for kind, run in groupby(kinds, key=itemgetter(0))
    ]
    kind, last = runs.pop()
    return [*runs, *([(kind, last[:-1])] if last[:-1] else [])]


def _kind(token: object) -> str:
    from pygments.token import Comment, Keyword, Literal, Name

    kinds = (
        (Comment.Preproc, "directive"),
        (Comment.PreprocFile, "directive"),
        (Comment, "comment"),
        (Keyword.Type, "type"),
        (Name.Builtin, "type"),
        (Keyword, "keyword"),
        (Literal, "literal"),
    )
    return next((kind for family, kind in kinds if token in family), "plain")


def _definition(code: str, function: str) -> tuple[int, int] | None:
    """Return the offsets of a function's name and of its closing brace."""
    for match in re.finditer(rf"\b{re.escape(function)}\s*\(", code):
        closing = partner(code, match.end() - 1, "()")
        if closing is None or not code[closing + 1 :].lstrip().startswith("{"):
            continue
        end = partner(code, code.index("{", closing), "{}")
        if end is not None:
            return match.start(), end
    return None


def partner(code: str, start: int, pair: str) -> int | None:
    """Return the offset of the bracket that closes the one at `start`, if any does."""
    depth = 0
    for match in re.finditer(f"[{re.escape(pair)}]", code[start:]):
        depth += 1 if match.group() == pair[0] else -1
        if depth == 0:
            return start + match.start()
    return None


def empty_ifs(code: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the condition of each `if (...);`, which guards nothing.

    Parameters
    ----------
    code : str
        Source without comments and texts, as `code_only` returns it.
    """
    for found in re.finditer(r"\bif\s*\(", code):
        closed = partner(code, found.end() - 1, "()")
        if closed is not None and _EMPTY_BODY.match(code, closed + 1):
            yield found.start(), " ".join(code[found.end() : closed].split())


def _blanked(match: re.Match[str]) -> str:
    """Return spaces for the matched text; line ends stay."""
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(source: str) -> str:
    """Blank out comments and texts; every offset stays where it was."""
    return _NOT_CODE.sub(_blanked, source)


def code_only(source: str) -> str:
    """Blank out comments, texts and directives; every offset stays where it was.

    A directive keeps a semicolon, since no declaration reaches across it.
    """
    without_texts = without_comments(source)
    return _DIRECTIVE.sub(lambda match: ";" + _blanked(match)[1:], without_texts)
