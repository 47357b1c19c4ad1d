"""Warp-wide matrix products, `mma.sync`, and `ldmatrix`, which loads operands.

`mma.sync` has 16 x 8 results: a warp multiplies A, 16 x `depth`, by B, `depth` x 8, and
adds C, 16 x 8. Each lane has some elements of each, which `t = lane % 4` and
`g = lane / 4` say; an operand's word has two elements of 16 bits, or one of TF32, `e`
in general:

    A, word 2 s + h: row g + 8 h, columns 4 e s + e t, and the next one
    B, word s:       column g, rows 4 e s + e t, and the next one
    C and D, 2 h:    row g + 8 h, columns 2 t and 2 t + 1

Products are exact. They are added to C one after the other, in the order of columns of
A, and each sum is rounded to the nearest float32. Of a TF32 operand the 13 lowest bits
are not read. A tensor core adds several products before it rounds, and cuts bits off
where this rounds: its last bits may be others.

`ldmatrix` loads one, two or four matrices of 8 x 8 elements of 16 bits from shared
memory. Lane 8 m + r has the address of row r of matrix m, and lane 4 r + t gets
elements 2 t and 2 t + 1 of that row, in the word of the matrix; of a column with
`.trans`. It counts as a load of 16 bytes by the lanes whose addresses are used.

Sources: PTX ISA, "Matrix multiply-accumulate operation using mma instruction" and
"Warp-level matrix load instruction: ldmatrix".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter.access import READS
from coursekit.simt.interpreter.transfers import address_slot, reached
from coursekit.simt.isa import integer_products, traits
from coursekit.simt.isa.integer_products import IntegerForm
from coursekit.simt.isa.lookup import Operation
from coursekit.simt.isa.rounded_sums import dot
from coursekit.simt.isa.rounding import bf16_to_f32
from coursekit.simt.isa.traits import LOAD
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import Immediate, Register, Vector

ROWS, COLUMNS, SIDE, LANES = 16, 8, 8, 32
TF32_BITS = 0xFFFFE000
_NAME = re.compile(
    r"sync\.aligned\.m16n8k(4|8|16)\.row\.col\.f32\.(tf32|f16|bf16)\.\2\.f32"
)
_DEPTHS = {"tf32": (4, 8), "f16": (8, 16), "bf16": (8, 16)}
_LANE = np.arange(LANES)


@dataclass(frozen=True)
class Form:
    """The shape of a product: the type of A's and B's elements, and A's columns."""

    kind: str
    depth: int

    @property
    def result(self) -> str:
        """The type of D."""
        return "f32"

    @property
    def each(self) -> int:
        """The number of elements in a word."""
        return 1 if self.kind == "tf32" else 2

    @property
    def words(self) -> tuple[int, int]:
        """The number of words of A and of B that a lane holds."""
        return self.depth // (2 * self.each), self.depth // (4 * self.each)

    def place(self, k: int) -> tuple[int, int, int]:
        """Return the word of B, the t and the part of the word that hold row k."""
        step, within = divmod(k, 4 * self.each)
        return step, within // self.each, within % self.each

    def product(self, a, b, c) -> np.ndarray:
        """Return D, (4, 32): float32 of all lanes, from their words of A, B and C."""
        return product(self, a, b, c)


def form_of(instruction) -> Form | IntegerForm | None:
    """Return the shape of a product, None for an instruction not simulated."""
    found = _NAME.fullmatch(".".join(instruction.modifiers))
    if found is None:
        return integer_products.form_of(instruction)
    if int(found[1]) not in _DEPTHS[found[2]]:
        return None
    return Form(found[2], int(found[1]))


def is_right(_scope, instruction) -> bool:
    """Whether the operands of `mma` have the right number and kind."""
    form = form_of(instruction)
    counts = [4, *form.words, 4] if form else []
    values = (Register, Immediate)
    return (
        len(instruction.operands) == len(counts)
        and all(isinstance(o, Vector) for o in instruction.operands)
        and [len(o.elements) for o in instruction.operands] == counts
        and all(isinstance(e, Register) for e in instruction.operands[0].elements)
        and all(isinstance(e, values) for o in instruction.operands for e in o.elements)
    )


def top_lanes(t: int) -> np.ndarray:
    """Return the lane with column t of A's words, for the row of each result."""
    return _LANE // 4 * 4 + t


def side_lanes(t: int, column: int) -> np.ndarray:
    """Return the lane with row t of B's words, for one of its two columns."""
    return _LANE % 4 * 8 + 4 * column + t


def parts(words: np.ndarray, kind: str) -> list[np.ndarray]:
    """Return the elements of the lanes' words as float32."""
    if kind == "tf32":
        return [(words & np.uint32(TF32_BITS)).view(np.float32)]
    halves = [(words >> np.uint32(s)).astype(np.uint16) for s in (0, 16)]
    if kind == "bf16":
        return [bf16_to_f32(half) for half in halves]
    return [half.view(np.float16).astype(np.float32) for half in halves]


