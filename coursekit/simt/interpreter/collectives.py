"""Warp collectives and block barriers.

Warp collectives (shuffle, vote, match, redux, elect, bar.warp) wait until every
live lane of their member mask stands at the same instruction; block barriers
wait for threads of other warps. Each is an object: `finish(warp)` runs at the
end of its basic block, and a split that has to wait is parked with the object as
its reason.
"""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter.clusters import ClusterBarrier
from coursekit.simt.interpreter.rendezvous import Collective
from coursekit.simt.isa import traits
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import Not, Pair

BARRIERS = 16  # of a block
_LANE = np.arange(32, dtype=np.int64)


def lane_bits(mask: np.ndarray) -> int:
    """Return a lane mask as an int, lane 0 in bit 0."""
    return int(np.packbits(mask, bitorder="little").view(np.uint32)[0])


def make(decoder, instruction, number: int):
    """Return the `finish` of a basic block that ends in a collective or a barrier."""
    decoder.no_guard(instruction)
    if traits.of(instruction).barrier:
        modifiers = instruction.modifiers
        if "warp" in modifiers:
            return Collective(decoder, instruction, number, _warp_barrier).finish
        if "cluster" in modifiers:
            return ClusterBarrier(decoder, instruction, number).finish
        return Barrier(decoder, instruction, number).finish
    return Collective(decoder, instruction, number, MAKERS[instruction.opcode]).finish


def _warp_barrier(decoder, instruction, operands):
    return (lambda warp: None), []


def _shuffle(decoder, instruction, operands):
    target, value, lane, clamp = operands
    first = target.first if isinstance(target, Pair) else target
    second = target.second if isinstance(target, Pair) else None
    slot = decoder.destination(first, "b32") if first is not None else None
    valid = decoder.destination(second, "pred") if second is not None else None
    layout = decoder.layout
    value, lane = layout.operand(value, "b32"), layout.operand(lane, "b32")
    clamp = layout.operand(clamp, "b32")
    mode = next(m for m in instruction.modifiers if m in ("up", "down", "bfly", "idx"))

    def apply(warp):
        slots = warp.slots
        delta = (slots[lane] & 31).astype(np.int64)
        bound = (slots[clamp] & 31).astype(np.int64)
        segment = ((slots[clamp] >> 8) & 31).astype(np.int64)
        last = (_LANE & segment) | (bound & ~segment)
        if mode == "up":
            source = _LANE - delta
            inside = source >= last
        else:
            if mode == "down":
                source = _LANE + delta
            elif mode == "bfly":
                source = _LANE ^ delta
            else:
                source = (_LANE & segment) | (delta & ~segment)
            inside = source <= last
        source = np.where(inside, source, _LANE) & 31
        if warp.observer is not None:
            warp.observer.shuffles(warp, instruction, source)
        moved = slots[value][source]
        if slot is not None:
            np.copyto(slots[slot], moved, where=warp.mask)
        if valid is not None:
            np.copyto(slots[valid], inside, where=warp.mask)

    return apply, [slot, valid]


def _vote(decoder, instruction, operands):
    target, source = operands
    negated = isinstance(source, Not)
    source = decoder.layout.operand(source.register if negated else source, "pred")
    mode = next(m for m in instruction.modifiers
                if m in ("all", "any", "uni", "ballot"))  # fmt: skip
    slot = decoder.destination(target, "b32" if mode == "ballot" else "pred")

    def apply(warp):
        votes = (warp.slots[source] ^ negated) & warp.mask
        if mode == "ballot":
            result = np.uint32(lane_bits(votes))
        elif mode == "any":
            result = votes.any()
        else:
            every = np.array_equal(votes, warp.mask)
            result = every or (mode == "uni" and not votes.any())
        np.copyto(warp.slots[slot], result, where=warp.mask)

    return apply, [slot]


def _match(decoder, instruction, operands):
    target, source = operands
    pair = isinstance(target, Pair)
    slot = decoder.destination(target.first if pair else target, "b32")
    same = decoder.destination(target.second, "pred") if pair else None
    source = decoder.layout.operand(source, instruction.type)
    everyone = "all" in instruction.modifiers

    def apply(warp):
        values, result = warp.slots[source], np.zeros(32, np.uint32)
        for value in np.unique(values[warp.mask]):
            equal = (values == value) & warp.mask
            result[equal] = lane_bits(equal)
        if everyone:
            agree = len(np.unique(values[warp.mask])) == 1
            result = np.where(agree, result, np.uint32(0))
            if same is not None:
                np.copyto(warp.slots[same], agree, where=warp.mask)
        if slot is not None:
            np.copyto(warp.slots[slot], result, where=warp.mask)

    return apply, [slot, same]


