"""Matrix products that four warps compute together: `wgmma`, sums in 32 bits.

A warpgroup multiplies A, 64 x K, by B, K x N, and adds the product to D, 64 x N, or
puts it there. K is what 32 bytes hold: 8 numbers of TF32, 16 of f16 or bf16, 32 of
e4m3, e5m2, s8 or u8. Warp w of the four has rows 16 w to 16 w + 15 of A and D; what its
lanes hold of these is as in `products`, for each 8 columns of D in turn. B lies in
shared memory, A there or in registers: see `descriptors`. Operands of 16 bits in shared
memory may be transposed. Sums of floats are rounded as in `products`. Those of integers
are exact, then cut to 32 bits, or to the nearest number of 32 bits with `.satfinite`.

Here a product is complete at once: a missing wait, or fence, goes unnoticed.
Its reads of shared memory count as no requests and no bank conflicts; the checkers see
them, shared out over the lanes of each warp, and take a wait for a
synchronisation of its warp.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter import products
from coursekit.simt.interpreter.warpgroup_operands import (
    INTEGERS,
    Elements,
    Held,
    Stored,
    same,
)
from coursekit.simt.isa.lookup import Operation
from coursekit.simt.isa.rounded_sums import dot
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import BYTES, Immediate, Register, Vector

WARPS, ROWS, LANES = 4, 16, 32
EVERY_LANE = (1 << LANES) - 1
_NAME = re.compile(
    r"mma_async\.sync\.aligned\.m64n(\d+)k(\d+)(\.satfinite)?\.([fs]32)\.(\w+)\.(\w+)"
)
_KINDS = {"tf32": {"tf32"}, "f16": {"f16"}, "bf16": {"bf16"},
          "e4m3": {"e4m3", "e5m2"}, "e5m2": {"e4m3", "e5m2"},
          "s8": {"s8", "u8"}, "u8": {"s8", "u8"}}  # fmt: skip
_MAY_BE_TRANSPOSED = {"f16", "bf16"}
_ORDER = {"fence.sync.aligned": 0, "commit_group.sync.aligned": 0,
          "wait_group.sync.aligned": 1}  # fmt: skip


class Form(NamedTuple):
    """A product: N, K, the types of A's and B's elements, and of sums."""

    columns: int
    depth: int
    left: str
    right: str
    sums: str
    saturates: bool

    @property
    def choices(self) -> tuple[int, int]:
        """How many operands say what to do, with A in registers and with it not."""
        if self.sums == "s32":
            return 0, 0
        return (3, 4) if self.left in _MAY_BE_TRANSPOSED else (2, 2)

    def added(self, a: np.ndarray, b: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the product of A and of B's transpose, added to D."""
        if self.sums == "f32":
            return dot(a, b, d)
        whole = a.astype(np.int64) @ b.astype(np.int64).T + d
        if self.saturates:
            whole = whole.clip(-(2**31), 2**31 - 1)
        return whole.astype(np.int32)


def form_of(instruction) -> Form | None:
    """Return the form of a product, None for one that is not simulated."""
    found = _NAME.fullmatch(".".join(instruction.modifiers))
    if found is None:
        return None
    columns, depth, limit, sums, left, right = found.groups()
    form = Form(int(columns), int(depth), left, right, sums, limit is not None)
    integers = left in INTEGERS
    known = right in _KINDS.get(left, ()) and integers == (sums == "s32")
    known = known and (integers or not form.saturates)
    fits = 8 <= form.columns <= 256 and form.columns % 8 == 0
    return form if known and fits and form.depth == Elements(form.left).depth else None


