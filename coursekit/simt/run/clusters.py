"""Runs the blocks of a launch with clusters, one cluster after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from coursekit import errors
from coursekit.simt.interpreter.block import Block
from coursekit.simt.interpreter.clusters import Cluster
from coursekit.simt.interpreter.endless import EndlessLoopProof


def interpret(launch, numbers: Sequence[int]) -> None:
    """Run the clusters to which blocks belong, given by their linear indices.

    Clusters run one after the other, so that a block must not wait for another cluster.

    Raises
    ------
    UnsupportedError
        The launch is cooperative, too.
    """
    if launch.configuration.cooperative:
        raise errors.UnsupportedError.explained(
            f"{launch.configuration.name}: a cooperative launch with clusters.",
            "The simulator runs clusters one after the other, so that a barrier of the "
            "whole grid would never open.",
            "Launch without cooperative=True, or on a GPU.",
        )
    size = math.prod(launch.configuration.cluster)
    cluster = Cluster([launch.new_block() for _ in range(size)])
    for members in _clusters(launch, numbers):
        for block, (linear, index) in zip(cluster.blocks, members, strict=True):
            block.start(index, linear)
            launch.journal.note_start(len(block.warps))
        cluster.start()
        _run(launch, cluster)
        launch.check_trial()


def _clusters(launch, numbers: Sequence[int]) -> Iterator[list]:
    """Yield the (linear index, index) of each cluster's blocks, by rank."""
    wide, high, deep = launch.configuration.cluster
    columns, rows, _ = launch.configuration.grid
    seen = set()
    for _, (x, y, z) in launch.block_indices(numbers):
        first = x // wide * wide, y // high * high, z // deep * deep
        if first in seen:
            continue
        seen.add(first)
        places = [
            (first[0] + i, first[1] + j, first[2] + k)
            for k in range(deep)
            for j in range(high)
            for i in range(wide)
        ]
        yield [(a + columns * (b + rows * c), (a, b, c)) for a, b, c in places]


def _run(launch, cluster: Cluster) -> None:
    """Run one cluster to its end."""
    proof, pending = EndlessLoopProof(), list(cluster.blocks)
    while pending:
        before = launch.work, cluster.phase, len(pending)
        for block in _in_order(launch, pending):
            if block.run(launch.fuel) == "done":
                launch.journal.note_finished(block)
                cluster.gone.add(block.rank)
                pending.remove(block)
            cluster.open_if_full()
        if (launch.work, cluster.phase, len(pending)) == before:
            raise cluster.stuck()
        if len(pending) == before[2]:
            launch.check_endless(proof, pending)


def _in_order(launch, pending: list[Block]) -> list[Block]:
    """Return the blocks in the order of the launch."""
    kind = launch.configuration.order.kind
    if kind == "seed":
        return launch.random.sample(pending, len(pending))
    return pending[::-1] if kind == "reverse" else list(pending)
