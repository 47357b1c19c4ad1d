"""An exercise as data: what its kernel takes and gives, and how it goes wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from coursekit.errors import ArgumentError, CheckFailed
from coursekit.exercises.inputs import Size, covering

RAGGED = (0, 1, 31, 32, 33, 255, 1023, 1025)
PICTURES = {1: 8, 2: (2, 4), 3: (2, 2, 2)}
LEAST_HINTS = 3

Failure = tuple[type[Exception], str]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A count that an efficient solution stays at or below.

    Attributes
    ----------
    counter : str
        A field of Counters, such as "global_load_sectors".
    size : int or tuple of int
        Of the launch that is counted.
    most : int
    why : str
        A sentence, such as "Each value is needed once.".
    """

    counter: str
    size: Size
    most: int
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise; CONTRIBUTING.md shows how to add one.

    Attributes
    ----------
    id, name, title : str
        "05.1"; "map", for its files; a few words for people.
    stars : int
        Difficulty, 1 to 3.
    kernel : str
        Name of the kernel that the starter declares.
    inputs : callable
        (size, numpy Generator) -> {parameter: value}, in the kernel's order.
    outputs : tuple of str
        Arrays that the kernel must fill; it must leave all others alone.
    reference : callable
        Takes the inputs as attributes (floats in float64, integers in int64); returns
        the expected array, or a dict of them by name.
    hints : tuple of str
        Three or more, of growing frankness.
    mutants : dict
        Wrong solutions by file name: (class of the error, text in its message).
    starter : tuple
        How the starter fails, in the same form.
    sizes : tuple
        Of the problems; ints, or tuples such as (rows, columns).
    picture : int or tuple, optional
        Size of the problem that is shown element by element.
    launches : tuple of callable
        Size -> (grid, block) or (grid, block, shared bytes).
    accumulates : tuple of str
        Outputs that start with what `inputs` puts there, not with a sentinel.
    roundings : int or callable
        Roundings on the way to a result, a number or a function of the size: the
        tolerance in unit roundoffs of the output's type.
    magnitude : callable, optional
        What the tolerance is relative to, from the inputs; |expected| by default.
    owner : "element", None or callable
        Which thread should write an element: see `ownership.owner`.
    defines : dict of str to str
        Macros for the compiler.
    limits : tuple of Limit
    """

    id: str
    name: str
    title: str
    stars: int
    kernel: str
    inputs: Callable[[Any, Any], Mapping[str, Any]]
    outputs: tuple[str, ...]
    reference: Callable[[Any], Any]
    hints: tuple[str, ...]
    mutants: Mapping[str, Failure]
    starter: Failure = (CheckFailed, "")
    sizes: tuple[Size, ...] = RAGGED
    picture: Size | None = None
    launches: tuple[Callable[[Any], tuple], ...] = (covering(256), covering(64))
    accumulates: tuple[str, ...] = ()
    roundings: int | Callable[[Any], int] = 1
    magnitude: Callable[[Any], Any] | None = None
    owner: str | None | Callable = "element"
    defines: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        for holds, what in self._demands():
            if not holds:
                raise ArgumentError.explained(
                    f"Exercise {self.id}: {what}.",
                    cure="Correct its entry in spec.py.",
                )

    def _demands(self):
        yield re.fullmatch(r"\d\d\.[1-9]\d*", self.id), "the id is not like 05.1"
        yield (
            re.fullmatch(r"[a-z][a-z0-9_]*", self.name),
            f"the name {self.name!r} is not snake_case",
        )
        yield self.stars in (1, 2, 3), f"{self.stars} stars are not 1, 2 or 3"
        for name in ("outputs", "hints", "sizes", "launches"):
            value = getattr(self, name)
            yield isinstance(value, tuple), f"{name} is no tuple (a comma missing?)"
            yield value, f"{name} is empty"
        strange = sorted(set(self.accumulates) - set(self.outputs))
        yield not strange, f"accumulates {', '.join(strange)}, which is no output"

    @property
    def chapter(self) -> str:
        """The two digits of its notebook."""
        return self.id.partition(".")[0]

    @property
    def number(self) -> int:
        """Its place in the chapter."""
        return int(self.id.partition(".")[2])

    @property
    def file(self) -> str:
        """Name of its files: 1_map.cu."""
        return f"{self.number}_{self.name}.cu"

    @property
    def small(self) -> Size:
        """Size of the problem that is shown element by element."""
        first = self.sizes[0]
        axes = len(first) if isinstance(first, tuple) else 1
        return self.picture if self.picture is not None else PICTURES[axes]

    @property
    def largest(self) -> Size:
        """The size with the most elements."""
        return max(self.sizes, key=_elements)


def _elements(size: Size) -> int:
    return math.prod(size) if isinstance(size, tuple) else size
