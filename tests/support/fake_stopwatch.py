"""A stand-in for a GPU's clock, streams and memory, with time that we move ourselves.

Arrays are NumPy's, and stand for device memory. Work that is queued changes arrays
only when the clock has come to its end, so that a case that does not wait, or that
runs beside the stream, is seen as on a GPU.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import coursekit as ck
from coursekit import benchmarking
from coursekit.benchmarking import inputs
from coursekit.runtime.arguments import operands
from coursekit.runtime.arguments.operands import as_bytes

QUEUE_MS = 0.004  # of host time, to queue something


@dataclass
class Work:
    """Something queued: when it starts and ends, and what it does then."""

    begin: float
    end: float
    effect: Callable[[], None] | None
    done: bool = False


class FakeStopwatch:
    """Times pretended work; `run` and `run_aside` are what cases call.

    Attributes
    ----------
    now : float
        Time of the host, in ms.
    persisting : int
        Bytes of L2 that are set aside.
    log : list of str
        What was asked for, in order.
    """

    def __init__(self):
        self.device = ck.device("H200")
        self.now = 0.0
        self.stream, self.side = 0.0, 0.0
        self.persisting = 0
        self.queue: list[Work] = []
        self.log: list[str] = []

    # ------------------------------------------------ what a case does

    def run(self, milliseconds: float, effect=None) -> None:
        """Queue work on the current stream."""
        self._pass(QUEUE_MS)
        self.stream = self._add(max(self.stream, self.now), milliseconds, effect)
        self.log.append("run")

    def run_aside(self, milliseconds: float, effect=None, *, after=None) -> float:
        """Queue work on a side stream; returns when it ends."""
        self._pass(QUEUE_MS)
        begin = max(self.side, self.now, self.stream if after == "stream" else 0.0)
        self.side = self._add(begin, milliseconds, effect)
        return self.side

    def join(self) -> None:
        """Let the current stream wait for the side stream."""
        self.stream = max(self.stream, self.side)

    def spend(self, milliseconds: float) -> None:
        """Let the host work for a while."""
        self._pass(milliseconds)

    # ------------------------------------------------ what a benchmark asks for

    def clock(self) -> float:
        return self.now * 1e-3

    def synchronize(self) -> None:
        self._until(max(self.stream, self.side))

    def rest(self, seconds: float) -> None:
        self.synchronize()
        self.log.append("rest")
        self._pass(1e3 * seconds)

    def flush(self) -> None:
        self.log.append("flush")
        self.stream = self._add(max(self.stream, self.now), 0.03, None)

    def hold(self, milliseconds: float) -> None:
        self.stream = self._add(max(self.stream, self.now), milliseconds, None)

    def mark(self) -> float:
        return max(self.stream, self.now)

    def reached(self, event: float) -> bool:
        self._pass(0.1)
        return self.now >= event

    def wait(self, event: float) -> None:
        self._until(event)

    def elapsed_ms(self, first: float, last: float) -> float:
        return last - first

    def copy(self, source, target) -> None:
        self.synchronize()
        target.write(source.read())

    def fill(self, array, byte: int) -> None:
        self.synchronize()
        array.write(np.full(array.nbytes, byte, np.uint8))

    def changed_bytes(self, array, other) -> int:
        byte = isinstance(other, int)
        theirs = np.full(array.nbytes, other, np.uint8) if byte else other.read()
        mine, theirs = array.read().view(np.uint32), theirs.view(np.uint32)
        return 4 * int(np.count_nonzero(mine != theirs))

    def touched(self, array, byte: int) -> bool:
        return bool((array.read() != byte).any())

    def persisting_l2_bytes(self) -> int:
        return self.persisting

    # ------------------------------------------------ time

    def _add(self, begin: float, milliseconds: float, effect) -> float:
        work = Work(begin, begin + milliseconds, effect)
        self.queue.append(work)
        return work.end

    def _pass(self, milliseconds: float) -> None:
        self._until(self.now + milliseconds)

    def _until(self, time: float) -> None:
        self.now = max(self.now, time)
        due = [work for work in self.queue if work.end <= self.now]
        self.queue = [work for work in self.queue if work.end > self.now]
        for work in sorted(due, key=lambda one: one.end):
            if work.effect:
                work.effect()


def on_device(value):
    """Describe a NumPy array as one in device memory."""
    found = operands.describe(value)
    if found is None or found.space != "host":
        return found
    return replace(found, space="gpu", read=lambda: as_bytes(value).copy())


def install(monkeypatch) -> FakeStopwatch:
    """Pretend that there is a GPU, and that NumPy arrays lie in its memory."""
    fake = FakeStopwatch()
    gpu = types.SimpleNamespace(space="gpu", device=fake.device)
    stand_in = types.SimpleNamespace(describe=on_device)
    monkeypatch.setattr(benchmarking.backends, "current", lambda: gpu)
    monkeypatch.setattr(benchmarking, "default_stopwatch", lambda: fake)
    monkeypatch.setattr(inputs, "operands", stand_in)
    return fake
