"""How each language says what a message advises: guards, barriers, atomics."""

from __future__ import annotations

import re

THE_ACCESS = "Guard the access, for example with `if (i < n)`."
EACH_INDEX = "Guard each index, for example with `if (row < rows && col < cols)`."
LOWER_BOUND = "Check the lower bound too, for example `if (i > 0)`."
_PYTHON = {
    "`if (i < n)`": "`if i < n:`",
    "`if (row < rows && col < cols)`": "`if row < rows and col < cols:`",
    "`if (i > 0)`": "`if i > 0:`",
    "`if (threadIdx.x == 0)`": "`if cuda.threadIdx.x == 0:`",
    "__syncthreads()": "cuda.syncthreads()",
    "__syncwarp()": "cuda.syncwarp()",
    "__activemask()": "cuda.activemask()",
    "__threadfence_block()": "cuda.threadfence_block()",
    "__threadfence()": "cuda.threadfence()",
    "atomicAdd()": "cuda.atomic.add()",
    "atomicMax()": "cuda.atomic.max()",
}
_TRITON = {
    THE_ACCESS[:-1]: "Give the access a mask, for example `mask=offsets < n`",
    EACH_INDEX[:-1]: "Give the access a mask of every index, for example "
    "`mask=(rows < M) & (cols < N)`",
    LOWER_BOUND[:-1]: "Let the mask test the lower bound too: `offsets >= 0`",
    "__syncthreads()": "tl.debug_barrier()",
    "__threadfence()": "tl.debug_barrier()",
    "atomicAdd()": "tl.atomic_add()",
    "atomicMax()": "tl.atomic_max()",
}
_FILE = re.compile(r"^[^\n]*\.py:\d+")
_TRITON_CALL = re.compile(r"\btl\.|\bmask\b|\b(?:load|store)\(")


def in_language(advice: str, shown: str) -> str:
    """Return advice in the language of the line at fault: C++, Python or Triton.

    Parameters
    ----------
    advice : str
        In C++.
    shown : str
        File, line and text, as `source_place` returns them.
    """
    if not _FILE.match(shown):
        return advice
    for phrase, other in (_TRITON if _TRITON_CALL.search(shown) else _PYTHON).items():
        advice = advice.replace(phrase, other)
    return advice
