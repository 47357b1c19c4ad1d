"""Synccheck: divergent barriers, shuffles from absent lanes, copies not waited for."""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.checks import wording
from coursekit.simt.checks.clashes import line
from coursekit.simt.checks.findings import ERROR, NOTE, WARNING, Collector
from coursekit.simt.checks.flights import Flights, Touched
from coursekit.simt.checks.watching import Observer
from coursekit.simt.memory import faults

_BIT = (np.uint32(1) << np.arange(32, dtype=np.uint32)).astype(np.uint32)


class SyncCheck(Observer):
    """Finds shuffles from absent lanes, and blocks that wait at several barriers.

    It also finds shared memory that is used while an asynchronous copy, for which its
    thread has not waited, is to write it. Threads that never come to a barrier or a
    warp function stop a launch anyway.
    """

    def __init__(self):
        self.found = Collector()
        self._copies: list = []
        self._flights = Flights()

    def starts(self, block) -> None:
        """Forget the copies of the block that ran before."""
        self._flights.forget(block.shared.regions)

    def begins(self, access, warp, part) -> None:
        """Report a copy to bytes that another unfinished copy writes; record it."""
        if access.writes and part[0].space == "shared":
            touched = Touched.of(access, warp, part)
            self._run_into(touched)
            self._flights.begin(touched, len(self._copies))
            self._copies.append(access)

    def touches(self, access, warp, part) -> None:
        """Report accesses to bytes that unfinished copies are to write."""
        if self._flights and part[0].space == "shared":
            touched = Touched.of(access, warp, part)
            if access.copies:
                self._flights.land(part[0], touched.places)
            else:
                self._run_into(touched)

    def _run_into(self, touched) -> None:
        for at, others, number in self._flights.members(touched):
            copy, first = self._copies[number], int(at[0]) // touched.each

            def make(copy=copy, first=first, other=int(others[0])):
                return wording.unawaited(touched, copy, first, other)

            key = "copy", line(touched.access), line(copy)
            self.found.add(ERROR, key, len(at) // touched.each, make)

    def shuffles(self, warp, instruction, source) -> None:
        """Report lanes that read from a lane which does not take part."""
        bad = warp.mask & ~warp.mask[source]
        if not bad.any():
            return
        lane = int(np.argmax(bad))
        wanted = int(source[lane])
        state = "does not take part"
        if not warp.live[wanted]:
            state = "has left the kernel" if warp.present[wanted] else "does not exist"

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, lane, instruction,
                f"{{thread}} takes a value from lane {wanted} of its warp, which "
                f"{state}: the value is undefined.",
                "A shuffle gives the value of a lane only if that lane executes it "
                "too and is named in the mask.",
                "Let all lanes of the warp run the shuffle, those without work with "
                "a neutral value such as 0.",
            )  # fmt: skip

        key = "shuffle", _key(instruction)
        self.found.add(ERROR, key, int(np.count_nonzero(bad)), make)

    def synchronises(self, warp, instruction, named, lanes) -> None:
        """Report member masks that name lanes which have exited."""
        absent = ((np.uint32(named) & _BIT) != 0) & ~warp.live
        if not absent.any():
            return
        lane, missing = int(np.argmax(lanes)), int(np.argmax(absent))

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, lane, instruction,
                f"{{thread}} names lane {missing} in the mask of "
                f"`{instruction.name}`, but no thread is there.",
                "The block is no multiple of 32 threads, or threads returned early.",
                "That is allowed as long as nobody uses a value of that lane.",
            )  # fmt: skip

        self.found.add(NOTE, ("mask", _key(instruction)), 1, make)

    def opens(self, block, arrivals) -> None:
        """Report a barrier at which threads arrived from different lines."""
        first = None
        for warp, split, barrier in arrivals.splits:
            first = first or barrier
            here, there = barrier.instruction.location, first.instruction.location
            if barrier.threads is None and here != there:
                self._differ(warp, split, barrier, first)
                return

    def _differ(self, warp, split, barrier, first) -> None:
        program = self.launch.program
        _, shown = faults.source_place(program, first.instruction.location)

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, int(np.argmax(split.mask)),
                barrier.instruction,
                "{thread} waits at another barrier than the first warps of its "
                f"block, which wait at\n  {shown}",
                "A __syncthreads() stands in a branch; this works only as long as "
                "whole warps take the same way and the numbers of barriers agree.",
                "Move the barrier out of the branch, so that all threads wait at "
                "the same one.",
            )  # fmt: skip

        key = "barriers", _key(barrier.instruction), _key(first.instruction)
        self.found.add(WARNING, key, 1, make)


def _key(instruction):
    return instruction.location or instruction.text
