r"""Text for a terminal: encodable in any locale, and without control characters.

A student's source, and the names of files, may hold escape sequences that would
change a teacher's terminal, or letters that its encoding lacks. Both are shown
escaped: ``\x1b[2J``.
"""

from __future__ import annotations

import sys
import unicodedata
from typing import Any, TextIO

# Cc are control characters, Cf those that change the direction of writing, among
# others; the lone halves of a surrogate pair (Cs) have no encoding.
_UNSEEN = ("Cc", "Cf", "Cs")


class Terminal:
    """A text stream in front of another, which gets everything escaped.

    Parameters
    ----------
    stream : TextIO
    kept : str
        The control characters that pass.
    """

    def __init__(self, stream: TextIO, kept: str = "\n\t") -> None:
        self._stream, self._kept = stream, kept

    def write(self, text: str) -> int:
        """Write a text, escaped, and return its length."""
        self._stream.write(encodable(escaped(text, self._kept), self._stream))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def escaped(text: str, kept: str = "\n\t") -> str:
    r"""Return the text with each unseen character as its escape.

    Examples
    --------
    >>> escaped("\x1b[2J") == r"\x1b[2J"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in _UNSEEN and c not in kept
        else c
        for c in text
    )


def encodable(text: str, stream: TextIO) -> str:
    """Return the text with what the stream's encoding lacks as escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def write(text: str) -> None:
    """Write a text to `sys.stdout`, if there is one, whatever the locale."""
    if text and sys.stdout is not None:
        sys.stdout.write(encodable(text, sys.stdout))
