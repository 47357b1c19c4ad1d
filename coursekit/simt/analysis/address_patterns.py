"""How the addresses of a warp's lanes differ, as far as the PTX tells.

ptxas knows an address that is the same in all lanes, and then lets one lane do an
integer atomic for the whole warp. How scattered addresses are counted is not known in
full. Both decide what the simulator may claim; see `doubtful`.
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


class Spread(IntEnum):
    """The same in all lanes, a multiple of the thread's index, or anything."""

    UNIFORM = 0
    LINEAR = 1
    SCATTERED = 2


def doubtful(function) -> set[int]:
    """Atomics of which the machine's count may be another one.

    Parameters
    ----------
    function : ir.Function
    """
    atomics = [i for i in function.instructions if traits.of(i).memory == ATOMIC]
    spreads = registers(function) if atomics else {}
    return {one.index for one in atomics if _is_doubtful(one, spreads)}


def _is_doubtful(instruction, spreads) -> bool:
    words = set(instruction.modifiers)
    operand = next(o for o in instruction.operands if isinstance(o, Address))
    spread = _of(operand, spreads)
    if spread == Spread.UNIFORM:
        return bool(words & _AGGREGATED) and not words & _FLOATS
    shared = any(word.startswith("shared") for word in words)
    return spread == Spread.SCATTERED and not shared


def registers(function) -> dict[int, Spread]:
    """Spread of every register, whichever instruction wrote it."""
    makers = defaultdict(list)
    for instruction in function.instructions:
        for index in registers_of(instruction)[0]:
            makers[index].append(instruction)
    found = dict.fromkeys(makers, Spread.UNIFORM)
    changed = True
    while changed:
        changed = False
        for index, made in makers.items():
            spread = max(_result(function, one, found) for one in made)
            if spread > found[index]:
                found[index], changed = spread, True
    return found


def _result(function, instruction, found) -> Spread:
    row = traits.of(instruction)
    if row.uniform_result and not row.unmeasured:
        return Spread.UNIFORM
    own = row.own_result and not row.unmeasured
    if own or _is_private_load(function, instruction):
        return Spread.SCATTERED
    sources = [_of(operand, found) for operand in instruction.operands[1:]]
    spread = max(sources, default=Spread.UNIFORM)
    if spread == Spread.UNIFORM:
        return spread
    factors = sources[:2] if row.product else ()
    linear = row.linear and factors != [Spread.LINEAR] * 2
    return spread if linear else Spread.SCATTERED


def _of(operand, found) -> Spread:
    if isinstance(operand, Address):
        return _of(operand.base, found)
    if isinstance(operand, Register):
        return found.get(operand.index, Spread.UNIFORM)
    if isinstance(operand, Special):
        name = operand.name.lstrip("%")
        if name.startswith(_PER_LANE):
            return Spread.SCATTERED
        return Spread.LINEAR if name.startswith(_INDICES) else Spread.UNIFORM
    return Spread.UNIFORM


def _is_private_load(function, instruction) -> bool:
    """A load of what each thread has for itself: locals, arguments, results."""
    if traits.of(instruction).memory != LOAD:
        return False
    if "param" in instruction.modifiers:
        base = instruction.operands[1].base
        own = {variable.name for variable in function.parameters}
        return not function.is_kernel or getattr(base, "name", None) not in own
    return "local" in instruction.modifiers or not _SPACES & set(instruction.modifiers)
