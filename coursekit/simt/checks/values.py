"""Values that are used although nothing wrote them."""

from __future__ import annotations

import numpy as np

from coursekit.simt.checks import wording
from coursekit.simt.checks.findings import ERROR, NOTE, Collector
from coursekit.simt.checks.flow import COPY, LEAVES, UNUSED, USED, Uses
from coursekit.simt.checks.watching import Observer
from coursekit.simt.ir import Register, Vector
from coursekit.simt.memory import POISON

WORD = 4


class InitCheck(Observer):
    """Keeps for every place whether something has been written there.

    Attributes
    ----------
    fresh : list of Region
        Device memory that the host has not filled.
    """

    def __init__(self):
        self.found = Collector()
        self.fresh: list = []
        self._valid: dict = {}
        self._uses: dict = {}
        self._copied: dict = {}
        self._flying: dict = {}

    def attach(self, launch):
        """Begin with what earlier launches left in device memory."""
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
        region, lanes, offsets = part
        valid = self._valid.get(region)
        if valid is None:
            return
        places = self._places(access, part)
        if access.copies and region in self._flying:
            self._flying[region][places] = False
        if access.verb == "reads":
            written = valid[places]
            if self._copied or not written.all():
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
        """Judge what happens to each element that a load found unwritten.

        Where a part of it is written, the rest is taken for the bytes between the
        members of a struct.
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
            if use != USED:
                self._remember(warp, register, part[1], by_element[:, k])

    def _remember(self, warp, register, lanes, written) -> None:
        """Note which bytes of a register are a copy of something written."""
        key = warp.frame, register.index
        known = self._copied.get(key)
        if known is None or known.shape[1] != written.shape[1]:
            if written.all():
                return
            known = self._copied[key] = np.ones((32, written.shape[1]), bool)
        known[lanes] = written

    def _pass_on(self, access, warp, lanes, target) -> None:
        """Mark copies of unwritten values as unwritten."""
        valid, places = target
        registers = _registers(access.instruction, 1)
        columns = places.shape[1] // len(registers)
        for k, register in enumerate(registers):
            if isinstance(register, Register):
                known = self._copied.get((warp.frame, register.index))
                if known is not None and known.shape[1] == columns:
                    into = places[:, k * columns : (k + 1) * columns]
                    valid[into] = known[lanes]

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
            return wording.unwritten(access, warp, part, position, kind, copied=copied)

        where = access.instruction.location or access.instruction.text
        key = part[0].name, where
        self.found.add(kind, key, int(np.count_nonzero(bad)), make)


def _registers(instruction, position: int) -> tuple:
    operand = instruction.operands[position]
    return operand.elements if isinstance(operand, Vector) else (operand,)


def written_places(region, unit: int) -> np.ndarray:
    """Which places of device memory do not hold the pattern of fresh memory.

    Only whole words count: a byte or two may look like it by chance.
    """
    padded = np.full(-(-region.nbytes // 16) * 16, POISON, np.uint8)
    padded[: region.nbytes] = region.data
    words = (padded.reshape(-1, WORD) != POISON).any(axis=1)
    if unit >= WORD:
        return words.reshape(-1, unit // WORD).any(axis=1)
    return np.repeat(words, WORD // unit)
