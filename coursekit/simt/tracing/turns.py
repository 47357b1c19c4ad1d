"""Orders of turns chosen from outside: warps stop after each shared access.

An observer lets a launch run a program in which a warp stops after each access that
other warps may conflict with. Before each turn it asks whose turn it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.simt.analysis.control import ends_block
from coursekit.simt.checks.watching import Observer
from coursekit.simt.interpreter.access import READS, Access
from coursekit.simt.interpreter.decode import Decoder
from coursekit.simt.memory import faults
from coursekit.simt.run.limits import Order

BARRIER = "barrier"
MOST_EVENTS = 20_000
_MEMORY = {"ld", "ldu", "st", "atom", "red"}
_ELSEWHERE = {"param", "local", "const"}


@dataclass(frozen=True)
class Event:
    """An action of a warp that other warps may notice: an access, or a barrier.

    Attributes
    ----------
    warp, epoch : int
        Who, and how many barriers it had passed before.
    verb : str
        "reads", "writes", "updates" or "barrier".
    array, item_bytes : str, int
        What it reaches, and the bytes of an element.
    spans : frozenset of (int, int)
        First byte and number of bytes of each piece.
    line, site : int, (str, int)
        Source line; function and number of the instruction.
    """

    warp: int
    epoch: int
    verb: str
    array: str = ""
    item_bytes: int = 4
    spans: frozenset = frozenset()
    line: int = 0
    site: tuple = ("", 0)
    space: str = "shared"

    @functools.cached_property
    def touched(self) -> int:
        """Every byte that the event touches, as bits of a number."""
        found = 0
        for at, width in self.spans:
            found |= ((1 << width) - 1) << at
        return found

    def races_with(self, other: Event) -> int | None:
        """Return an element for which two events race, or None."""
        if self.warp == other.warp or self.epoch != other.epoch:
            return None
        return self.conflicts_with(other)

    def conflicts_with(self, other: Event) -> int | None:
        """Return an element that both touch and one writes, ordered or not."""
        alike = (self.array, self.space) == (other.array, other.space)
        reads = self.verb == other.verb == READS
        atomic = self.verb == other.verb == "updates"
        if BARRIER in (self.verb, other.verb) or not alike or reads or atomic:
            return None
        shared = self.touched & other.touched
        return lowest(shared) // self.item_bytes if shared else None


def lowest(bits: int) -> int:
    """Return the position of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


@dataclass(frozen=True)
class Asking(Order):
    """An order of turns that asks an observer for each turn."""

    turns: Turns | None = None

    def arrange(self, block) -> list:
        """Return the warp whose turn it is."""
        return self.turns.next(block)


class Turns(Observer):
    """Lets warps take turns as `choose` says, and records their events.

    Parameters
    ----------
    choose : callable
        Given the warps that can go on, in ascending order, returns one of them.
    plan : sequence of sequence of Event, optional
        What each warp is known to do; a warp whose next event is a barrier, or that
        has none left, goes on without being asked.
    sites : set, optional
        Instructions after which a warp stops; every access unless given.
    """

    def __init__(
        self,
        choose: Callable[[list[int]], int],
        plan: Sequence[Sequence[Event]] | None = None,
        sites: set | None = None,
    ):
        self.choose, self.plan, self.sites = choose, plan, sites
        self.events: list[Event] = []
        self.done: dict[int, int] = {}
        self.epochs: dict[int, int] = {}

    def configured(self, configuration):
        """Return a configuration that prints nothing and asks for each turn."""
        order = Asking(turns=self)
        return replace(configuration, write=lambda text: None, order=order)

    def watched(self, program):
        """Return the program itself, until a launch is there."""
        return program

    def attach(self, launch):
        """Begin to observe; return the program that the launch is to run."""
        self.launch = launch
        return launch.program.decoded_by(functools.partial(StoppingDecoder, self))

    def next(self, block) -> list:
        """Return the warp whose turn it is, made ready; all warps if none can go on."""
        able = [warp for warp in block.warps if _able(warp)]
        if not able:
            return block.warps
        free = [warp for warp in able if not self._asks(warp)]
        if free:
            chosen = free[0]
        else:
            number = self.choose([warp.index for warp in able])
            chosen = next(warp for warp in able if warp.index == number)
        for split in list(chosen.parked):
            if split.waits_for is _STOP:
                chosen.resume(split)
        return [chosen]

    def _asks(self, warp) -> bool:
        if self.plan is None:
            return True
        known, position = self.plan[warp.index], self.done.get(warp.index, 0)
        return position < len(known) and known[position].verb != BARRIER

    def note(self, warp, event_of) -> None:
        """Record an event of a warp."""
        if len(self.events) >= MOST_EVENTS:
            raise ArgumentError.explained(
                f"the warps of this kernel have more than {MOST_EVENTS:,} turns.",
                "Each access of memory that warps share is a turn.",
                "Give a smaller input, and fewer warps.",
            )
        epoch = self.epochs.get(warp.index, 0)
        event = event_of(epoch)
        self.events.append(event)
        self.done[warp.index] = self.done.get(warp.index, 0) + 1
        if event.verb == BARRIER:
            self.epochs[warp.index] = epoch + 1


