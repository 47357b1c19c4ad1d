"""Refuses malformed instructions: operands missing or of a wrong kind.

The engines, the checkers and the tracer rely on what is accepted here. Lane-wise
instructions are matched with the table in `isa` instead.
"""

from __future__ import annotations

import functools

from coursekit import errors
from coursekit.simt.interpreter import products, warpgroups
from coursekit.simt.interpreter.collectives import wrong_barrier
from coursekit.simt.isa import traits
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import (
    BYTES,
    Address,
    Call,
    Immediate,
    Label,
    Not,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

_VALUE = (Register, Immediate, Special, Symbol)
# What the words of `Traits.operands` stand for; `a|b` is either, "none" is `_`.
_KINDS = {
    "register": (Register,), "pair": (Pair,), "none": (type(None),), "not": (Not,),
    "value": _VALUE, "vector": (Vector,), "address": (Address,), "label": (Label,),
}  # fmt: skip
_WIDTHS = {1, 2, 4, 8}
_LANES = {"v2": 2, "v4": 4, "v8": 8}
# What functions of the driver are given: bytes of each argument.
_PROVIDED = {"vprintf": (8, 8), "__assertfail": (8, 8, 4, 8, 8)}


def check(program, function) -> None:
    """Check every instruction of a function.

    Raises
    ------
    UnsupportedError
        For the first one that cannot be run, whatever its operands hold.
    CompileError
        For a barrier that the assembler of a GPU refuses.
    """
    if function.external:
        return
    if not function.instructions:
        raise errors.UnsupportedError.explained(
            f"the simulator cannot run {function.name}: it has no instructions.",
            "The PTX was cut off, or written by hand.",
            "End every function with ret.",
        )
    scope = _Scope(program.module, function)
    last = function.instructions[-1]
    if not _ends(scope, last):
        raise faults.unsupported(program, last, " as the last of a function")
    for instruction in function.instructions:
        rule = _RULES.get(instruction.opcode)
        if not _as_listed(instruction) or (
            rule is not None and not rule(scope, instruction)
        ):
            why = " with these operands"
            raise faults.unsupported(program, instruction, why)
        if traits.is_block_barrier(instruction):
            _check_barrier(program, instruction)


def _check_barrier(program, instruction) -> None:
    """Refuse a barrier of the block whose number or count no GPU accepts."""
    skipped = 1 if "red" in instruction.modifiers else 0
    name, *counts = instruction.operands[skipped:][:2]
    if skipped and len(instruction.operands) == 3:  # the last one is the vote
        counts = []
    numbers = [
        int(one.value) if isinstance(one, Immediate) else None
        for one in (name, *counts)
    ]
    wrong = wrong_barrier(numbers[0] or 0, *[n for n in numbers[1:] if n is not None])
    if "arrive" in instruction.modifiers and not counts:
        wrong = (
            "it has no count",
            "Who arrives and does not wait cannot stand for all threads of the block.",
            "Give the threads that arrive and wait, as in bar.arrive 1, 64;",
        )
    if wrong is None:
        return
    place, shown = faults.source_place(program, instruction.location)
    error = errors.CompileError.explained(
        f"`{instruction.text.strip()}` is refused: {wrong[0]}."
        + (f"\n  {shown}" if shown else ""),
        *wrong[1:],
    )
    error.file, error.line = (place.file, place.line) if place else (None, None)
    error.log, error.count = str(error), 1
    raise error


class _Scope:
    """The meanings of the names in a function."""

    def __init__(self, module, function):
        self.module, self.function = module, function
        own = [*function.results, *function.variables.values()]
        self.stored = {v.name: v for v in own if v.space == "param"}
        self.loaded = {v.name: v for v in function.parameters} | self.stored

    def holds(self, variables: dict, address: Address, nbytes: int) -> bool:
        """Whether a .param variable contains the accessed bytes."""
        variable = variables.get(address.base.name)
        start = address.base.offset + address.offset
        return variable is not None and 0 <= start <= variable.nbytes - nbytes


def _ends(scope, last) -> bool:
    """Whether execution cannot continue past the last instruction of a function."""
    if traits.of(last).calls and _fits(last, Call):
        target = getattr(last.operands[0].function, "name", "")
        function = scope.module.functions.get(target)
        stops = function is not None and "noreturn" in function.directives
        return stops or target == "__assertfail"
    row = traits.of(last)
    return not row.waits and not (row.leaves and last.guard is not None)


def _fits(instruction, *kinds) -> bool:
    """Whether the first operands are of these kinds."""
    operands = instruction.operands
    enough = len(operands) >= len(kinds) and all(map(isinstance, operands, kinds))
    bases = [o.base for o in operands if isinstance(o, Address)]
    return enough and all(
        BYTES[base.type] in (4, 8) for base in bases if isinstance(base, Register)
    )


def _whole(instruction) -> bool:
    """Whether no operand is a constant with a fraction."""
    return not any(
        isinstance(o, Immediate) and o.kind != "int" for o in instruction.operands
    )


def _bytes(instruction, data) -> int | None:
    """Return the bytes of a memory access, None for a type without plain values."""
    type_ = instruction.type
    count = len(data.elements) if isinstance(data, Vector) else 1
    lanes = next((_LANES[m] for m in instruction.modifiers if m in _LANES), 1)
    if type_ in (None, "pred") or BYTES[type_] not in _WIDTHS or lanes != count:
        return None
    return lanes * BYTES[type_]


def _load(scope, one) -> bool:
    if not _fits(one, (Register, Vector, type(None)), Address):
        return False
    data, address = one.operands[:2]
    nbytes = _bytes(one, data)
    elements = data.elements if isinstance(data, Vector) else (data,)
    if nbytes is None or not all(isinstance(e, Register | None) for e in elements):
        return False
    if "param" in one.modifiers and isinstance(address.base, Symbol):
        return scope.holds(scope.loaded, address, nbytes)
    return True


def _store(scope, one) -> bool:
    if not _fits(one, Address, (*_VALUE, Vector)):
        return False
    address, data = one.operands[:2]
    nbytes = _bytes(one, data)
    if nbytes is None or (isinstance(data, Vector) and None in data.elements):
        return False
    if "param" in one.modifiers:
        inside = isinstance(address.base, Symbol)
        return inside and scope.holds(scope.stored, address, nbytes)
    return True


def _update(scope, one) -> bool:
    gives = not traits.of(one).no_result
    kinds = ((Register, type(None)), Address) if gives else (Address,)
    return _fits(one, *kinds, _VALUE) and _bytes(one, None) is not None


def _copy(scope, one) -> bool:
    if "wait_group" in one.modifiers:
        return _fits(one, Immediate) and one.operands[0].kind == "int"
    if "bulk_group" in one.modifiers:
        return _bulk_store(one)
    if one.modifiers[:1] != ("async",) or one.modifiers[1:2] not in (("ca",), ("cg",)):
        return True
    return _fits(one, Address, Address, Immediate)


def _bulk_store(one) -> bool:
    if "tensor" in one.modifiers:
        if not _fits(one, tuple, Address):
            return False
        return all(isinstance(each, _VALUE) for each in one.operands[0][1].elements)
    return _fits(one, Address, Address, _VALUE)


def _move(scope, one) -> bool:
    if len(one.operands) != 2 or BYTES.get(one.type) not in _WIDTHS:
        return False
    parts = [o for o in one.operands if isinstance(o, Vector)]
    whole = BYTES[one.type]
    return len(parts) < 2 and all(
        len(p.elements) in (2, 4) and whole % len(p.elements) == 0 for p in parts
    )


def _two(scope, one) -> bool:
    return _fits(one, Register, _VALUE) and len(one.operands) == 2


def _convert(scope, one) -> bool:
    return _two(scope, one) and one.type in ("u32", "u64")


def _indexed(scope, one) -> bool:
    if not _fits(one, _VALUE, Symbol):
        return False
    table = scope.function.branch_tables.get(one.operands[1].name)
    return bool(table) and all(name in scope.function.labels for name in table)


def _call(scope, one) -> bool:
    if not _fits(one, Call):
        return False
    call = one.operands[0]
    if not isinstance(call.function, Symbol):
        return True
    if not scope.stored.keys() >= {*call.results, *call.arguments}:
        return False
    given = [scope.stored[name].nbytes for name in call.arguments]
    name = call.function.name
    if name in _PROVIDED:
        return given[: len(_PROVIDED[name])] == list(_PROVIDED[name])
    function = scope.module.functions.get(name)
    if function is None or function.external:
        return True
    results = [scope.stored[name].nbytes for name in call.results]
    return given == [v.nbytes for v in function.parameters] and results == [
        v.nbytes for v in function.results
    ]


def _barrier(scope, one) -> bool:
    words, count = set(one.modifiers), len(one.operands)
    if "cluster" in words:
        return count == 0 and len(words & {"arrive", "wait"}) == 1
    if not _whole(one):
        return False
    if "warp" in words:
        return "sync" in words and _fits(one, _VALUE) and count == 1
    if "red" in words:
        kinds = (Register, _VALUE)
        votes = isinstance(one.operands[-1], Register | Not) if count else False
        reduction = words & {"popc", "and", "or"}
        return _fits(one, *kinds) and count in (3, 4) and votes and bool(reduction)
    known = words & {"sync", "arrive"}
    return bool(known) and count in (1, 2) and _fits(one, *[_VALUE] * count)


@functools.cache
def _kinds(operands: str) -> tuple:
    """Return the operand classes that a row of traits lists."""
    return tuple(
        tuple(kind for word in words.split("|") for kind in _KINDS[word])
        for words in operands.split()
    )


def _as_listed(one) -> bool:
    """Whether operands, modes and type are as the opcode's traits list them.

    A warp collective with `.sync` names its member mask last.
    """
    row = traits.of(one)
    if not row.operands:
        return True
    wanted = _kinds(row.operands)
    if row.waits and "sync" in one.modifiers:
        wanted = (*wanted, _VALUE)
    return (
        (not row.modes or not set(row.modes.split()).isdisjoint(one.modifiers))
        and (not row.typed or one.type is not None)
        and _whole(one)
        and len(one.operands) == len(wanted)
        and _fits(one, *wanted)
    )


_RULES = {
    "ld": _load, "ldu": _load, "st": _store, "atom": _update, "red": _update,
    "cp": _copy, "mov": _move, "cvta": _convert,
    "isspacep": lambda scope, one: _two(scope, one) and bool(one.modifiers),
    "brx": _indexed, "call": _call, "bar": _barrier, "barrier": _barrier,
    "mma": products.is_right, "wgmma": warpgroups.is_right,
}  # fmt: skip
