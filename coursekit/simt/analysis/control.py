"""Control flow of a function: basic blocks and where divergent paths reconverge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Function, Instruction, Label

EXIT = -1


@dataclass(slots=True)
class BasicBlock:
    """Instructions [start, stop) and the blocks that may follow.

    `reconvergence` is the immediate post-dominator: the block in which lanes that
    diverge at the end of this one come together again, or EXIT.
    """

    start: int
    stop: int
    successors: tuple[int, ...] = ()
    reconvergence: int = EXIT


def ends_block(instruction: Instruction) -> bool:
    """Whether an instruction ends its basic block."""
    row = traits.of(instruction)
    return row.waits or row.leads_elsewhere


def basic_blocks(function: Function, starts=()) -> list[BasicBlock]:
    """Split a function into basic blocks with successors and reconvergence points.

    A block begins at the instructions `starts`, too.
    """
    code = function.instructions
    starts = {0, *starts, *(i for i in function.labels.values() if i < len(code))}
    starts |= {i + 1 for i, one in enumerate(code) if ends_block(one)}
    ordered = sorted(s for s in starts if s < len(code))
    number = {start: b for b, start in enumerate(ordered)}
    blocks = [
        BasicBlock(start, stop)
        for start, stop in zip(ordered, [*ordered[1:], len(code)], strict=True)
    ]
    for b, block in enumerate(blocks):
        block.successors = _successors(function, blocks, b, number)
    points = reconvergence_points([block.successors for block in blocks])
    for block, point in zip(blocks, points, strict=True):
        block.reconvergence = point
    return blocks


def _successors(function, blocks, b, number) -> tuple[int, ...]:
    following = b + 1 if b + 1 < len(blocks) else EXIT
    last = function.instructions[blocks[b].stop - 1]

    def target(label: str) -> int:
        return number.get(function.labels[label], EXIT)

    row = traits.of(last)
    if row.indexed:
        table = function.branch_tables[last.operands[1].name]
        jumps = tuple(dict.fromkeys(target(name) for name in table))
        return jumps if last.guard is None else (*jumps, following)
    if row.jumps and not row.calls:
        label = next(o for o in last.operands if isinstance(o, Label))
        jump = target(label.name)
        return (jump,) if last.guard is None else (jump, following)
    if row.leaves:
        return (EXIT,) if last.guard is None else (EXIT, following)
    return (following,)


def reconvergence_points(successors: Sequence[tuple[int, ...]]) -> list[int]:
    """Find the immediate post-dominator of every block of a control-flow graph.

    Source: Cooper, Harvey and Kennedy (2001), on the reversed graph.
    """
    order = _reverse_postorder(successors)
    rank = {node: i for i, node in enumerate(order)}
    dominator: dict[int, int] = {EXIT: EXIT}

    def common(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = dominator[a]
            while rank[b] > rank[a]:
                b = dominator[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            found = None
            for successor in successors[node]:
                if successor in dominator and successor in rank:
                    found = successor if found is None else common(found, successor)
            if found is not None and dominator.get(node) != found:
                dominator[node] = found
                changed = True
    return [dominator.get(b, EXIT) for b in range(len(successors))]


def _reverse_postorder(successors: Sequence[tuple[int, ...]]) -> list[int]:
    """Return nodes that reach EXIT in reverse postorder of the reversed graph."""
    predecessors: dict[int, list[int]] = {EXIT: []}
    for b, following in enumerate(successors):
        predecessors.setdefault(b, [])
        for successor in following:
            predecessors.setdefault(successor, []).append(b)
    seen, finished = {EXIT}, []
    stack = [(EXIT, iter(predecessors[EXIT]))]
    while stack:
        node, rest = stack[-1]
        for nearer in rest:
            if nearer not in seen:
                seen.add(nearer)
                stack.append((nearer, iter(predecessors[nearer])))
                break
        else:
            finished.append(node)
            stack.pop()
    return finished[::-1]
