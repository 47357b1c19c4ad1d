"""Matrix products that four warps compute together: `wgmma` with sums in float32.

A warpgroup multiplies A, 64 x K, by B, K x N, and adds the product to D, 64 x N, or
puts it there. K is what 32 bytes hold: 8 numbers of TF32, 16 of f16 or bf16, 32 of
e4m3 or e5m2. Warp w of the four has rows 16 w to 16 w + 15 of A and D; what its lanes
hold of these is as in `products`, for each 8 columns of D in turn. B lies in shared
memory, A there or in registers: see `descriptors`. Operands of 16 bits in shared
memory may be transposed. Sums are rounded as in `products`.

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
_NAME = re.compile(r"mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.f32\.(\w+)\.(\w+)")
_KINDS = {"tf32": {"tf32"}, "f16": {"f16"}, "bf16": {"bf16"},
          "e4m3": {"e4m3", "e5m2"}, "e5m2": {"e4m3", "e5m2"}}  # fmt: skip
_MAY_BE_TRANSPOSED = {"f16", "bf16"}
_ORDER = {"fence.sync.aligned": 0, "commit_group.sync.aligned": 0,
          "wait_group.sync.aligned": 1}  # fmt: skip


class Form(NamedTuple):
    """A product: N, K, and the types of A's and B's elements."""

    columns: int
    depth: int
    left: str
    right: str

    @property
    def choices(self) -> tuple[int, int]:
        """How many operands say what to do, with A in registers and with it not."""
        return (3, 4) if self.left in _MAY_BE_TRANSPOSED else (2, 2)


def form_of(instruction) -> Form | None:
    """Return the form of a product, None for one that is not simulated."""
    found = _NAME.fullmatch(".".join(instruction.modifiers))
    if found is None:
        return None
    form = Form(int(found[1]), int(found[2]), found[3], found[4])
    known = form.right in _KINDS.get(form.left, ())
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
    if len(operands) < 6:
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
    _, a, b, _, _, _, *sides = instruction.operands
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
        decoder.destination(register, "f32")
    rows = np.array([register.index for register in target.elements], np.intp)
    left, right = _operands(decoder, instruction, form)
    slot = decoder.layout.operand(adds, "pred")
    sign = np.float32(signs[0].value * signs[1].value)
    decoder.code.operations[instruction.index] = Operation(
        ("f32",), (), make, 2 * ROWS * columns * form.depth // LANES, "tensor"
    )

    def step(warp):
        _require_all(warp, instruction)
        values = warp.frame.values[:, : 4 * LANES].view(np.float32)
        first = warp.index % WARPS * ROWS
        a = left.matrix(warp, first, ROWS) * sign
        b = right.matrix(warp, 0, columns)
        d = np.zeros((ROWS, columns), np.float32)
        if same(warp, instruction, warp.slots[slot], "says whether to add"):
            d = _joined(values.take(rows, axis=0))
        values[rows] = _shared_out(dot(a, b, d))

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