_STOP = object()


def _able(warp) -> bool:
    stopped = any(split.waits_for is _STOP for split in warp.parked)
    collective = any(hasattr(split.waits_for, "join") for split in warp.parked)
    return bool(warp.ready) or stopped or collective


class StoppingAccess(Access):
    """A memory instruction after which a warp may stop."""

    def __init__(self, turns, site, instruction, space, width, verb):
        super().__init__(instruction, space, width, verb)
        self.turns, self.site = turns, site

    def parts(self, warp, addresses):
        """Record the bytes of the active lanes, and find them."""
        found = super().parts(warp, addresses)
        for region, _, offsets in found:
            if region.space in ("global", "shared"):
                self.turns.note(warp, functools.partial(self._event, warp, region,
                                                        offsets))  # fmt: skip
        return found

    def _event(self, warp, region, offsets, epoch: int) -> Event:
        place, _ = faults.source_place(
            warp.block.launch.program, self.instruction.location
        )
        item = region.dtype.itemsize if region.dtype is not None else self.width
        spans = frozenset((int(at), self.width) for at in np.unique(offsets))
        return Event(
            warp.index, epoch, self.verb, faults.readable(region.name), item, spans,
            place.line if place else 0, self.site, region.space,
        )  # fmt: skip


class StoppingDecoder(Decoder):
    """Decodes a program in which warps stop after accesses."""

    def __init__(self, turns, program, function):
        self.turns = turns
        super().__init__(program, function)

    def block_starts(self) -> tuple[int, ...]:
        """Return instructions after the accesses at which a warp stops."""
        return tuple(one.index + 1 for one in self.function.instructions
                     if self._stops_after(one))  # fmt: skip

    def _stops_after(self, one) -> bool:
        if one.opcode not in _MEMORY or _ELSEWHERE & set(one.modifiers):
            return False
        sites = self.turns.sites
        return sites is None or (self.function.name, one.index) in sites

    def access(self, instruction, space, width, verb) -> Access:
        """Make an access that is recorded, if it is one to stop at."""
        if not self._stops_after(instruction):
            return super().access(instruction, space, width, verb)
        site = self.function.name, instruction.index
        made = StoppingAccess(self.turns, site, instruction, space, width, verb)
        self.code.accesses.append(made)
        return made

    def decode(self):
        """Decode every block, with stops at the ends of some."""
        code = super().decode()
        for block in code.blocks:
            last = self.function.instructions[block.start + block.length - 1]
            if ends_block(last):
                block.finish = self._told(last, block.finish)
            elif self._stops_after(last):
                block.finish = _stopping(block.finish)
        return code

    def _told(self, instruction, finish):
        if instruction.opcode not in ("bar", "barrier") or (
            {"warp", "arrive"} & set(instruction.modifiers)
        ):
            return finish
        turns = self.turns

        def arriving(warp):
            place, _ = faults.source_place(
                warp.block.launch.program, instruction.location
            )
            line = place.line if place else 0
            turns.note(warp, lambda epoch: Event(warp.index, epoch, BARRIER, line=line))
            return finish(warp)

        return arriving


def _stopping(finish):
    def stop(warp):
        following = finish(warp)
        if following is not None:
            warp.park(_STOP)
        return None

    return stop
