"""NaN payloads: where compiled code may defer making NaNs canonical.

Arithmetic on a GPU gives every NaN the same bits; that of this computer does not. Only
code that reads the bits can tell: stores, integer operations, shuffles. So registers
that only arithmetic writes keep their NaNs, which become canonical where they are read.
"""

from __future__ import annotations

import math

from coursekit.simt.compiled.affine import split_operands
from coursekit.simt.ptx.ir import BYTES, Immediate, Pair, Register

ARITHMETIC = {"add", "sub", "mul", "fma", "mad"}
_READERS = ARITHMETIC | {"setp", "div", "sqrt", "rcp", "min", "max"}


class RawRegisters:
    """Registers that may hold non-canonical NaNs: only f32 arithmetic writes them."""

    def __init__(self, function):
        writers: dict[int, list] = {}
        for instruction in function.instructions:
            for register in split_operands(instruction)[0]:
                writers.setdefault(register.index, []).append(instruction)
        self.registers = {
            index for index, by in writers.items() if any(map(_arithmetic, by))
        }
        changed = True
        while changed:
            kept = {
                index
                for index in self.registers
                if all(_arithmetic(i) or self._copies(i) for i in writers[index])
            }
            changed = kept != self.registers
            self.registers = kept

    def _copies(self, instruction) -> bool:
        if instruction.opcode != "mov" or isinstance(instruction.operands[0], Pair):
            return False
        if not isinstance(instruction.operands[0], Register):
            return False
        source = instruction.operands[1]
        if isinstance(source, Register):
            return source.index in self.registers
        return (
            isinstance(source, Immediate)
            and not (isinstance(source.value, float) and math.isnan(source.value))
            and (source.kind != "int" or source.value == 0)
        )


def _arithmetic(instruction) -> bool:
    return (
        instruction.opcode in ARITHMETIC
        and instruction.type == "f32"
        and not {"sat"} & set(instruction.modifiers)
    )


def ignores_payload(instruction) -> bool:
    """Whether an instruction treats all NaNs alike."""
    types = [m for m in instruction.modifiers if m in BYTES]
    return instruction.opcode in _READERS and types == ["f32"]


def quieted(builder, name: str, lanes: int) -> str:
    """Return f32 values with all NaNs made canonical."""
    bits, floats, canonical = "i32", "float", str(0x7FFFFFFF)
    if lanes > 1:
        bits, floats = f"<{lanes} x i32>", f"<{lanes} x float>"
        canonical = f"splat (i32 {canonical})"
    number = builder.op(f"bitcast {bits} {name} to {floats}")
    ordered = builder.op(f"fcmp ord {floats} {number}, {number}")
    chosen = "i1" if lanes == 1 else f"<{lanes} x i1>"
    return builder.op(f"select {chosen} {ordered}, {bits} {name}, {bits} {canonical}")


def keeps_raw(raw: RawRegisters, target, source) -> bool:
    """Whether a copy may keep non-canonical NaNs."""
    return (
        isinstance(target, Register)
        and target.index in raw.registers
        and isinstance(source, Register)
    )
