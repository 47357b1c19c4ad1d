"""A usual mistake, as it stands in a spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slip:
    """A usual mistake, told in place of the general advice where its result is found.

    Attributes
    ----------
    result : callable
        Takes what a reference takes; returns the first output as the mistake makes
        it, or a dict that names the outputs.
    cause : str
        A sentence that is true of every kernel with this result.
    cure : str
        What to look at, as a sentence; it does not give the answer.
    """

    result: Callable[[Any], Any]
    cause: str
    cure: str
