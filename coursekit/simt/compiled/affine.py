"""Affine analysis: which registers are uniform, affine or divergent within a warp.

A *uniform* register has one value in all lanes. An *affine* one is a base plus an
offset for each lane that is known in advance: `threadIdx.x * 4` is one number plus 0,
4, 8, ... A *divergent* one may hold anything. Uniform and affine registers need one
scalar in place of 32, and an access through them is a few wide loads of which sectors
and bank conflicts are known.
"""

from __future__ import annotations

from typing import NamedTuple

from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import LOAD
from coursekit.simt.ptx.ir import BYTES, Immediate, Register, Special, Symbol

LANES = 32
ALL = 63  # as many low zero bits as a number can have
_FAR = 1 << 40


class LanePattern(NamedTuple):
    """The values of a warp: base + offsets[lane]; the base ends in `zeros` 0 bits.

    `offsets` is None for divergent values, and 0 in all lanes of uniform ones. With
    `groups` above 1 each half, or quarter, of the lanes has a base of its own: a row of
    a tile. With a `limit`, values are at least 0 and below it.
    """

    offsets: tuple[int, ...] | None
    zeros: int = 0
    groups: int = 1
    limit: int = 0

    @property
    def divergent(self) -> bool:
        """Whether the value of each lane is arbitrary."""
        return self.offsets is None

    @property
    def uniform(self) -> bool:
        """Whether all lanes have the same value."""
        return self.offsets == SAME and self.groups == 1

    @property
    def low(self) -> int:
        return min(self.offsets)

    @property
    def high(self) -> int:
        return max(self.offsets)


SAME = (0,) * LANES
_MOST = 1 << 31
DIVERGENT = LanePattern(None)
UNIFORM = LanePattern(SAME)


def joined(a: LanePattern | None, b: LanePattern) -> LanePattern:
    """Return the pattern of a register that is written in two places."""
    if a is None or a == b:
        return b
    if a.divergent or b.divergent or (a.offsets, a.groups) != (b.offsets, b.groups):
        return DIVERGENT
    limit = a.limit if a.limit == b.limit else 0
    return LanePattern(a.offsets, min(a.zeros, b.zeros), a.groups, limit)


def rows_of(shape: tuple[int, int, int]) -> int:
    """Return how many rows of a block a warp covers, if each deserves a base."""
    return LANES // shape[0] if shape[0] in (8, 16) and shape[1] > 1 else 1


