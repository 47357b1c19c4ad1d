"""Memory instructions: loads, stores, parameters and atomics."""

from __future__ import annotations

import numpy as np

from coursekit.simt.analysis.instructions import polls
from coursekit.simt.interpreter.access import READS, UPDATES, WRITES
from coursekit.simt.isa import lookup, traits
from coursekit.simt.memory.counters import repeated_passes
from coursekit.simt.memory.faults import unsupported
from coursekit.simt.ptx.ir import BYTES, Address, Immediate, Register, Symbol, Vector

SPACES = {
    "global", "shared", "local", "const", "param", "shared::cta", "shared::cluster",
}  # fmt: skip
_SHARED = {"shared", "shared::cta", "shared::cluster"}


def address_slot(decoder, operand: Address, space):
    """Return the slot of the base address, and the constant to add."""
    base, wide = operand.base, "u64"
    if space in _SHARED:
        wide = "u32"
    if isinstance(base, Register):
        own = BYTES[base.type]
        return decoder.layout.register(base, f"u{8 * own}"), operand.offset
    if isinstance(base, Symbol):
        return decoder.layout.symbol(base.name, base.offset, wide), operand.offset
    return decoder.layout.constant(Immediate(int(base.value)), wide), operand.offset


def _access(decoder, instruction, verb, width):
    space = next((m for m in instruction.modifiers if m in SPACES), None)
    space = "shared" if space in _SHARED else space
    return decoder.access(instruction, space, width, verb)


def _vector(decoder, instruction, operand):
    count = next((int(m[1]) for m in instruction.modifiers
                  if m in ("v2", "v4", "v8")), 1)  # fmt: skip
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != count:
        raise unsupported(decoder.program, instruction, " with these operands")
    return elements


def _marked(instruction, step):
    """Return a step that also records that its warp polls memory."""
    if not polls(instruction):
        return step

    def run(warp):
        warp.polled = True
        step(warp)

    return run


def load(decoder, instruction):
    """Make the step of `ld` or `ldu` from any space."""
    target, source = instruction.operands[:2]
    if "param" in instruction.modifiers:
        step = _load_param(decoder, instruction, target, source)
        if step is not None:
            return step
    elements = _vector(decoder, instruction, target)
    type_ = instruction.type
    size = BYTES[type_]
    access = _access(decoder, instruction, READS, size * len(elements))
    if access.space == "param":
        access.space = "global"
    base, constant = address_slot(decoder, source, access.space)
    slots = [decoder.destination(e, type_) for e in elements]
    narrow = lookup.DTYPES[type_] if type_[0] == "s" else None
    shift = size.bit_length() - 1

    def step(warp):
        addresses = reached(warp, base, constant)
        for region, lanes, offsets in access.parts(warp, addresses):
            index = offsets >> shift
            view = region.view(size)
            for k, slot in enumerate(slots):
                if slot is None:
                    continue
                values = view[index + k] if k else view[index]
                if narrow is not None:
                    values = values.view(narrow)
                into = warp.slots[slot]
                if into.dtype.kind == "f":
                    into = into.view(view.dtype)
                into[lanes] = values

    return _marked(instruction, step)


def _load_param(decoder, instruction, target, source):
    """Make the step of `ld.param`; kernel parameters are constants of a launch."""
    base = source.base
    if not isinstance(base, Symbol):
        return None
    offset = base.offset + source.offset
    type_ = instruction.type
    size = BYTES[type_]
    elements = _vector(decoder, instruction, target)
    slots = [decoder.destination(e, type_) for e in elements]
    dtype = np.dtype(lookup.DTYPES[type_])
    name, kernel = base.name, decoder.function.is_kernel
    of_kernel = kernel and any(p.name == name for p in decoder.function.parameters)
    nbytes = 0 if of_kernel else _parameters(decoder.function)[name].nbytes

    def step(warp):
        for k, slot in enumerate(slots):
            if slot is None:
                continue
            start = offset + k * size
            if of_kernel:
                value = warp.block.launch.parameters.value(name, start, dtype)
            else:
                stripe = stripes(warp.frame, name, nbytes)[:, start : start + size]
                value = np.ascontiguousarray(stripe).view(dtype)[:, 0]
            np.copyto(warp.slots[slot], value, where=warp.mask, casting="unsafe")

    return step


