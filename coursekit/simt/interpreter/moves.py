"""Data movement within a thread: mov, cvta, isspacep, activemask."""

from __future__ import annotations

import numpy as np

from coursekit.simt.interpreter.results import identity, write_result
from coursekit.simt.isa import lookup
from coursekit.simt.memory.memory import LOCAL_WINDOW, SHARED_WINDOW
from coursekit.simt.ptx.ir import BYTES, Special, Vector

_CLOCKS = {"clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo",
           "globaltimer_hi"}  # fmt: skip
_WINDOWS = {"shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW,
            "local": LOCAL_WINDOW}  # fmt: skip


def move(decoder, instruction):
    """Make the step of `mov`: registers, constants, addresses, packing."""
    target, source = instruction.operands
    type_ = instruction.type
    if isinstance(target, Vector):
        return _unpack(decoder, target, source, type_)
    if isinstance(source, Vector):
        return _pack(decoder, target, source, type_)
    if isinstance(source, Special) and source.name in _CLOCKS:
        return _clock(decoder, target, source.name, type_)
    slot = decoder.destination(target, type_)
    return write_result(identity, [slot], [decoder.layout.operand(source, type_)])


def _pack(decoder, target, source, type_):
    width = BYTES[type_] // len(source.elements)
    parts = [decoder.layout.operand(e, f"u{8 * width}") for e in source.elements]
    slot = decoder.destination(target, f"u{8 * BYTES[type_]}")
    wide = np.dtype(f"u{BYTES[type_]}")

    def evaluate(*values):
        total = values[0].astype(wide)
        for k, value in enumerate(values[1:], 1):
            total |= value.astype(wide) << wide.type(8 * width * k)
        return total

    return write_result(evaluate, [slot], parts)


def _unpack(decoder, target, source, type_):
    width = BYTES[type_] // len(target.elements)
    whole = decoder.layout.operand(source, f"u{8 * BYTES[type_]}")
    slots = [decoder.destination(e, f"u{8 * width}") for e in target.elements]
    narrow = np.dtype(f"u{width}")

    def evaluate(value):
        return tuple(
            (value >> value.dtype.type(8 * width * k)).astype(narrow)
            for k in range(len(slots))
        )

    return write_result(evaluate, slots, [whole])


def _clock(decoder, target, name, type_):
    slot = decoder.destination(target, type_)
    high = 32 if name.endswith("_hi") else 0

    def step(warp):
        value = (warp.block.launch.journal.read_clock(warp) >> high) & (
            (1 << (8 * BYTES[type_])) - 1
        )
        np.copyto(warp.slots[slot], warp.slots[slot].dtype.type(value),
                  where=warp.mask)  # fmt: skip

    return step


def convert_address(decoder, instruction):
    """Make the step of `cvta`: between a state space and generic addresses."""
    target, source = instruction.operands
    type_ = instruction.type
    space = next((m for m in instruction.modifiers if m in _WINDOWS), None)
    base = _WINDOWS.get(space, 0)
    slot = decoder.destination(target, type_)
    if not base:
        return write_result(identity, [slot], [decoder.layout.operand(source, type_)])
    dtype = lookup.DTYPES[type_]
    amount = np.array(base & ((1 << (8 * np.dtype(dtype).itemsize)) - 1), dtype)
    operation = np.subtract if "to" in instruction.modifiers else np.add
    source = decoder.layout.operand(source, type_)
    return write_result(lambda a: operation(a, amount), [slot], [source])


def is_in_space(decoder, instruction):
    """Make the step of `isspacep`: whether an address is in a state space."""
    target, source = instruction.operands
    space = instruction.modifiers[0]
    slot = decoder.destination(target, "pred")
    base = _WINDOWS.get(space)

    def evaluate(address):
        window = address >> np.uint64(32)
        if base is None:
            return window > np.uint64(LOCAL_WINDOW >> 32)
        return window == np.uint64(base >> 32)

    return write_result(evaluate, [slot], [decoder.layout.operand(source, "u64")])


def active_mask(decoder, instruction):
    """Make the step of `activemask`: the lanes that execute together here."""
    slot = decoder.destination(instruction.operands[0], "b32")

    def step(warp):
        bits = np.packbits(warp.mask, bitorder="little").view(np.uint32)[0]
        np.copyto(warp.slots[slot], bits, where=warp.mask)

    return step


MAKERS = {
    "mov": move,
    "cvta": convert_address,
    "isspacep": is_in_space,
    "activemask": active_mask,
}
