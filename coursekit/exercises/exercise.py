"""An exercise in CUDA C++ as data: inputs, reference, sizes and launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coursekit.exercises.any_exercise import AnyExercise
from coursekit.exercises.inputs import Size, covering
from coursekit.exercises.slip import Slip

RAGGED = (0, 1, 31, 32, 33, 255, 1023, 1025)
PICTURES = {1: 8, 2: (2, 4), 3: (2, 2, 2)}


@dataclass(frozen=True, kw_only=True)
class Limit:
    """An upper bound on a counter, which an efficient solution keeps.

    Attributes
    ----------
    counter : str
        A field of Counters, such as "global_load_sectors", or of what the compiler
        reports of a kernel, such as "spill_store_bytes".
    size : int or tuple of int
        Size of the problem whose launch is counted.
    most : int
    why : str
        A sentence, such as "Each value is needed once.".
    """

    counter: str
    size: Size
    most: int
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A value that makes a correct kernel wait for ever, such as a lock that is taken.

    Attributes
    ----------
    name : str
        Name of the parameter.
    value : scalar
        The value of all its elements before the launch, which must stay.
    why : str
        The mistake of a kernel that ends, as a sentence.
    """

    name: str
    value: Any
    why: str


@dataclass(frozen=True, kw_only=True)
class Exercise(AnyExercise):
    """An exercise in CUDA C++; CONTRIBUTING.md shows how to add one.

    Attributes
    ----------
    kernel : str
        Name of the kernel that the starter declares.
    inputs : callable
        (size, numpy Generator) -> {parameter: value}, in the kernel's order.
    outputs : tuple of str
        Arrays that the kernel must fill; it must leave all others alone.
    reference : callable
        Takes the inputs as attributes (floats in float64, integers in int64); returns
        the expected array, or a dict of them by name.
    sizes : tuple
        Sizes of the problems; ints, or tuples such as (rows, columns).
    picture : int or tuple, optional
        Size of the problem that is shown element by element.
    launches : tuple of callable
        Size -> (grid, block) or (grid, block, shared bytes).
    accumulates : tuple of str
        Outputs that start with what `inputs` puts there, not with a sentinel.
    in_hex : tuple of str
        Arrays whose values are patterns of bits, which messages show in hexadecimal.
    roundings : int or callable
        Roundings on the way to a result, a number or a function of the size: the
        tolerance in unit roundoffs of the output's type.
    magnitude : callable, optional
        The magnitude to which the tolerance is relative, from the inputs; by default
        |expected|.
    owner : "element", None or callable
        The thread that should write an element: see `ownership.owner`.
    defines : dict of str to str
        Macros for the compiler.
    slips : tuple of Slip
        Usual mistakes that are known by their result.
    limits : tuple of Limit
    longest_warp : int, optional
        Upper bound on the instructions of each warp at the largest size: it refuses an
        answer in which one thread does the work of many.
    waits : tuple of Wait
    compiled : tuple of (str, callable)
        What a stage looks at in the compiled code, in a few words, and a callable that
        takes the kernel and raises `CheckFailed.explained`. It comes after the results.
    """

    magic: ClassVar[str] = "%%cuda"
    suffix: ClassVar[str] = ".cu"
    answer: ClassVar[str] = "kernel"

    kernel: str
    inputs: Callable[[Any, Any], Mapping[str, Any]]
    outputs: tuple[str, ...]
    reference: Callable[[Any], Any]
    sizes: tuple[Size, ...] = RAGGED
    picture: Size | None = None
    launches: tuple[Callable[[Any], tuple], ...] = (covering(256), covering(64))
    accumulates: tuple[str, ...] = ()
    in_hex: tuple[str, ...] = ()
    roundings: int | Callable[[Any], int] = 1
    magnitude: Callable[[Any], Any] | None = None
    owner: str | None | Callable = "element"
    defines: Mapping[str, str] = field(default_factory=dict)
    slips: tuple[Slip, ...] = ()
    limits: tuple[Limit, ...] = ()
    longest_warp: int | None = None
    waits: tuple[Wait, ...] = ()
    compiled: tuple[tuple[str, Callable[[Any], None]], ...] = ()

    def _demands(self) -> Iterator[tuple[object, str]]:
        yield from super()._demands()
        yield from self._filled("outputs", "sizes", "launches")
        strange = sorted(set(self.accumulates) - set(self.outputs))
        yield not strange, f"accumulates {', '.join(strange)}, which is no output"

    @property
    def small(self) -> Size:
        """The size of the problem that is shown element by element."""
        first = self.sizes[0]
        axes = len(first) if isinstance(first, tuple) else 1
        return self.picture if self.picture is not None else PICTURES[axes]

    @property
    def largest(self) -> Size:
        """The size with the most elements."""
        return max(self.sizes, key=_elements)


def _elements(size: Size) -> int:
    return math.prod(size) if isinstance(size, tuple) else size
