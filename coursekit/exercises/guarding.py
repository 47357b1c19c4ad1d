"""The conditions that hold where a line of a kernel stands, and what they miss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.toolchain.cuda_source import partner

_HEAD = re.compile(r"\b(?P<word>if|for|while)\s*\(")
_LEAVES = re.compile(r"\{?\s*return\s*;")


@dataclass(frozen=True)
class Guard:
    """A condition that must hold for a line to be reached.

    Attributes
    ----------
    condition : str
        It holds wherever the line is reached.
    shown : str
        How the source writes it, with its `if`.
    """

    condition: str
    shown: str

    @property
    def parts(self) -> list[str]:
        """The parts that commas outside of brackets separate; the last one counts."""
        found, depth = [""], 0
        for sign in self.condition:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
            if sign == "," and depth == 0:
                found.append("")
            else:
                found[-1] += sign
        return [part.strip() for part in found]


def guards(code: str, at: int) -> list[Guard]:
    """Return the conditions that hold at an offset, innermost first.

    Parameters
    ----------
    code : str
        Source without comments and texts.
    at : int
    """
    return list(_guards(code, at))[::-1]


def _guards(code: str, at: int) -> Iterator[Guard]:
    for start in _HEAD.finditer(code[:at]):
        closed = partner(code, start.end() - 1, "()")
        if closed is None or closed > at:
            continue
        condition = " ".join(code[start.end() : closed].split())
        word = start["word"]
        if word == "for":
            condition = f"{condition};;".split(";")[1].strip()
        if closed < at <= (_statement_end(code, closed + 1) or at):
            yield Guard(condition, _shown(word, condition))
        elif (
            word == "if"
            and _LEAVES.match(code, closed + 1 + _blanks(code, closed + 1))
            and in_scope(code, start.start(), at)
        ):
            yield Guard(f"!({condition})", f"if ({condition}) return")


def _shown(word: str, condition: str) -> str:
    return f"for (...; {condition}; ...)" if word == "for" else f"{word} ({condition})"


def _blanks(code: str, at: int) -> int:
    return len(code[at:]) - len(code[at:].lstrip())


def _statement_end(code: str, at: int) -> int | None:
    """Return the offset at which the statement ends that begins at an offset."""
    at += _blanks(code, at)
    if code.startswith("{", at):
        return partner(code, at, "{}")
    head = _HEAD.match(code, at)
    if head is None:
        end = code.find(";", at)
        return end if end >= 0 else None
    closed = partner(code, head.end() - 1, "()")
    return None if closed is None else _statement_end(code, closed + 1)


def in_scope(code: str, start: int, at: int) -> bool:
    """Whether the block in which a text stands is still open at an offset."""
    depth = 0
    for sign in re.findall(r"[{}]", code[start:at]):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return True
