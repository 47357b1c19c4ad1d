"""One thread block: its warps, its shared memory and its barriers."""

from __future__ import annotations

import math

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter import bulk_stores, interrupts, stalls
from coursekit.simt.interpreter.clusters import ClusterBarrier
from coursekit.simt.interpreter.collectives import Barrier
from coursekit.simt.interpreter.rendezvous import Collective
from coursekit.simt.interpreter.warp import LANES, Warp
from coursekit.simt.memory.memory import SharedMemory


class Arrivals:
    """The lanes that wait at one barrier."""

    def __init__(self, count: int | None):
        self.count = count
        self.threads = self.counted = self.votes = 0
        self.warps: set[Warp] = set()
        self.splits: list[tuple[Warp, object, Barrier]] = []


class Block:
    """A thread block with its warps; the object is reused for the next block."""

    def __init__(self, launch):
        self.launch = launch
        self.order = launch.configuration.order
        self.observer = launch.configuration.observer
        self.shared = SharedMemory(launch.shared_variables)
        self._specials = _special_registers(launch)
        self.warps = [Warp(self, i) for i in range(-(-launch.threads // LANES))]
        self.turns = 0  # of all blocks that this object stands for
        self.cluster, self.rank = None, 0

    def start(self, index: tuple[int, int, int], linear: int) -> None:
        """Begin block `index` of the grid."""
        self.index, self.linear = index, linear
        for name, value in _special_values(self.launch, index, linear).items():
            self._specials[name].fill(value)
        self.shared.clear()
        if self.observer is not None:
            self.observer.starts(self)
        self.barriers: dict[int, Arrivals] = {}
        self.flying: dict[tuple, list] = {}  # bulk copies, by the barrier they tell
        for warp in self.warps:
            warp.start()
        self.alive = self.launch.threads

    def special(self, warp, name: str) -> np.ndarray:
        """Return the 32 values of a special register."""
        if name.startswith("tid."):
            axis = "xyz".find(name[4])
            if axis >= 0:
                return warp.tid[axis]
        if name == "laneid":
            return warp.lane
        if name == "warpid":
            return np.full(LANES, warp.index, np.uint32)
        if name.startswith("lanemask_"):
            return lane_masks(name[9:])
        if name in self._specials:
            return self._specials[name]
        raise errors.UnsupportedError(f"special register %{name}")

    def run(self, fuel: int) -> str:
        """Run until the block is complete ("done") or only polls memory ("yield")."""
        while True:
            progress = yielded = False
            for warp in self.order.arrange(self):
                if not warp.ready and not warp.parked:
                    continue
                if not warp.ready and not _has_collective(warp):
                    continue
                before = warp.executed
                yielded |= warp.run(fuel) == "yield"
                self.launch.charge(warp)
                interrupts.poll()
                self.turns += 1
                if not self.turns & 63:
                    self.launch.check_time(warp)
                for name, arrivals in list(self.barriers.items()):
                    self._open_full(name, arrivals)
                progress |= warp.executed != before
            if not any(w.ready or w.parked for w in self.warps):
                bulk_stores.finish(self)
                return "done"
            if not progress and _waits_for_cluster(self):
                return "yield"
            if not progress:
                raise stalls.stuck(self)
            if yielded:
                return "yield"

    # -- barriers -------------------------------------------------------------------

    def arrive(self, warp, barrier: Barrier, name: int, count: int | None):
        """Let lanes of a warp arrive at a barrier; return the next block or None."""
        arrivals = self.barriers.setdefault(name, Arrivals(count))
        if arrivals.count is None:
            arrivals.count = count
        arrivals.threads += warp.count
        if not count or not barrier.aligned:
            arrivals.counted += warp.count
        elif warp not in arrivals.warps:
            arrivals.counted += LANES
            arrivals.warps.add(warp)
        if barrier.vote is not None:
            arrivals.votes += int(np.count_nonzero(barrier.votes(warp.split)))
        if not barrier.arrives_only:
            arrivals.splits.append((warp, warp.split, barrier))
            warp.park(barrier)
        self._open_full(name, arrivals)
        return barrier.next if barrier.arrives_only else None

    def _open_full(self, name: int, arrivals: Arrivals) -> None:
        """Open a barrier at which all have arrived, late lanes of warps included.

        Without a count these are the threads that have not exited.
        """
        late = any(w.ready for w, _, _ in arrivals.splits if w in arrivals.warps)
        full = arrivals.counted >= (arrivals.count or self.alive)
        if full and not late:
            self._open(name, arrivals)

    def _open(self, name: int, arrivals: Arrivals) -> None:
        del self.barriers[name]
        stalls.check_aligned(arrivals)
        if self.observer is not None:
            self.observer.opens(self, arrivals)
        for warp, split, barrier in arrivals.splits:
            barrier.give(split, arrivals.votes, arrivals.threads)
            warp.resume(split)


def _special_registers(launch) -> dict[str, np.ndarray]:
    """Return the special registers that all warps of a block share."""
    values = _special_values(launch, (0, 0, 0), 0)
    return {name: np.full(LANES, v, np.uint32) for name, v in values.items()}


def _special_values(launch, index, linear: int) -> dict[str, int]:
    """Return the values of the special registers of block `index`."""
    asked, workspace = launch.configuration, launch.workspace_address
    shape = asked.cluster or (1, 1, 1)
    place = [i % size for i, size in zip(index, shape, strict=True)]
    static = sum(size for _, size, _ in launch.shared_variables)
    values = {
        "smid": linear % asked.multiprocessors,
        "nsmid": asked.multiprocessors,
        "gridid": 1,
        "nwarpid": 64,
        "dynamic_smem_size": asked.shared_bytes,
        "total_smem_size": static,
        "envreg1": workspace >> 32,
        "envreg2": workspace & 0xFFFFFFFF,
        "is_explicit_cluster": int(asked.cluster is not None),
        "cluster_ctarank": place[0] + shape[0] * (place[1] + shape[1] * place[2]),
        "cluster_nctarank": math.prod(shape),
    }
    for axis, letter in enumerate("xyz"):
        values[f"ctaid.{letter}"] = index[axis]
        values[f"ntid.{letter}"] = asked.block_shape[axis]
        values[f"nctaid.{letter}"] = asked.grid[axis]
        values[f"clusterid.{letter}"] = index[axis] // shape[axis]
        values[f"nclusterid.{letter}"] = asked.grid[axis] // shape[axis]
        values[f"cluster_ctaid.{letter}"] = place[axis]
        values[f"cluster_nctaid.{letter}"] = shape[axis]
    return values


def _waits_for_cluster(block) -> bool:
    return any(
        isinstance(split.waits_for, ClusterBarrier)
        for warp in block.warps
        for split in warp.parked
    )


def _has_collective(warp) -> bool:
    return any(isinstance(s.waits_for, Collective) for s in warp.parked)


def lane_masks(kind: str) -> np.ndarray:
    """Return the values of %lanemask_eq, lt, le, gt or ge."""
    lanes = np.arange(LANES, dtype=np.uint64)
    own = np.uint64(1) << lanes
    below = own - np.uint64(1)
    masks = {"eq": own, "lt": below, "le": below | own,
             "gt": ~(below | own), "ge": ~below}  # fmt: skip
    return (masks[kind] & np.uint64(0xFFFFFFFF)).astype(np.uint32)
