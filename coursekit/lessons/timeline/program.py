"""The steps of a host program that uses a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

IN, OUT, COPY, COMPUTE, HOST = "H2D", "D2H", "copy", "compute", "host"


@dataclass(eq=False)
class Issue:
    """One operation that the host issues to a stream.

    Attributes
    ----------
    name, stream, engine : str
    us : Fraction
        The time that its engine works on it.
    share : Fraction
        Part of the SMs that a kernel fills; 1 for copies.
    launch_us : Fraction
        The time that the host needs to issue it.
    blocks_host : bool
        Whether the call returns only when the operation is done.
    after : frozenset of int
        Operations that CUDA orders before this one, by number.
    awaited : frozenset of int
        Operations that the host has waited for before it issued this one.
    reads, writes : tuple of str
        Buffers on the device.
    number : int
        Its place in the order of issue.
    """

    name: str
    stream: str
    engine: str
    us: Fraction
    share: Fraction = Fraction(1)
    launch_us: Fraction = Fraction(0)
    blocks_host: bool = False
    after: frozenset[int] = frozenset()
    awaited: frozenset[int] = frozenset()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    number: int = -1


@dataclass(frozen=True, eq=False)
class Batch:
    """Operations that the host submits together, at the cost of one launch."""

    name: str
    launch_us: Fraction
    issues: list[Issue] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Work:
    """A computation of the host."""

    name: str
    us: Fraction


@dataclass(frozen=True, eq=False)
class Sync:
    """A wait of the host for these operations."""

    name: str
    numbers: frozenset[int]


Step = Batch | Work | Sync
