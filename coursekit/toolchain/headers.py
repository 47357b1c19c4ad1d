"""C's own headers for device code, and what nvcc includes without being asked.

NVRTC brings none of C's headers. The folder `include/` has small ones: the functions
are built into NVRTC, and types and limits come from `cuda/std`. nvcc starts every
source with `cuda_runtime.h`, which includes some of C's headers; here a header of
these is included only for a source that does not compile without it.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "include"

_MISSING = re.compile(
    r'(?:identifier|the global scope has no) "(\w+)"'
    r'|(?:namespace "std"|"std") has no member(?: \w+)* "(\w+)"'
)
# Names that a source for nvcc may use without an #include (CUDA 13.0, GCC 13).
_IMPLIED = {
    "math.h": r"INFINITY|NAN|HUGE_VALF?|MAXFLOAT|M_\w+",
    "sys/types.h": r"u(?:int|short|long)|u_(?:char|short|int|long)|ssize_t"
    r"|int(?:8|16|32|64)_t",
    "limits.h": r"CHAR_BIT|(?:SCHAR|CHAR|SHRT|INT|LONG|LLONG)_M(?:IN|AX)"
    r"|(?:UCHAR|USHRT|UINT|ULONG|ULLONG)_MAX",
    "stdlib.h": r"EXIT_(?:SUCCESS|FAILURE)|RAND_MAX",
}
_IN_STD = ("cmath", "cstdlib", "cstddef")


def names() -> frozenset[str]:
    """Return what can be included: stdint.h, cstdint, ...; a folder's by its path."""
    return frozenset(
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*")
        if path.is_file()
    )


@functools.cache
def identity() -> str:
    """Hash all headers, for cache keys."""
    digest = hashlib.sha256()
    for name in sorted(names()):
        digest.update(name.encode() + b"\0" + (FOLDER / name).read_bytes() + b"\0")
    return digest.hexdigest()


def implied(log: str) -> frozenset[str]:
    """Return the headers that nvcc would have included for the names a log misses.

    Examples
    --------
    >>> sorted(implied('kernel.cu(1): error: identifier "M_PI" is undefined'))
    ['math.h']
    >>> implied('kernel.cu(1): error: identifier "FLT_MAX" is undefined')
    frozenset()
    """
    found = set()
    for name, in_std in _MISSING.findall(log):
        found |= {h for h, known in _IMPLIED.items() if re.fullmatch(known, name)}
        found |= {header for header in _IN_STD if in_std in _std_names(header)}
    return frozenset(found)


def flags(included: Iterable[str]) -> list[str]:
    """Options of NVRTC that include headers of ours before the first line."""
    return [f"--pre-include={FOLDER / name}" for name in sorted(included)]


@functools.cache
def _std_names(header: str) -> frozenset[str]:
    """Names that a header puts into the namespace std."""
    return frozenset(re.findall(r"using ::(\w+);", (FOLDER / header).read_text()))
