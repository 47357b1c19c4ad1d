"""Order of turns, trial and result of a launch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursekit import errors
from coursekit.simt.memory.counters import Counters

# Turns that a warp spins before lanes that wait for it to join them go on alone;
# one turn once that has happened, since a lock brings it about for every lane.
PATIENCE = 16
RESIDENT_BLOCKS = 1024
MOST_SHUFFLED = 1 << 24  # blocks; of more even a list of their numbers is too large
# Warp instructions after which the blocks that are done tell how long all will take.
GLANCE_WORK = 16_000
# Local memory that a thread may have, on every GPU.
LOCAL_BYTES = 512 << 10


@dataclass(frozen=True)
class Order:
    """The order in which the warps of a block, and the blocks, take turns.

    `kind` is "forward", "reverse", "seed" or "list"; a seed draws a new order for
    every stretch between barriers. Blocks of a very large grid keep their order.
    """

    kind: str = "forward"
    seed: int = 0
    warps: tuple[int, ...] = ()

    @classmethod
    def of(cls, order) -> Order:
        """Read "forward", "reverse", an int seed, or a list of warp numbers."""
        if order in ("forward", "reverse"):
            return cls(order)
        if isinstance(order, (int, np.integer)) and not isinstance(order, bool):
            return cls("seed", seed=int(order))
        if isinstance(order, (list, tuple)) and all(
            isinstance(w, (int, np.integer)) for w in order
        ):
            return cls("list", warps=tuple(int(w) for w in order))
        raise errors.ArgumentError.explained(
            f"order={order!r} is not an order of warps.",
            "",
            'Use "forward", "reverse", an int seed, or a list of warp numbers.',
        )

    def arrange(self, block) -> list:
        """Return the warps of a block in the order of this turn."""
        warps = block.warps
        if self.kind == "reverse":
            return warps[::-1]
        if self.kind == "seed":
            shuffled = list(warps)
            block.launch.random.shuffle(shuffled)
            return shuffled
        if self.kind == "list":
            named = [warps[w] for w in self.warps if 0 <= w < len(warps)]
            return named + [w for w in warps if w not in named]
        return warps

    def block_numbers(self, count: int) -> Sequence[int]:
        """Return the linear indices of all blocks in order."""
        numbers = range(count)
        if self.kind == "reverse":
            return numbers[::-1]
        if self.kind == "seed" and count <= MOST_SHUFFLED:
            return random.Random(self.seed).sample(numbers, count)
        return numbers


class OutOfTime(Exception):
    """Compiled code has exceeded its time limit, in the block at a position."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


class TriedLongEnough(Exception):
    """The trial of a launch in the interpreter has exceeded its limit."""


class Trial:
    """A trial run in the interpreter, which can be undone.

    Parameters
    ----------
    work : int
        Warp instructions that the whole launch may take.
    nbytes : int
        Bytes of the arrays of which a copy may be kept.
    """

    def __init__(self, work: int, nbytes: int):
        self.work, self.room = work, nbytes
        self.copies: dict = {}

    def keep(self, region) -> None:
        """Copy an array before the first write to it.

        Raises
        ------
        TriedLongEnough
            The copies would take more than the room that there is for them.
        """
        if region in self.copies or region.space == "shared":
            return
        self.room -= region.nbytes
        if self.room < 0:
            raise TriedLongEnough
        self.copies[region] = region.data.copy()

    def check(self, spent: int, done: int, blocks: int) -> None:
        """Stop a launch that is predicted to exceed the trial's work.

        Raises
        ------
        TriedLongEnough
            The `done` blocks tell that all will take more.
        """
        if spent > GLANCE_WORK:
            # As if the block that runs were done.
            expected = spent * blocks / min(done + 1, blocks)
            if expected > self.work:
                raise TriedLongEnough

    def put_back(self) -> None:
        """Restore the arrays as they were before the trial."""
        for region, data in self.copies.items():
            region.data[:] = data


@dataclass(frozen=True)
class LaunchResult:
    """The result of a launch besides the contents of memory.

    `engine` is "compiled", "interpreter" or "both"; `note` says why the interpreter ran
    where compiled code was asked for.
    """

    counters: Counters | None
    engine: str = "interpreter"
    note: str = ""
