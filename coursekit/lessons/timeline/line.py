"""Record what a host program issues to streams, and where it waits."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from coursekit.errors import ArgumentError
from coursekit.lessons.timeline import rates
from coursekit.lessons.timeline.engines import play
from coursekit.lessons.timeline.program import (
    COMPUTE,
    COPY,
    IN,
    OUT,
    Batch,
    Issue,
    Step,
    Sync,
    Work,
)
from coursekit.lessons.timeline.schedule import Schedule

DEFAULT = "default"


@dataclass(eq=False)
class Event:
    """A mark in a stream; an event that was never recorded stands for no work.

    Source: CUDA Runtime API, cudaEventRecord ("an empty set of work").
    """

    name: str
    work: frozenset[int] = field(default=frozenset(), repr=False)


class Stream:
    """A queue of operations that run one after the other, from `Timeline.stream`."""

    def __init__(self, line: Timeline, name: str, blocking: bool = True) -> None:
        self.name, self.blocking = name, blocking
        self._line, self._tail = line, frozenset()

    def __repr__(self) -> str:
        return f"Stream({self.name!r})"

    def copy_in(
        self, nbytes: int, name: str = "", *, pinned: bool = True, buffer: str = ""
    ) -> None:
        """Copy from the host into a buffer of the device, as cudaMemcpyAsync does."""
        us = self._line._copy_us(IN, nbytes, pinned)
        engine = IN if self._line.copy_engines == 2 else COPY
        writes = (buffer,) if buffer else ()
        self._issue(name or "copy in", engine, us, blocks=not pinned, writes=writes)

    def copy_out(
        self, nbytes: int, name: str = "", *, pinned: bool = True, buffer: str = ""
    ) -> None:
        """Copy from a buffer of the device to the host, as cudaMemcpyAsync does."""
        us = self._line._copy_us(OUT, nbytes, pinned)
        engine = OUT if self._line.copy_engines == 2 else COPY
        reads = (buffer,) if buffer else ()
        self._issue(name or "copy out", engine, us, blocks=not pinned, reads=reads)

    def kernel(self, us: float, name: str = "", *, share=1.0, reads=(), writes=()):
        """Launch a kernel that needs this long and fills this share of the SMs."""
        part = rates.exact("share", share)
        if part > 1:
            raise ArgumentError.explained(
                f"kernel got share={share}.",
                "A kernel cannot fill more than all SMs.",
                "Give a number above 0, up to 1.",
            )
        self._issue(
            name or "kernel", COMPUTE, rates.exact("us", us), share=part,
            reads=_names(reads), writes=_names(writes),
        )  # fmt: skip

    def record(self, event: Event | str = "") -> Event:
        """Record an event, which is done when the stream's present work is done."""
        event = event if isinstance(event, Event) else self._line.event(event)
        event.work = self._line._before(self)
        self._line._act(self, event.work)
        return event

    def wait(self, event: Event) -> None:
        """Let later work of this stream wait for an event, as last recorded."""
        if not isinstance(event, Event):
            raise ArgumentError.explained(
                f"wait got {type(event).__name__}.",
                "A stream waits for events; the host waits for streams.",
                "Write event = a.record(), then b.wait(event).",
            )
        self._line._act(self, self._line._before(self) | event.work)

    def synchronize(self) -> None:
        """Let the host wait until the stream's present work is done."""
        self._line._sync(f"synchronize {self.name}", self._line._before(self))

    def _issue(self, name: str, engine: str, us: Fraction, **more) -> None:
        blocks = more.pop("blocks", False)
        issue = Issue(name, self.name, engine, us, blocks_host=blocks, **more)
        self._line._issue(self, issue)


