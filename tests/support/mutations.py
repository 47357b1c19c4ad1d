"""Deletes what keeps a kernel right, one at a time: barriers, waits, bounds tests.

Sites are found in the text of CUDA C++, comments left out. A mutant has as many lines
as the source, so that what a checker says of it can be compared with the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BARRIER, WARP, WAIT, BOUNDS = "barrier", "warp barrier", "wait", "bounds test"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CALLS = {
    BARRIER: re.compile(r"__syncthreads\s*\(\s*\)|\b(?:block|grid)\.sync\s*\(\s*\)"),
    WARP: re.compile(r"__syncwarp\s*\([^()]*\)|\b(?:warp|tile)\.sync\s*\(\s*\)"),
    WAIT: re.compile(
        r"__pipeline_wait_prior\s*\([^()]*\)|\b\w+\.consumer_wait\s*\(\s*\)"
        r"|\b(?:cg::|cooperative_groups::)?wait(?:_\w+)?\s*(?:<\w+>)?\s*\([^()]*\)"
        r'|asm\s+volatile\s*\(\s*"[^"]*\bwait_[^"]*"(?:"[^"]*"|[^;"])*\)'
    ),
}
_LOOP = re.compile(r"\b(?:for|while)\s*\(|\bdo\b")
_TEST = re.compile(r"\bif\s*\(")
_CHOICE = re.compile(r"[=(,?:]\s*([^=(,?:;{}]*[<>][^=(,?:;{}]*)\?")
_ANSWER = re.compile(r"(?:\breturn\b|[^=]=)\s*([^;?={}]*&&[^;?{}]*);")
_COMPARES = re.compile(r"[^<>-][<>]=?[^<>]|\binside\b")
# Values that are read are data: their tests are no tests of bounds.
_DATA = re.compile(r"\[|[<>]=?\s*\*|^\s*\*")


@dataclass(frozen=True)
class Mutant:
    """A source without one of its safeguards.

    Attributes
    ----------
    kind : str
        BARRIER, WARP, WAIT or BOUNDS.
    line : int
        Where it was, counted from 1.
    removed, text : str
        What was taken out, and the source without it.
    scope : range
        Lines that it protected; empty where that is the whole file.
    """

    kind: str
    line: int
    removed: str
    text: str
    scope: range = range(0)

    def concerns(self, lines: list[int]) -> bool:
        """Whether what happens on these lines has to do with what was removed."""
        if self.kind == BOUNDS:
            return not self.scope or any(line in self.scope for line in lines)
        between = min(lines) <= self.line <= max(lines)
        return between or all(line in self.scope for line in lines)


def code_only(source: str) -> str:
    """Blank out comments; every offset stays where it was."""
    return _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a source, by line."""
    code = code_only(source)
    found = [
        _replaced(
            source, code, kind, match.span(), "", _loop_around(code, match.start())
        )
        for kind, pattern in _CALLS.items()
        for match in pattern.finditer(code)
        if not re.match(r"\s*\{", code[match.end() :])
    ]
    found += _tests(source, code)
    return sorted(found, key=lambda one: (one.line, one.removed))


def _replaced(source, code, kind, span, by, scope=None) -> Mutant:
    first, last = span
    removed = code[first:last]
    text = source[:first] + by + "\n" * removed.count("\n") + source[last:]
    lines = range(0)
    if scope is not None:
        lines = range(_line(code, scope[0]), _line(code, scope[1]) + 1)
    return Mutant(kind, _line(code, first), " ".join(removed.split()), text, lines)


def _line(code: str, offset: int) -> int:
    return code.count("\n", 0, offset) + 1


# ---------------------------------------------------------------- bounds tests


def _tests(source: str, code: str) -> Iterator[Mutant]:
    """Conditions of `if`, of `? :` and of functions that answer, or parts of them."""
    for match in _TEST.finditer(code):
        first = match.end()
        last = _closing(code, first - 1)
        end = _statement_end(code, last + 1)
        leaves = re.match(r"\s*\{?\s*(?:return|continue|break)\b", code[last + 1 : end])
        if leaves:
            end = _function_end(code, last)
        for span in _parts(code, first, last, "||" if leaves else "&&"):
            word = "false" if leaves else "true"
            yield _replaced(source, code, BOUNDS, span, word, (match.start(), end))
    for match in _CHOICE.finditer(code):
        end = _function_end(code, match.end())
        for span in _parts(code, *match.span(1), "&&"):
            yield _replaced(source, code, BOUNDS, span, "true", (match.start(1), end))
    for match in _ANSWER.finditer(code):
        for span in _parts(code, *match.span(1), "&&"):
            yield _replaced(source, code, BOUNDS, span, "true")


def _parts(code: str, first: int, last: int, joint: str) -> Iterator[tuple[int, int]]:
    """Spans of the parts of a condition that compare something.

    After a comma comes the next variable of a declaration, with a condition of its own.
    """
    depth, start = 0, first
    for at in range(first, last + 1):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[at], 0) if at < last else 0
        comma = at < last and code[at] == ","
        if at == last or (depth == 0 and (comma or code.startswith(joint, at))):
            part = f" {code[start:at]} "
            if _COMPARES.search(part) and not _DATA.search(part):
                yield start, at
            start = code.find("=", at) + 1 if comma else at + len(joint)


def _closing(code: str, opening: int) -> int:
    """Offset of the bracket that closes the one at `opening`."""
    pair = {"(": "()", "{": "{}"}[code[opening]]
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == pair[0]) - (code[at] == pair[1])
        if depth == 0:
            return at
    return len(code) - 1


def _statement_end(code: str, first: int) -> int:
    """Offset at which the statement that begins at `first` ends."""
    start = first + len(code[first:]) - len(code[first:].lstrip())
    if code.startswith("{", start):
        return _closing(code, start)
    head = re.match(r"(?:for|while|if)\s*\(", code[start:])
    if head:
        return _statement_end(code, _closing(code, start + head.end() - 1) + 1)
    return code.find(";", start)


def _function_end(code: str, offset: int) -> int:
    """Offset of the brace that closes the function around `offset`."""
    return code.find("\n}", offset) + 1 or len(code) - 1


def _loop_around(code: str, offset: int) -> tuple[int, int] | None:
    """The outermost loop around an offset."""
    for match in _LOOP.finditer(code):
        begin = match.start()
        if match.group().endswith("("):
            body = _closing(code, match.end() - 1) + 1
        else:
            body = match.end()
        end = _statement_end(code, body)
        if begin < offset < end:
            return begin, end
    return None
