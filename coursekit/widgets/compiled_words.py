"""PTX and machine code cut into parts with the colours of a listing."""

from __future__ import annotations

import re

Parts = list[list[str]]

_PTX = (
    ("comment", r"//.*"),
    ("directive", r"@!?%p\w*|\$\w+:?"),
    ("type", r"%[a-z]\w*(?:\.\w+)?"),
    ("literal", r"(?<![\w$.])(?:0[fdx][0-9A-Fa-f]+|-?\d+)\b"),
    (
        "keyword",
        r"(?<![\w.%$])[a-z][a-z0-9_]*(?:\.[\w:]+)+|\b(?:ret|bra|exit|trap|call)\b",
    ),
)
_SASS = (
    ("directive", r"@!?U?P\w+|\.L_\w+:?"),
    ("type", r"\bU?[RP](?:\d+|Z|T)\b(?:\.\w+)*"),
    ("literal", r"\b0x[0-9a-f]+\b|(?<![\w.])-?\d+(?:\.\d+)?\b"),
    ("keyword", r"(?<![\w.])[A-Z][A-Z0-9]+(?:\.[A-Z0-9_]+)*\b"),
)


def _compiled(rules: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in rules))


_RULES = {"ptx": _compiled(_PTX), "sass": _compiled(_SASS)}


def parts(text: str, language: str) -> Parts:
    """Return the parts of a line as [kind, text].

    Parameters
    ----------
    text : str
    language : "ptx" or "sass"

    Examples
    --------
    >>> parts("add.s32 %r1, %r2, 4;", "ptx")[:3]
    [['keyword', 'add.s32'], ['plain', ' '], ['type', '%r1']]
    """
    found: Parts = []
    at = 0
    for match in _RULES[language].finditer(text):
        if match.start() > at:
            found.append(["plain", text[at : match.start()]])
        found.append([match.lastgroup or "plain", match[0]])
        at = match.end()
    if at < len(text):
        found.append(["plain", text[at:]])
    return found
