"""Synccheck: divergent barriers, shuffles from absent lanes, copies not waited for."""

from __future__ import annotations

from itertools import pairwise

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
        """Report a copy to or from bytes that an unfinished copy writes; record it."""
        if part[0].space == "shared":
            touched = Touched.of(access, warp, part)
            self._run_into(touched)
            if access.writes:
                self._flights.begin(touched, len(self._copies))
                self._copies.append(access)

    def touches(self, access, warp, part) -> None:
        """Report accesses to bytes that unfinished copies are to write."""
        if self._flights and part[0].space == "shared":
            touched = Touched.of(access, warp, part)
            if access.copies and access.writes:
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
        """Report a barrier without exited threads, or at which several lines wait."""
        waiting = sorted(arrivals.splits, key=lambda arrival: arrival[0].index)
        waiting = [one for one in waiting if one[2].threads is None]
        if waiting and block.alive < self.launch.threads:
            self._excuse(block, *waiting[0])
        for (first, _, one), (warp, split, other) in pairwise(waiting):
            if one.instruction.location != other.instruction.location:
                if first is warp:
                    self._divide(warp, split, other, one)
                else:
                    self._differ(warp, split, other, one)

    def passes_by(self, warp, split, lanes) -> None:
        """Report lanes that pass by a barrier at which others of their warp wait."""
        lane, instruction = int(np.argmax(lanes)), split.waits_for.instruction

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, int(np.argmax(split.mask)), instruction,
                f"{{thread}} waits at a barrier that thread {warp.thread(lane)} of its "
                "warp passes by.",
                "All lanes of a warp that have not exited must come to the same "
                "barrier, else what happens is undefined: a GPU hangs, or goes on by "
                "luck.",
                "Move the barrier out of the branch; guard the work, not the barrier.",
            )  # fmt: skip

        self.found.add(ERROR, ("passed", _key(instruction)), 1, make)

    def _excuse(self, block, warp, split, barrier) -> None:
        """Note that a barrier did not wait for threads that have exited."""
        gone = next(one for one in block.warps if (one.present & ~one.live).any())
        missing = gone.thread(int(np.argmax(gone.present & ~gone.live)))

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, int(np.argmax(split.mask)),
                barrier.instruction,
                f"{{thread}} waits at a barrier without thread {missing}, which has "
                "left the kernel.",
                "Since Volta a barrier waits only for threads that have not exited, so "
                "the result is the same on a GPU.",
                "Better let all threads come to the barrier: guard the work, not the "
                "barrier.",
            )  # fmt: skip

        self.found.add(NOTE, ("exited", _key(barrier.instruction)), 1, make)

    def _divide(self, warp, split, barrier, first) -> None:
        """Report that lanes of one warp wait at different barriers."""
        program = self.launch.program
        _, shown = faults.source_place(program, first.instruction.location)

        def make():
            return faults.kernel_error(
                errors.BarrierError, warp, int(np.argmax(split.mask)),
                barrier.instruction,
                "{thread} waits at another barrier than other lanes of its warp, which "
                f"wait at\n  {shown}",
                "All lanes of a warp must come to the same barrier, else what happens "
                "is undefined: a GPU hangs, or goes on by luck.",
                "Move the barrier out of the branch; guard the work, not the barrier.",
            )  # fmt: skip

        key = "divided", _key(barrier.instruction), _key(first.instruction)
        self.found.add(ERROR, key, 1, make)

    def _differ(self, warp, split, barrier, first) -> None:
        """Report that warps wait at different barriers."""
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
