"""Address strides between the lanes of a warp, as far as the PTX determines them.

ptxas recognises an address that is the same in all lanes, and then lets one lane do an
integer atomic for the whole warp. How the hardware counts scattered addresses is not
fully known. Both decide which counts the simulator may call exact; see `doubtful`.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum

from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import ATOMIC, LOAD
from coursekit.simt.ptx.ir import Address, Register, Special

_INDICES = ("tid", "laneid")
_PER_LANE = ("lanemask", "clock", "globaltimer")
_AGGREGATED = {"add", "min", "max", "and", "or", "xor"}
_SPACES = {"global", "shared", "shared::cta", "const"}
_FLOATS = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"}


class Stride(IntEnum):
    """The difference of a value from lane to lane: 0, a constant, or unknown."""

    UNIFORM = 0
    AFFINE = 1
    SCATTERED = 2


def doubtful(function) -> set[int]:
    """Return the atomics that the hardware may count differently.

    Parameters
    ----------
    function : ir.Function
    """
    atomics = [i for i in function.instructions if traits.of(i).memory == ATOMIC]
    strides = registers(function) if atomics else {}
    return {one.index for one in atomics if _is_doubtful(one, strides)}


def _is_doubtful(instruction, strides) -> bool:
    words = set(instruction.modifiers)
    operand = next(o for o in instruction.operands if isinstance(o, Address))
    stride = _of(operand, strides)
    if stride == Stride.UNIFORM:
        return bool(words & _AGGREGATED) and not words & _FLOATS
    shared = any(word.startswith("shared") for word in words)
    return stride == Stride.SCATTERED and not shared


def registers(function) -> dict[int, Stride]:
    """Return the stride of every register over all instructions that write it."""
    makers = defaultdict(list)
    for instruction in function.instructions:
        for index in registers_of(instruction)[0]:
            makers[index].append(instruction)
    strides = dict.fromkeys(makers, Stride.UNIFORM)
    changed = True
    while changed:
        changed = False
        for index, made in makers.items():
            stride = max(_result(function, maker, strides) for maker in made)
            if stride > strides[index]:
                strides[index], changed = stride, True
    return strides


def _result(function, instruction, strides) -> Stride:
    row = traits.of(instruction)
    if row.uniform_result and not row.unmeasured:
        return Stride.UNIFORM
    own = row.own_result and not row.unmeasured
    if own or _is_private_load(function, instruction):
        return Stride.SCATTERED
    sources = [_of(operand, strides) for operand in instruction.operands[1:]]
    stride = max(sources, default=Stride.UNIFORM)
    if stride == Stride.UNIFORM:
        return stride
    factors = sources[:2] if row.product else ()
    linear = row.linear and factors != [Stride.AFFINE] * 2
    return stride if linear else Stride.SCATTERED


def _of(operand, strides) -> Stride:
    if isinstance(operand, Address):
        return _of(operand.base, strides)
    if isinstance(operand, Register):
        return strides.get(operand.index, Stride.UNIFORM)
    if isinstance(operand, Special):
        name = operand.name.lstrip("%")
        if name.startswith(_PER_LANE):
            return Stride.SCATTERED
        return Stride.AFFINE if name.startswith(_INDICES) else Stride.UNIFORM
    return Stride.UNIFORM


def _is_private_load(function, instruction) -> bool:
    """Whether a load reads per-thread data: locals, arguments, results of calls."""
    if traits.of(instruction).memory != LOAD:
        return False
    if "param" in instruction.modifiers:
        base = instruction.operands[1].base
        own = {variable.name for variable in function.parameters}
        return not function.is_kernel or getattr(base, "name", None) not in own
    return "local" in instruction.modifiers or not _SPACES & set(instruction.modifiers)
