"""The lines of a kernel where a barrier stands, or could stand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from coursekit.errors import ArgumentError
from coursekit.toolchain.cuda_source import tokens

BARRIER = "__syncthreads();"
_ALONE = re.compile(r"\s*__syncthreads\s*\(\s*\)\s*;\s*")
_NOWHERE = re.compile(r"[\s}]*else\b|\s*(extern\s+)?__shared__\b|\s*#")


@dataclass(frozen=True)
class Places:
    """The lines of one kernel at which barriers may stand.

    Attributes
    ----------
    first, last : int
        Lines of the kernel.
    slots : tuple of int
        Lines at whose beginning a barrier may stand.
    present : tuple of int
        Those of them that are a barrier in the source.
    text : str
        The source without these barriers; their lines are empty.
    """

    first: int
    last: int
    slots: tuple[int, ...]
    present: tuple[int, ...]
    text: str

    def with_barriers(self, lines: Iterable[int]) -> str:
        """Return the source with barriers at the beginning of some lines.

        Line numbers stay as they are.
        """
        rows = self.text.split("\n")
        for line in sorted(set(lines) & set(self.slots)):
            rows[line - 1] = f"{BARRIER} {rows[line - 1]}"
        return "\n".join(rows)


def places(source: str, kernel: str) -> Places:
    """Find the places of a kernel.

    Parameters
    ----------
    source : str
        CUDA C++.
    kernel : str
        Name of a kernel that is defined in it.

    Raises
    ------
    ArgumentError
        If its definition is not found, for example because a macro writes it.
    """
    bare = "".join(
        re.sub(r"[^\n]", " ", text) if kind == "comment" else text
        for kind, text in tokens(source)
    )
    name = re.escape(kernel.partition("<")[0].rpartition("::")[2])
    head = re.search(rf"__global__[^;{{}}]*?\b{name}\s*\([^{{;]*\{{", bare)
    if head is None:
        raise ArgumentError.explained(
            f"the definition of {kernel} was not found in its source.",
            "A macro writes it, or it lies in a header.",
            "Write the kernel out in the source that is compiled.",
        )
    first = bare.count("\n", 0, head.start()) + 1
    rows, real = bare.split("\n"), source.split("\n")
    body = bare.count("\n", 0, head.end()) + 1
    slots, present, depth, line = [], [], 1, body
    before = "{"
    while line < len(rows):
        line += 1
        text = rows[line - 1]
        if _ALONE.fullmatch(text):
            present.append(line)
            real[line - 1] = ""
        if text.strip():
            ends = depth + text.count("{") - text.count("}") <= 0
            if before[-1] in ";{}" and not ends and not _NOWHERE.match(text):
                slots.append(line)
            before = text.strip()
        depth += text.count("{") - text.count("}")
        if depth <= 0:
            break
    return Places(first, line, tuple(slots), tuple(present), "\n".join(real))
