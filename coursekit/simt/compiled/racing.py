"""Race check of a launch in compiled code, which answers "none" or "perhaps".

Shadow words of global memory exist only during a launch. An array that is only read has
none: they are made at the first write. If the array was read before that, the launch
starts again with words for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from coursekit import errors
from coursekit.simt.compiled import engine
from coursekit.simt.compiled.race_code import RaceFastTier, RaceGeneralTier, form_of
from coursekit.simt.compiled.race_helpers import READ_BEFORE
from coursekit.simt.compiled.race_places import grains
from coursekit.simt.compiled.race_times import UNWATCHED
from coursekit.simt.compiled.runtime import aligned
from coursekit.simt.compiled.stamps import SYNCHRONISED, RaceContext
from coursekit.simt.compiled.workspace import FINISHED, STOPPED, Workspace
from coursekit.simt.memory.memory import (
    GLOBAL_BASE,
    SLOT_BITS,
    address_of,
    shared_layout,
)

MOST_BYTES = 1 << 30  # of words for global memory
_FIRST_SLOT = GLOBAL_BASE >> SLOT_BITS
_WATCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
SUSPECTS, MEMORY, LONG = (
    "accesses whose order only the interpreter can follow",
    "more global memory than the compiled race check watches",
    "more barriers than the compiled race check can count",
)


def _room(nbytes: int, grain: int) -> int:
    """Return the bytes of one word per place, in whole cache lines, plus one."""
    return -(-4 * nbytes // (64 * grain)) * 64 + 64


class RaceWorkspace(Workspace):
    """A workspace with shadow words.

    Attributes
    ----------
    watched : set of int
        Slots of arrays that are known to be read before they are written.
    why : str
        Why the code gave up, if it is not a suspicion.
    """

    def __init__(self, compiled, *, fast: bool = True):
        super().__init__(compiled, fast=fast)
        self.watched: set[int] = set()
        self._callback = _WATCH(self._watch)
        watch = ctypes.cast(self._callback, ctypes.c_void_p).value
        self.context[RaceContext.WATCH] = watch
        self.grains = grains(self.unit)
        # Kinds of words: writes, reads, and atomics where there are any.
        self.kinds = 2 + form_of(self.unit).updates

    def begin(self, launch) -> None:
        """Prepare a launch, without any recorded access."""
        super().begin(launch)
        self.why, self.grew, self._bytes = "", False, 0
        self._words[:, SYNCHRONISED // 4] = 0
        for field in (RaceContext.NOW, RaceContext.OVERFLOWS):
            self.context[field] = 0
        self.context[RaceContext.SEEN] = -1
        self._place_shared(launch)
        self._slots = {(r.address - GLOBAL_BASE) >> SLOT_BITS: r for r in self.regions}
        rows = np.full((max(self._slots, default=0) + 1, 4), UNWATCHED, np.int64)
        self.table, self._kept = rows, []
        # Code finds a row by the slot of an address.
        self.context[RaceContext.TABLE] = address_of(rows) - 32 * _FIRST_SLOT
        for slot in self.watched:
            self._allocate(slot)

    def _place_shared(self, launch) -> None:
        layout = shared_layout(launch.shared_variables)
        end = max([at + size for _, at, size in layout], default=0)
        span = _room(end, self.grains["shared"])
        words = aligned((self.kinds, span), np.uint8)
        self._set(RaceContext.SHADOW, words)
        self.context[RaceContext.SHADOW_BYTES] = span
        for kind in range(self.kinds):
            self.context[RaceContext.SHARED + kind] = address_of(words[kind])

    def _allocate(self, slot: int) -> None:
        """Allocate the shadow words of an array."""
        region, grain = self._slots[slot], self.grains["global"]
        each = _room(region.nbytes, grain)
        self._bytes += self.kinds * each
        try:
            enough = self._bytes <= MOST_BYTES
            words = aligned((self.kinds, each if enough else 0), np.uint8)
        except MemoryError:
            enough = False
        if not enough:
            self.why = MEMORY
            return
        self._kept.append(words)
        for kind in range(self.kinds):
            start = address_of(words[kind])
            self.table[slot, kind] = start - region.address * 4 // grain

    def _watch(self, number: int) -> int:
        """Start to watch an array at the first write to it."""
        slot = number - _FIRST_SLOT
        if self.table[slot, 0] == READ_BEFORE:
            self.watched.add(slot)
            self.grew = True
            return STOPPED
        self._allocate(slot)
        return STOPPED if self.why else FINISHED

    def end(self) -> None:
        """Release everything that belongs to the launch."""
        super().end()
        self.watched, self._kept, self._slots = set(), [], {}

    def check(self, launch, blocks: Sequence[int]) -> str:
        """Run all blocks; return "", or why races cannot be ruled out."""
        while True:
            self.begin(launch)
            done = 0 if self.why else self.run(blocks)
            if self.context[RaceContext.OVERFLOWS]:
                self.why = LONG
            if done == len(blocks) and not self.why:
                return ""
            self.undo()
            launch.start_again()
            if not self.grew or self.why:
                return self.why or SUSPECTS


RACES = engine.Sort(
    "races", {"fast": RaceFastTier, "general": RaceGeneralTier}, RaceWorkspace
)


def compiled_for(launch) -> engine.Compiled:
    """Return the compiled form of a kernel with the race check."""
    asked = launch.configuration
    return engine.compiled_for(
        launch.program, launch.code, asked.block_shape, {}, RACES
    ).for_launch(launch)


def check(compiled: engine.Compiled, launch, blocks) -> str:
    """Check a launch for races in compiled code.

    Returns
    -------
    str
        Nothing if no two accesses can race. Otherwise why that is not certain; then
        memory is as it was before.
    """
    try:
        workspace = compiled.workspace(fast=launch.configuration.engine != "general")
        launch.start_clock()  # compiling is no part of the launch
        try:
            return workspace.check(launch, blocks)
        except BaseException:
            workspace.undo()
            launch.start_again()
            raise
        finally:
            workspace.end()
    except errors.UnsupportedError as error:
        return str(error).splitlines()[0]
