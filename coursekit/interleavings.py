"""The orders in which several can take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence


def interleavings(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every order of turns, of which number n has ``counts[n]``.

    Examples
    --------
    >>> list(interleavings((2, 1)))
    [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    if not any(counts):
        yield ()
        return
    for warp, count in enumerate(counts):
        if count:
            rest = (*counts[:warp], count - 1, *counts[warp + 1 :])
            for order in interleavings(rest):
                yield (warp, *order)


def chained(
    stretches: Sequence[Callable[[], Iterator[tuple[int, ...]]]],
) -> Iterator[tuple[int, ...]]:
    """Yield every order of the first stretch, followed by every one of the others."""
    if not stretches:
        yield ()
        return
    for first in stretches[0]():
        for rest in chained(stretches[1:]):
            yield (*first, *rest)