class Timeline:
    """Streams, engines and a host that issues work: a model, not a measurement.

    The rules of the model, and where CUDA states them:

    1. The operations of a stream run in the order of issue (CUDA C++ Programming
       Guide, "Streams").
    2. Copies to the device and copies to the host have an engine each; with
       ``copy_engines=1`` they share one. A copy engine does one copy at a time, in the
       order of issue, so that a copy which has to wait holds up those behind it
       (Programming Guide, "Concurrent Data Transfers" and "Overlapping Behavior",
       which tells it of devices with one engine; the model does so with two as well).
    3. Kernels of different streams run together as long as their shares of the SMs sum
       to at most 1 ("Concurrent Kernel Execution"); they begin in the order in which
       they are ready. Nothing makes a kernel slower that runs beside others.
    4. Each call costs the host `launch_us`, in which it can do nothing else; the
       operation can begin when the call returns. Events cost the host nothing.
    5. A copy from or to pageable memory waits for its stream, moves at
       `pageable_gbps`, and keeps the host until it is done. That is on the safe side:
       a call that copies to the device may return once the data are staged (CUDA
       Runtime API, "API synchronization behavior").
    6. The legacy default stream waits for all blocking streams, and they for it
       (CUDA Runtime API, "Stream synchronization behavior").
    7. An event is the work that its stream holds when it is recorded; to wait for one
       that was never recorded waits for nothing (cudaEventRecord, cudaStreamWaitEvent).
    8. What is issued inside ``with line.graph():`` is handed over at its end and costs
       one launch (Programming Guide, "CUDA Graphs"); its operations keep their streams,
       and building the graph costs nothing.

    Parameters
    ----------
    h2d_gbps, d2h_gbps : float, optional
        Rates of copies from and to pinned memory, in 10^9 bytes per second. By default
        those that were recorded on an H200, if the course has such a record.
    launch_us : float, optional
        The time that each call costs the host; by default as recorded.
    pageable_gbps : float, optional
        Rate of copies from and to pageable memory; by default as recorded, or the
        lower of the other two where these are given.
    copy_engines : int
        2, or 1 for both directions.

    Examples
    --------
    >>> line = Timeline(h2d_gbps=50, d2h_gbps=50, launch_us=0)
    >>> a, b = line.stream("a"), line.stream("b")
    >>> a.copy_in(500_000, "x")                       # 10 us
    >>> b.wait(a.record())
    >>> b.kernel(20, "scale")
    >>> line.run().makespan_us
    30.0
    """

    def __init__(
        self, h2d_gbps=None, d2h_gbps=None, launch_us=None, *,
        pageable_gbps=None, copy_engines: int = 2,
    ) -> None:  # fmt: skip
        if copy_engines not in (1, 2):
            raise ArgumentError.explained(
                f"Timeline got copy_engines={copy_engines!r}.",
                cure="Give 2, one for each direction, or 1 for both.",
            )
        self.rates = rates.choose(h2d_gbps, d2h_gbps, launch_us, pageable_gbps)
        self.copy_engines = copy_engines
        self._clear()

    def _clear(self) -> None:
        self.default_stream = Stream(self, DEFAULT)
        self._streams = {DEFAULT: self.default_stream}
        self._steps: list[Step] = []
        self._awaited: frozenset[int] = frozenset()
        self._graph: Batch | None = None
        self._numbers = itertools.count()
        self._events = itertools.count()

    def __repr__(self) -> str:
        return f"Timeline ({self.rates}): {', '.join(self._streams)}"

    def again(self) -> Timeline:
        """Return an empty line on the same machine."""
        line = copy.copy(self)
        line._clear()
        return line

    def stream(self, name: str = "", *, blocking: bool = True) -> Stream:
        """Return the stream of this name, a new one at first.

        Parameters
        ----------
        name : str
        blocking : bool
            Whether it and the default stream wait for each other; False is what
            cudaStreamNonBlocking makes.
        """
        name = name or f"stream {len(self._streams)}"
        if name not in self._streams:
            self._streams[name] = new = Stream(self, name, blocking)
            new._tail = self.default_stream._tail if blocking else new._tail
        return self._streams[name]

    def event(self, name: str = "") -> Event:
        """Return a new event, which nothing has recorded yet."""
        return Event(name or f"event {next(self._events)}")

    def host(self, us: float, name: str = "host work") -> None:
        """Let the host compute for a while."""
        self._refuse_in_graph("host work")
        self._steps.append(Work(name, rates.exact("us", us)))

    def synchronize(self) -> None:
        """Let the host wait until all issued work is done."""
        tails = (stream._tail for stream in self._streams.values())
        self._sync("synchronize", frozenset().union(*tails))

    @contextlib.contextmanager
    def graph(self, name: str = "graph") -> Iterator[None]:
        """Submit all operations issued inside together, at the cost of one launch."""
        self._refuse_in_graph("another graph")
        self._graph = Batch(name, self.rates.launch_us)
        try:
            yield
        finally:
            batch, self._graph = self._graph, None
            if batch.issues:
                self._steps.append(batch)

    def run(self) -> Schedule:
        """Run what was issued so far on the model, and return its schedule."""
        engines = (IN, OUT) if self.copy_engines == 2 else (COPY,)
        return Schedule.of(play(self._steps), (*engines, COMPUTE), str(self.rates))

    # ----------------------------------------------------- what streams tell it

    def _copy_us(self, direction: str, nbytes: int, pinned: bool) -> Fraction:
        rate = self.rates.of(direction, pinned)
        return rates.exact("nbytes", nbytes) / (rate * 1000)

    def _before(self, stream: Stream) -> frozenset[int]:
        """Return the operations that an action in a stream must follow."""
        if stream is not self.default_stream:
            return stream._tail
        blocking = (
            member._tail for member in self._streams.values() if member.blocking
        )
        return frozenset().union(*blocking)

    def _act(self, stream: Stream, tail: frozenset[int]) -> None:
        """Make later work of a stream, or of all blocking streams, follow `tail`."""
        stream._tail = tail
        if stream is self.default_stream:
            for member in self._streams.values():
                member._tail = tail if member.blocking else member._tail

    def _issue(self, stream: Stream, issue: Issue) -> None:
        if self._graph is not None and stream is self.default_stream:
            self._refuse_in_graph("the default stream")
        if self._graph is not None and issue.blocks_host:
            self._refuse_in_graph("a copy of pageable memory")
        issue.number = next(self._numbers)
        issue.after, issue.awaited = self._before(stream), self._awaited
        self._act(stream, frozenset([issue.number]))
        if self._graph is None:
            batch = Batch(f"issue {issue.name}", self.rates.launch_us)
            self._steps.append(batch)
        (self._graph or batch).issues.append(issue)

    def _sync(self, name: str, numbers: frozenset[int]) -> None:
        self._refuse_in_graph("waiting on the host")
        self._awaited |= numbers
        self._steps.append(Sync(name, numbers))

    def _refuse_in_graph(self, what: str) -> None:
        if self._graph is not None:
            raise ArgumentError.explained(
                f"{what.capitalize()} cannot stand inside a graph.",
                "A graph is made of operations of streams; the host hands it over as "
                "a whole.",
                f"Put it before or after `with line.graph({self._graph.name!r}):`.",
            )


def _names(buffers) -> tuple[str, ...]:
    return (buffers,) if isinstance(buffers, str) else tuple(buffers)
