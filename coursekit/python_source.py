"""What can be read off Python source without running it."""

from __future__ import annotations

import io
import keyword
import tokenize

_KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "literal"}
_KINDS[tokenize.NUMBER] = "literal"


def tokens(source: str) -> list[tuple[str, str]]:
    """Split a source into (kind, text), for colouring.

    Kinds are plain, comment, keyword and literal; the texts put together are the
    source. What is no Python is plain.

    >>> tokens("x = 1  # one")
    [('plain', 'x = '), ('literal', '1'), ('plain', '  '), ('comment', '# one')]
    """
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    found, place = [], 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _KINDS.get(token.type, "plain")
            if keyword.iskeyword(token.string):
                kind = "keyword"
            start, end = (
                begins[row - 1] + col for row, col in (token.start, token.end)
            )
            if kind != "plain":
                found += [("plain", source[place:start]), (kind, source[start:end])]
                place = end
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return [(k, t) for k, t in [*found, ("plain", source[place:])] if t]
