"""A finding of doctor about one topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "info", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing that doctor looked at.

    Attributes
    ----------
    status : {"ok", "info", "warning", "problem"}
        info: not needed here; warning: something does not work, the course does;
        problem: the course cannot be followed until it is put right.
    found : str
        What was found, a sentence or two.
    cure : str
        How to get it, or what to do; empty when all is well.
    """

    topic: str
    status: Status
    found: str
    cure: str = ""


def dotted(version: tuple[int, ...]) -> str:
    """Write a version as people do: 13.0."""
    return ".".join(map(str, version))
