"""Clusters: blocks that run side by side and reach each other's shared memory.

An address of shared memory has the number of its block in the cluster above bit 18,
plus 1, so that a plain address of the own block means what it always means. The
barrier of a cluster has two halves: `arrive` never waits, and `wait` waits until all
threads of all blocks that have not exited have arrived.
"""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.isa import traits
from coursekit.simt.memory import faults
from coursekit.simt.memory.memory import SHARED_SPAN
from coursekit.simt.ptx.ir import BYTES, Register

SPAN_BITS = SHARED_SPAN.bit_length() - 1


def uses_clusters(function) -> bool:
    """Whether a function reaches other blocks of a cluster, or waits for them."""
    return any(_is_of_clusters(one) for one in function.instructions)


def _is_of_clusters(instruction) -> bool:
    row = traits.of(instruction)
    if instruction.opcode == "mapa" or traits.is_cluster_barrier(instruction):
        return True
    plain = row.memory and row.memory != traits.COPY
    return bool(plain) and "shared::cluster" in instruction.modifiers


class Cluster:
    """The blocks of one cluster, and its barrier.

    Parameters
    ----------
    blocks : list of Block
        By rank; they are used again for the next cluster.

    Attributes
    ----------
    phase : int
        How often the barrier has opened.
    """

    def __init__(self, blocks):
        self.blocks = blocks
        for rank, block in enumerate(blocks):
            block.cluster, block.rank = self, rank

    def start(self) -> None:
        """Begin: no thread has arrived, none waits, all blocks are there."""
        self.phase = 0
        self.waiting: list[tuple] = []
        self.gone: set[int] = set()
        warps = [warp for block in self.blocks for warp in block.warps]
        self._arrived = {warp: np.zeros(32, np.int64) for warp in warps}
        self._waited = {warp: np.zeros(32, np.int64) for warp in warps}

    def arrive(self, warp, barrier) -> None:
        """Let the current lanes arrive."""
        arrived, lanes = self._arrived[warp], warp.mask
        twice = lanes & (arrived > self._waited[warp])
        if twice.any():
            raise _arrives_twice(warp, int(np.argmax(twice)), barrier.instruction)
        arrived[lanes] += 1
        if warp.observer is not None:
            warp.observer.arrives_in_cluster(warp, barrier.releases)
        self.open_if_full()

    def wait(self, warp, barrier) -> bool:
        """Let the current lanes wait; return whether they need not."""
        lanes, waited = warp.mask, self._waited[warp]
        never = lanes & (waited == self._arrived[warp])
        if never.any():
            raise _never_arrived(warp, int(np.argmax(never)), barrier.instruction)
        waited[lanes] += 1
        if int(waited[lanes].max()) <= self.phase:
            self._leave(warp, lanes)
            return True
        self.waiting.append((warp, warp.split, barrier))
        return False

    def open_if_full(self) -> None:
        """Open the barrier if all threads that have not exited have arrived."""
        live = False
        for warp, arrived in self._arrived.items():
            if (warp.live & (arrived <= self.phase)).any():
                return
            live = live or bool(warp.live.any())
        if not live:
            return
        self.phase += 1
        observer = self.blocks[0].observer
        if observer is not None:
            observer.opens_cluster(self)
        waiting, self.waiting = self.waiting, []
        for warp, split, _ in waiting:
            self._leave(warp, split.mask)
            warp.resume(split)

    def _leave(self, warp, lanes) -> None:
        if warp.observer is not None:
            warp.observer.leaves_cluster_barrier(warp, lanes)

    def reached(self, block, address: int):
        """Return the block that an address of shared memory means, and the rest of it.

        Returns
        -------
        Block or None
            None if the cluster has no such block, or if that has ended.
        """
        rank = (address >> SPAN_BITS) - 1
        rank = block.rank if rank < 0 else rank
        there = rank < len(self.blocks) and rank not in self.gone
        return self.blocks[rank] if there else None

    def stuck(self) -> errors.KernelError:
        """Build the error for threads that wait for others that never arrive."""
        if not self.waiting:
            from coursekit.simt.interpreter import stalls

            return stalls.stuck(next(b for b in self.blocks if b.alive))
        warp, split, barrier = self.waiting[0]
        for other, arrived in self._arrived.items():
            missing = other.live & (arrived <= self.phase)
            if missing.any():
                break
        thread = other.thread(int(np.argmax(missing)))
        return faults.kernel_error(
            errors.BarrierError, warp, int(np.argmax(split.mask)), barrier.instruction,
            "{thread} waits at the barrier of its cluster, and thread "
            f"{thread} of block {other.block.index} never arrives there.",
            "The barrier of a cluster waits for all threads of all its blocks that "
            "have not exited: a GPU waits for ever, too.",
            "Let every thread of every block of the cluster come to the barrier.",
        )  # fmt: skip