def steady(offsets: tuple[int, ...], groups: int) -> bool:
    """Return whether every group of lanes has the same offsets."""
    size = LANES // groups
    return all(o == offsets[lane // size * size] for lane, o in enumerate(offsets))


def trailing_zeros(value: int) -> int:
    """Return the number of 0 bits at the end of a constant."""
    return (value & -value).bit_length() - 1 if value else ALL


def special_pattern(name: str, shape: tuple[int, int, int]) -> LanePattern:
    """Return the pattern of a special register in blocks of a shape."""
    if name in ("laneid", "tid.x", "tid.y", "tid.z"):
        return _index_pattern(name, shape)
    if name.startswith("ntid."):
        extent = shape["xyz".index(name[-1])]
        return LanePattern(SAME, trailing_zeros(extent), 1, extent + 1)
    if name.startswith(("ctaid.", "nctaid.")):
        return LanePattern(SAME, 0, 1, _MOST)
    return DIVERGENT if name.startswith("lanemask") else UNIFORM


def _index_pattern(name: str, shape) -> LanePattern:
    wide, high, deep = shape
    lanes = range(LANES)
    if name == "laneid":
        return LanePattern(tuple(lanes), ALL, 1, LANES)
    below, extent = {
        "tid.x": (1, wide), "tid.y": (wide, high), "tid.z": (wide * high, deep),
    }[name]  # fmt: skip
    pattern = tuple(lane // below % extent for lane in lanes)
    if wide * high * deep <= LANES:
        return LanePattern(pattern, ALL, 1, extent)
    if below % LANES == 0:
        return LanePattern(SAME, 0, 1, extent)
    if LANES % below:
        return DIVERGENT
    rows = LANES // below  # of this axis, that one warp covers
    if extent % rows == 0:
        return LanePattern(pattern, trailing_zeros(rows), 1, extent)
    return LanePattern(pattern, ALL, 1, extent) if rows % extent == 0 else DIVERGENT


# -- how instructions pass patterns on -------------------------------------------------


class AffineAnalysis:
    """The lane patterns of a function's registers, computed to a fixed point.

    Parameters
    ----------
    function : ir.Function
    shape : tuple of three int
        Threads of a block.
    divergent : frozenset of int
        Registers of which nothing may be assumed.
    undefined : iterable of int
        Registers that are read before they are written: they begin as 0.
    groups : int
        Into how many groups of lanes, with a base each, values may fall.
    rows : list
        What `rows_of_traits` gives, where another analysis has asked for it.
    """

    def __init__(
        self, function, shape, divergent=frozenset(), undefined=(), *, groups=1, rows=()
    ):
        self.shape, self._divergent, self._groups = shape, divergent, groups
        # Looked up once, since the loop below visits instructions many times.
        self._rows = rows or rows_of_traits(function)
        self.registers: dict[int, LanePattern] = dict.fromkeys(
            undefined, LanePattern(SAME, ALL)
        )
        changed = True
        while changed:
            changed = False
            for instruction in function.instructions:
                changed |= self._visit(instruction)
        for register in function.registers:  # code that is never reached
            self.registers.setdefault(register.index, DIVERGENT)

    def _visit(self, instruction) -> bool:
        changed = False
        for register, pattern in self.results(instruction):
            if pattern is None:
                continue
            if register.index in self._divergent:
                pattern = DIVERGENT
            new = joined(self.registers.get(register.index), pattern)
            if new != self.registers.get(register.index):
                self.registers[register.index] = new
                changed = True
        return changed

    def of(self, operand) -> LanePattern | None:
        """Return the pattern of an operand; None while nothing is known yet."""
        if isinstance(operand, Register):
            return self.registers.get(operand.index)
        if isinstance(operand, Immediate):
            if operand.kind != "int":
                return UNIFORM
            value = int(operand.value)
            limit = value + 1 if 0 <= value < _MOST else 0
            return LanePattern(SAME, trailing_zeros(value), 1, limit)
        if isinstance(operand, Special):
            return special_pattern(operand.name, self.shape)
        if isinstance(operand, Symbol):
            return UNIFORM
        inner = getattr(operand, "register", None) or getattr(operand, "base", None)
        return UNIFORM if inner is None else self.of(inner)

    def results(self, instruction) -> list[tuple[Register, LanePattern | None]]:
        """Return the written registers with the patterns of their values."""
        row, written, sources = self._rows[instruction.index]
        if not written:
            return []
        pattern = self._result(instruction, row, sources)
        guard = instruction.guard
        if guard is not None and pattern is not None:
            guarding = self.of(guard.register)
            if guarding is None:
                return []
            if not guarding.uniform:
                pattern = DIVERGENT
        return [(register, pattern) for register in written]

    def _result(self, instruction, row, sources) -> LanePattern | None:
        if row.uniform_result:
            return UNIFORM
        if row.own_result or row.carries or "cc" in instruction.modifiers:
            return DIVERGENT
        patterns = [self.of(source) for source in sources]
        if any(pattern is None for pattern in patterns):
            return None
        if row.memory == LOAD:
            return self._loaded(instruction, patterns[0])
        if any(pattern.divergent for pattern in patterns):
            return DIVERGENT
        patterned = self._affine_result(instruction, sources, patterns)
        if patterned is not None and patterned.offsets is not None:
            if max(map(abs, patterned.offsets)) < _FAR:
                return patterned
            return DIVERGENT
        return UNIFORM if all(pattern.uniform for pattern in patterns) else DIVERGENT

    def _loaded(self, instruction, address: LanePattern) -> LanePattern:
        if "local" in instruction.modifiers or not address.uniform:
            return DIVERGENT
        return UNIFORM

    def _affine_result(self, instruction, sources, patterns) -> LanePattern | None:
        """Return the pattern of an integer result, None if there is none."""
        opcode, modifiers = instruction.opcode, instruction.modifiers
        if not integral(instruction) or {"sat", "cc", "hi"} & set(modifiers):
            return None
        if traits.of(instruction).copies:
            whole = isinstance(instruction.operands[0], Register)
            return patterns[0] if len(patterns) == 1 and whole else None
        if opcode == "cvt":
            return _converted(modifiers, patterns[0])
        if opcode in ("add", "sub"):
            return _sum(opcode, *patterns)
        if opcode in ("mul", "mad"):
            product = _product(instruction, sources, patterns, self._groups)
            return product if opcode == "mul" else _sum("add", product, patterns[2])
        if opcode in ("shl", "shr", "and", "or", "xor"):
            return _bitwise(opcode, instruction.type, sources, patterns)
        return None


def rows_of_traits(function) -> list[tuple]:
    """Traits, registers written and operands read, of each instruction."""
    return [(traits.of(one), *split_operands(one)) for one in function.instructions]


def split_operands(instruction) -> tuple[list, list]:
    """Return registers written and operands read, in the instruction's order."""
    operands = list(instruction.operands)
    row = traits.of(instruction)
    if row.barrier and "red" in instruction.modifiers:
        return [operands[0]], operands[1:]
    if row.no_result:
        return [], operands
    if not operands:
        return [], []
    first = operands.pop(0)
    parts = getattr(first, "elements", None)
    if parts is None and hasattr(first, "second"):
        parts = (first.first, first.second)
    written = [p for p in (parts or (first,)) if isinstance(p, Register)]
    expanded = []
    for operand in operands:
        expanded += getattr(operand, "elements", None) or [operand]
    return written, expanded


def integral(instruction) -> bool:
    """Whether an instruction works on integers or untyped bits."""
    type_ = instruction.type
    return (
        bool(type_)
        and type_[0] in "usb"
        and "x2" not in type_
        and (type_ not in ("bf16", "bf16x2"))
        and not any(m in ("f16", "f32", "f64", "bf16") for m in instruction.modifiers)
    )


def _converted(modifiers, pattern: LanePattern) -> LanePattern | None:
    target, source = [m for m in modifiers if m in BYTES][-2:]
    if BYTES[target] < 4 or BYTES[source] < 4:
        return pattern if pattern.uniform else DIVERGENT
    return pattern


def _sum(opcode: str, a, b) -> LanePattern | None:
    """Return the pattern of the sum, or the difference, of two patterns."""
    if a is None or b is None or a.divergent or b.divergent:
        return None
    sign = 1 if opcode == "add" else -1
    offsets = tuple(x + sign * y for x, y in zip(a.offsets, b.offsets, strict=True))
    known = opcode == "add" and a.limit and b.limit
    limit = _at_most(a.limit + b.limit - 1) if known else 0
    return LanePattern(offsets, min(a.zeros, b.zeros), max(a.groups, b.groups), limit)


def _at_most(limit: int) -> int:
    """Return a limit, or 0 if it is so high that values might wrap."""
    return limit if limit <= _MOST else 0


def _constant(operand) -> int | None:
    if isinstance(operand, Immediate) and operand.kind == "int":
        return int(operand.value)
    return None


def _read_as(value: int, type_: str) -> int:
    """Return a constant as an instruction of a type reads it."""
    width = 8 * BYTES[type_]
    value &= (1 << width) - 1
    return value - (1 << width) if type_[0] == "s" and value >> (width - 1) else value


def _product(instruction, sources, patterns, groups) -> LanePattern | None:
    a, b = patterns[0], patterns[1]
    zeros = min(a.zeros + b.zeros, ALL)
    known = a.limit and b.limit
    limit = _at_most((a.limit - 1) * (b.limit - 1) + 1) if known else 0
    if a.uniform and b.uniform:
        return LanePattern(SAME, zeros, 1, limit)
    for pattern, factor in ((a, _constant(sources[1])), (b, _constant(sources[0]))):
        if factor is not None:
            if "wide" in instruction.modifiers:
                factor = _read_as(factor, instruction.type)
            offsets = tuple(x * factor for x in pattern.offsets)
            return LanePattern(offsets, zeros, pattern.groups, limit)
    if groups > 1 and (a.uniform or b.uniform):
        rows = b if a.uniform else a
        if steady(rows.offsets, groups):
            return LanePattern(SAME, 0, groups)
    return None


def folds(instruction, pattern: LanePattern) -> bool:
    """Return whether an instruction multiplies rows: their offsets join their bases."""
    factors = instruction.operands[1:3]
    return (
        pattern.groups > 1
        and instruction.opcode in ("mul", "mad")
        and not any(isinstance(factor, Immediate) for factor in factors)
    )


def _bitwise(opcode, type_, sources, patterns) -> LanePattern | None:
    pattern, amount = patterns[0], _constant(sources[1])
    if type_ == "pred":
        return None
    if opcode == "shl":
        return _shifted_left(pattern, amount)
    if any(k.groups > 1 for k in patterns):
        return None
    if amount is None and opcode in ("and", "or", "xor"):
        pattern, amount = patterns[1], _constant(sources[0])
    if amount is None:
        return None if not all(k.uniform for k in patterns) else UNIFORM
    if opcode == "shr":
        return _shifted_right(pattern, amount, 8 * BYTES[type_])
    limit = _limit_of(opcode, pattern.limit, amount)
    if opcode == "and" and pattern.limit and not (pattern.limit - 1) & ~amount:
        return pattern
    if pattern.uniform:
        zeros = max if opcode == "and" else min
        return LanePattern(
            SAME, zeros(pattern.zeros, trailing_zeros(amount)), 1, _at_most(limit)
        )
    if not _separate(pattern, 8 * BYTES[type_]):
        return None
    below = (1 << pattern.zeros) - 1
    if opcode == "and":
        new = [x & amount for x in pattern.offsets]
    else:
        change = amount & below
        new = [x | change if opcode == "or" else x ^ change for x in pattern.offsets]
    return LanePattern(tuple(new), pattern.zeros, 1, _at_most(limit))


def _limit_of(opcode: str, limit: int, amount: int) -> int:
    """Return a limit for `and`, `or`, `xor` with a constant, 0 if unknown."""
    if opcode == "and":
        limits = [limit] * (limit > 0) + [amount + 1] * (amount >= 0)
        return min(limits, default=0)
    if not limit or amount < 0:
        return 0
    return 1 << max((limit - 1).bit_length(), amount.bit_length())


def _separate(pattern: LanePattern, width: int) -> bool:
    """Whether offsets use only the bits below the lowest bit of the base."""
    return pattern.low >= 0 and pattern.high < 1 << min(pattern.zeros, width - 1)


def _shifted_left(pattern: LanePattern, amount) -> LanePattern | None:
    if amount is None or not 0 <= amount < 64:
        return None
    offsets = tuple(x << amount for x in pattern.offsets)
    limit = _at_most((pattern.limit - 1 << amount) + 1) if pattern.limit else 0
    return LanePattern(offsets, min(pattern.zeros + amount, ALL), pattern.groups, limit)


def _shifted_right(pattern: LanePattern, amount: int, width: int) -> LanePattern | None:
    if amount < 0:
        return None
    limit = (pattern.limit - 1 >> amount) + 1 if pattern.limit else 0
    if limit == 1:
        return LanePattern(SAME, ALL, 1, 1)
    if pattern.uniform:
        return LanePattern(SAME, max(pattern.zeros - amount, 0), 1, limit)
    if not _separate(pattern, width) or amount >= width:
        return None
    offsets = tuple(x >> amount for x in pattern.offsets)
    return LanePattern(offsets, max(pattern.zeros - amount, 0), 1, limit)
