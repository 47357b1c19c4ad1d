"""Shadow words of the race check, as LLVM IR: a stamp, a warp and a lane.

A word is 0, or a stamp, a warp and a lane of it. Stamps only grow: with each block,
each opening of a barrier and, in kernels whose warps synchronise, each time that a warp
does. All ones in the lane stand for several lanes, in the warp and the lane for several
warps.
In device memory the word ABROAD stands for threads of several blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from coursekit.simt.compiled.tier import COUNTER, OWN
from coursekit.simt.compiled.unit import WARP

# Place in a warp's record: the stamp of its last synchronisation.
SYNCHRONISED = 52
ABROAD = 1
# A place that an asynchronous copy is to write: nobody may touch it.
IN_FLIGHT = -1


class RaceContext(IntEnum):
    """Context fields that only the race check has."""

    NOW = 44  # the last stamp
    BEGUN = 45  # stamp at which the block began
    BARRIER = 46  # stamp of its last barrier
    SEEN = 47  # position of the block that has begun
    OVERFLOWS = 48  # stamps have run out
    TABLE = 49  # to [slots of device memory x 4 x i64], see `racing`
    WATCH = 50  # i32(i64 slot): called at the first write to a slot
    SHARED = 51  # 4 fields: as a row of the table, for shared memory
    SHADOW = 55  # host address of the first word of shared memory, and the bytes
    SHADOW_BYTES = 56


@dataclass(frozen=True)
class Form:
    """The bit fields of a kernel's shadow words.

    `synchronises` says whether its warps synchronise between barriers, `updates`
    whether it has atomics.
    """

    warps: int
    synchronises: bool
    updates: bool

    @cached_property
    def lane_bits(self) -> int:
        """The bits of the lane; with 6 bits, all ones stand for no lane."""
        return 6 if self.synchronises else 5

    @cached_property
    def shift(self) -> int:
        """The number of bits below the stamp."""
        return self.lane_bits + self.warps.bit_length()

    @property
    def many(self) -> int:
        """The bit pattern for several warps."""
        return (1 << self.shift) - 1

    @property
    def crowd(self) -> int:
        """The bit pattern for several lanes of a warp."""
        return (1 << self.lane_bits) - 1

    @property
    def warp_mask(self) -> int:
        """The mask of the bits of the warp."""
        return self.many - self.crowd


class Words:
    """Compares and builds shadow words: one (length 0), or a vector of them.

    Parameters
    ----------
    out : Builder
    form : Form
    space : "shared" or "global"
    length : int
    """

    def __init__(self, out, form: Form, space: str, length: int):
        self.out, self.form, self.length = out, form, length
        self.abroad = space == "global"
        self.type, self.flags = "i32", "i1"
        if length:
            self.type, self.flags = f"<{length} x i32>", f"<{length} x i1>"
        self._spread: dict[str, str] = {}
        self._read_times()

    def _read_times(self) -> None:
        """Load the present stamps."""
        self.barrier = self._field("%ctx", 8 * RaceContext.BARRIER)
        self.now = self.synchronised = self.barrier
        if self.abroad:
            self.begun = self._field("%ctx", 8 * RaceContext.BEGUN)
        number = self._field("%record", WARP)
        self.warp = self.out.op(f"shl i32 {number}, {self.form.lane_bits}")
        if self.form.synchronises:
            self.now = self._field("%ctx", 8 * RaceContext.NOW)
            synchronised = self._field("%record", SYNCHRONISED)
            self.out.declare("declare i32 @llvm.umax.i32(i32, i32)")
            self.synchronised = self.out.op(
                f"call i32 @llvm.umax.i32(i32 {synchronised}, i32 {self.barrier})"
            )

    def _field(self, pointer: str, offset: int) -> str:
        at = self.out.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return self.out.op(f"load i32, ptr {at}, {OWN}")

    # -- operations --------------------------------------------------------------------

    def op(self, verb: str, a: str, b) -> str:
        """Append an operation on words; scalars are broadcast."""
        return self.out.op(f"{verb} {self.type} {self.all(a)}, {self.all(b)}")

    def all(self, value) -> str:
        """Return a constant, or a named scalar, for all words."""
        if isinstance(value, int):
            return f"splat (i32 {value})" if self.length else str(value)
        return self._spread.get(value, value)

    def spread(self, name: str) -> str:
        """Broadcast a scalar to all words."""
        if self.length and name not in self._spread:
            one = self.out.op(f"insertelement {self.type} poison, i32 {name}, i32 0")
            self._spread[name] = self.out.op(
                f"shufflevector {self.type} {one}, {self.type} poison, "
                f"<{self.length} x i32> zeroinitializer"
            )
        return self._spread.get(name, name)

    def choose(self, flags: str, a, b) -> str:
        """Return `a` where a flag is set, `b` elsewhere."""
        one, other = (f"{self.type} {self.all(each)}" for each in (a, b))
        return self.out.op(f"select {self.flags} {flags}, {one}, {other}")

    def either(self, a: str, b: str) -> str:
        """Return flags that are set in at least one of two operands."""
        return self.out.op(f"or {self.flags} {a}, {b}")

    def listed(self, numbers) -> str:
        """Return a constant for each word."""
        if not self.length:
            return str(numbers[0])
        return f"<{', '.join(f'i32 {n}' for n in numbers)}>"

    # -- memory ------------------------------------------------------------------------

    def load(self, start: str, first: int) -> str:
        """Load words from the `first` one on, at a host address."""
        pointer = self._pointer(start, first)
        return self.out.op(f"load {self.type}, ptr {pointer}, align 4, {COUNTER}")

    def store(self, start: str, first: int, words: str) -> None:
        """Store words where `load` finds them."""
        pointer = self._pointer(start, first)
        self.out.line(f"store {self.type} {words}, ptr {pointer}, align 4, {COUNTER}")

    def _pointer(self, start: str, first: int) -> str:
        at = self.out.op(f"add i64 {start}, {4 * first}")
        return self.out.op(f"inttoptr i64 {at} to ptr")

    # -- who and when ------------------------------------------------------------------

    def by(self, owners) -> tuple[str, str | None]:
        """Return the words that lanes leave now, and what marks a word as their own.

        `owners` are numbers of lanes, or None for several lanes at once; such words are
        never recognised as their own, and if all are such, the second result is None.
        """
        several = [owner is None for owner in owners]
        lanes = self.listed([owner or 0 for owner in owners])
        now, warp = self.spread(self.now), self.spread(self.warp)
        own = self.op("or", warp, lanes)
        if not any(several):
            word = self.op("or", now, own)
            return word, own if self.form.synchronises else word
        crowd = self._crowd(now, warp)
        if all(several):
            return crowd, None
        word = self.op("or", now, own)
        flags = ", ".join(f"i1 {str(one).lower()}" for one in several)
        mixed = self.choose(f"<{flags}>", crowd, word)
        if self.form.synchronises:
            return mixed, self.op("or", own, self.listed([-one for one in several]))
        single = self.listed([one - 1 for one in several])
        return mixed, self.op("and", word, single)

    def by_lane(self, lane: str) -> tuple[str, str]:
        """Return what `by` does, for one lane whose number is a scalar."""
        own = self.op("or", self.warp, lane)
        word = self.op("or", self.now, own)
        return word, own if self.form.synchronises else word

    def _crowd(self, now: str, warp: str) -> str:
        """Return the word of several lanes of this warp."""
        if not self.form.synchronises:
            return self.op("or", now, self.form.many)
        return self.op("or", self.op("or", now, warp), self.form.crowd)

    def _of_warp(self, word: str) -> str:
        bits = self.op("and", word, self.form.warp_mask)
        return self.op("icmp eq", bits, self.spread(self.warp))

    def earlier(self, word: str) -> str:
        """Return whether an access in a word is ordered before this one."""
        limit = self.spread(self.barrier)
        if self.form.synchronises:
            limit = self.choose(
                self._of_warp(word), self.spread(self.synchronised), limit
            )
        if not self.abroad:
            return self.op("icmp ult", word, limit)
        begun = self.spread(self.begun)
        age, most = self.op("sub", word, begun), self.op("sub", limit, begun)
        nobody = self.op("icmp eq", word, 0)
        return self.either(self.op("icmp ult", age, most), nobody)

    def known(self, word: str, own: str | None) -> str:
        """Return whether it is ordered before this one, or by the same thread."""
        found = self.earlier(word)
        if own is None:
            return found
        if not self.form.synchronises:
            return self.either(found, self.op("icmp eq", word, own))
        same = self.op("icmp eq", self.op("and", word, self.form.many), own)
        if self.abroad:
            here = self.op("icmp uge", word, self.spread(self.begun))
            same = self.out.op(f"and {self.flags} {same}, {here}")
        return self.either(found, same)

    def added(self, word: str, mine: str, own: str | None) -> str:
        """Return the word of a recorded access joined with these lanes."""
        now = self.spread(self.now)
        together = self.op("or", now, self.form.many)
        if self.form.synchronises:
            crowd = self._crowd(now, self.spread(self.warp))
            together = self.choose(self._of_warp(word), crowd, together)
        if self.abroad:
            foreign = self.op("icmp ult", word, self.spread(self.begun))
            together = self.choose(foreign, ABROAD, together)
        return self.choose(self.known(word, own), mine, together)
