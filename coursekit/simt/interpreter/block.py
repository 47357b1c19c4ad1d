"""One thread block: its warps, its shared memory and its barriers."""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter import interrupts
from coursekit.simt.interpreter.collectives import Barrier
from coursekit.simt.interpreter.rendezvous import Collective
from coursekit.simt.interpreter.warp import LANES, Warp
from coursekit.simt.memory import faults
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
        self.waiting = list(self.warps)

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
                return "done"
            if not progress:
                self._diagnose()
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
        """Open the barriers at which all have arrived, late lanes of warps included."""
        late = any(w.ready for w, _, _ in arrivals.splits if w in arrivals.warps)
        full = arrivals.counted >= (arrivals.count or self.launch.threads)
        if full and not late:
            self._open(name, arrivals)

    def _open(self, name: int, arrivals: Arrivals) -> None:
        del self.barriers[name]
        self._check_aligned(arrivals)
        if self.observer is not None:
            self.observer.opens(self, arrivals)
        for warp, split, barrier in arrivals.splits:
            barrier.give(split, arrivals.votes, arrivals.threads)
            warp.resume(split)

    @staticmethod
    def _check_aligned(arrivals: Arrivals) -> None:
        """Require that all lanes of a warp wait at the same aligned barrier."""
        seen: dict[int, Barrier] = {}
        for warp, split, barrier in arrivals.splits:
            other = seen.setdefault(id(warp), barrier)
            if barrier.aligned and other is not barrier:
                raise _divergent_barrier(
                    warp, barrier, int(np.argmax(split.mask)),
                    "another __syncthreads() is where other lanes of its warp wait",
                )  # fmt: skip

    # -- when nothing moves -----------------------------------------------------------

    def _diagnose(self) -> None:
        """Raise the error that explains why no warp of the block can continue."""
        for warp in self.warps:
            for split in warp.parked:
                if isinstance(split.waits_for, Collective):
                    raise split.waits_for.stuck(warp, split)
        waiting = [
            (warp, split, split.waits_for)
            for warp in self.warps
            for split in warp.parked
            if isinstance(split.waits_for, Barrier)
        ]
        warp, split, barrier = waiting[0]
        lane = int(np.argmax(split.mask))
        absent = self._absent(waiting)
        if absent is not None:
            raise _divergent_barrier(warp, barrier, lane, absent)
        raise self._deadlock(waiting)

    def _absent(self, waiting) -> str | None:
        """Return a thread that did not come to the barrier, and what it did instead."""
        for warp in self.warps:
            at_barrier = np.zeros(LANES, bool)
            for other, split, _ in waiting:
                if other is warp:
                    at_barrier |= split.mask
            missing = warp.present & ~at_barrier
            if missing.any():
                lane = int(np.argmax(missing))
                gone = not warp.live[lane]
                return f"thread {warp.thread(lane)} " + (
                    "has left the kernel" if gone else "took another branch"
                )
        return None

    def _deadlock(self, waiting):
        warp, split, barrier = waiting[0]
        places = []
        for one, _, other in waiting:
            _, shown = faults.source_place(
                self.launch.program, other.instruction.location
            )
            places.append(
                f"warp {one.index} waits at {shown or other.instruction.text}"
            )
        listed = "\n  ".join(dict.fromkeys(places))
        return faults.kernel_error(
            errors.DeadlockError, warp, int(np.argmax(split.mask)),
            barrier.instruction,
            f"block {self.index} cannot go on: its warps wait at different "
            f"barriers.\n  {listed}",
            "Barriers are matched by number and thread count; these never fill up.",
            "Let all threads of the block meet at the same barriers.",
        )  # fmt: skip


def _special_registers(launch) -> dict[str, np.ndarray]:
    """Return the special registers that all warps of a block share."""
    values = _special_values(launch, (0, 0, 0), 0)
    return {name: np.full(LANES, v, np.uint32) for name, v in values.items()}


def _special_values(launch, index, linear: int) -> dict[str, int]:
    """Return the values of the special registers of block `index`."""
    asked, workspace = launch.configuration, launch.workspace_address
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
        "is_explicit_cluster": 0,
        "cluster_ctarank": 0,
        "cluster_nctarank": 1,
    }
    for axis, letter in enumerate("xyz"):
        values[f"ctaid.{letter}"] = index[axis]
        values[f"ntid.{letter}"] = asked.block_shape[axis]
        values[f"nctaid.{letter}"] = asked.grid[axis]
        values[f"clusterid.{letter}"] = index[axis]
        values[f"nclusterid.{letter}"] = asked.grid[axis]
        values[f"cluster_ctaid.{letter}"] = 0
        values[f"cluster_nctaid.{letter}"] = 1
    return values


def _has_collective(warp) -> bool:
    return any(isinstance(s.waits_for, Collective) for s in warp.parked)


def _divergent_barrier(warp, barrier, lane, other: str):
    return faults.kernel_error(
        errors.BarrierError, warp, lane, barrier.instruction,
        f"{{thread}} waits at a barrier that not every thread of the block "
        f"reaches: {other}.",
        "A __syncthreads() stands inside a branch, or after an early return, that "
        "only some threads take.",
        "Move it to a place that every thread reaches; guard the work, not the "
        "barrier.",
    )  # fmt: skip


def lane_masks(kind: str) -> np.ndarray:
    """Return the values of %lanemask_eq, lt, le, gt or ge."""
    lanes = np.arange(LANES, dtype=np.uint64)
    own = np.uint64(1) << lanes
    below = own - np.uint64(1)
    masks = {"eq": own, "lt": below, "le": below | own,
             "gt": ~(below | own), "ge": ~below}  # fmt: skip
    return (masks[kind] & np.uint64(0xFFFFFFFF)).astype(np.uint32)
