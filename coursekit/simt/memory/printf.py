"""Device printf: format strings and arguments, read from simulated memory."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

_SPEC = re.compile(
    r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([a-zA-Z%])"
)
_WIDE = {"l", "ll", "z", "j", "t"}
_NARROW = {"hh": 8, "h": 16}
# Digits and blanks that a number gets at most, whatever the format asks for.
_WIDEST = 1000
# Characters that one launch prints at most; a GPU's buffer has as many bytes.
MOST_PRINTED = 1 << 20


class Printer:
    """Passes on what a launch prints, up to a limit, and counts the rest."""

    def __init__(self, write: Callable[[str], object]):
        self._write = write
        self._left, self._dropped, self._calls = MOST_PRINTED, 0, 0

    def __call__(self, text: str) -> None:
        """Print the text of one call of printf, or drop it."""
        if len(text) <= self._left:
            self._left -= len(text)
            self._write(text)
        else:
            self._left = 0
            self._dropped += len(text)
            self._calls += 1

    def end(self) -> None:
        """Say how much was dropped."""
        if self._calls:
            calls = f"{self._calls:,} call{'s' if self._calls > 1 else ''}"
            self._write(
                f"\n[printf: the output is cut here, at {MOST_PRINTED:,} characters "
                f"for one launch; {calls} with {self._dropped:,} more characters are "
                "left out. Print from fewer threads, or end the loop earlier.]\n"
            )


def read_string(memory, address: int, limit: int = 1 << 16) -> str:
    """Read a zero-terminated string from global or constant memory."""
    region = memory.find(address)
    if region is None:
        return "(null)"
    start = address - region.address
    text = bytes(region.data[start : start + limit])
    return text.split(b"\0", 1)[0].decode("utf-8", "replace")


class _Arguments:
    """The packed arguments of one call, each aligned to its own size."""

    def __init__(self, data: bytes):
        self.data, self.offset = data, 0

    def take(self, code: str):
        size = struct.calcsize("<" + code)
        self.offset = -(-self.offset // size) * size
        data = self.data[self.offset : self.offset + size].ljust(size, b"\0")
        value = struct.unpack("<" + code, data)[0]
        self.offset += size
        return value


def format_text(template: str, data: bytes, memory) -> str:
    """Format like C's printf.

    Parameters
    ----------
    template : str
        The format string.
    data : bytes
        The argument buffer: ints in 4 bytes, doubles, pointers and longs in 8;
        missing arguments are 0.
    memory
        Where `%s` arguments point to.
    """
    arguments = _Arguments(data)

    def field(match: re.Match) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width, precision = (_number(arguments, one) for one in (width, precision))
        if width is not None and width < 0:
            flags, width = flags + "-", -width
        spec = f"%{flags}" + ("" if width is None else str(min(width, _WIDEST)))
        if precision is not None and precision >= 0:
            spec += f".{min(precision, _WIDEST)}"
        return _one(spec, kind, length, arguments, memory)

    return _SPEC.sub(field, template)


def _number(arguments: _Arguments, text: str | None) -> int | None:
    """Return a width or a precision, which `*` takes from the arguments."""
    if text == "*":
        return arguments.take("i")
    return int(text[:9]) if text else None


def _one(spec: str, kind: str, length: str | None, arguments, memory) -> str:
    wide = length in _WIDE
    if kind in "di":
        value = arguments.take("q" if wide else "i")
        if length in _NARROW:
            value = _signed(value, _NARROW[length])
        return (spec + "d") % value
    if kind in "uxXo":
        value = arguments.take("Q" if wide else "I")
        if length in _NARROW:
            value &= (1 << _NARROW[length]) - 1
        return (spec + ("d" if kind == "u" else kind)) % value
    if kind in "eEfFgG":
        return (spec + kind) % arguments.take("d")
    if kind in "aA":
        return arguments.take("d").hex()
    if kind == "c":
        return (spec + "c") % (arguments.take("i") & 0xFF)
    if kind == "p":
        return (spec + "s") % hex(arguments.take("Q"))
    if kind == "s":
        return (spec + "s") % read_string(memory, arguments.take("Q"))
    return spec + kind


def _signed(value: int, bits: int) -> int:
    """Return the low bits of a number, read with a sign."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half
