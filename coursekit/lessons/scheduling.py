"""A block whose warps take turns in a chosen order, and the results of all orders."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from coursekit.errors import ArgumentError, KernelError
from coursekit.runtime.configuration import configure
from coursekit.runtime.launching import Kernel, simulate
from coursekit.simt import BARRIER, POISON, Event, Turns

MOST_ORDERS, SEEDS, MOST_WARPS, MOST_TURNS = 1000, 200, 8, 600
# Turns of all orders that are tried; they take ten seconds or so.
MOST_PLAYED = SEEDS * MOST_TURNS


@dataclass(frozen=True)
class Outcome:
    """The result of one order of turns.

    Attributes
    ----------
    order : tuple of int
        The warps in the order of their turns.
    events : tuple of Event
        Their accesses and barriers, in this order.
    values : mapping of str to numpy.ndarray
        The arrays that the kernel may have written.
    error : KernelError or None
    """

    order: tuple[int, ...]
    events: tuple[Event, ...]
    values: Mapping[str, np.ndarray] = field(repr=False)
    error: KernelError | None = None


@dataclass(frozen=True)
class Trial:
    """Counts over many orders of turns: tried, and wrong.

    Attributes
    ----------
    tried, wrong : int
        Orders, and those with a wrong result.
    example : Outcome or None
        A wrong one.
    exhaustive : bool
        Whether these are all orders that there are.
    """

    tried: int
    wrong: int
    example: Outcome | None
    exhaustive: bool


class Stage:
    """A kernel with its arguments, launched repeatedly with chosen orders of turns.

    Parameters
    ----------
    kernel, block, args, shared_bytes
        As for ``ck.count``; the grid is one block of 2 to 8 warps.
    expected : mapping of str to array, optional
        The right contents of arrays by parameter. Without it, what comes out when
        the warps go in step, each doing its first access before any does its second.

    Attributes
    ----------
    plan : tuple of tuple of Event
        The events of each warp, in its own order.
    error : KernelError or None
        The error that stopped the warps when they went in step.
    """

    def __init__(self, kernel, block, args, *, shared_bytes=0, expected=None):
        check(kernel, args)
        self.kernel, self.args = kernel, tuple(args)
        self.configuration = configure(kernel.name, 1, block, shared_bytes=shared_bytes)
        self.warps = _warps(self.configuration.block)
        first = self._play(Turns(_in_step()))
        sites = _contested(first.events)
        self._sites = sites
        turns = _in_step()
        rehearsal = self._play(Turns(turns, sites=sites))
        self.error = rehearsal.error
        self.plan = tuple(
            tuple(event for event in rehearsal.events if event.warp == warp)
            for warp in range(self.warps)
        )
        _check_turns(kernel.name, rehearsal.order)
        self.expected = rehearsal.values if expected is None else {
            name: np.asarray(value) for name, value in expected.items()
        }  # fmt: skip

    def play(self, order: Sequence[int]) -> Outcome:
        """Run the warps in an order of turns; warps with turns left follow in order."""
        left = list(order)

        def choose(able: list[int]) -> int:
            while left:
                warp = left.pop(0)
                if warp in able:
                    return warp
            return able[0]

        return self._play(Turns(choose, self.plan, self._sites))

    def is_right(self, outcome: Outcome) -> bool:
        """Whether an outcome has the right contents."""
        return outcome.error is None and not self.wrong(outcome)

    def wrong(self, outcome: Outcome) -> str:
        """Describe the first wrong array of an outcome; empty if it is right."""
        if outcome.error is not None:
            return str(outcome.error).splitlines()[0]
        for name, right in self.expected.items():
            values = outcome.values[name].reshape(right.shape)
            inexact = right.dtype.kind == "f"
            same = _close(values, right) if inexact else (
                values == right
            )  # fmt: skip
            if not same.all():
                return _mismatch(name, values.reshape(-1), right.reshape(-1), same)
        return ""

    # -- orders ---------------------------------------------------------------------

    @property
    def orders(self) -> int:
        """The number of orders of turns."""
        total = 1
        for counts in self._epochs():
            total *= math.factorial(sum(counts))
            for count in counts:
                total //= math.factorial(count)
        return total

    def _epochs(self) -> list[list[int]]:
        """Return each warp's number of turns in each stretch between barriers."""
        last = max((event.epoch for turns in self.plan for event in turns), default=0)
        return [
            [
                sum(event.epoch == epoch and event.verb != BARRIER for event in turns)
                for turns in self.plan
            ]
            for epoch in range(last + 1)
        ]

    def all_orders(self) -> Iterator[tuple[int, ...]]:
        """Yield every order of turns."""
        stretches = [
            lambda counts=counts: interleavings(tuple(counts))
            for counts in self._epochs()
        ]
        yield from chained(stretches)

    def some_orders(self, count: int, seed: int = 0) -> Iterator[tuple[int, ...]]:
        """Yield random orders of turns."""
        shuffler = random.Random(seed)
        for _ in range(count):
            order: list[int] = []
            for counts in self._epochs():
                turns = [warp for warp, n in enumerate(counts) for _ in range(n)]
                shuffler.shuffle(turns)
                order += turns
            yield tuple(order)

    def try_all(self, most_played: int = MOST_PLAYED) -> Trial:
        """Try all orders of turns if they are at most 1,000, else 200 random ones.

        Orders of many turns are fewer: after `most_played` turns in all it is enough.
        """
        every = self.orders <= MOST_ORDERS
        orders = self.all_orders() if every else self.some_orders(SEEDS)
        tried = wrong = played = 0
        example = None
        for order in orders:
            outcome = self.play(order)
            tried += 1
            played += len(outcome.order)
            if not self.is_right(outcome):
                wrong += 1
                example = example or outcome
            if played >= most_played:
                break
        return Trial(tried, wrong, example, every and tried == self.orders)

    def races(self) -> list[tuple[Event, Event, int]]:
        """Return pairs of unordered events, and an element that both touch."""
        return [
            (event, opponent, element)
            for mine, theirs in itertools.combinations(self.plan, 2)
            for event in mine
            for opponent in theirs
            if (element := event.races_with(opponent)) is not None
        ]

    def _play(self, turns: Turns) -> Outcome:
        order: list[int] = []
        asked = turns.choose

        def choose(able: list[int]) -> int:
            order.append(asked(able))
            return order[-1]

        turns.choose = choose
        shape = self.configuration
        launched = simulate(
            self.kernel,
            shape.grid,
            shape.block,
            self.args,
            shared_bytes=shape.shared_bytes,
            keep=(KernelError,),
            observer=turns,
        )
        values = _outputs(launched.staged)
        return Outcome(tuple(order), tuple(turns.events), values, launched.error)


