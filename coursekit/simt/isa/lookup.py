"""Find the row of a lane-wise instruction: its types, its function and its cost.

`operation` gives an instruction's types, meaning and cost; `atomic` gives the
update that an atom or red makes in memory. The rows are in `table.py`.

Conventions:

- Arrays have one dimension, 32 lanes; a function may return one of its sources, so
  a caller copies before it writes in place. NumPy warnings are the caller's to
  silence (`np.errstate(all="ignore")`).
- Results follow the PTX manual bit for bit. NaN results of f32, f16 and bf16 arithmetic
  are the canonical 0x7fffffff and 0x7fff; f64 NaNs keep the payload of an operand.
- `.approx` operations are ours (see approximate.py), within the documented error.
- With `writes_carry` the function returns (result, carry); with `reads_carry` its
  last source is the carry, an array of bool.
- A predicate source written `!p` reaches the function already negated.
- Addition, subtraction and multiplication are 1 flop, fused multiply-add 2; division,
  reciprocal and (reciprocal) square root 1, other `.approx` functions 0, all marked
  `expands` because the hardware runs several instructions for them. Two-lane types
  count twice, bf16 under "f16". Comparison, minimum and conversion are no flops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.isa.syntax import DTYPES, Form, Row
from coursekit.simt.isa.table import ATOMICS, ROWS
from coursekit.simt.ptx.ir import Address, Instruction, Pair, Vector

__all__ = ["DTYPES", "Operation", "atomic", "operation", "pack", "unpack"]

FLOP_TYPES = {
    "f16": ("f16", 1), "bf16": ("f16", 1), "f16x2": ("f16", 2), "bf16x2": ("f16", 2),
    "f32": ("f32", 1), "f64": ("f64", 1),
}  # fmt: skip
# Words of atom and red that say where and in which order, not what.
PLACES = {"global", "shared", "shared::cta", "shared::cluster"}
ORDERS = {"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"}


@dataclass(frozen=True)
class Operation:
    """A lane-wise instruction: what it reads, computes and writes, and its cost.

    Attributes
    ----------
    results, sources : tuple of str
        PTX types in operand order, keys of DTYPES.
    evaluate : callable
        Takes an array per source, returns an array, or a tuple of arrays when there
        are several results or a carry.
    flops : int
        Floating-point operations per lane, of type `flop_type` (f16, f32, f64, tensor).
    expands : bool
        Hardware runs several instructions for it, so flop counts are not exact.
    reads_carry, writes_carry : bool
        The carry flag is an extra last source or result.
    divisor : int or None
        Index of the integer divisor among the sources.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    evaluate: Callable
    flops: int = 0
    flop_type: str | None = None
    expands: bool = False
    reads_carry: bool = False
    writes_carry: bool = False
    divisor: int | None = None


def _by_opcode(rows: tuple[Row, ...]) -> dict[str, tuple[Row, ...]]:
    found = defaultdict(list)
    for row in rows:
        found[row.opcode].append(row)
    return {opcode: tuple(rows) for opcode, rows in found.items()}


_ROWS = _by_opcode(ROWS)
_ATOMICS = _by_opcode(ATOMICS)


def _operation(row: Row, form: Form) -> Operation:
    results = row.types(row.results, form)
    kind, times = FLOP_TYPES.get(results[0], (None, 1))
    return Operation(
        results=results,
        sources=row.types(row.sources, form),
        evaluate=row.build(form),
        flops=row.flops * times,
        flop_type=(row.flop_type or kind) if row.flops else None,
        expands=row.expands,
        reads_carry=row.reads_carry,
        writes_carry=row.writes_carry,
        divisor=row.divisor,
    )


@cache
def _look_up(opcode: str, modifiers: str, results: int, sources: int):
    for row in _ROWS[opcode]:
        form = row.match(modifiers, results, sources)
        if form is not None:
            return _operation(row, form)
    return None


def operation(instruction: Instruction) -> Operation | None:
    """Return the operation of a lane-wise instruction, None for any other one.

    `mov` that packs or unpacks a vector in braces is not lane-wise: see `pack`.

    Raises
    ------
    UnsupportedError
        When the opcode is lane-wise and this form of it is not in the table.
    """
    operands = instruction.operands
    if instruction.opcode not in _ROWS or any(isinstance(o, Vector) for o in operands):
        return None
    results = 2 if operands and isinstance(operands[0], Pair) else 1
    modifiers = "".join(f".{word}" for word in instruction.modifiers)
    found = _look_up(instruction.opcode, modifiers, results, len(operands) - 1)
    if found is None:
        raise _unsupported(instruction)
    return found


@cache
def _look_up_atomic(modifiers: str, sources: int, flushes: bool) -> Operation | None:
    for row in _ATOMICS["atom"]:
        form = row.match(modifiers, 1, sources)
        if form is not None:
            if flushes:
                form["ftz"] = "ftz"
            return _operation(row, form)
    return None


def atomic(instruction: Instruction) -> Operation:
    """Return the update of an atom or red: `evaluate(old, b[, c])` is the new value.

    The sources of the operation are the old value and the operands after the address.
    f32 addition flushes subnormal numbers in global memory, not in shared memory.

    Raises
    ------
    UnsupportedError
        When the table has no such update.
    """
    operands = instruction.operands
    words = [w for w in instruction.modifiers if w not in PLACES | ORDERS]
    words = [w for w in words if not w.startswith("L2::")]
    at = next((i for i, o in enumerate(operands) if isinstance(o, Address)), 0)
    hinted = "L2::cache_hint" in instruction.modifiers
    flushes = "global" in instruction.modifiers and words[-1] == "f32"
    modifiers = "".join(f".{word}" for word in words)
    found = _look_up_atomic(modifiers, len(operands) - at - hinted, flushes)
    if found is None:
        raise _unsupported(instruction)
    return found


def _unsupported(instruction: Instruction) -> UnsupportedError:
    where = instruction.location
    place = f" at {where.file}:{where.line}" if where else ""
    return UnsupportedError.explained(
        f"The simulator has no instruction `{instruction.name}`{place}.",
        f"The PTX line is: {instruction.text.strip()}",
        "Run the kernel on a GPU, or write it with other operations.",
    )


def pack(elements: tuple[np.ndarray, ...], kind: str) -> np.ndarray:
    """Join vector elements, the first in the low bits, as `mov.b32 d, {lo, hi}`.

    Parameters
    ----------
    elements : tuple of ndarray
        Two or four arrays of equal width, any dtype.
    kind : str
        Type of the result, as wide as all elements together.
    """
    columns = np.stack([np.ascontiguousarray(e) for e in elements], axis=-1)
    return columns.view(DTYPES[kind]).reshape(-1)


def unpack(value: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """Split a value into `count` unsigned parts, the low bits first."""
    part = np.dtype(f"u{value.dtype.itemsize // count}")
    columns = np.ascontiguousarray(value).view(part).reshape(-1, count)
    return tuple(np.ascontiguousarray(columns[:, i]) for i in range(count))
