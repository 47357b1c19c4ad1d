"""Device printf: the format string and its arguments, read from memory."""

from __future__ import annotations

import re
import struct

_SPEC = re.compile(
    r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([a-zA-Z%])"
)
_WIDE = {"l", "ll", "z", "j", "t"}


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
        value = struct.unpack_from("<" + code, self.data, self.offset)[0]
        self.offset += size
        return value


def format_text(template: str, data: bytes, memory) -> str:
    """Format like C's printf.

    Parameters
    ----------
    template : str
        The format string.
    data : bytes
        The argument buffer: ints in 4 bytes, doubles, pointers and longs in 8.
    memory
        Where `%s` arguments point to.
    """
    arguments = _Arguments(data + bytes(16))

    def field(match: re.Match) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(arguments.take("i")) if width == "*" else width or ""
        if precision == "*":
            precision = str(arguments.take("i"))
        spec = f"%{flags}{width}" + (f".{precision}" if precision else "")
        return _one(spec, kind, length, arguments, memory)

    return _SPEC.sub(field, template)


def _one(spec: str, kind: str, length: str | None, arguments, memory) -> str:
    wide = length in _WIDE
    if kind in "di":
        return (spec + "d") % arguments.take("q" if wide else "i")
    if kind in "uxXo":
        value = arguments.take("Q" if wide else "I")
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
