"""Memcheck: every access outside of memory, not only the first."""

from __future__ import annotations

import numpy as np

from coursekit.errors import OutOfBoundsError
from coursekit.simt.checks.findings import ERROR, Collector
from coursekit.simt.checks.watching import Observer
from coursekit.simt.interpreter.access import Access

# Refused accesses of threads after which a launch is stopped.
ENOUGH = 20_000


class MemCheck(Observer):
    """Skips accesses outside of memory, and records them line by line.

    A lane whose load is skipped keeps what its register held before.
    """

    def __init__(self):
        self.found = Collector()
        self.refused = 0

    def locate(self, access, warp, addresses) -> tuple:
        """Return the bytes of those lanes whose access is legal."""
        try:
            return Access.parts(access, warp, addresses)
        except OutOfBoundsError:
            if self.refused > ENOUGH:
                raise
            mask, everything = warp.mask, warp.all
            try:
                return self._rest(access, warp, addresses)
            finally:
                warp.mask, warp.all = mask, everything

    def _rest(self, access, warp, addresses) -> tuple:
        good = np.zeros(32, bool)
        for lane in np.flatnonzero(warp.mask).tolist():
            warp.mask, warp.all = warp.lane == lane, False
            try:
                Access.parts(access, warp, addresses)
                good[lane] = True
            except OutOfBoundsError as error:
                self._note(error.with_traceback(None))
        warp.mask = good
        return Access.parts(access, warp, addresses) if good.any() else ()

    def _note(self, error) -> None:
        self.refused += 1
        self.found.add(ERROR, (error.file, error.line), 1, lambda: error)