def is_right(_scope, instruction) -> bool:
    """Whether the operands of `wgmma` have the right number and kind."""
    name, operands = ".".join(instruction.modifiers), instruction.operands
    if name in _ORDER:
        numbers = [isinstance(o, Immediate) and o.kind == "int" for o in operands]
        return len(operands) == _ORDER[name] and all(numbers)
    form = form_of(instruction)
    if form is None:  # refused when it is decoded
        return True
    if len(operands) < 4:
        return False
    target, a, b, adds, *choices = operands
    signs, sides = choices[:2], choices[2:]
    return (
        _are_registers(target, form.columns // 2)
        and (_are_registers(a, 4) or _is_descriptor(a))
        and _is_descriptor(b)
        and (getattr(adds, "type", "") == "pred" or isinstance(adds, Immediate))
        and len(choices) == form.choices[not isinstance(a, Vector)]
        and all(isinstance(s, Immediate) and s.value in (1, -1) for s in signs)
        and all(isinstance(s, Immediate) and s.value in (0, 1) for s in sides)
    )


def _are_registers(operand, count: int) -> bool:
    elements = operand.elements if isinstance(operand, Vector) else ()
    return len(elements) == count and all(
        isinstance(e, Register) and e.type in ("b32", "f32", "u32", "s32")
        for e in elements
    )


def _is_descriptor(operand) -> bool:
    return isinstance(operand, Register) and BYTES[operand.type] == 8


def make(decoder, instruction):
    """Make the step of any `wgmma` instruction."""
    name = ".".join(instruction.modifiers)
    if name in _ORDER:
        decoder.no_guard(instruction)
        return functools.partial(_order, instruction, name.startswith("wait"))
    form = form_of(instruction)
    return None if form is None else _multiply(decoder, instruction, form)


def _order(instruction, waits: bool, warp) -> None:
    """Do nothing for a fence, commit or wait, since products complete at once."""
    _require_all(warp, instruction)
    if waits and warp.observer is not None:
        warp.observer.synchronises(warp, instruction, EVERY_LANE, warp.mask)


def _operands(decoder, instruction, form: Form) -> tuple:
    """Return what reads A and B."""
    _, a, b, _, *choices = instruction.operands
    sides = choices[2:]
    across = [bool(side.value) for side in sides]
    left = Elements(form.left, len(across) == 2 and across[0])
    right = Elements(form.right, bool(across) and across[-1])
    kind = Held if isinstance(a, Vector) else Stored
    return kind(decoder, instruction, a, left), Stored(decoder, instruction, b, right)


def _multiply(decoder, instruction, form: Form):
    decoder.no_guard(instruction)
    target, _, _, adds, *signs = instruction.operands
    columns = form.columns
    for register in target.elements:
        decoder.destination(register, form.sums)
    rows = np.array([register.index for register in target.elements], np.intp)
    left, right = _operands(decoder, instruction, form)
    slot = decoder.layout.operand(adds, "pred")
    sign = np.float32(signs[0].value * signs[1].value) if signs else 1
    type_ = np.float32 if form.sums == "f32" else np.int32
    decoder.code.operations[instruction.index] = Operation(
        (form.sums,), (), make, 2 * ROWS * columns * form.depth // LANES, "tensor"
    )

    def step(warp):
        _require_all(warp, instruction)
        values = warp.frame.values[:, : 4 * LANES].view(type_)
        first = warp.index % WARPS * ROWS
        a = left.matrix(warp, first, ROWS) * sign
        b = right.matrix(warp, 0, columns)
        d = np.zeros((ROWS, columns), type_)
        if same(warp, instruction, warp.slots[slot], "says whether to add"):
            d = _joined(values.take(rows, axis=0))
        values[rows] = _shared_out(form.added(a, b, d))

    return step


def _joined(held: np.ndarray) -> np.ndarray:
    """Return D row by row, from the lanes' registers."""
    parts = held.reshape(-1, 2, 2, 8, 4)  # columns by 8, half, side, row, pair
    return parts.transpose(1, 3, 0, 4, 2).reshape(ROWS, -1)


def _shared_out(d: np.ndarray) -> np.ndarray:
    """Return the lanes' registers of D."""
    parts = d.reshape(2, 8, -1, 4, 2)
    return parts.transpose(2, 0, 4, 1, 3).reshape(-1, LANES)


def _require_all(warp, instruction) -> None:
    """Raise an error if a lane, or one of the four warps, is missing."""
    if not warp.all:
        raise products.incomplete(warp, instruction)
    if warp.index | WARPS - 1 >= len(warp.block.warps):
        raise faults.kernel_error(
            errors.BarrierError, warp, 0, instruction,
            f"{{thread}} executes `{instruction.name}`, and the block has "
            f"{len(warp.block.warps)} warps.",
            "Four warps multiply together, the first of them of a number that four "
            "divides; without one the results are undefined.",
            "Launch blocks of a multiple of 128 threads.",
        )  # fmt: skip


MAKERS = {"wgmma": make}
