"""PTX as text: comments removed, positions turned into lines, words into numbers."""

from __future__ import annotations

import re
import struct

from coursekit.errors import UnsupportedError
from coursekit.simt.ptx import ir

NAME = r"(?:[A-Za-z_$%][\w$]*)"
INTEGER = r"(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|\d{1,20})U?"
OFFSETS = rf"(?:\s*[+-]\s*(?:-\s*)?{INTEGER})*"

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TERM = re.compile(rf"([+-])\s*(?:(-)\s*)?({INTEGER})", re.ASCII)
_NUMBER = re.compile(
    r"""(?P<f32>0[fF][0-9a-fA-F]{8})
    |(?P<f64>0[dD][0-9a-fA-F]{16})
    |(?P<hexadecimal>-?0[xX][0-9a-fA-F]{1,16})U?
    |(?P<binary>-?0[bB][01]{1,64})U?
    |(?P<octal>-?0[0-7]{1,22})U?
    |(?P<decimal>-?(?:0|[1-9]\d{0,19}))U?
    |(?P<real>-?(?:\d{1,99}\.\d{0,99}|\.\d{1,99}|\d{1,99}(?=[eE]))(?:[eE][+-]?\d{1,4})?)""",
    re.ASCII | re.VERBOSE,
)
_BASES = {"hexadecimal": 16, "binary": 2, "octal": 8, "decimal": 10}
_FLOATS = {"f32": ">f", "f64": ">d"}
_DEPTH = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}
_INNER = r"[^][(){}]*"
_BRACKETS = re.compile(rf"\{{{_INNER}\}}|\[{_INNER}\]|\({_INNER}\)|[][(){{}},]")


class Source:
    """PTX text without its comments, which knows the line of every position."""

    def __init__(self, text: str) -> None:
        self.text = _COMMENT.sub(_blank, text)

    def line(self, position: int) -> int:
        """Return the line of a position, counted from 1."""
        return self.text.count("\n", 0, position) + 1

    def error(self, position: int, problem: str) -> UnsupportedError:
        """Build the error for what stands at `position` or after the blanks there."""
        rest = self.text[position : position + 10_000].lstrip()
        start = position + len(self.text[position : position + 10_000]) - len(rest)
        quoted = rest.partition("\n")[0].rstrip()[:100] or "the end of the text"
        return UnsupportedError.explained(
            f"PTX line {self.line(start)}: {problem}: {quoted}",
            "The simulator reads the PTX that NVRTC, Numba and Triton write; this "
            "is another construct, or the text is damaged.",
            "In an `asm` each instruction ends with a semicolon, operands are %0, %1, "
            "..., and a register's % is written twice. Otherwise compile the kernel "
            "again, or run it on a GPU.",
        )


def _blank(match: re.Match[str]) -> str:
    """Replace a comment by a blank and its line ends; keep a string."""
    text = match.group()
    return text if text[0] == '"' else " " + "\n" * text.count("\n")


def number(word: str) -> ir.Immediate | None:
    """Return the constant that `word` spells, or None if it is not a number.

    Integers keep the sign they are written with; `0f` and `0d` are the bits of
    a float, and a decimal fraction is an f64, as PTX defines.

    Examples
    --------
    >>> number("0x10U").value, number("-017").value, number("0f3FC00000").value
    (16, -15, 1.5)
    """
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    form = match.lastgroup
    if form in _BASES:
        return ir.Immediate(int(match.group(form), _BASES[form]))
    if form in _FLOATS:
        (value,) = struct.unpack(_FLOATS[form], bytes.fromhex(word[2:]))
        return ir.Immediate(value, form)
    return ir.Immediate(float(word), "f64")


def offset(terms: str) -> int | None:
    """Add up terms such as `+16`, `+-4` or `- 0x10`; None if one is no number.

    Examples
    --------
    >>> offset("+16"), offset(" + -4"), offset("")
    (16, -4, 0)
    """
    total = 0
    for sign, minus, digits in _TERM.findall(terms):
        value = number(digits)
        if value is None:
            return None
        total += -value.value if (sign == "-") != (minus == "-") else value.value
    return total


_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")


def unescaped(text: str) -> str:
    r"""Return what stands between quotation marks, without its escapes.

    Examples
    --------
    >>> unescaped(r"a\"b \303\266.cu") == 'a"b \u00f6.cu'
    True
    """
    return _ESCAPE.sub(
        lambda m: bytes([int(m[1], 8) & 255]) if len(m[1]) == 3 else m[1],
        text.encode(errors="backslashreplace"),
    ).decode(errors="backslashreplace")


def split_list(text: str) -> list[str] | None:
    """Split at the commas outside brackets; None if the brackets do not match.

    Examples
    --------
    >>> split_list("{%f1, %f2}, [%rd1, {%r1}], 4")
    ['{%f1, %f2}', '[%rd1, {%r1}]', '4']
    """
    pieces, start, depth = [], 0, 0
    for token in _BRACKETS.finditer(text):
        mark = token.group()
        if mark != ",":
            depth += _DEPTH.get(mark, 0)
            if depth < 0:
                return None
        elif depth == 0:
            pieces.append(text[start : token.start()].strip())
            start = token.end()
    pieces.append(text[start:].strip())
    return pieces if depth == 0 else None
