"""Simulate a host program on the engines, event by event, in exact fractions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from coursekit.lessons.timeline.program import (
    COMPUTE,
    HOST,
    Batch,
    Issue,
    Step,
    Sync,
    Work,
)


@dataclass(eq=False)
class Span:
    """An interval in which an engine, or the host, was busy or waited.

    Attributes
    ----------
    name, engine : str
    start, end : Fraction
        In microseconds.
    issue : Issue or None
        The operation; None for what the host did.
    kind : str
        "operation"; of the host "issue", "work" or "wait".
    held_by : Span or None
        The span after whose end this one could begin.
    """

    name: str
    engine: str
    start: Fraction
    end: Fraction
    issue: Issue | None = None
    kind: str = "operation"
    held_by: Span | None = None


class Player:
    """The state of the host and of the engines while a program runs."""

    def __init__(self, steps: list[Step]) -> None:
        self.now = Fraction(0)
        self.steps = list(steps)
        self.spans: dict[int, Span] = {}  # spans of operations, by number
        self.host: list[Span] = []
        self.running: list[Span] = []
        self.last: dict[str, Span] = {}  # the latest span of each engine
        self.queues: dict[str, list[tuple[Issue, Span]]] = {}
        self.heirs: dict[int, list[tuple]] = {}  # kernels that wait for an operation
        self.ready: dict[int, Fraction] = {}  # time at which an operation was queued
        self.blocked_by: frozenset[int] = frozenset()
        self.place = 0

    def run(self) -> None:
        """Advance from event to event until all work is done."""
        while True:
            self._begin()
            ends = [span.end for span in self.running]
            if self.host and self.host[-1].end > self.now:
                ends.append(self.host[-1].end)
            if not ends:
                return
            self.now = min(ends)
            ended = [span for span in self.running if span.end <= self.now]
            for span in ended:
                self._end(span)

    def _begin(self) -> None:
        """Begin all that can begin now; a step without duration may enable another."""
        while self._host() or self._engines():
            pass

    # ------------------------------------------------------------------- the host

    def _host(self) -> bool:
        """Advance the host by one step if it is free; return whether it did."""
        if self.host and self.host[-1].end > self.now:
            return False
        if not self._done(self.blocked_by):
            return False
        if self.blocked_by:
            self._waited()
        if self.place == len(self.steps):
            return False
        step = self.steps[self.place]
        if isinstance(step, Batch) and not self._issued(step):
            return True
        self.place += 1
        if isinstance(step, Work):
            self._host_does(step.name, "work", step.us)
        elif isinstance(step, Sync):
            self._block(step.name, step.numbers)
        else:
            self._hand_over(step)
        return True

    def _issued(self, batch: Batch) -> bool:
        """Return whether the host has paid for the launch; else let it begin to pay."""
        if self.host and self.host[-1].issue is batch.issues[0]:
            return True
        self._host_does(batch.name, "issue", batch.launch_us)
        self.host[-1].issue = batch.issues[0]
        return False

    def _hand_over(self, batch: Batch) -> None:
        for issue in batch.issues:
            self._enqueue(issue, self.host[-1])
            if issue.blocks_host:
                self._block(f"{issue.name} (host waits)", frozenset([issue.number]))

    def _host_does(self, name: str, kind: str, us: Fraction) -> None:
        before = self.host[-1] if self.host else None
        if before is not None and before.kind == "wait":
            before = before.held_by
        span = Span(name, HOST, self.now, self.now + us, kind=kind, held_by=before)
        self.host.append(span)

    def _block(self, name: str, numbers: frozenset[int]) -> None:
        self.blocked_by, self.blocked_in, self.blocked_at = numbers, name, self.now

    def _waited(self) -> None:
        """Record how long the host has waited, and for what."""
        last = max((self.spans[n] for n in self.blocked_by), key=lambda span: span.end)
        if self.now > self.blocked_at:
            span = Span(
                self.blocked_in, HOST, self.blocked_at, self.now, kind="wait",
                held_by=last,
            )  # fmt: skip
            self.host.append(span)
        self.blocked_by = frozenset()

    # ---------------------------------------------------------------- the engines

    def _engines(self) -> bool:
        return any(self._engine(name) for name in list(self.queues))

    def _done(self, numbers: Collection[int]) -> bool:
        spans, now = self.spans, self.now
        return all(n in spans and spans[n].end <= now for n in numbers)

    def _engine(self, name: str) -> bool:
        """Begin the next operation of an engine if it can; return whether it did."""
        queue = self.queues[name]
        busy = [span for span in self.running if span.engine == name]
        if not queue or not self._done(queue[0][0].after):
            return False
        issue, launch = queue[0]
        if sum((span.issue.share for span in busy), issue.share) > 1:
            return False
        del queue[0]
        self._start(issue, launch)
        return True

    def _enqueue(self, issue: Issue, launch: Span) -> None:
        """Queue a copy at once, and a kernel when all work before it has ended."""
        missing = {n for n in issue.after if not self._done([n])}
        if issue.engine != COMPUTE or not missing:
            self._line_up(issue, launch)
            return
        for number in missing:
            self.heirs.setdefault(number, []).append((missing, issue, launch))

    def _line_up(self, issue: Issue, launch: Span) -> None:
        """Queue an operation; kernels are sorted by the time when they were ready."""
        queue = self.queues.setdefault(issue.engine, [])
        queue.append((issue, launch))
        self.ready[issue.number] = self.now
        if issue.engine == COMPUTE:
            queue.sort(
                key=lambda waiting: (self.ready[waiting[0].number], waiting[0].number)
            )

    def _end(self, span: Span) -> None:
        """Record the end of an operation, and queue what waited for it alone."""
        self.running.remove(span)
        self.last[span.engine] = span
        for missing, issue, launch in self.heirs.pop(span.issue.number, ()):
            missing.discard(span.issue.number)
            if not missing:
                self._line_up(issue, launch)

    def _start(self, issue: Issue, launch: Span) -> None:
        before = [launch, *(self.spans[n] for n in issue.after)]
        if issue.engine in self.last:
            before.append(self.last[issue.engine])
        held_by = max(before, key=lambda span: span.end)
        span = Span(
            issue.name, issue.engine, self.now, self.now + issue.us, issue,
            held_by=held_by,
        )  # fmt: skip
        self.spans[issue.number] = span
        self.running.append(span)


def play(steps: list[Step]) -> tuple[list[Span], list[Span]]:
    """Run a program; return the operations by number, and the host's activities.

    Parameters
    ----------
    steps : list of Batch, Work and Sync
        The steps of the host, in order.
    """
    player = Player(steps)
    player.run()
    return [player.spans[n] for n in sorted(player.spans)], player.host
