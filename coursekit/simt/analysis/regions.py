"""Loops and conditions of a control-flow graph, of PTX or of machine code."""

from __future__ import annotations

from coursekit.simt.analysis.control import EXIT, BasicBlock


def cyclic(blocks: list[BasicBlock]) -> set[int]:
    """Blocks that may be executed again after themselves."""
    return {b for b in range(len(blocks)) if b in _reached(blocks, b)}


def _reached(blocks, start: int) -> set[int]:
    found: set[int] = set()
    pending = list(blocks[start].successors)
    while pending:
        block = pending.pop()
        if block != EXIT and block not in found:
            found.add(block)
            pending += blocks[block].successors
    return found


def control_depths(blocks: list[BasicBlock]) -> list[int]:
    """Number of branches that decide, directly or not, whether a block runs.

    Source: Ferrante, Ottenstein and Warren (1987), control dependence.
    """
    deciders: list[set[int]] = [set() for _ in blocks]
    for branch, block in enumerate(blocks):
        if len(block.successors) < 2:
            continue
        for successor in block.successors:
            while successor not in (EXIT, block.meet):
                deciders[successor].add(branch)
                successor = blocks[successor].meet
    return [len(_closure(deciders, b)) for b in range(len(blocks))]


def _closure(deciders: list[set[int]], block: int) -> set[int]:
    found: set[int] = set()
    pending = list(deciders[block])
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += deciders[one]
    return found
