"""`mbarrier`: barriers in shared memory that count arrivals and bytes.

A barrier is one word of 64 bits: whether it is one, the parity of its phase, bytes
announced less bytes come (which may run ahead either way), arrivals that are still
missing, and arrivals of a phase. Copies that report to a barrier move when a thread
asks for the end of its phase, and not before: who does not ask reads what was there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from coursekit.errors import BarrierError
from coursekit.simt.interpreter.access import READS, UPDATES, WRITES, Access
from coursekit.simt.interpreter.transfers import address_slot, reached
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import Immediate

WIDTH, MOST = 8, (1 << 20) - 1
_SIGNATURE = 1


@dataclass(frozen=True)
class Phase:
    """The state of a barrier.

    Attributes
    ----------
    parity : int
        0 in the first phase, 1 in the second, and so on in turns.
    missing, expected : int
        Arrivals still to come in this phase, and arrivals of each phase.
    announced : int
        Bytes announced less bytes come.
    """

    parity: int
    missing: int
    expected: int
    announced: int = 0

    @classmethod
    def read(cls, word: int) -> Phase | None:
        """Decode a word; None where it is no mbarrier."""
        if word >> 62 != _SIGNATURE:
            return None
        announced = (word >> 40 & (1 << 21) - 1) - (1 << 20)
        return cls(word >> 61 & 1, word >> 20 & MOST, word & MOST, announced)

    @property
    def word(self) -> int:
        """The state as the word in shared memory."""
        counts = (self.announced + (1 << 20)) << 40 | self.missing << 20 | self.expected
        return _SIGNATURE << 62 | self.parity << 61 | counts

    def after(self, arrivals: int = 0, announced: int = 0) -> Phase:
        """Return the state after arrivals and announced bytes; a full phase ends."""
        missing, more = self.missing - arrivals, self.announced + announced
        if missing or more:
            return replace(self, missing=missing, announced=more)
        return Phase(1 - self.parity, self.expected, self.expected)


def access_of(decoder, instruction, verb: str) -> Access:
    """Make the access object of an mbarrier instruction.

    It orders threads: an arrival publishes, a wait acquires.
    """
    shared = any(word.startswith("shared") for word in instruction.modifiers)
    made = decoder.access(instruction, "shared" if shared else None, WIDTH, verb)
    if verb != WRITES:
        made.strong = made.in_block = True
        made.releases, made.copies = verb == UPDATES, False
    if verb == READS:
        made.acquires = "relaxed" not in instruction.modifiers
    return made


def make(decoder, instruction):
    """Make the steps of `mbarrier.init`, `inval`, `arrive`, `expect_tx` and waits."""
    words = instruction.modifiers
    if words[0] in ("init", "inval"):
        return _init(decoder, instruction)
    if words[0] in ("arrive", "expect_tx"):
        return _arrive(decoder, instruction)
    if words[0] in ("test_wait", "try_wait"):
        return _wait(decoder, instruction)
    raise faults.unsupported(decoder.program, instruction)


def _count(decoder, operand, default: int):
    """Return a function of a warp: the 32 values of an operand."""
    if operand is None or isinstance(operand, Immediate):
        value = default if operand is None else int(operand.value)
        return lambda warp: np.full(32, value, np.int64)
    slot = decoder.layout.operand(operand, "u32")
    return lambda warp: warp.slots[slot].astype(np.int64)


def _init(decoder, instruction):
    access = access_of(decoder, instruction, WRITES)
    place = address_slot(decoder, instruction.operands[0], access.space)
    invalid = instruction.modifiers[0] == "inval"
    operand = None if invalid else instruction.operands[1]
    count = _count(decoder, operand, 0)

    def step(warp):
        counts = count(warp)
        for region, lane, offset in each(access, warp, reached(warp, *place)):
            expected = int(counts[lane])
            if not invalid and not 1 <= expected <= MOST:
                raise faults.kernel_error(
                    BarrierError, warp, lane, instruction,
                    f"{{thread}} makes a barrier for {expected} arrivals.",
                    "A barrier takes 1 to 1,048,575 arrivals a phase.",
                    "Count the threads that arrive at it in each phase.",
                )  # fmt: skip
            word = 0 if invalid else Phase(0, expected, expected).word
            region.view(WIDTH)[offset // WIDTH] = word

    return step


def each(access, warp, addresses, *, watched: bool = True):
    """Yield (region, lane, offset) for the active lanes, without counting them."""
    counting, warp.counting = warp.counting, False
    find = access.parts if watched else lambda w, a: Access.parts(access, w, a)
    try:
        found = find(warp, addresses)
    finally:
        warp.counting = counting
    for region, lanes, offsets in found:
        numbers = np.arange(32)[lanes]
        for lane, offset in zip(numbers.tolist(), offsets.tolist(), strict=True):
            yield region, lane, int(offset)


def _arrive(decoder, instruction):
    words, operands = instruction.modifiers, list(instruction.operands)
    arrives = words[0] == "arrive"
    state = operands.pop(0) if arrives else None
    access = access_of(decoder, instruction, UPDATES)
    place = address_slot(decoder, operands.pop(0), access.space)
    slot = None if state is None else decoder.layout.register(state, "u64")
    amount = _count(decoder, operands[0] if operands else None, 1)
    announces = "expect_tx" in words

    def step(warp):
        amounts = amount(warp)
        for region, lane, offset in each(access, warp, reached(warp, *place)):
            here = Spot(warp, lane, instruction, region, offset)
            phase = here.phase()
            if slot is not None:
                warp.slots[slot][lane] = phase.word
            count = int(amounts[lane])
            arrivals = 0 if not arrives else 1 if announces else count
            if arrivals > phase.missing:
                phase = here.landed()
            here.update(phase, arrivals, count if announces else 0)

    return step


def _wait(decoder, instruction):
    words, operands = instruction.modifiers, instruction.operands
    access = access_of(decoder, instruction, READS)
    place = address_slot(decoder, operands[1], access.space)
    result = decoder.destination(operands[0], "pred")
    by_parity = "parity" in words
    wanted = decoder.layout.operand(operands[2], "u32" if by_parity else "u64")

    def step(warp):
        warp.polled = True
        addresses = reached(warp, *place)
        values, last = warp.slots[wanted].tolist(), None
        for region, lane, offset in each(access, warp, addresses, watched=False):
            if last != (region, offset):  # most often all lanes wait for one barrier
                last = region, offset
                phase = Spot(warp, lane, instruction, region, offset).landed()
            given = values[lane]
            parity = given & 1 if by_parity else given >> 61 & 1
            over = phase.parity != parity
            warp.awaited = None if over else (region, offset)
            if result is not None:
                warp.slots[result][lane] = over
            if over and warp.observer is not None:
                part = region, np.array([lane]), np.array([offset])
                warp.observer.touches(access, warp, part)

    return step


@dataclass(frozen=True)
class Spot:
    """An mbarrier as one lane accesses it."""

    warp: object
    lane: int
    instruction: object
    region: object
    offset: int

    def phase(self) -> Phase:
        """The state of the mbarrier.

        Raises
        ------
        BarrierError
            No barrier has been made there.
        """
        found = Phase.read(int(self.region.view(WIDTH)[self.offset // WIDTH]))
        if found is None:
            name = faults.readable(self.region.name) or "shared memory"
            raise self._error(
                f"{{thread}} uses a barrier at byte {self.offset} of {name}, where "
                "none has been made.",
                "barrier_init ran later, on another word, or not at all; or a store "
                "went over the barrier.",
                "Let one thread make it, and __syncthreads() before others use it.",
            )
        return found

    def update(self, phase: Phase, arrivals: int = 0, announced: int = 0) -> None:
        """Apply arrivals, and announced or completed bytes."""
        if arrivals > phase.missing:
            raise self._error(
                f"{{thread}} arrives at a barrier that takes {phase.expected} arrivals "
                "a phase, and has had them.",
                "More threads arrive than barrier_init was told, or one arrives again "
                "before the phase has ended.",
                "Count the arrivals of a phase, and wait for its end in between.",
            )
        if abs(phase.announced + announced) > MOST:
            raise self._error(
                f"{{thread}} announces {announced} bytes more at a barrier that holds "
                "1,048,575 at most.",
                "Bytes are announced that no copy brings.",
                "Announce the bytes of each copy once.",
            )
        word = phase.after(arrivals, announced).word
        self.region.view(WIDTH)[self.offset // WIDTH] = word

    def landed(self) -> Phase:
        """Return the state after all copies that complete here have moved."""
        flying = self.warp.block.flying
        for copy in flying.pop((self.region.address, self.offset), ()):
            copy.land(self)
        return self.phase()

    def _error(self, what: str, cause: str, cure: str):
        return faults.kernel_error(
            BarrierError, self.warp, self.lane, self.instruction, what, cause, cure
        )


MAKERS = {"mbarrier": make}
