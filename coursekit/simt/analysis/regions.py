"""Loops and conditions of a control-flow graph, of PTX or of machine code."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from coursekit.simt.analysis.control import EXIT, reconvergence_points


class ControlFlow:
    """The basic blocks in loops, and the number of branches that each depends on.

    Parameters
    ----------
    successors : sequence of tuple of int
        For each basic block the blocks that may follow it, EXIT among them.
    """

    EXIT = EXIT

    def __init__(self, successors: Sequence[tuple[int, ...]]):
        self.successors = successors

    @functools.cached_property
    def cyclic(self) -> set[int]:
        """The blocks that may be executed again after themselves."""
        return {b for b in range(len(self.successors)) if b in self._reached(b)}

    def _reached(self, start: int) -> set[int]:
        reached: set[int] = set()
        pending = list(self.successors[start])
        while pending:
            block = pending.pop()
            if block != EXIT and block not in reached:
                reached.add(block)
                pending += self.successors[block]
        return reached

    @functools.cached_property
    def depths(self) -> list[int]:
        """The number of branches on which each block is control dependent.

        Source: Ferrante, Ottenstein and Warren (1987), control dependence.
        """
        deciders: list[set[int]] = [set() for _ in self.successors]
        reconvergence = reconvergence_points(self.successors)
        for branch, following in enumerate(self.successors):
            if len(following) < 2:
                continue
            for successor in following:
                while successor not in (EXIT, reconvergence[branch]):
                    deciders[successor].add(branch)
                    successor = reconvergence[successor]
        return [len(_closure(deciders, b)) for b in range(len(self.successors))]


def _closure(deciders: list[set[int]], block: int) -> set[int]:
    closure: set[int] = set()
    pending = list(deciders[block])
    while pending:
        branch = pending.pop()
        if branch not in closure:
            closure.add(branch)
            pending += deciders[branch]
    return closure
