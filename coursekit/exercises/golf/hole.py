"""A hole of Count Golf as data: the problem, its sizes, and the ideal counts."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coursekit import paths
from coursekit.exercises.golf.shape import Shape
from coursekit.exercises.inputs import Size
from coursekit.toolchain.cuda_source import header_lines

# The counters that each count of a score sums. Most are exact, or confirmed by the
# machine code ("sass"); a card marks those labelled "ptx", such as shared atomics.
METRICS = {
    "sectors": (
        "global_load_sectors", "global_store_sectors", "global_atomic_sectors",
    ),
    "wavefronts": (
        "shared_load_wavefronts", "shared_store_wavefronts",
        "shared_atomic_wavefronts",
    ),
    "barriers": ("barriers",),
}  # fmt: skip
SECTOR_BYTES, WAVEFRONT_BYTES = 32, 128


def sectors(*nbytes: int) -> int:
    """Return the fewest sectors that hold arrays of so many bytes.

    >>> sectors(4000, 4)
    126
    """
    return sum(-(-array_bytes // SECTOR_BYTES) for array_bytes in nbytes)


def wavefronts(*nbytes: int) -> int:
    """Return the fewest wavefronts that move so many bytes through shared memory."""
    return sum(-(-array_bytes // WAVEFRONT_BYTES) for array_bytes in nbytes)


@dataclass(frozen=True)
class Par:
    """The ideal of one count, and how it is derived.

    Attributes
    ----------
    ideal : callable
        {axis: extent} -> the fewest that the problem needs.
    formula : str
        The same in words; it says so where the ideal is only the best that is known.
    advice : tuple of str
        Advice on the way to bronze, silver and gold.
    """

    ideal: Callable[[Mapping[str, int]], int]
    formula: str
    advice: tuple[str, str, str]


class Draw:
    """Numbers from a text, the same on every machine and with every library."""

    def __init__(self, text: str):
        self._words = self._hashed(text)

    @staticmethod
    def _hashed(text: str) -> Iterator[int]:
        for turn in itertools.count():
            digest = hashlib.sha256(f"{turn} {text}".encode()).digest()
            yield int.from_bytes(digest[:8], "little")

    def __call__(self, least: int, most: int, step: int = 1) -> int:
        """Return least, least + step, ..., most, each as likely."""
        return least + step * (next(self._words) % ((most - least) // step + 1))


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A problem to be solved with few counts.

    Attributes
    ----------
    name, title : str
        "transpose"; what the kernel does, in a sentence.
    chapter : str
        Two digits of the notebook that teaches what is needed.
    starter : str
        A file below kernels/ that is right, and slow.
    shape : str
        The launch of the starter, and of a submission that declares none.
    axes : tuple of str
        Names of the sizes.
    inputs, outputs, reference, accumulates, in_hex, roundings, magnitude
        As for an Exercise; sizes are tuples.
    sizes : tuple of tuple of int
        Sizes at which a submission must be right, besides two drawn from its hash.
    scored : tuple of int
        The size at which it is counted.
    ragged, round : callable
        Draw -> a size: one where a submission must be right, and one where its counts
        have to keep the medal.
    least_blocks, least_threads : int
        Least blocks and threads of the launch at the scored size, so that work is
        shared.
    pars : dict of str to Par
        The par of each count, by its name; the worst count decides the medal.
    number : int
        The seed of the random data.
    slips : tuple
        As for an Exercise; a hole has none.
    """

    name: str
    title: str
    chapter: str
    starter: str
    shape: str
    axes: tuple[str, ...]
    inputs: Callable[[Any, Any], Mapping[str, Any]]
    outputs: tuple[str, ...]
    reference: Callable[[Any], Any]
    sizes: tuple[Size, ...]
    scored: tuple[int, ...]
    ragged: Callable[[Draw], tuple[int, ...]]
    round: Callable[[Draw], tuple[int, ...]]
    pars: Mapping[str, Par]
    least_blocks: int = 1
    least_threads: int = 1
    roundings: int | Callable[[Any], int] = 0
    magnitude: Callable[[Any], Any] | None = None
    accumulates: tuple[str, ...] = ()
    in_hex: tuple[str, ...] = ()
    number: int = 0
    owner: None = None
    slips: tuple[()] = ()

    @property
    def id(self) -> str:
        """The hole as messages of the checks name it."""
        return f"golf {self.name}"

    @property
    def kernel(self) -> str:
        """The kernel's name in messages, for launches before one is compiled."""
        return self.name

    @property
    def source(self) -> str:
        """Text of the starter, with the line that launches it.

        The header stays behind: it says what to do better.
        """
        path = paths.kernels() / self.starter
        text = path.read_text(encoding="utf-8")
        code = "\n".join(text.split("\n")[header_lines(text) :]).strip("\n")
        return f"// {self.title}\n\n{code}\n\n// golf: {self.shape}\n"

    def named(self, size: Size) -> dict[str, int]:
        """Return a size as {axis: extent}."""
        return dict(zip(self.axes, size, strict=True))

    def launch(self, shape: Shape) -> Callable[[Size], tuple]:
        """Return the function size -> (grid, block, shared bytes) that trials take."""

        def of(size: Size) -> tuple:
            grid, block, (shared,) = shape.at(self.named(size))
            return grid, block, shared

        return of

    def ideals(self, size: Size) -> dict[str, int]:
        """Return the ideal of each count that has a par."""
        sizes = self.named(size)
        return {name: par.ideal(sizes) for name, par in self.pars.items()}