def product(form: Form, a, b, c) -> np.ndarray:
    """Return D, (4, 32): float32 of all lanes, from their words of A, B and C.

    A word is 32 values, one a lane; A, B and C are lists of words.
    """
    lanes = COLUMNS, LANES // COLUMNS  # g, t
    a = np.array([parts(words, form.kind) for words in a])
    b = np.array([parts(words, form.kind) for words in b])
    steps = len(b)
    top = a.reshape(steps, 2, form.each, *lanes).transpose(1, 3, 0, 4, 2)
    side = b.reshape(steps, form.each, *lanes).transpose(2, 0, 3, 1)
    start = np.array(c).reshape(2, 2, *lanes).transpose(0, 2, 3, 1)
    shape = ROWS, COLUMNS
    d = dot(top.reshape(ROWS, -1), side.reshape(COLUMNS, -1), start.reshape(shape))
    return d.reshape(2, *lanes, 2).transpose(0, 3, 1, 2).reshape(4, LANES)


def multiply(decoder, instruction):
    """Make the step of `mma`."""
    form = form_of(instruction)
    if form is None:
        return None
    decoder.no_guard(instruction)
    layout, (target, *sources) = decoder.layout, instruction.operands
    kinds = "b32", "b32", form.result
    slots = [decoder.destination(register, kinds[2]) for register in target.elements]
    a, b, c = (
        [layout.operand(element, kind) for element in source.elements]
        for source, kind in zip(sources, kinds, strict=True)
    )
    decoder.code.operations[instruction.index] = Operation(
        (kinds[2],), (), multiply, 2 * ROWS * COLUMNS * form.depth // LANES, "tensor"
    )

    def step(warp):
        if not warp.all:
            raise incomplete(warp, instruction)
        held = warp.slots
        found = form.product(*([held[i] for i in part] for part in (a, b, c)))
        for slot, values in zip(slots, found, strict=True):
            held[slot][...] = values

    return step


_PLAIN = {"sync", "aligned", "m8n8", "b16"}
_SHARED = {"shared", "shared::cta"}


def load(decoder, instruction):
    """Make the step of `ldmatrix`."""
    words, (target, source) = set(instruction.modifiers), instruction.operands
    count = len(target.elements)
    if words - _SHARED - {"trans"} != {*_PLAIN, f"x{count}"}:
        return None
    decoder.no_guard(instruction)
    space, width = "shared" if words & _SHARED else None, 2 * SIDE
    access = decoder.access(instruction, space, width, READS)
    place = address_slot(decoder, source, space)
    slots = [decoder.destination(register, "b32") for register in target.elements]
    giving = SIDE * count > _LANE  # lanes whose addresses are used
    order = (0, 2, 1) if "trans" in words else (0, 1, 2)

    def step(warp):
        if not warp.all:
            raise incomplete(warp, instruction)
        addresses, rows = reached(warp, *place), np.empty((LANES, SIDE), np.uint16)
        kept = warp.mask, warp.all, warp.count
        warp.mask, warp.all, warp.count = giving, count == 4, SIDE * count
        for region, lanes, offsets in access.parts(warp, addresses):
            if region.space != "shared":
                raise _elsewhere(warp, instruction, region)
            at = offsets.astype(np.intp)[:, None] // 2 + np.arange(SIDE)
            rows[lanes] = region.view(2)[at]
        warp.mask, warp.all, warp.count = kept
        found = rows[: SIDE * count].reshape(count, SIDE, SIDE).transpose(order)
        for slot, each in zip(slots, np.ascontiguousarray(found), strict=True):
            if slot is not None:
                warp.slots[slot][...] = each.view(np.uint32).ravel()

    return step


def _elsewhere(warp, instruction, region):
    return faults.kernel_error(
        errors.OutOfBoundsError, warp, int(np.argmax(warp.mask)), instruction,
        f"{{thread}} loads a matrix by `{instruction.name}` from "
        f"{region.name or 'memory'}, which is not shared memory.",
        "ldmatrix reads shared memory alone, by whatever pointer.",
        "Copy the matrix to a __shared__ array first.",
    )  # fmt: skip


def incomplete(warp, instruction):
    """Build the error for a product or a load in which lanes are missing."""
    loads = traits.of(instruction).memory == LOAD
    does, together = ("loads", "load") if loads else ("multiplies", "multiply")
    missing = int(np.argmin(warp.mask))
    where = "is elsewhere, or has left the kernel"
    if not warp.present[missing]:
        where = "does not exist: the block is no multiple of 32 threads"
    return faults.kernel_error(
        errors.BarrierError, warp, int(np.argmax(warp.mask)), instruction,
        f"{{thread}} {does} matrices by `{instruction.name}`, and lane {missing} "
        f"of its warp {where}.",
        f"All 32 lanes of a warp {together} together, since each has a part of the "
        "matrices; without one the results are undefined.",
        "Let whole warps come here: leave no lane behind in a branch or a return, and "
        "fill up what is missing with zeros.",
    )  # fmt: skip


MAKERS = {"mma": multiply, "ldmatrix": load}
