"""An observer that records every step of one warp.

Like the checkers, it lets the launch run a decoded program of its own. Other launches
run at full speed.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from coursekit.simt.analysis.instructions import polls
from coursekit.simt.checks.watching import Enough, Observer
from coursekit.simt.interpreter.collectives import lane_bits
from coursekit.simt.run.limits import Order
from coursekit.simt.tracing.drafting import Draft
from coursekit.simt.tracing.following import TracingDecoder
from coursekit.simt.tracing.steps import LANES, Step

_TALKING = {"atom", "red", "membar", "fence"}


@dataclass(frozen=True)
class OneBlock(Order):
    """The order of a launch that runs a single block."""

    number: int = 0

    def block_numbers(self, count: int) -> list[int]:
        """Return the one block."""
        return [self.number]


class Tracer(Observer):
    """Records warp `warp` of block `block` for at most `limit` steps.

    Other blocks run only if blocks communicate with each other.

    Attributes
    ----------
    steps : list of Step
        What the warp did; complete after `close`.
    full : bool
        Whether the warp would have gone on.
    """

    def __init__(self, block: tuple[int, int, int], warp: int, limit: int):
        self.block, self.warp, self.limit = block, warp, limit
        self.steps: list[Step] = []
        self.full = False
        self._open: list[Draft] = []
        self._calls: dict[int, int] = {}
        self._frames: list = []

    def configured(self, configuration):
        """Return the configuration of a launch that prints nothing, of one block."""
        functions = configuration.program.reachable(configuration.name)
        code = [one for function in functions for one in function.instructions]
        order = configuration.order
        if not configuration.cooperative and not any(map(_talks, code)):
            (x, y, z), (width, height, _) = self.block, configuration.grid
            number = (z * height + y) * width + x
            order = OneBlock(order.kind, order.seed, order.warps, number)
        return replace(configuration, write=_print_nothing, order=order)

    def watched(self, program):
        """Return the program itself, until a launch is there."""
        return program

    def attach(self, launch):
        """Begin to observe; return the program that the launch is to run."""
        self.launch = launch
        return launch.program.decoded_by(functools.partial(TracingDecoder, self))

    def watches(self, warp) -> bool:
        """Whether this is the traced warp."""
        return warp.index == self.warp and warp.block.index == self.block

    def begin(self, warp, instruction, function, writes, mask) -> Draft:
        """Record that lanes `mask` are about to execute an instruction."""
        self._settle(mask)
        if len(self.steps) >= self.limit:
            self.full = True
            raise Enough
        frame = warp.frame
        if id(frame) not in self._calls:
            self._calls[id(frame)] = len(self._calls)
            self._frames.append(frame)  # so that no other frame gets its id
        draft = Draft(self.launch.program, instruction, mask, lane_bits(warp.live))
        draft.function, draft.call = function.name, self._calls[id(frame)]
        draft.writes, draft.slots = writes, warp.slots
        draft.position = len(self.steps)
        self.steps.append(draft)
        self._open.append(draft)
        return draft

    def ended(self, warp) -> None:
        """Stop when the warp has exited the kernel."""
        if not warp.live.any():
            raise Enough

    def close(self) -> list[Step]:
        """Finish the last steps, and return all of them."""
        self._settle(np.ones(LANES, bool))
        return self.steps

    def _settle(self, mask) -> None:
        """Read the results of unfinished steps before their lanes continue.

        A shuffle whose lanes had to wait writes its result long after it began.
        """
        waiting = []
        for draft in self._open:
            if (draft.mask & mask).any() or not draft.mask.any():
                self.steps[draft.position] = draft.step()
            else:
                waiting.append(draft)
        self._open = waiting

    def touch(self, access, warp, addresses) -> None:
        """Record the addresses of an access before they are checked."""
        if self._open and self.watches(warp):
            self._open[-1].reach(access, warp, addresses)

    def count(self, counts: dict[str, int]) -> None:
        """Record what the latest access added to the counters."""
        self._open[-1].counts = counts


def _print_nothing(text: str) -> None:
    """Discard the text of a printf."""


def _talks(instruction) -> bool:
    return instruction.opcode in _TALKING or polls(instruction)
