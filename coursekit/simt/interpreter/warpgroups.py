"""Matrix products that four warps compute together: `wgmma` in TF32.

A warpgroup multiplies A, 64 x 8, by B, 8 x N, and adds the product to D, 64 x N, or
puts it there. Warp w of the four has rows 16 w to 16 w + 15 of A and D; what its lanes
hold of these is as in `products`, for each 8 columns of D in turn. B lies in shared
memory, A there or in registers: see `descriptors`. Sums are rounded as in `products`.

Here a product is complete at once: a missing wait, or fence, goes unnoticed.
Its reads of shared memory count as no requests and no bank conflicts; the checkers see
them, shared out over the lanes of each warp, and take a wait for a
synchronisation of its warp.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

import functools
import re

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter import products
from coursekit.simt.interpreter.access import READS
from coursekit.simt.isa.descriptors import WORD, Place
from coursekit.simt.isa.lookup import Operation
from coursekit.simt.isa.rounded_sums import dot
from coursekit.simt.memory import faults
from coursekit.simt.ptx.ir import BYTES, Immediate, Register, Vector

WARPS, ROWS, DEPTH, LANES = 4, 16, 8, 32
EVERY_LANE = (1 << LANES) - 1
_NAME = re.compile(r"mma_async\.sync\.aligned\.m64n(\d+)k8\.f32\.tf32\.tf32")
_ORDER = {"fence.sync.aligned": 0, "commit_group.sync.aligned": 0,
          "wait_group.sync.aligned": 1}  # fmt: skip


def columns_of(instruction) -> int | None:
    """Return N, None for a product that is not simulated."""
    found = _NAME.fullmatch(".".join(instruction.modifiers))
    columns = int(found[1]) if found else 0
    return columns if 8 <= columns <= 256 and columns % 8 == 0 else None


def is_right(_scope, instruction) -> bool:
    """Whether the operands of `wgmma` have the right number and kind."""
    name, operands = ".".join(instruction.modifiers), instruction.operands
    if name in _ORDER:
        numbers = [isinstance(o, Immediate) and o.kind == "int" for o in operands]
        return len(operands) == _ORDER[name] and all(numbers)
    columns = columns_of(instruction)
    if columns is None:  # refused when it is decoded
        return True
    if len(operands) != 6:
        return False
    target, a, b, adds, *signs = operands
    return (
        _are_registers(target, columns // 2)
        and (_are_registers(a, 4) or _is_descriptor(a))
        and _is_descriptor(b)
        and (getattr(adds, "type", "") == "pred" or isinstance(adds, Immediate))
        and all(isinstance(s, Immediate) and s.value in (1, -1) for s in signs)
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
    columns = columns_of(instruction)
    return None if columns is None else _multiply(decoder, instruction, columns)


def _order(instruction, waits: bool, warp) -> None:
    """Do nothing for a fence, commit or wait, since products complete at once."""
    _require_all(warp, instruction)
    if waits and warp.observer is not None:
        warp.observer.synchronises(warp, instruction, EVERY_LANE, warp.mask)


def _multiply(decoder, instruction, columns: int):
    decoder.no_guard(instruction)
    target, a, b, adds, *signs = instruction.operands
    for register in target.elements:
        decoder.destination(register, "f32")
    rows = np.array([register.index for register in target.elements], np.intp)
    kind = _Held if isinstance(a, Vector) else _Stored
    left, right = kind(decoder, instruction, a), _Stored(decoder, instruction, b)
    slot = decoder.layout.operand(adds, "pred")
    sign = np.float32(signs[0].value * signs[1].value)
    decoder.code.operations[instruction.index] = Operation(
        ("f32",), (), make, 2 * ROWS * columns * DEPTH // LANES, "tensor"
    )

    def step(warp):
        _require_all(warp, instruction)
        values = warp.frame.values[:, : 4 * LANES].view(np.float32)
        first = warp.index % WARPS * ROWS
        a = left.matrix(warp, first, ROWS) * sign
        b = right.matrix(warp, 0, columns)
        d = np.zeros((ROWS, columns), np.float32)
        if _same(warp, instruction, warp.slots[slot], "says whether to add"):
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


class _Held:
    """The matrix A in registers."""

    def __init__(self, decoder, _instruction, operand):
        self._slots = [decoder.layout.operand(e, "b32") for e in operand.elements]

    def matrix(self, warp, _first: int, rows: int) -> np.ndarray:
        """Return the rows of the warp."""
        held = np.concatenate([warp.slots[slot] for slot in self._slots])
        parts = held.reshape(2, 2, 8, 4)  # columns by 4, half, row, column
        return _floats(parts.transpose(1, 2, 0, 3).reshape(rows, DEPTH))


class _Stored:
    """The matrix A or B in shared memory."""

    def __init__(self, decoder, instruction, operand):
        self._program, self._instruction = decoder.program, instruction
        self._slot = decoder.layout.operand(operand, "u64")
        self._access = decoder.access(instruction, "shared", WORD, READS)

    def matrix(self, warp, first: int, rows: int) -> np.ndarray:
        """Return rows from `first` on; of B these are columns."""
        bits = warp.slots[self._slot]
        bits = int(_same(warp, self._instruction, bits, "describes a matrix"))
        place = Place.read(bits)
        if place.words and place.base:
            why = " with a base offset in a descriptor"
            raise faults.unsupported(self._program, self._instruction, why)
        addresses = place.addresses(first, rows)
        self._check(warp, addresses)
        words = warp.block.shared.bytes.view(np.uint32).reshape(-1, 4)
        return _floats(words[addresses >> 4].reshape(rows, DEPTH))

    def _check(self, warp, addresses) -> None:
        """Check that all words lie in arrays, and report them to the observer."""
        memory = warp.block.shared
        region = memory.find(int(addresses[0]))
        if region is not None and _inside(region, addresses).all():
            self._tell(warp, region, addresses, np.arange(len(addresses)))
            return
        regions = [memory.find(address) for address in addresses.tolist()]
        for region in dict.fromkeys(regions):
            chosen = np.flatnonzero([r is region for r in regions])
            bad = ~_inside(region, addresses[chosen])
            if bad.any():
                position = int(chosen[np.argmax(bad)])
                raise self._outside(warp, region, addresses, position)
            self._tell(warp, region, addresses, chosen)

    def _tell(self, warp, region, addresses, chosen) -> None:
        if warp.observer is not None:
            part = region, chosen % LANES, addresses[chosen] - region.address
            warp.observer.touches(self._access, warp, part)

    def _outside(self, warp, region, addresses, position: int):
        address, where = int(addresses[position]), "no array is there"
        if region is not None:
            offset = address - region.address
            name = faults.readable(region.name) or "an array"
            where = f"byte {offset} of {name}, which has {region.nbytes} bytes"
        return faults.kernel_error(
            errors.OutOfBoundsError, warp, position % LANES, self._instruction,
            f"{{thread}} multiplies by a matrix of which 16 bytes lie at {address:#x} "
            f"in shared memory: {where}.",
            "The descriptor begins at another place, or the distances in it are not "
            "those of the array.",
            "Check its three numbers, each in units of 16 bytes: the address from bit "
            "0, the distance along k from bit 16, that of eight rows from bit 32.",
        )  # fmt: skip


def _inside(region, addresses) -> np.ndarray:
    """Return which words lie in a region as a whole."""
    if region is None:
        return np.zeros(len(addresses), bool)
    offsets = addresses - region.address
    return (offsets >= 0) & (offsets <= region.nbytes - WORD)


def _floats(words: np.ndarray) -> np.ndarray:
    return (words & np.uint32(products.TF32_BITS)).view(np.float32)


def _same(warp, instruction, values, does: str):
    """Return the value that all lanes give.

    Raises
    ------
    KernelError
        They give several.
    """
    other = values != values[0]
    if other.any():
        lane = int(np.argmax(other))
        raise faults.kernel_error(
            errors.KernelError, warp, lane, instruction,
            f"{{thread}} multiplies matrices by `{instruction.name}`, and the value "
            f"that {does} is {int(values[lane]):#x} in its lane {lane}, "
            f"{int(values[0]):#x} in lane 0.",
            "All four warps compute one product, so that all threads say the same.",
            "Compute the value from what the threads of a warpgroup have in common.",
        )  # fmt: skip
    return values[0]


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
