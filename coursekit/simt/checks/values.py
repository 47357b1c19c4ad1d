"""Initcheck: values that are used although nothing wrote them."""

from __future__ import annotations

import numpy as np

from coursekit.simt.checks import wording
from coursekit.simt.checks.findings import ERROR, NOTE, Collector
from coursekit.simt.checks.flow import COPY, LEAVES, UNUSED, USED, Uses
from coursekit.simt.checks.watching import Enough, Observer
from coursekit.simt.isa import traits
from coursekit.simt.memory.memory import POISON
from coursekit.simt.ptx.ir import Register, Vector

WORD = 4
# Blocks at each end of the grid whose variables are looked at.
BLOCKS = 1


class InitCheck(Observer):
    """Records for every place whether something has been written there.

    Attributes
    ----------
    names : frozenset of str
        Variables that the source declares without a value.
    fresh : list of Region
        Device memory that the host has not filled.
    """

    spaces = frozenset(("shared", "local", "global"))

    def __init__(self, names=frozenset()):
        self.found = Collector()
        self.names = names
        self.fresh: list = []
        self._valid: dict = {}
        self._uses: dict = {}
        self._copied: dict = {}
        self._copies: set = set()
        self._flying: dict = {}

    def attach(self, launch):
        """Start with what earlier launches left in device memory."""
        program = super().attach(launch)
        for region in self.fresh:
            self._valid[region] = written_places(region, self.unit)
        return program

    def starts(self, block) -> None:
        for region in block.shared.regions:
            places = -(-region.nbytes // self.unit)
            self._valid[region] = np.zeros(places, bool)
            self._flying.pop(region, None)
        if block.launch.local_bytes:
            for warp in block.warps:
                self._valid[warp.local] = np.zeros(warp.local.nbytes, bool)

    def begins(self, access, warp, part) -> None:
        region = part[0]
        if access.writes and region in self._valid:
            places = self._places(access, part)
            flying = self._flying.setdefault(region, np.zeros(region.nbytes, bool))
            flying[places], self._valid[region][places] = True, False

    def _places(self, access, part) -> np.ndarray:
        region, _, offsets = part
        unit = 1 if region.space == "local" else self.unit
        places = offsets.astype(np.int64)[:, None] // unit
        return places + np.arange(access.width // unit)

    def touches(self, access, warp, part) -> None:
        region, lanes, _ = part
        valid = self._valid.get(region)
        if region.space not in self.spaces:
            return
        if valid is None:
            if self._copies and access.verb == "writes":
                self._hand_out(access, warp, part)
            return
        places = self._places(access, part)
        if access.copies and access.writes and region in self._flying:
            self._flying[region][places] = False
        if access.verb == "reads":
            written = valid[places]
            if traits.of(access.instruction).consumes or access.copies:
                if not written.all():
                    self._report(ERROR, access, warp, part, ~written.all(axis=1))
            elif self._copied or not written.all():
                self._read(access, warp, part, written)
        elif access.verb == "writes":
            valid[places] = True
            if self._copied:
                self._pass_on(access, warp, lanes, (valid, places))
        else:
            written = valid[places].all(axis=1)
            if not written.all() and "exch" not in access.instruction.modifiers:
                self._report(ERROR, access, warp, part, ~written)
            valid[places] = True

    # -- reads ------------------------------------------------------------------------

    def _read(self, access, warp, part, written) -> None:
        """Report or pass on the uninitialised elements that a load has read.

        If a part of an element is initialised, the rest counts as padding of a struct.
        """
        registers = _registers(access.instruction, 0)
        by_element = written.reshape(len(written), len(registers), -1)
        nothing = ~written.any(axis=1)
        uses = self._uses_of(access.function)
        for k, register in enumerate(registers):
            use = UNUSED if register is None else uses.of(register, part[0].space)
            if use == UNUSED:
                continue
            whole = by_element[:, k].all(axis=1)
            blank = ~by_element[:, k].any(axis=1)
            harmful = {COPY: blank & False, LEAVES: nothing, USED: blank}[use]
            if harmful.any():
                self._report(ERROR, access, warp, part, harmful)
            elif not whole.all():
                self._report(NOTE, access, warp, part, ~whole)
            if use == COPY:
                self._copies.add((warp.frame, register.index))
            if use != USED:
                self._remember(warp, register, part[1], by_element[:, k])

    def _remember(self, warp, register, lanes, written) -> None:
        """Record which bytes of a register are copies of initialised memory."""
        key = warp.frame, register.index
        known = self._copied.get(key)
        if known is None or known.shape[1] != written.shape[1]:
            if written.all():
                return
            known = self._copied[key] = np.ones((32, written.shape[1]), bool)
        known[lanes] = written

    def _pass_on(self, access, warp, lanes, target) -> None:
        """Mark copies of uninitialised values as uninitialised."""
        valid, places = target
        registers = _registers(access.instruction, 1)
        columns = places.shape[1] // len(registers)
        for k, register in enumerate(registers):
            if isinstance(register, Register):
                known = self._copied.get((warp.frame, register.index))
                if known is not None and known.shape[1] == columns:
                    into = places[:, k * columns : (k + 1) * columns]
                    valid[into] = known[lanes]

    def _hand_out(self, access, warp, part) -> None:
        """Report uninitialised values that are stored to an array of the host."""
        bad = False
        for register in _registers(access.instruction, 1):
            key = warp.frame, getattr(register, "index", None)
            if key in self._copies:
                known = self._copied.get(key)
                bad = bad | (False if known is None else ~known[part[1]].any(axis=1))
        if np.any(bad):
            where = access.instruction.location or access.instruction.text
            first = int(np.argmax(bad))
            self.found.add(
                ERROR, ("handed out", where), int(np.count_nonzero(bad)),
                lambda: wording.handed_out(access, warp, part, first),
            )  # fmt: skip

    def _uses_of(self, function) -> Uses:
        found = self._uses.get(function.name)
        if found is None:
            found = self._uses[function.name] = Uses(function)
        return found

    def _report(self, kind, access, warp, part, bad) -> None:
        def make():
            position = int(np.argmax(bad))
            flying = self._flying.get(part[0])
            places = self._places(access, part)[position]
            copied = flying is not None and bool(flying[places].any())
            names = self.names
            return wording.unwritten(
                access, warp, part, position, kind, copied=copied, names=names
            )

        where = access.instruction.location or access.instruction.text
        key = part[0].name, where
        self.found.add(kind, key, int(np.count_nonzero(bad)), make)


class VariableCheck(InitCheck):
    """Initcheck of the variables of threads and blocks, in the first blocks alone.

    Attributes
    ----------
    left_out : bool
        Whether there were more blocks.
    """

    spaces = frozenset(("local", "shared"))

    def __init__(self, names):
        super().__init__(names)
        self.more, self.left_out = BLOCKS, False

    def starts(self, block) -> None:
        if self.more == 0:
            self.left_out = True
            raise Enough
        self.more -= 1
        super().starts(block)


def _registers(instruction, position: int) -> tuple:
    operand = instruction.operands[position]
    return operand.elements if isinstance(operand, Vector) else (operand,)


def written_places(region, unit: int) -> np.ndarray:
    """Return which places of device memory do not hold the poison pattern.

    Only whole words count: one or two bytes may equal the pattern by chance.
    """
    padded = np.full(-(-region.nbytes // 16) * 16, POISON, np.uint8)
    padded[: region.nbytes] = region.data
    words = (padded.reshape(-1, WORD) != POISON).any(axis=1)
    if unit >= WORD:
        return words.reshape(-1, unit // WORD).any(axis=1)
    return np.repeat(words, WORD // unit)
