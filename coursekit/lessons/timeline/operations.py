"""The parts of a schedule: operations, and conflicts between two of them."""

from __future__ import annotations

from dataclasses import dataclass

MODEL = "a model, not a measurement"


@dataclass(frozen=True)
class Operation:
    """One copy, kernel or activity of the host.

    Attributes
    ----------
    name, stream, engine : str
        Without a stream where the host did it.
    start_us, end_us : float
    waits_for : tuple of str
        The operations that CUDA orders directly before it: the one before it in its
        stream, those of events, those of the default stream.
    share : float
        Part of the SMs that a kernel fills; 1 for copies.
    kind : str
        "operation"; of the host "issue", "work" or "wait".
    reads, writes : tuple of str
        Buffers on the device.
    """

    name: str
    stream: str
    engine: str
    start_us: float
    end_us: float
    waits_for: tuple[str, ...] = ()
    share: float = 1.0
    kind: str = "operation"
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def us(self) -> float:
        """The duration in microseconds."""
        return self.end_us - self.start_us


@dataclass(frozen=True)
class Conflict:
    """Two unordered operations on one buffer, at least one of which writes.

    In this schedule one may follow the other; on a GPU nothing guarantees it.

    Attributes
    ----------
    buffer, first, second : str
        Names; `first` was issued first.
    """

    buffer: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"nothing orders {self.first} and {self.second} on {self.buffer}"
