"""The schedule of a timeline: when each engine does what, and what delays it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from coursekit.lessons.timeline.engines import Span
from coursekit.lessons.timeline.operations import MODEL, Conflict, Operation
from coursekit.lessons.timeline.program import HOST


@dataclass(frozen=True, repr=False)
class Schedule:
    """The result of running a `Timeline`: a model, not a measurement.

    Attributes
    ----------
    operations : tuple of Operation
        Copies and kernels in the order of issue.
    host : tuple of Operation
        The activities of the host: issue, work, wait.
    engines : tuple of str
    origin : str
        The rates, and where they are from.
    """

    operations: tuple[Operation, ...]
    host: tuple[Operation, ...]
    engines: tuple[str, ...]
    origin: str
    _spans: tuple[Span, ...] = field(default=(), compare=False)
    _host_spans: tuple[Span, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, played: tuple[list[Span], list[Span]], engines, origin) -> Schedule:
        """Make a schedule of simulated spans."""
        spans, host = played
        return cls(
            tuple(_operation(span, spans) for span in spans),
            tuple(_operation(span, spans) for span in host),
            tuple(engines), origin, tuple(spans), tuple(host),
        )  # fmt: skip

    def __getitem__(self, name: str) -> Operation:
        """Return the first operation of this name."""
        matches = [operation for operation in self.operations if operation.name == name]
        if not matches:
            raise KeyError(f"{name}: not among {[o.name for o in self.operations]}")
        return matches[0]

    @cached_property
    def makespan_us(self) -> float:
        """The time from the first call of the host until all work is done."""
        ends = (operation.end_us for operation in (*self.operations, *self.host))
        return max(ends, default=0.0)

    def busy(self, engine: str) -> float:
        """Return how long an engine is busy, in us; "host" without its waits."""
        if engine == HOST:
            return sum(
                operation.us for operation in self.host if operation.kind != "wait"
            )
        total, until = 0.0, 0.0
        spans = [(o.start_us, o.end_us) for o in self.operations if o.engine == engine]
        for start, end in sorted(spans):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total

    def work(self, engine: str) -> float:
        """Return the least work of an engine: the sum of microseconds times share."""
        if engine == HOST:
            return self.busy(HOST)
        return sum(o.us * o.share for o in self.operations if o.engine == engine)

    @property
    def bound_us(self) -> float:
        """The work of the busiest engine: a lower bound for every order of issue."""
        return max(self.work(engine) for engine in (*self.engines, HOST))

    @property
    def bottleneck(self) -> str:
        """The engine with the most work."""
        return max((*self.engines, HOST), key=self.work)

    @property
    def overlap_ratio(self) -> float:
        """The durations of all copies and kernels, summed, over the makespan.

        1 says that nothing overlaps and nobody waits for the host.
        """
        total = sum(operation.us for operation in self.operations)
        return total / self.makespan_us if self.makespan_us else 1.0

    @cached_property
    def critical_path(self) -> tuple[Operation, ...]:
        """The chain of operations, each started by its predecessor's end."""
        spans = (*self._spans, *self._host_spans)
        last = max(spans, key=lambda span: span.end, default=None)
        chain = []
        while last is not None:
            chain.append(_operation(last, self._spans))
            last = last.held_by
        return tuple(reversed(chain))

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Pairs of unordered uses of one buffer, at least one of which writes.

        Streams, events, the default stream and waits of the host order operations; that
        an engine happens to be busy does not.
        """
        before: list[set[int]] = []
        for span in self._spans:
            direct = span.issue.after | span.issue.awaited
            before.append(direct.union(*(before[n] for n in direct)))
        return tuple(
            Conflict(buffer, first.name, second.name)
            for n, second in enumerate(self.operations)
            for m, first in enumerate(self.operations[:n])
            if m not in before[n]
            for buffer in _contested(first, second)
        )

    def is_ordered(self, first: str, second: str) -> bool:
        """Tell whether CUDA promises that one operation ends before another begins."""
        numbers = {operation.name: n for n, operation in enumerate(self.operations)}
        reached, todo = set(), [numbers[second]]
        while todo:
            issue = self._spans[todo.pop()].issue
            new = (issue.after | issue.awaited) - reached
            reached |= new
            todo += new
        return numbers[first] in reached

    # ---------------------------------------------------------------------- shown

    def table(self) -> Any:
        """Return the operations as a table of texts."""
        from coursekit.exercises.tables import Table

        header = ("operation", "stream", "engine", "start (us)", "end (us)", "after")
        rows = tuple(
            (o.name, o.stream, o.engine, _us(o.start_us), _us(o.end_us),
             ", ".join(o.waits_for) or "-")
            for o in self.operations
        )  # fmt: skip
        return Table(f"Schedule of {MODEL}", header, rows)

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self.table().text}"

    def _repr_html_(self) -> str:
        from coursekit.display.listing import panel

        return panel(f"<b>{escape(self._summary())}</b>{self.table().html}")

    def _summary(self) -> str:
        return (
            f"Schedule ({MODEL}): {_us(self.makespan_us)} us, at least "
            f"{_us(self.bound_us)} us ({self.bottleneck}), overlap "
            f"{self.overlap_ratio:.2f}"
        )

    def plot(self, title: str = "", *, lanes: str = "engine") -> Any:
        """Draw the schedule.

        Parameters
        ----------
        title : str
            The title, a sentence; by default the makespan.
        lanes : str
            "engine" or "stream": what a row of bars is.
        """
        from coursekit.lessons.timeline import drawing

        return drawing.chart(
            self.operations,
            self.host,
            title=title or f"The model needs {self.makespan_us:.6g} us",
            origin=self.origin,
            bound_us=self.bound_us,
            lanes=lanes,
        )


def _operation(span: Span, spans) -> Operation:
    issue = span.issue if span.kind == "operation" else None
    times = float(span.start), float(span.end)
    if issue is None:
        return Operation(span.name, "", span.engine, *times, kind=span.kind)
    after = tuple(spans[n].name for n in sorted(issue.after))
    return Operation(
        span.name, issue.stream, span.engine, *times, after, float(issue.share),
        "operation", issue.reads, issue.writes,
    )  # fmt: skip


def _contested(first: Operation, second: Operation) -> list[str]:
    written = {*first.writes, *second.writes}
    used = {*first.reads, *first.writes} & {*second.reads, *second.writes}
    return sorted(used & written)


def _us(value: float) -> str:
    return f"{value:.1f}" if value % 1 else f"{value:.0f}"