def check(kernel: object, args: object) -> None:
    """Refuse what is no kernel, or no tuple of arguments."""
    if not isinstance(kernel, Kernel) or not isinstance(args, (tuple, list)):
        raise ArgumentError.explained(
            "Expected a kernel, a block and a tuple of arguments, got "
            f"{type(kernel).__name__} and {type(args).__name__}.",
            "The first is a kernel of a compiled module, as for ck.count.",
            "Write for example ck.try_all_orders(kernel, 96, (x, y, 96, 32)).",
        )


def try_all_orders(
    kernel: Kernel,
    block: int | tuple[int, ...],
    args: Sequence[object],
    *,
    expected: Mapping[str, ArrayLike] | None = None,
) -> Trial:
    """Launch one block in each order of its warps, and count the wrong results.

    Where there are more than 1,000 orders, 200 random ones are tried.

    Parameters
    ----------
    kernel, block, args
        As for ``ck.count``; the grid is one block of 2 to 8 warps.
    expected : mapping of str to array, optional
        The right contents of arrays by parameter. Without it, what comes out when
        each warp does its first access before any does its second.

    Returns
    -------
    Trial
        Orders tried, how many of them gave a wrong result, and one that did.

    Examples
    --------
    ``ck.try_all_orders(rotate, 96, (x, y, 96, 32), expected={"y": right}).wrong``
    """
    return Stage(kernel, block, args, expected=expected).try_all()


def _close(values, right) -> np.ndarray:
    """Compare arrays; both may hold NaN where no thread writes."""
    return np.isclose(values, right, rtol=1e-5, atol=1e-6, equal_nan=True)


def _mismatch(name: str, values, right, same) -> str:
    """Name the first wrong element, and the number of wrong ones."""
    at = int(np.argmin(same.reshape(-1)))
    uninitialised = set(values[at].tobytes()) == {POISON}
    held = "a value that nobody wrote" if uninitialised else f"{values[at]:g}"
    return (
        f"{name}[{at}] is {held}, right is {right[at]:g} "
        f"({int((~same).sum())} of {same.size} elements are wrong)"
    )


def _outputs(staged) -> dict[str, np.ndarray]:
    outputs = {}
    for item, buffer, offset in staged.copies:
        if item.rule.is_output:
            data = buffer.read(offset, item.operand.nbytes)
            outputs[item.rule.parameter.name] = data.view(item.operand.dtype)
    return outputs


def _warps(block) -> int:
    count = -(-math.prod(block) // 32)
    if not 2 <= count <= MOST_WARPS:
        raise ArgumentError.explained(
            f"scheduler got a block of {block} threads, which is {count} "
            f"warp{'s' if count > 1 else ''}.",
            "There is a choice only among several warps, and a table has only so "
            "much room.",
            f"Give a block of 33 to {32 * MOST_WARPS} threads, best of 128.",
        )
    return count


def _check_turns(name: str, order: tuple[int, ...]) -> None:
    if len(order) > MOST_TURNS:
        raise ArgumentError.explained(
            f"scheduler got {name}, whose warps have {len(order):,} turns.",
            "Each access of memory that warps share, and each barrier, is a turn.",
            f"Give a smaller input, and fewer warps: at most {MOST_TURNS} turns.",
        )


def _in_step():
    """Return a function that chooses the warp with the fewest turns so far."""
    turns: dict[int, int] = {}

    def choose(able: list[int]) -> int:
        warp = min(able, key=lambda number: (turns.get(number, 0), number))
        turns[warp] = turns.get(warp, 0) + 1
        return warp

    return choose


def _contested(events: Sequence[Event]) -> set:
    """Return the instructions whose accesses conflict with those of other warps.

    If there are none, return all accesses to shared memory; without these, all
    accesses.
    """
    accesses = [event for event in events if event.verb != BARRIER]
    touched: dict[tuple, int] = {}
    for event in accesses:
        key = event.site, event.warp, event.verb, event.array, event.space
        touched[key] = touched.get(key, 0) | event.touched
    contested = set()
    for (first, mine), (second, theirs) in itertools.combinations(touched.items(), 2):
        alike, verbs = first[3:] == second[3:], {first[2], second[2]}
        conflict = len(verbs) > 1 or verbs == {"writes"}
        if first[1] != second[1] and alike and conflict and mine & theirs:
            contested |= {first[0], second[0]}
    shared = {event.site for event in accesses if event.space == "shared"}
    return contested or shared or {event.site for event in accesses}


def interleavings(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every order of turns in which warp n has ``counts[n]`` turns.

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
    """Yield every concatenation of one order of each stretch."""
    if not stretches:
        yield ()
        return
    for first in stretches[0]():
        for rest in chained(stretches[1:]):
            yield (*first, *rest)
