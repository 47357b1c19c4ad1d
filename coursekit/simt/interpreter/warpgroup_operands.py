"""The operands of `wgmma`: a matrix in registers, or in shared memory."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter import products
from coursekit.simt.interpreter.access import READS
from coursekit.simt.isa.conversions import fp8_values
from coursekit.simt.isa.descriptors import WORD, Place
from coursekit.simt.isa.rounding import bf16_to_f32
from coursekit.simt.memory import faults

LANES, ROW_BYTES = 32, 32
_BITS = {"tf32": np.uint32, "f16": np.uint16, "bf16": np.uint16,
         "e4m3": np.uint8, "e5m2": np.uint8, "s8": np.int8, "u8": np.uint8}  # fmt: skip
INTEGERS = {"s8", "u8"}


@dataclass(frozen=True)
class Elements:
    """The type of a matrix's elements, and whether it lies transposed."""

    kind: str
    transposed: bool = False

    @property
    def depth(self) -> int:
        """The values of k of one product: 32 bytes of them."""
        return ROW_BYTES // np.dtype(_BITS[self.kind]).itemsize

    def values(self, words: np.ndarray) -> np.ndarray:
        """Return the elements of words of 32 bits in their order, floats as float32."""
        bits = np.ascontiguousarray(words).view(_BITS[self.kind])
        if self.kind in INTEGERS:
            return bits
        if self.kind == "tf32":
            return (bits & np.uint32(products.TF32_BITS)).view(np.float32)
        if self.kind == "f16":
            return bits.view(np.float16).astype(np.float32)
        if self.kind == "bf16":
            return bf16_to_f32(bits.ravel()).reshape(bits.shape)
        return _fp8(self.kind)[bits]


@functools.cache
def _fp8(kind: str) -> np.ndarray:
    return fp8_values(kind).astype(np.float32)


class Held:
    """The matrix A in registers."""

    def __init__(self, decoder, _instruction, operand, elements: Elements):
        self._elements = elements
        self._slots = [decoder.layout.operand(e, "b32") for e in operand.elements]

    def matrix(self, warp, _first: int, rows: int) -> np.ndarray:
        """Return the rows of the warp."""
        held = np.concatenate([warp.slots[slot] for slot in self._slots])
        parts = held.reshape(2, 2, 8, 4)  # words by 4, half, row, word
        return self._elements.values(parts.transpose(1, 2, 0, 3).reshape(rows, -1))


class Stored:
    """The matrix A or B in shared memory."""

    def __init__(self, decoder, instruction, operand, elements: Elements):
        self._elements = elements
        self._program, self._instruction = decoder.program, instruction
        self._slot = decoder.layout.operand(operand, "u64")
        self._access = decoder.access(instruction, "shared", WORD, READS)

    def matrix(self, warp, first: int, rows: int) -> np.ndarray:
        """Return rows from `first` on; of B these are columns."""
        bits = warp.slots[self._slot]
        bits = int(same(warp, self._instruction, bits, "describes a matrix"))
        place = Place.read(bits)
        if place.words and place.base:
            why = " with a base offset in a descriptor"
            raise faults.unsupported(self._program, self._instruction, why)
        across, depth = self._elements.transposed, self._elements.depth
        if across:
            addresses = place.transposed_addresses(first, rows, depth)
        else:
            addresses = place.addresses(first, rows)
        self._check(warp, addresses)
        words = warp.block.shared.bytes.view(np.uint32).reshape(-1, 4)
        found = self._elements.values(words[addresses >> 4])
        return found.reshape(depth, rows).T if across else found.reshape(rows, depth)

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


def same(warp, instruction, values, does: str):
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
