"""Observers: the events of a launch, and the decoder that reports them.

A launch with an observer runs a decoded program of its own, whose memory instructions
report their accesses. Other launches run the plain program.
"""

from __future__ import annotations

from coursekit.simt.analysis.instructions import copied_bytes
from coursekit.simt.checks.expressions import Expressions
from coursekit.simt.interpreter.access import UPDATES, WRITES, Access
from coursekit.simt.interpreter.decode import Decoder
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import COPY
from coursekit.simt.ptx.ir import BYTES

_ELSEWHERE = {"param", "local", "const"}
_STRONG = {"volatile", "relaxed", "acquire", "release", "mmio"}
_RELEASES, _ACQUIRES = {"release", "acq_rel"}, {"acquire", "acq_rel"}


class Enough(Exception):
    """Ends a launch once its observer has seen enough."""


class Observer:
    """Observes a launch; each method does nothing unless a checker overrides it.

    With `compiles`, compiled code may decide that there are no findings.
    """

    compiles = False
    unit, shift = 1, 0  # bytes of a place, until a launch says more

    def configured(self, configuration):
        """Return the configuration for a launch under observation."""
        return configuration

    def attach(self, launch):
        """Begin to observe; return the program that the launch is to run."""
        self.launch = launch
        program = launch.program.decoded_once_by(WatchedDecoder)
        self.unit = narrowest(program.reachable(launch.configuration.name))
        self.shift = self.unit.bit_length() - 1
        return program

    def starts(self, block) -> None:
        """A block begins, with new shared memory."""

    def locate(self, access, warp, addresses) -> tuple:
        """Yield the bytes that the current lanes access, in parts."""
        return Access.parts(access, warp, addresses)

    def touches(self, access, warp, part) -> None:
        """An access is about to happen; `part` is (region, lanes, offsets)."""

    def begins(self, access, warp, part) -> None:
        """An asynchronous copy is to read or write `part`.

        Its writes are reported by `touches` when the copy is waited for.
        """

    def fences(self, warp, instruction) -> None:
        """The current lanes execute a memory fence."""

    def synchronises(self, warp, instruction, named: int, lanes) -> None:
        """Lanes of a warp synchronise; `named` is their member mask."""

    def opens(self, block, arrivals) -> None:
        """A barrier of a block opens."""

    def arrives_in_cluster(self, warp, releases: bool) -> None:
        """The current lanes arrive at the barrier of their cluster."""

    def opens_cluster(self, cluster) -> None:
        """The barrier of a cluster opens."""

    def leaves_cluster_barrier(self, warp, lanes) -> None:
        """Lanes have waited at the barrier of their cluster."""

    def passes_by(self, warp, split, lanes) -> None:
        """Lanes go on while others of their warp, `split`, wait at a barrier."""

    def shuffles(self, warp, instruction, source) -> None:
        """The current lanes execute a shuffle; `source` is the lane that each reads."""


class WatchedAccess(Access):
    """A memory instruction that reports its accesses to the observer.

    Attributes
    ----------
    expressions : Expressions
        Of the function.
    function : ir.Function
        Where the instruction stands.
    atomic, strong : bool
        Whether it updates, and whether it does not race with other strong accesses:
        atomics, and volatile, relaxed, acquiring or releasing loads and stores.
    copies, stores_in_bulk : bool
        Whether it is one side of an asynchronous copy, and whether of one from shared
        to global memory.
    releases, acquires : bool
        Whether it publishes what its thread did, without a fence before it, and whether
        its thread learns what others published, without a fence behind it.
    """

    def __init__(self, expressions, instruction, space, width, verb):
        super().__init__(instruction, space, width, verb)
        self.expressions, self.function = expressions, expressions.function
        words = set(instruction.modifiers)
        self.atomic = verb == UPDATES
        self.strong = self.atomic or bool(words & _STRONG)
        self.volatile = "volatile" in words
        self.copies = traits.of(instruction).memory == COPY
        self.stores_in_bulk = self.copies and "bulk_group" in words
        self.releases = bool(words & _RELEASES)
        self.acquires = bool(words & _ACQUIRES)
        self.in_block = "cta" in words
        self.writes = verb in (WRITES, UPDATES)

    def parts(self, warp, addresses):
        """Report the bytes of the active lanes to the observer, and yield them."""
        observer = warp.observer
        found = observer.locate(self, warp, addresses)
        for part in found:
            observer.touches(self, warp, part)
        return found


class WatchedDecoder(Decoder):
    """Decodes a program whose accesses and fences an observer sees."""

    _expressions: Expressions | None = None

    def access(self, instruction, space, width, verb) -> Access:
        """Make an access that the observer sees."""
        if self._expressions is None or self._expressions.function is not self.function:
            self._expressions = Expressions(self.function)
        made = WatchedAccess(self._expressions, instruction, space, width, verb)
        self.code.accesses.append(made)
        return made

    def _step(self, instruction):
        step = super()._step(instruction)
        if step is None and traits.of(instruction).fence:
            return lambda warp: warp.observer.fences(warp, instruction)
        return step


def narrowest(functions) -> int:
    """Return the bytes of the narrowest access: the granularity of shadows."""
    widths = [_width(one) for function in functions for one in function.instructions]
    return min(filter(None, widths), default=4)


def _width(instruction) -> int | None:
    """Return the bytes of one access; None for one that leaves no shadow."""
    row = traits.of(instruction)
    if row.memory == COPY:
        return copied_bytes(instruction)
    if not row.memory or not _ELSEWHERE.isdisjoint(instruction.modifiers):
        return None
    return row.lane_bytes or BYTES[instruction.type]
