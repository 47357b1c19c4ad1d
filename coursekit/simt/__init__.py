"""A functional simulator of NVIDIA GPUs for PTX: results, errors and counts.

README.md has a section on what it does not do like hardware.
`face.py` says which names it offers; nothing else of it is for others to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.simt import face

if TYPE_CHECKING:
    from coursekit.simt.face import *  # noqa: F403

__all__ = face.__all__


def __getattr__(name: str) -> object:
    value = globals()[name] = getattr(face, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
