"""Compare results with a reference before and after timing, for fresh inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursekit.benchmarking import refusals
from coursekit.benchmarking.inputs import POISON, Inputs
from coursekit.benchmarking.stopwatch import Stopwatch
from coursekit.benchmarking.timed_cases import Returned
from coursekit.errors import ArgumentError, CheckFailed


@dataclass
class Trial:
    """The arrays that the cases of one size work on, and fresh data for them.

    Attributes
    ----------
    live : Inputs
        What every case is called with.
    fresh : Inputs
        Another draw, which no case works on; its data is copied into `live`.
    outputs : set of int
        Positions of the arrays that the cases change.
    updated : set of int
        Those of them that are also read.
    written : int
        Bytes that a case writes, at most.
    """

    watch: Stopwatch
    size: int
    setup: Callable[[int], Any]
    verify: Callable[..., Any]
    live: Inputs = field(init=False)
    fresh: Inputs = field(init=False)
    outputs: set[int] = field(default_factory=set)
    updated: set[int] = field(default_factory=set)
    written: int = 0

    def __post_init__(self):
        self.live = Inputs.of(self.setup, self.size)
        self.draw()
        self._same = [
            not self.watch.changed_bytes(a, b)
            for a, b in zip(self.live.arrays, self.fresh.arrays, strict=True)
        ]

    @property
    def through(self) -> str:
        """What the bytes of the arrays pass, as `Ceiling` calls it."""
        on_host = {n for n, a in enumerate(self.live.arrays) if a.space == "host"}
        both = on_host & self.outputs and on_host - self.outputs
        return "links" if both else "link" if on_host else "memory"

    def draw(self) -> None:
        """Draw data that no call has seen."""
        self.fresh = Inputs.of(self.setup, self.size)
        if not self.live.fits(self.fresh):
            raise refusals.bad_setup(self.size, "returns other shapes each time")
        if self.live.shares_memory(self.fresh):
            raise refusals.same_inputs(self.size)

    def load(self) -> None:
        """Copy the fresh data into the arrays that the cases work on."""
        for source, target in zip(self.fresh.arrays, self.live.arrays, strict=True):
            self.watch.copy(source, target)
        self.watch.synchronize()

    def poison(self) -> None:
        """Fill the outputs with a pattern, so that leaving one out shows."""
        for position in self.outputs:
            self.watch.fill(self.live.arrays[position], POISON)
        self.watch.synchronize()

    def call(self, case: Callable) -> None:
        """Run a case once and wait for its end."""
        case(*self.live.values)
        if isinstance(case, Returned):
            case.deliver(*self.live.values)
        self.watch.synchronize()

    def explore(self, name: str, case: Callable) -> None:
        """Find out which arrays a case changes."""
        self.load()
        self.call(case)
        arrays = zip(self.live.arrays, self.fresh.arrays, strict=True)
        changed = [self.watch.changed_bytes(a, b) for a, b in arrays]
        self.outputs |= {position for position, n in enumerate(changed) if n}
        if not any(changed):
            raise refusals.nothing_written(name, self.size)
        if len(self._inputs) and all(self._same[position] for position in self._inputs):
            raise refusals.same_inputs(self.size)

    @property
    def _inputs(self) -> list[int]:
        return [n for n in range(len(self.live.arrays)) if n not in self.outputs]

    def check(self, name: str, case: Callable, *, after: bool = False) -> None:
        """Compare a case's result with the reference.

        The outputs are poisoned before the call. Where that alone spoils the result,
        or leaves it as it is, the case updates its outputs, and they get their own
        data instead.

        Raises
        ------
        CheckFailed
            The result is wrong; after timing, for fresh inputs in the same arrays.
        """
        self.load()
        self.poison()
        self.call(case)
        reason = self._reason() if self._count_written() else "nothing is written."
        if reason:
            for _ in range(2):  # who works in every other call is idle in one
                self.draw()  # who keeps something has it of other data
                self.load()
                self.call(case)
                if not self._count_changed():
                    raise refusals.not_rewritten(name, self.size)
                reason = self._reason()
                if reason:
                    break
            if reason and after:
                raise refusals.replay(name, self.size, reason)
            if reason:
                raise refusals.wrong_result(name, self.size, "before timing", reason)
            self.updated |= self.outputs

    def _count_changed(self) -> int:
        """Count the bytes of the outputs that no longer hold the fresh data."""
        pairs = [(self.live.arrays[n], self.fresh.arrays[n]) for n in self.outputs]
        changed = sum(self.watch.changed_bytes(mine, given) for mine, given in pairs)
        self.written = max(self.written, changed)
        return changed

    def _count_written(self) -> int:
        arrays = [self.live.arrays[position] for position in self.outputs]
        written = sum(self.watch.changed_bytes(array, POISON) for array in arrays)
        self.written = max(self.written, written)
        return written

    def _reason(self) -> str:
        """Return what `verify` finds wrong; empty where it accepts the result."""
        try:
            answer = self.verify(*self.live.values)
        except (AssertionError, CheckFailed) as error:
            return str(error).strip() or "the assertion of verify does not hold."
        if answer is None or (isinstance(answer, (bool, np.bool_)) and answer):
            return ""
        if isinstance(answer, (bool, np.bool_)):
            return "verify returns False."
        raise ArgumentError.explained(
            f"verify returns {type(answer).__name__} at size {self.size:,}.",
            "It says whether the result is right.",
            "Raise an AssertionError, for example by np.testing.assert_allclose, or "
            "return True or False.",
        )

    def check_bytes(self, claimed: int | None) -> None:
        """Compare the bytes that somebody counted with those of the arrays.

        Raises
        ------
        CheckFailed
            They are fewer than a case writes, or more than the arguments have.
        """
        if claimed is None:
            return
        if claimed < 0.99 * self.written:
            raise refusals.too_few_bytes(self.size, claimed, self.written)
        held = sum(
            array.nbytes * (2 if position in self.updated else 1)
            for position, array in enumerate(self.live.arrays)
        )
        if claimed > 1.01 * held:
            raise refusals.too_many_bytes(self.size, claimed, held)