_REDUCTIONS = {
    "add": np.add.reduce, "min": np.min, "max": np.max,
    "and": np.bitwise_and.reduce, "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}  # fmt: skip


def _redux(decoder, instruction, operands):
    type_ = instruction.type
    if type_ == "f32":
        raise errors.UnsupportedError("redux of floats")
    slot = decoder.destination(operands[0], type_)
    source = decoder.layout.operand(operands[1], type_)
    mode = next(m for m in instruction.modifiers if m in _REDUCTIONS)

    def apply(warp):
        values = warp.slots[source][warp.mask]
        result = _REDUCTIONS[mode](values)
        np.copyto(warp.slots[slot], values.dtype.type(result & 0xFFFFFFFF)
                  if values.dtype.kind == "u" else np.int64(result).astype(np.int32),
                  where=warp.mask)  # fmt: skip

    return apply, [slot]


def _elect(decoder, instruction, operands):
    (target,) = operands
    slot = decoder.destination(target.first, "b32") if target.first else None
    chosen = decoder.destination(target.second, "pred") if target.second else None

    def apply(warp):
        leader = int(np.argmax(warp.mask))
        if slot is not None:
            np.copyto(warp.slots[slot], np.uint32(leader), where=warp.mask)
        if chosen is not None:
            np.copyto(warp.slots[chosen], np.equal(_LANE, leader), where=warp.mask)

    return apply, [slot, chosen]


MAKERS = {
    "shfl": _shuffle, "vote": _vote, "match": _match, "redux": _redux,
    "elect": _elect,
}  # fmt: skip


def wrong_barrier(name: int, count: int | None = None) -> tuple[str, str, str] | None:
    """Return what is wrong with a barrier's number or count, the cause and the cure."""
    if not 0 <= name < BARRIERS:
        return (
            f"its number is {name}, and a block has barriers 0 to {BARRIERS - 1}",
            "The assembler refuses such a number, and a GPU stops at it.",
            "Number the barriers of a block from 0; __syncthreads() uses barrier 0.",
        )
    if count is not None and (count <= 0 or count % 32):
        return (
            f"its count is {count}, which is no positive multiple of 32",
            "A barrier counts whole warps: each that comes is counted as 32 threads.",
            "Give 32 times the number of warps that come to the barrier.",
        )
    return None


class Barrier:
    """A block-wide barrier: `bar.sync`, `bar.arrive`, `bar.red`."""

    def __init__(self, decoder, instruction, number):
        self.instruction, self.next = instruction, number + 1
        self.modifiers = instruction.modifiers
        self.aligned = instruction.opcode == "bar" or "aligned" in self.modifiers
        self.arrives_only = "arrive" in self.modifiers
        operands = list(instruction.operands)
        self.reduction = self.result = self.vote = None
        layout = decoder.layout
        if "red" in self.modifiers:
            self.reduction = next(
                m for m in self.modifiers if m in ("popc", "and", "or")
            )
            vote = operands.pop()
            self.negated = isinstance(vote, Not)
            vote = vote.register if self.negated else vote
            self.vote = layout.operand(vote, "pred")
            kind = "u32" if self.reduction == "popc" else "pred"
            self.result = decoder.destination(operands.pop(0), kind)
        self.name = layout.operand(operands.pop(0), "u32")
        self.threads = layout.operand(operands.pop(0), "u32") if operands else None
        self.excuses_exited = self.threads is None

    def finish(self, warp):
        """Tell the block that the current lanes have arrived."""
        lane = int(np.argmax(warp.mask))
        name = int(warp.slots[self.name].view(np.int32)[lane])
        count = None
        if self.threads is not None:
            count = int(warp.slots[self.threads].view(np.int32)[lane])
        wrong = wrong_barrier(name, count)
        if wrong:
            what = f"{{thread}} waits at a barrier that does not exist: {wrong[0]}."
            raise faults.kernel_error(
                errors.BarrierError, warp, lane, self.instruction, what, *wrong[1:]
            )
        return warp.block.arrive(warp, self, name, count)

    def votes(self, split) -> np.ndarray:
        """Return the predicates of a split's lanes."""
        return (split.frame.slots[self.vote] ^ self.negated) & split.mask

    def give(self, split, total: int, threads: int) -> None:
        """Write the result of a reduction barrier to a split."""
        if self.result is None:
            return
        outcome = {"popc": total, "and": total == threads, "or": total > 0}
        slot = split.frame.slots[self.result]
        np.copyto(slot, slot.dtype.type(outcome[self.reduction]), where=split.mask)
