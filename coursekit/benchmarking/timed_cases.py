"""Cases whose time is not that of one call between two events of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WallClock:
    """A case that the host's clock times, from its call to the end of all streams.

    Where a call takes several steps, its time is divided by their number.
    """

    case: Callable
    steps: Callable[..., int] | None = None

    def __call__(self, *arguments):
        """Call the case."""
        return self.case(*arguments)


def wall_clock(case: Callable, *, steps: Callable[..., int] | None = None) -> WallClock:
    """Time a case by the host's clock, with what the host itself does.

    For what events cannot time: the cost of launching, and work that goes on in
    several streams. The clock runs from the call until the whole device is idle. Of a
    case that takes several steps in a call, the time is the mean of one; `steps` says
    how many, from the arguments of the case.

    Examples
    --------
    ``ck.benchmark({"four streams": wall_clock(pipeline)}, ...)``
    """
    return WallClock(case, steps)


@dataclass(frozen=True)
class Repeated:
    """A case that is timed over several calls in a row, after a rest."""

    case: Callable
    calls: int
    idle_s: float = 0.0

    def __call__(self, *arguments):
        """Call the case once."""
        return self.case(*arguments)


def repeated(case: Callable, *, calls: int, idle_s: float = 0.0) -> Repeated:
    """Time a case by the mean of several calls in a row, after a rest.

    A GPU that works for long gets warm and lowers its clock. A few calls after a rest
    show what it can do at its best; many without one, what it goes on doing. Only the
    first of the calls finds the caches cold.

    Examples
    --------
    ``ck.benchmark({"burst": repeated(product, calls=8, idle_s=0.5)}, ...)``
    """
    return Repeated(case, calls, idle_s)


@dataclass(frozen=True)
class OwnClock:
    """A case that measures its own time; one of its arrays tells it afterwards."""

    case: Callable
    elapsed_ms: Callable[..., float]

    def __call__(self, *arguments):
        """Call the case."""
        return self.case(*arguments)


def own_clock(case: Callable, *, elapsed_ms: Callable[..., float]) -> OwnClock:
    """Time a case by what its kernel reads from the clock of the GPU.

    For times that are shorter than a launch, such as the latency of one load. The
    kernel writes what it measures into an array; `elapsed_ms` reads it, from the
    arguments of the case, when the call has ended.

    Examples
    --------
    ``ck.benchmark({"load": own_clock(chase, elapsed_ms=per_load)}, ...)``
    """
    return OwnClock(case, elapsed_ms)


@dataclass
class Returned:
    """A case whose library allocates the memory of its result.

    So does eager PyTorch with a layernorm. The result is copied to where results are
    looked for only when they are compared: the copy is no part of what is timed.

    Attributes
    ----------
    case : callable
        Returns the result.
    copy : callable
        Called with the result and the arguments.
    """

    case: Callable
    copy: Callable
    result: Any = None

    def __call__(self, *arguments):
        """Call the case; nothing is copied."""
        self.result = self.case(*arguments)

    def deliver(self, *arguments) -> None:
        """Copy the latest result, once."""
        result, self.result = self.result, None
        if result is not None:
            self.copy(result, *arguments)