class ClusterBarrier:
    """One half of the barrier of a cluster: `barrier.cluster.arrive` or `.wait`."""

    excuses_exited = True
    threads = None

    def __init__(self, decoder, instruction, number):
        self.instruction, self.next = instruction, number + 1
        words = instruction.modifiers
        self.arrives = "arrive" in words
        self.releases = self.arrives and "relaxed" not in words
        self.aligned = "aligned" in words

    def finish(self, warp):
        """Arrive, or wait, with the current lanes."""
        absent = warp.live & ~warp.mask
        if self.aligned and absent.any():
            raise _divided(warp, int(np.argmax(absent)), self.instruction)
        cluster = warp.block.cluster
        if self.arrives:
            cluster.arrive(warp, self)
            return self.next
        if cluster.wait(warp, self):
            return self.next
        warp.park(self)
        return None


def make_map(decoder, instruction):
    """Make the step of `mapa`: the address of a variable in another block."""
    target, source, rank = instruction.operands
    type_ = instruction.type
    layout = decoder.layout
    slot = decoder.destination(target, type_)
    ranks = layout.operand(rank, "u32")
    if isinstance(source, Register):
        place = layout.register(source, f"u{8 * BYTES[source.type]}")
    else:
        place = layout.operand(source, type_)

    def step(warp):
        addresses, blocks = warp.slots[place], warp.slots[ranks]
        _check_ranks(warp, blocks, instruction)
        word = addresses.dtype.type
        own = addresses & ~word(0x3F << SPAN_BITS)
        moved = own + ((blocks.astype(addresses.dtype) + word(1)) << word(SPAN_BITS))
        np.copyto(warp.slots[slot], moved, where=warp.mask)

    return step


def _check_ranks(warp, ranks, instruction) -> None:
    count = len(warp.block.cluster.blocks)
    bad = warp.mask & (ranks >= count)
    if bad.any():
        lane = int(np.argmax(bad))
        raise faults.kernel_error(
            errors.OutOfBoundsError, warp, lane, instruction,
            f"{{thread}} asks for the shared memory of block {int(ranks[lane])} of its "
            f"cluster, which has {count} blocks.",
            "Blocks of a cluster are numbered from 0; the number of blocks is that of "
            "__cluster_dims__, or of the launch.",
            "Ask for a block below cluster_nctarank.",
        )  # fmt: skip


def _arrives_twice(warp, lane: int, instruction) -> errors.BarrierError:
    return faults.kernel_error(
        errors.BarrierError, warp, lane, instruction,
        "{thread} arrives at the barrier of its cluster a second time, and has not "
        "waited since the first.",
        "Arrive and wait alternate in every thread; otherwise the result is undefined.",
        "Wait before the next arrival.",
    )  # fmt: skip


def _never_arrived(warp, lane: int, instruction) -> errors.BarrierError:
    return faults.kernel_error(
        errors.BarrierError, warp, lane, instruction,
        "{thread} waits at the barrier of its cluster and has not arrived there.",
        "A thread that only waits does not count as one that has arrived.",
        "Arrive before the wait, in every thread.",
    )  # fmt: skip


def _divided(warp, lane: int, instruction) -> errors.BarrierError:
    return faults.kernel_error(
        errors.BarrierError, warp, int(np.argmax(warp.mask)), instruction,
        f"{{thread}} comes to an aligned barrier of its cluster without thread "
        f"{warp.thread(lane)} of its warp.",
        "`.aligned` promises that all threads of a warp execute the barrier together.",
        "Call it where the whole warp comes, or leave out `.aligned`.",
    )  # fmt: skip


MAKERS = {"mapa": make_map}
