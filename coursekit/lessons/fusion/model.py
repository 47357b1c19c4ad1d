"""Bytes that a kernel moves when it computes several operations of a chain.

There are two figures for each tensor. The least: every byte moves once, as with perfect
caches. What warps request: 32 lanes take consecutive elements, and each request moves
whole 32-byte sectors, as ``ck.count`` counts them. The figures differ where a tensor is
broadcast, and where a warp stores one value of a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coursekit.errors import ArgumentError, CourseError
from coursekit.lessons.fusion.chain import Operation, Tensor, outputs

SECTOR_BYTES, LANES = 32, 32


@dataclass(frozen=True)
class Traffic:
    """A tensor that a kernel reads or writes, and the bytes moved for it."""

    name: str
    least: int
    asked: int


@dataclass(frozen=True)
class FusedKernel:
    """The operations that one launch computes, its reads and its writes."""

    operations: tuple[Operation, ...]
    reads: tuple[Traffic, ...]
    writes: tuple[Traffic, ...]

    @property
    def name(self) -> str:
        """The names of the results, joined by a plus."""
        return " + ".join(operation.name for operation in self.operations)

    @property
    def least(self) -> int:
        """The bytes that have to move when each is moved once."""
        return sum(part.least for part in (*self.reads, *self.writes))

    @property
    def asked(self) -> int:
        """The bytes of the sectors that the kernel's warps request."""
        return sum(part.asked for part in (*self.reads, *self.writes))


def read_bytes(tensor: Tensor, extent: Sequence[int]) -> int:
    """Return the bytes that warps request to read a tensor for a whole extent.

    Where the last axis is broadcast, all lanes of a warp read one value, which takes a
    sector. That holds for last axes of a multiple of 32.
    """
    elements = math.prod(extent)
    last = tensor.shape[-1] if tensor.shape else 1
    if extent and last != extent[-1]:
        return SECTOR_BYTES * -(-elements // LANES)
    return elements * tensor.itemsize


def write_bytes(operation: Operation) -> int:
    """Return the bytes that warps store; a single value takes a whole sector."""
    if operation.reduces:
        return SECTOR_BYTES * math.prod(operation.result.shape)
    return operation.result.nbytes


def kernel_of(group: Sequence[Operation], chain: Sequence[Operation]) -> FusedKernel:
    """Find what a kernel of some operations reads and writes."""
    inside = {operation.name for operation in group}
    outside = [operation for operation in chain if operation.name not in inside]
    needed = {tensor.name for operation in outside for tensor in operation.reads}
    needed |= outputs(chain)
    reads: dict[str, Traffic] = {}
    for operation in group:
        for tensor in operation.reads:
            if tensor.name in inside:
                continue
            asked = read_bytes(tensor, operation.extent)
            before = reads.get(tensor.name, Traffic(tensor.name, 0, 0)).asked
            most = max(asked, before)
            reads[tensor.name] = Traffic(tensor.name, tensor.nbytes, most)
    writes = (
        Traffic(operation.name, operation.result.nbytes, write_bytes(operation))
        for operation in group
        if operation.name in needed
    )
    return FusedKernel(tuple(group), tuple(reads.values()), tuple(writes))


def grouped(chain: Sequence[Operation], fuse: Any) -> tuple[FusedKernel, ...]:
    """Make the kernels of a chain, in an order in which they can run.

    Raises
    ------
    ArgumentError
        A group names what is not there, or no single kernel can compute it.
    """
    groups = _groups(chain, fuse)
    for group in groups:
        if clash := blocked(group):
            raise _needs_all(*clash)
    return tuple(kernel_of(group, chain) for group in _in_order(groups))


def blocked(group: Sequence[Operation]) -> tuple[Operation, Operation] | None:
    """Return a reduction of all elements and its reader in the same group."""
    for first in group:
        for second in group:
            uses = first.name in (tensor.name for tensor in second.reads)
            if first.reduces == "all" and uses:
                return first, second
    return None


def _groups(chain: Sequence[Operation], fuse: Any) -> list[list[Operation]]:
    by_name = {operation.name: operation for operation in chain}
    asked = [list(by_name)] if fuse == "all" else [list(group) for group in fuse]
    named = [name for group in asked for name in group]
    wrong = [name for name in named if name not in by_name]
    if wrong or len(set(named)) < len(named):
        raise ArgumentError.explained(
            f"ck.fusion cannot fuse {asked!r}.",
            "Each result can be in one group, and groups name results only: "
            f"{', '.join(by_name)}.",
            f"Write for example fuse=[{tuple(by_name)[:2]!r}].",
        )
    groups = [[op for op in chain if op.name in group] for group in asked if group]
    groups += [[op] for op in chain if op.name not in named]
    return sorted(groups, key=lambda group: chain.index(group[0]))


def _in_order(groups: list[list[Operation]]) -> list[list[Operation]]:
    """Order the groups so that each comes after those whose results it reads."""
    home = {op.name: number for number, group in enumerate(groups) for op in group}
    after = [
        {
            home[tensor.name]
            for operation in group
            for tensor in operation.reads
            if home.get(tensor.name, number) != number
        }
        for number, group in enumerate(groups)
    ]
    done: list[int] = []
    while len(done) < len(groups):
        ready = [n for n in range(len(groups)) if n not in done and after[n] <= {*done}]
        if not ready:
            raise _circle([g for n, g in enumerate(groups) if n not in done])
        done.append(ready[0])
    return [groups[number] for number in done]


def _needs_all(first: Operation, second: Operation) -> CourseError:
    return ArgumentError.explained(
        f"One kernel cannot compute both {first.text!r} and {second.text!r}.",
        f"{first.name} is complete only when every block has added its part, and "
        f"{second.name} needs it before.",
        "Leave them in two kernels, with a launch between.",
    )


def _circle(groups: list[list[Operation]]) -> CourseError:
    shown = " and ".join(", ".join(op.name for op in group) for group in groups)
    return ArgumentError.explained(
        f"These kernels wait for each other: {shown}.",
        "A group needs a result of another, which needs one of the group.",
        "Put what lies between into the group too, or split it.",
    )