def store(decoder, instruction):
    """Make the step of `st` to any space."""
    target, source = instruction.operands[:2]
    elements = _vector(decoder, instruction, source)
    type_ = instruction.type
    size = BYTES[type_]
    bits = f"u{8 * size}"
    slots = [_stored(decoder, e, type_, bits) for e in elements]
    if "param" in instruction.modifiers:
        return _store_param(decoder, target, slots, size)
    access = _access(decoder, instruction, WRITES, size * len(elements))
    access.stored = slots
    base, constant = address_slot(decoder, target, access.space)
    shift = size.bit_length() - 1

    def step(warp):
        addresses = reached(warp, base, constant)
        for region, lanes, offsets in access.parts(warp, addresses):
            index = offsets >> shift
            view = region.view(size)
            for k, slot in enumerate(slots):
                view[index + k if k else index] = warp.slots[slot][lanes]

    return step


def _stored(decoder, element, type_, bits):
    if isinstance(element, Immediate):
        return decoder.layout.constant(
            element, bits if element.kind == "int" else f"b{bits[1:]}"
        )
    return decoder.layout.operand(element, bits)


def _store_param(decoder, target, slots, size):
    name = target.base.name
    offset = target.base.offset + target.offset
    nbytes = _parameters(decoder.function)[name].nbytes

    def step(warp):
        target = stripes(warp.frame, name, nbytes)
        for k, slot in enumerate(slots):
            start = offset + k * size
            values = np.ascontiguousarray(warp.slots[slot])
            given = values.view(np.uint8).reshape(32, size)
            target[warp.mask, start : start + size] = given[warp.mask]

    return step


def _parameters(function) -> dict:
    """Return the variables that a function exchanges with others, by name."""
    exchanged = (*function.parameters, *function.results, *function.variables.values())
    return {variable.name: variable for variable in exchanged}


def stripes(frame, name: str, nbytes: int) -> np.ndarray:
    """Return the bytes of a frame's .param variable, a row per lane, 0 at first."""
    if name not in frame.params:
        frame.params[name] = np.zeros((32, nbytes), np.uint8)
    return frame.params[name]


def atomic(decoder, instruction):
    """Make the step of `atom` or `red`: lanes take effect in ascending order."""
    operation = lookup.atomic(instruction)
    operands = list(instruction.operands)
    result = None if traits.of(instruction).no_result else operands.pop(0)
    type_ = operation.results[0]
    size = BYTES[type_]
    access = _access(decoder, instruction, UPDATES, size)
    base, constant = address_slot(decoder, operands.pop(0), access.space)
    values = [
        decoder.layout.operand(o, t)
        for o, t in zip(operands, operation.sources[1:], strict=False)
    ]
    slot = decoder.destination(result, type_) if result is not None else None
    evaluate, dtype = operation.evaluate, np.dtype(lookup.DTYPES[type_])
    shift = size.bit_length() - 1

    def step(warp):
        addresses = reached(warp, base, constant)
        for region, lanes, offsets in access.parts(warp, addresses):
            view = region.view(size).view(dtype)
            index = offsets >> shift
            sources = [warp.slots[v][lanes] for v in values]
            before = _unchanged(view, index, sources, evaluate)
            if before is not None:
                warp.block.launch.work += len(index)  # the passes that it saves
            else:
                before = np.empty(len(index), dtype)
                for turn in repeated_passes(index):
                    warp.block.launch.work += 1  # a pass is as long as an instruction
                    where = index[turn]
                    before[turn] = view[where]
                    view[where] = evaluate(before[turn], *(s[turn] for s in sources))
            if slot is not None:
                warp.slots[slot][lanes] = before

    return _marked(instruction, step)


def _unchanged(view, index, sources, evaluate) -> np.ndarray | None:
    """Return what lanes read by one update of one place that changes nothing.

    Lanes that poll do that: ``atomicAdd(&flag, 0)``, ``atomicCAS`` on a taken lock. The
    first lane's update leaves the bits as they are, so those of the others do.

    Returns
    -------
    ndarray or None
        None if places or operands differ between lanes, or if the bits change.
    """
    count = len(index)
    uniform = all(a.tobytes() == a[:1].tobytes() * count for a in (index, *sources))
    if count < 2 or not uniform:
        return None
    before = view[index[:1]]
    after = evaluate(before, *(source[:1] for source in sources))
    if after.astype(view.dtype, copy=False).tobytes() != before.tobytes():
        return None
    return np.repeat(before, count)


def reached(warp, base: int, offset: int) -> np.ndarray:
    """Return the addresses of all lanes: a slot plus a constant, with wrapping."""
    addresses = warp.slots[base]
    if not offset:
        return addresses
    bits = 8 * addresses.itemsize
    return addresses + addresses.dtype.type(offset & ((1 << bits) - 1))


MAKERS = {"ld": load, "ldu": load, "st": store, "atom": atomic, "red": atomic}
