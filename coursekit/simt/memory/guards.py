"""How each language keeps an access within bounds, for the messages of faults."""

from __future__ import annotations

import re

THE_ACCESS = "Guard the access, for example with `if (i < n)`."
EACH_INDEX = "Guard each index, for example with `if (row < rows && col < cols)`."
LOWER_BOUND = "Check the lower bound too, for example `if (i > 0)`."
_PYTHON = {
    THE_ACCESS: "Guard the access, for example with `if i < n:`.",
    EACH_INDEX: "Guard each index, for example with `if row < rows and col < cols:`.",
    LOWER_BOUND: "Check the lower bound too, for example `if i > 0:`.",
}
_TRITON = {
    THE_ACCESS: "Give the access a mask, for example `mask=offsets < n`.",
    EACH_INDEX: "Give the access a mask of every index, for example "
    "`mask=(rows < M) & (cols < N)`.",
    LOWER_BOUND: "Let the mask test the lower bound too, for example `offsets >= 0`.",
}
_FILE = re.compile(r"^[^\n]*\.py:\d+")
_TRITON_CALL = re.compile(r"\btl\.|\bmask\b|\b(?:load|store)\(")


def in_language(cure: str, shown: str) -> str:
    """Return a cure in the language of the line at fault.

    Parameters
    ----------
    cure : str
        In C++.
    shown : str
        File, line and text, as `source_place` returns them.
    """
    if not _FILE.match(shown):
        return cure
    return (_TRITON if _TRITON_CALL.search(shown) else _PYTHON).get(cure, cure)
